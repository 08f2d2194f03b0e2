//! Receipts: the block to whose memory peers send waits for all that they send, so that it cannot exit before, and the senders need not
//! tell it that they are done. A `store_async` sends what a register holds: it does not need its sender.
//!
//! All threads of the cluster are followed ([runs](super::runs)) in a launch of which nothing is known that the host decides. Of each
//! barrier that a peer's `store_async` completes on, the whole life must be known: one
//! `init`, as many arrivals as it counts, as many bytes as are sent, and waits for its first phase. Phases that a loop counts are none
//! of this analysis (`rings` has them), and a copy from shared memory is none either: it reads the sender's memory.
//!
//! After a block has waited, all that it does to its memory comes after what peers send there (`Receipts::orders`), whatever the text's order.

use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{
    AccessId, AccessKind, BarrierCallId, BlockId, Cfg, GroupStep, MemoryStep, Region, Root, Select, Shared, Step,
    StepKind,
};
use super::dsm::ranks::blocks_of_cluster;
use super::rings::constants::inner;
use super::runs::{Launch, Observer, Runs, Thread, ThreadId};
use super::uniform::control::Control;
use crate::diag::Diags;
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::expr::{Expr, ExprKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::ty::bytes_of;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, Role};

/// The largest number of steps that are followed in the runs of all threads: of a cluster of 16,384 threads, each has some fifty.
const STEPS: usize = 800_000;

/// A barrier: the rank of its block, its array and its index there.
type BarrierAt = (u64, Shared, u64);

/// A thread: the rank of its block, and its rank there.
type Id = (u64, u64);

/// What all threads of the cluster do to one barrier.
#[derive(Debug, Default)]
struct Life {
    /// The counts with which it is initialized.
    counts: Vec<u64>,
    arrivals: u64,
    expected: u64,
    sent: u64,
    /// The threads that have let it expect bytes and have not arrived since.
    yet_to_arrive: BTreeSet<Id>,
    /// The threads of its block that have waited for its first phase.
    waited: BTreeSet<u64>,
    /// The least number of barriers of the block that came before one of those waits.
    waited_after: Option<usize>,
    /// Whether a barrier of the block follows one of those waits.
    is_told: bool,
}

/// A thread comes to an access to its block's memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    /// The rank of its block.
    block: u64,
    /// The barriers at which it has waited for the first phase.
    waited: BTreeSet<BarrierAt>,
    /// The number of barriers of the block so far, if it is known.
    meetings: Option<usize>,
}

/// The result: facts of the writes of `store_async`, and of the accesses that count their bytes at barriers.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// The accesses to memory whose owners wait for them before they exit.
    received: BTreeSet<AccessId>,
    /// By write, the barriers at which its bytes are counted, of which nothing is left when they are waited for.
    ends: BTreeMap<AccessId, BTreeSet<BarrierAt>>,
    /// By access to the own block's memory, how threads come to it.
    visits: BTreeMap<AccessId, BTreeSet<Visit>>,
    /// By barrier, the least number of barriers of its block that came before a wait for it.
    waited_after: BTreeMap<BarrierAt, usize>,
    /// The elements to which two threads send in one phase.
    sent_twice: Vec<(Element, [Send; 2])>,
    /// By access to a peer's memory, a barrier at which its block waits for other bytes than come.
    unbalanced: BTreeMap<AccessId, Unbalanced>,
}

/// A barrier of a block that expects another number of bytes in all than is sent there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unbalanced {
    pub(super) shared: Shared,
    pub(super) block: u64,
    pub(super) expected: u64,
    pub(super) sent: u64,
}

/// An element of shared memory to which threads send, with the barrier of its block that counts the bytes.
type Element = (BarrierAt, Shared, Vec<u64>);

/// The access by which a thread sends.
type Send = (AccessId, Id);

impl Receipts {
    /// Whether the block whose memory an access is to waits for it before it exits.
    pub(super) fn has(&self, access: AccessId) -> bool {
        self.received.contains(&access)
    }

    /// The barrier because of which an access is none of these, if all that it lacks is the right number of bytes.
    pub(super) fn unbalanced(&self, access: AccessId) -> Option<Unbalanced> {
        self.unbalanced.get(&access).copied()
    }

