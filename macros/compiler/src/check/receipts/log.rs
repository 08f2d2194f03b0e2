//! What the threads of a cluster do to the barriers of its blocks, one thread after another.

use std::collections::{BTreeMap, BTreeSet};

use super::told::{Arrived, Told};
use super::unwritten::Writes;
use super::{BarrierAt, Element, Id, Life, Send, Visit};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessId, AccessKind, BarrierCallId, BlockId, Cfg, GroupStep, MemoryStep, Region, Root, Select, Shared, Step,
    StepKind,
};
use crate::check::rings::constants::inner;
use crate::check::runs::{Observer, Thread};
use crate::model::Function;
use crate::model::barrier::PhaseAction;
use crate::model::group::Group;
use crate::model::ty::bytes_of;

/// What the threads do, one after another.
pub(super) struct Log<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    pub(super) lives: BTreeMap<BarrierAt, Life>,
    /// By access to a peer's memory, the barriers at which it ends.
    pub(super) ends: BTreeMap<AccessId, BTreeSet<BarrierAt>>,
    pub(super) told: Told,
    pub(super) writes: Writes,
    pub(super) visits: BTreeMap<AccessId, BTreeSet<Visit>>,
    /// The first thread that sends to each element.
    sent: BTreeMap<Element, Send>,
    pub(super) sent_twice: Vec<(Element, [Send; 2])>,
    /// The rank of the block of the thread that is followed.
    block: u64,
    /// The barriers at which this thread has waited for the first phase.
    waited: BTreeSet<BarrierAt>,
    /// The number of barriers of the block to which this thread has come, if it is known.
    meetings: Option<usize>,
    /// The arrays of barriers to which a thread may do what is not known.
    pub(super) lost: BTreeSet<Shared>,
    pub(super) is_lost: bool,
}

impl<'a, 'f> Log<'a, 'f> {
    pub(super) fn new(function: &'f Function, cfg: &'a Cfg<'f>) -> Self {
        Log {
            function,
            cfg,
            lives: BTreeMap::new(),
            ends: BTreeMap::new(),
            told: Told::default(),
            writes: Writes::default(),
            visits: BTreeMap::new(),
            sent: BTreeMap::new(),
            sent_twice: Vec::new(),
            block: 0,
            waited: BTreeSet::new(),
            meetings: Some(0),
            lost: BTreeSet::new(),
            is_lost: false,
        }
    }

    /// A thread of this block begins.
    pub(super) fn begins(&mut self, block: u64) {
        (self.block, self.waited, self.meetings) = (block, BTreeSet::new(), Some(0));
    }

    /// The thread ends.
    pub(super) fn ends(&mut self) {
        self.told.ends(self.block, self.meetings);
    }

    /// The barrier that a region is for a thread.
    fn barrier(&self, thread: &Thread<'_, '_, '_>, region: &Region) -> Option<BarrierAt> {
        let place = thread.place(region)?;
        let (owner, shared) = match place.root {
            Root::Shared(shared) => (thread.id.block?, shared),
            Root::Remote(shared) => (place.peer()?, shared),
            Root::ReadOnly | Root::Global => return None,
        };
        let index = match place.ranges[..] {
            [] => 0,
            [Some((index, _))] if !index.is_given => index.natural()?,
            _ => return None,
        };
        Some((owner, shared, index))
    }