    /// Whether all that a peer's `store_async` writes to a block comes before each access of the block here: its thread has waited for all
    /// bytes that are ever sent there, or a barrier of the block comes between another thread's wait and the access.
    pub(super) fn orders(&self, write: AccessId, access: AccessId) -> bool {
        let (Some(ends), Some(visits)) = (self.ends.get(&write), self.visits.get(&access)) else { return false };
        let is_told = |visit: &Visit, at: &BarrierAt| {
            visit.waited.contains(at)
                || visit.meetings.zip(self.waited_after.get(at)).is_some_and(|(meetings, wait)| *wait < meetings)
        };
        visits.iter().all(|visit| ends.iter().filter(|at| at.0 == visit.block).all(|at| is_told(visit, at)))
    }
}

/// `unordered_remote_write`: no two threads send to one element of a peer's memory in one phase of a barrier.
///
/// ```text
/// peer.store_async(i % 16, x, &bar);                      // threads 0 and 16 both send to element 0
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, control: &Control, diags: &mut Diags) {
    if !cfg.accesses.iter().any(|access| access.kind == AccessKind::AsyncWrite) {
        return;
    }
    let receipts = receipts(function, cfg, control);
    let mut reported = BTreeSet::new();
    for (((owner, ..), shared, _), [first, second]) in &receipts.sent_twice {
        if let Some(name) = cfg.name_of(function, *shared)
            && reported.insert(second.0)
        {
            let at = |send: &Send| cfg.accesses[send.0.0].at;
            let who = [first.1, second.1];
            let other = (first.0 != second.0).then(|| at(first));
            diags.push(messages::sent_twice((at(second), other), (&name.to_string(), *owner), who));
        }
    }
}

/// Follows all threads of a cluster, and returns what they do to the barriers on which `store_async` completes.
pub(super) fn receipts(function: &Function, cfg: &Cfg<'_>, control: &Control) -> Receipts {
    let is_remote = |region: &Region| matches!(region.root, Root::Remote(_));
    let comes_from_peers =
        cfg.barrier_calls.iter().any(|call| is_remote(&call.region) && call.method.action != PhaseAction::Wait);
    let (Some(blocks), Some(threads)) =
        (blocks_of_cluster(function), function.options.block.as_ref().and_then(|extents| extents.count()))
    else {
        return Receipts::default();
    };
    if function.role != Role::Kernel || !comes_from_peers || hides_barriers(function, cfg) {
        return Receipts::default();
    }
    let runs = Runs::of(function, cfg, control, threads).in_any_grid();
    let launch = Launch { argument: None, element: None, length: None, agreed: None, data: None, holds: None };
    let mut log = Log {
        function,
        cfg,
        lives: BTreeMap::new(),
        ends: BTreeMap::new(),
        visits: BTreeMap::new(),
        sent: BTreeMap::new(),
        sent_twice: Vec::new(),
        block: 0,
        waited: BTreeSet::new(),
        meetings: Some(0),
        lost: BTreeSet::new(),
        is_lost: false,
    };
    let mut left = STEPS;
    for block in 0..blocks {
        for rank in 0..threads {
            let id = ThreadId { block: Some(block), rank };
            (log.block, log.waited, log.meetings) = (block, BTreeSet::new(), Some(0));
            if runs.run(launch, id, &mut left, &mut log) != Ok(true) || log.is_lost {
                return Receipts::default();
            }
        }
    }
    let Log { lives, mut ends, visits, lost, sent_twice, .. } = log;
    let life = |at: &BarrierAt| lives.get(at).filter(|life| !lost.contains(&at.1) && life.has_one_phase());
    let unbalanced = |at: &BarrierAt| {
        let life = lives.get(at).filter(|life| !lost.contains(&at.1) && life.counts == [life.arrivals])?;
        let Life { expected, sent, .. } = *life;
        let is_wrong = expected != sent && life.is_waited_for(threads);
        is_wrong.then_some(Unbalanced { shared: at.1, block: at.0, expected, sent })
    };
    let unbalanced =
        ends.iter().filter_map(|(access, ends)| Some((*access, ends.iter().find_map(unbalanced)?))).collect();
    ends.retain(|_, ends| ends.iter().all(|at| life(at).is_some()));
    let is_received = |at: &BarrierAt| life(at).is_some_and(|life| life.is_waited_for(threads));
    let received = ends.iter().filter(|(_, ends)| ends.iter().all(is_received)).map(|(access, _)| *access).collect();
    let is_in_one_phase = |(element, _): &(Element, [Send; 2])| life(&element.0).is_some();
    let sent_twice = sent_twice.into_iter().filter(is_in_one_phase).collect();
    let waited_after = lives.iter().filter_map(|(at, life)| Some((*at, life.waited_after?))).collect();
    Receipts { received, ends, visits, waited_after, sent_twice, unbalanced }
}