    fn call(&mut self, thread: &Thread<'_, '_, '_>, id: BarrierCallId, steps: &[Step]) {
        let call = &self.cfg.barrier_calls[id.0];
        let Some((_, shared)) = call.region.root.party() else {
            self.is_lost = true;
            return;
        };
        let known = self.barrier(thread, &call.region).zip(thread.id.block);
        let Some((at, block)) = known else {
            self.lost.insert(shared);
            return;
        };
        let by = (block, thread.id.rank);
        let operand = || {
            let number = thread.known(*call.operands.last()?)?;
            number.natural().filter(|_| !number.is_given)
        };
        let is_array = call.region.path.is_empty() && self.is_array(shared);
        let life = self.lives.entry(at).or_default();
        let is_understood = match call.method.action {
            _ if is_array => false,
            // All threads give one count.
            PhaseAction::InitCollective if by.1 != 0 => true,
            PhaseAction::Init | PhaseAction::InitCollective => {
                operand().map(|count| life.counts.push(count)).is_some() && at.0 == block
            }
            PhaseAction::ExpectTx => operand().is_some_and(|bytes| {
                life.expected += bytes;
                life.yet_to_arrive.insert(by);
                true
            }),
            PhaseAction::Arrive => {
                self.arrives(at, by, 1);
                true
            }
            PhaseAction::ArriveN => operand().is_some_and(|count| {
                self.arrives(at, by, count);
                true
            }),
            PhaseAction::ArriveAndWait if at.0 == block => {
                self.arrives(at, by, 1);
                self.waits(at, by.1);
                true
            }
            PhaseAction::WaitParity => operand().is_some_and(|parity| {
                if parity == 0 && at.0 == block {
                    self.waits(at, by.1);
                }
                true
            }),
            // Each token is of the first phase, if no more arrive than that counts.
            PhaseAction::Wait if at.0 == block => {
                self.waits(at, by.1);
                true
            }
            PhaseAction::Copy => match self.sent(thread, steps) {
                Some((access, owner, bytes)) if owner == at.0 => {
                    self.sends(thread, at, (access, by));
                    // The bytes are counted by an access to the barrier, which comes right before.
                    for access in [access].into_iter().chain(self.access_to(&call.region, steps)) {
                        self.ends.entry(access).or_default().insert(at);
                        self.told.is_counted(access, owner);
                    }
                    self.lives.entry(at).or_default().sent += bytes;
                    true
                }
                Some(_) | None => false,
            },
            PhaseAction::TryWait => true,
            PhaseAction::Wait | PhaseAction::ArriveAndDrop | PhaseAction::ArriveAndWait | PhaseAction::Invalidate => {
                false
            }
        };
        if !is_understood {
            self.lost.insert(shared);
        }
    }

    /// A thread arrives at a barrier, as often as this.
    fn arrives(&mut self, at: BarrierAt, by: Id, count: u64) {
        let life = self.lives.entry(at).or_default();
        life.arrivals += count;
        life.yet_to_arrive.remove(&by);
        for access in self.told.arrives(Arrived { by: by.0, at, meetings: self.meetings }) {
            self.ends.entry(access).or_default().insert(at);
        }
    }

    /// A thread of its block waits for a barrier's first phase.
    fn waits(&mut self, at: BarrierAt, thread: u64) {
        let life = self.lives.entry(at).or_default();
        life.waited.insert(thread);
        life.waited_after = life.waited_after.into_iter().chain(self.meetings).min();
        self.waited.insert(at);
    }

    /// A thread sends to an element of the block of a barrier. No other phase of the barrier tells of that, so that a second thread that sends
    /// there does so unordered with it.
    fn sends(&mut self, thread: &Thread<'_, '_, '_>, at: BarrierAt, by: Send) {
        let region = &self.cfg.accesses[by.0.0].region;
        let index = |select: &Select| match *select {
            Select::At(index) => thread.known(index).filter(|index| !index.is_given)?.natural(),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
        };
        let indexes: Option<Vec<u64>> = region.path.iter().map(index).collect();
        let (Some((_, shared)), Some(indexes), None, false) = (region.root.party(), indexes, region.via, region.part)
        else {
            return;
        };
        let element = (at, shared, indexes);
        match self.sent.get(&element) {
            Some(first) if first.1 != by.1 => self.sent_twice.push((element, [*first, by])),
            Some(_) => {}
            None => _ = self.sent.insert(element, by),
        }
    }

    /// The thread comes to an access, now or not at all, if that is to its own memory.
    fn visits(&mut self, id: AccessId) {
        let access = &self.cfg.accesses[id.0];
        let is_plain =
            matches!(access.kind, AccessKind::Read | AccessKind::Write | AccessKind::AtomicRead | AccessKind::Atomic);
        if let (Root::Shared(Shared::Array(_)), true) = (access.region.root, is_plain) {
            let visit = Visit { block: self.block, waited: self.waited.clone(), meetings: self.meetings };
            self.visits.entry(id).or_default().insert(visit);
        }
    }

    /// The last access of these steps to a barrier.
    fn access_to(&self, barrier: &Region, steps: &[Step]) -> Option<AccessId> {
        steps.iter().rev().find_map(|step| {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return None };
            (self.cfg.accesses[id.0].region == *barrier).then_some(id)
        })
    }

    /// Whether it is an array of several barriers, or of so many as the text does not show.
    fn is_array(&self, shared: Shared) -> bool {
        let Shared::Array(array) = shared else { return true };
        let length = self.function.shared.get(array).map(|(_, length)| &self.function.values[usize::from(length.0)]);
        length.and_then(|length| length.literal) != Some(1)
    }

    /// The write of a `store_async` that these steps end with, the rank of the block whose memory it is, and the number of bytes.
    fn sent(&self, thread: &Thread<'_, '_, '_>, steps: &[Step]) -> Option<(AccessId, u64, u64)> {
        let mut accesses = steps.iter().rev().filter_map(|step| {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return None };
            Some((id, &self.cfg.accesses[id.0]))
        });
        let (id, access) = accesses.find(|(_, access)| access.kind == AccessKind::AsyncWrite)?;
        let place = thread.place(&access.region)?;
        let Root::Remote(Shared::Array(array)) = place.root else { return None };
        let (element, _) = self.function.shared.get(array)?;
        // Each further index selects in a row of what the one before has selected.
        let element = (1..access.region.path.len()).try_fold(element.clone(), |row, _| Some(inner(&row)?.0))?;
        let bytes = bytes_of(&element.to_string()).filter(|bytes| matches!(bytes, 4 | 8))?;
        Some((id, place.peer()?, bytes))
    }
}

impl Observer for Log<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, (block, number): (BlockId, usize), step: &Step) {
        let steps = &self.cfg.blocks[block.0].steps;
        match step.kind {
            StepKind::BarrierCall(call) => {
                // A copy has a step of its own, which `store_async` has not.
                let is_copy = matches!(steps.get(number + 1).map(|step| &step.kind), Some(StepKind::Copy(_)));
                match self.cfg.barrier_calls[call.0].region.root.party() {
                    Some((_, shared)) if is_copy => _ = self.lost.insert(shared),
                    _ => self.call(thread, call, &steps[..number]),
                }
            }
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group >= Group::ThreadBlock => {
                for life in self.lives.iter_mut().filter(|(at, _)| Some(at.0) == thread.id.block).map(|(_, life)| life)
                {
                    life.is_told |= life.waited.contains(&thread.id.rank);
                }
                self.meetings = self.meetings.map(|meetings| meetings + 1);
            }
            StepKind::Memory(MemoryStep::Access(id)) => {
                self.visits(id);
                self.told.accesses(self.cfg, thread, id, self.meetings);
                self.writes.accesses(self.cfg, (thread, self.block), id);
            }
            StepKind::Group(_)
            | StepKind::Value(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Token(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    fn pass_over(&mut self, _branch: BlockId, arms: &BlockSet) {
        for step in arms.iter().flat_map(|block| &self.cfg.blocks[block.0].steps) {
            match step.kind {
                StepKind::BarrierCall(call) => match self.cfg.barrier_calls[call.0].region.root.party() {
                    Some((_, shared)) => _ = self.lost.insert(shared),
                    None => self.is_lost = true,
                },
                StepKind::Memory(MemoryStep::Access(id)) => {
                    self.visits(id);
                    self.told.may_access(self.cfg, id, self.meetings);
                    self.writes.may_access(self.cfg, self.block, id);
                }
                // Not all threads may pass over the branch.
                StepKind::Group(GroupStep::Collective { barrier: true, .. }) => self.meetings = None,
                StepKind::Group(_)
                | StepKind::Value(_)
                | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Token(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => {}
            }
        }
    }

    fn iterates(&mut self) -> bool {
        false
    }

    fn shortens(&self) -> bool {
        false
    }

    fn sees_values(&self) -> bool {
        false
    }
}