/// Whether another function or inline CUDA may use a barrier, or the text does not show which one is used.
fn hides_barriers(function: &Function, cfg: &Cfg<'_>) -> bool {
    let is_hidden = |region: &Region| {
        region.via.is_some() || region.root.party().is_none_or(|(_, shared)| !matches!(shared, Shared::Array(_)))
    };
    let barriers: BTreeSet<Shared> =
        cfg.barrier_calls.iter().filter_map(|call| Some(call.region.root.party()?.1)).collect();
    let hides = |kind: AccessKind| matches!(kind, AccessKind::Opaque | AccessKind::Lent | AccessKind::ByClosure);
    let is_of_barrier = |region: &Region| region.root.party().is_some_and(|(_, shared)| barriers.contains(&shared));
    cfg.barrier_calls.iter().any(|call| is_hidden(&call.region))
        || has_closure_of_barriers(function)
        || cfg.calls.iter().any(|call| !call.barriers.is_empty())
        || cfg
            .accesses
            .iter()
            .any(|access| is_of_barrier(&access.region) && (hides(access.kind) || access.given_to.is_some()))
}

/// Whether a closure does something to a barrier, which another function may have it do any number of times.
fn has_closure_of_barriers(function: &Function) -> bool {
    let mut has = false;
    walk_block(&function.body, &mut |expr: &Expr| {
        if let ExprKind::Closure { body, .. } = &expr.kind {
            walk(body, &mut |expr| {
                has |= matches!(expr.kind, ExprKind::Op { op: Op::Barrier(..) | Op::Copy(_), .. });
            });
        }
    });
    has
}

impl Life {
    /// Whether nobody arrives and no byte comes any more after the first phase.
    ///
    /// It ends when all arrivals have come, and so after all that let it expect bytes, and when all of these bytes have come.
    /// Where that is all that is ever done, nothing is left.
    fn has_one_phase(&self) -> bool {
        self.counts == [self.arrivals] && self.expected == self.sent && self.yet_to_arrive.is_empty()
    }

    /// Whether its block waits for the first phase before it exits.
    fn is_waited_for(&self, threads: u64) -> bool {
        self.waited.len() as u64 == threads || self.is_told
    }
}

/// What the threads do, one after another.
struct Log<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    lives: BTreeMap<BarrierAt, Life>,
    /// By access to a peer's memory, the barriers at which it ends.
    ends: BTreeMap<AccessId, BTreeSet<BarrierAt>>,
    visits: BTreeMap<AccessId, BTreeSet<Visit>>,
    /// The first thread that sends to each element.
    sent: BTreeMap<Element, Send>,
    sent_twice: Vec<(Element, [Send; 2])>,
    /// The rank of the block of the thread that is followed.
    block: u64,
    /// The barriers at which this thread has waited for the first phase.
    waited: BTreeSet<BarrierAt>,
    /// The number of barriers of the block to which this thread has come, if it is known.
    meetings: Option<usize>,
    /// The arrays of barriers to which a thread may do what is not known.
    lost: BTreeSet<Shared>,
    is_lost: bool,
}

impl Log<'_, '_> {
    /// The barrier that a region is for a thread.
    fn barrier(&self, thread: &Thread<'_, '_, '_>, region: &Region) -> Option<BarrierAt> {
        let place = thread.place(region)?;
        let (owner, shared) = match place.root {
            Root::Shared(shared) => (thread.id.block?, shared),
            Root::Remote(shared) => (place.owner.filter(|owner| !owner.is_given)?.natural()?, shared),
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
                life.arrivals += 1;
                life.yet_to_arrive.remove(&by);
                true
            }
            PhaseAction::ArriveAndWait if at.0 == block => {
                life.arrivals += 1;
                life.yet_to_arrive.remove(&by);
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
                    }
                    self.lives.entry(at).or_default().sent += bytes;
                    true
                }
                Some(_) | None => false,
            },
            PhaseAction::TryWait => true,
            PhaseAction::Wait
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::ArriveAndWait
            | PhaseAction::Invalidate => false,
        };
        if !is_understood {
            self.lost.insert(shared);
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
        Some((id, place.owner.filter(|owner| !owner.is_given)?.natural()?, bytes))
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
            StepKind::Memory(MemoryStep::Access(id)) => self.visits(id),
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
                StepKind::Memory(MemoryStep::Access(id)) => self.visits(id),
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
