//! What one thread does, with the barriers that it has passed before each access.

use std::collections::BTreeSet;

use super::Check;
use super::copies::Flights;
use super::elements::is_followed;
use super::trace::{Made, Met, Point, Somewhere, Stored, Time, Trace, Transfer, Use, Within};
use super::transfers;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    Access, AccessId, AccessKind, BarrierCall, BlockId, Covers, Granule, GroupStep, MemoryStep, Select, Step, StepKind,
    Team, TokenStep, ValueStep,
};
use crate::check::runs::{Launch, Observer, Thread, ThreadId};
use crate::diag::Diag;
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::group::Group;
use crate::span::SpanRange;

/// What is taken of the thread, and of no other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Assumed<'a> {
    Nothing,
    /// It enters an arm of a branch on data; these are the blocks on the arms.
    Arms(&'a BlockSet),
    /// Its data are known.
    Data,
}

pub(super) struct Recorder<'a, 'f> {
    check: &'a Check<'a, 'f>,
    launch: Launch,
    trace: Trace,
    time: Time,
    flights: Flights,
    /// Whether a thread may learn of another by something that is no barrier of a group.
    has_signals: bool,
    assumed: Assumed<'a>,
    /// The number of accesses of which the thread may tell another by something that is no barrier of a group, and of those at an index that is
    /// not known, in an array and in a part of one.
    told: [usize; 3],
    found: Vec<Diag>,
}

impl<'a, 'f> Recorder<'a, 'f> {
    pub(super) fn new(check: &'a Check<'a, 'f>, launch: Launch, id: ThreadId, assumed: Assumed<'a>) -> Self {
        Recorder {
            check,
            launch,
            trace: Trace {
                id,
                made: Vec::new(),
                somewhere: Vec::new(),
                within: Vec::new(),
                barriers: Vec::new(),
                with_warp: vec![Time::default().with_warp],
                relaxed: Vec::new(),
                transfers: Vec::new(),
                passed: BTreeSet::new(),
                has_given: false,
                is_assumed: !matches!(assumed, Assumed::Nothing),
            },
            time: Time::default(),
            flights: Flights::default(),
            has_signals: check.has_signals(),
            assumed,
            told: [0; 3],
            found: Vec::new(),
        }
    }

    /// Returns what the thread does, and the faults that are its own. Of what a thread has done that is not followed to its `end`, it may tell
    /// another later.
    pub(super) fn end(mut self, ends: bool) -> (Trace, Vec<Diag>) {
        if !ends {
            self.tell();
        } else if !self.trace.is_assumed {
            self.found.extend(self.flights.left(self.launch.argument.filter(|_| self.check.runs.has_integers)));
        }
        let [made, somewhere, within] = self.told;
        let told = self.trace.made[..made].iter_mut();
        let told = told.chain(self.trace.somewhere[..somewhere].iter_mut().map(|somewhere| &mut somewhere.made));
        let told = told.chain(self.trace.within[..within].iter_mut().map(|within| &mut within.made));
        told.for_each(|made| made.may_be_told = true);
        (self.trace, self.found)
    }

    fn access(&mut self, thread: &Thread<'_, '_, '_>, id: AccessId, at: Point) {
        let is_assumed = match self.assumed {
            Assumed::Nothing => false,
            Assumed::Arms(arms) => arms.contains(at.0),
            Assumed::Data => true,
        };
        let access = &self.check.cfg.accesses[id.0];
        if self.check.orders && access.atomic.is_some() {
            self.tell();
        }
        match access.kind {
            AccessKind::Opaque if access.covers == Covers::Receiver => {}
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => self.signal(),
            AccessKind::Read | AccessKind::Write | AccessKind::AtomicRead | AccessKind::Atomic => {}
            AccessKind::AsyncWrite => {
                transfers::send(self.check, thread, access, self.time, &mut self.trace.transfers);
            }
        }
        if !is_followed(access) {
            return;
        }
        let writes = access.kind.changes();
        if let Covers::Matrix { row, column } = access.covers {
            let part = self.check.elements.matrix(thread, &access.region, [row, column]);
            let fault = part.as_ref().and_then(|part| self.flights.matrix(self.check, part, access.at, writes));
            self.found.extend(fault);
            self.trace.transfers.extend(part.map(|part| Transfer::of_warp(part, writes, self.time, access.at)));
            return;
        }
        let by = match (access.atomic.is_some(), writes) {
            (false, false) => Use::Read,
            (false, true) => Use::Write,
            (true, false) => Use::AtomicRead,
            (true, true) => Use::AtomicWrite,
        };
        let stored = access.stored.and_then(|stored| match thread.known(stored) {
            Some(number) => Some(Stored::Number(number.value)),
            None => thread.signature(stored).map(Stored::Hash),
        });
        let (time, may_be_told) = (self.time, false);
        let may_know_peers = self.check.questions.writes_peers && self.check.of_peers.before(at);
        let inside = match access.covers {
            Covers::Item { index, .. } => {
                let index = index.and_then(|index| thread.known(index));
                index.filter(|index| !index.is_given || self.check.accepts_given).and_then(|index| index.natural())
            }
            Covers::Whole | Covers::Field(_) | Covers::Receiver | Covers::Vector { .. } | Covers::Matrix { .. } => None,
        };
        let made = |element, is_remote| {
            let access = id;
            Made { element, inside, by, is_remote, time, access, may_be_told, is_assumed, stored, may_know_peers }
        };
        let Some((elements, is_remote)) = self.check.elements.elements(thread, id, self.check.accepts_given) else {
            if !self.trace.has_given {
                let indexes = access.region.path.iter().flat_map(Select::nodes).chain(access.region.rank);
                let mut known = indexes.filter_map(|index| thread.known(index));
                self.trace.has_given = known.any(|index| index.is_given);
            }
            if let Some((array, is_shared)) = self.check.somewhere(thread, access, at.0) {
                self.trace.somewhere.push(Somewhere { made: made(array, false), is_shared });
            }
            // One of several that come one after the other is enough.
            let is_last = |last: &Within| (last.made.access, last.made.time) == (id, time);
            if self.check.follows_copies() && !self.trace.within.last().is_some_and(is_last) {
                let place = thread.place(&access.region);
                let part = place.and_then(|place| self.check.elements.part_around(thread, place));
                let within = part.map(|part| {
                    let array = (part.owner, part.shared, Default::default());
                    Within { made: made(array, false), part }
                });
                self.trace.within.extend(within);
            }
            return;
        };
        // A rank that the host passes may be any.
        for element in elements.all().iter().filter(|(owner, ..)| *owner < self.check.blocks) {
            let of_block = self.flights.access(self.check, element, access.at, writes);
            let own = || transfers::access(self.check, &self.trace.transfers, element, time, (access.at, writes));
            self.found.extend(of_block.or_else(own));
            self.trace.made.push(made(*element, is_remote));
        }
        // Whoever finds what an atomic has stored knows of it.
        if self.check.orders && access.atomic.is_some() {
            self.tell();
        }
    }

    /// Which copies are in flight is unknown.
    fn forget_copies(&mut self) {
        self.flights.forget();
        transfers::end_all(&mut self.trace.transfers, self.time);
    }

    /// The thread may tell another of what it has done.
    fn tell(&mut self) {
        self.told = [self.trace.made.len(), self.trace.somewhere.len(), self.trace.within.len()];
    }

    /// The thread may tell another of what it has done, and learn what another has.
    fn signal(&mut self) {
        self.tell();
        (self.time.may_know, self.time.knows_more) = (true, true);
    }

    /// A wait at a phase barrier.
    fn wait(&mut self, thread: &Thread<'_, '_, '_>, call: &BarrierCall, at: Point) {
        self.time.may_know = true;
        match waited(thread, self.time.waits, call, at) {
            Some(waits) => self.time.waits = waits,
            None => self.time.knows_more = true,
        }
    }

    /// A barrier of a group, at which the thread arrives, or for which it waits, or both. `relaxed` is where it arrives without ordering
    /// memory.
    fn barrier(&mut self, group: Group, at: Point, (arrives, waits): (bool, bool), relaxed: Option<SpanRange>) {
        let index = match group {
            Group::ThreadBlock => 0,
            Group::Cluster => 1,
            Group::Grid => 2,
            Group::Tile | Group::Coalesced => return,
        };
        let phases = &mut self.time.phases[index];
        let relaxed = relaxed.filter(|_| !self.time.is_fenced);
        self.trace.relaxed.extend(relaxed.map(|at| (phases.arrivals, at)));
        phases.arrivals += u32::from(arrives);
        if arrives && relaxed.is_none() {
            phases.releases = phases.arrivals;
        }
        // An arrival is waited for before the next one.
        if waits {
            phases.waits = phases.releases;
        }
        self.time.is_fenced &= !arrives;
        self.trace.barriers.push(at);
        self.time.barriers = self.trace.barriers.len();
        if arrives && waits {
            self.time.may_know = self.time.is_lost;
            self.time.knows_more = self.time.is_lost;
        }
    }

    fn together(&mut self, at: Point) {
        self.time.with_warp = combined(self.time.with_warp, at);
        self.time.meetings += 1;
        self.trace.with_warp.push(self.time.with_warp);
        if self.has_signals {
            self.tell();
            // What its lanes have waited for as the thread has tells it nothing.
            let own = Met { waits: self.time.waits, knows_more: false };
            let learns = || !self.check.has_met_alike(self.launch, self.trace.id, self.time.meetings, own);
            if self.check.learning.before(at) && learns() {
                (self.time.may_know, self.time.knows_more) = (true, true);
            }
        }
    }

    fn group(&mut self, step: &GroupStep, at: Point, span: SpanRange) {
        match step {
            GroupStep::Collective { team, barrier, .. } if !team.group.is_of_a_warp() => {
                if *barrier {
                    self.barrier(team.group, at, (true, true), None);
                }
            }
            // No thread waits for another to begin its part of a copy.
            GroupStep::Collective { name: "memcpy_async", .. } => {}
            // The warps of a warpgroup multiply together, and none waits for another.
            GroupStep::Collective { name: "mma_async" | "wait_mma", .. } => self.together(at),
            GroupStep::Collective { team, .. } => {
                self.together(at);
                if !is_within_warp(team) {
                    self.signal();
                }
            }
            GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_) => self.together(at),
            GroupStep::Arrive { group, method, .. } => {
                self.barrier(*group, at, (true, false), method.relaxed.then_some(span));
            }
            GroupStep::Wait { group, .. } => self.barrier(*group, at, (false, true), None),
            GroupStep::ArriveForgotten { .. } | GroupStep::WaitElected { .. } => self.signal(),
        }
    }
}

impl Observer for Recorder<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, at: Point, step: &Step) {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => self.access(thread, *id, at),
            StepKind::Value(ValueStep::Evaluate(node)) => {
                if self.check.questions.ranks.contains(*node)
                    && let Some(rank) = thread.known(*node).filter(|rank| !rank.is_given)
                    && rank.natural().is_none_or(|rank| rank >= self.check.blocks)
                {
                    let (at, block) = (self.check.cfg.nodes[node.0].at, thread.id.block.unwrap_or(0));
                    self.found.push(messages::rank_of_block_out_of_range(at, rank.natural(), self.check.blocks, block));
                }
            }
            StepKind::Group(group) => self.group(group, at, step.at),
            StepKind::BarrierCall(call) => {
                self.tell();
                let call = &self.check.cfg.barrier_calls[call.0];
                if waits(call.method.action) && !call.is_ignored {
                    self.wait(thread, call, at);
                }
            }
            StepKind::Copy(id) => {
                let step = &self.check.cfg.copies[id.0];
                let found = self.flights.copy(self.check, thread, step, &self.trace.made, self.time);
                self.found.extend(found);
                let found = transfers::step(self.check, thread, step, self.time, &mut self.trace.transfers);
                self.found.extend(found);
            }
            StepKind::Call(call) if self.check.cfg.calls[call.0].is_of_values() => {}
            StepKind::Call(call) => {
                let call = &self.check.cfg.calls[call.0];
                // The function arrives for its caller, or waits.
                self.time.is_lost |= call.returned_token.is_some() || !call.given_tokens.is_empty();
                self.signal();
                self.forget_copies();
            }
            StepKind::Memory(MemoryStep::Fence) => self.time.is_fenced = true,
            StepKind::Value(_)
            | StepKind::Memory(MemoryStep::WaitPrevious)
            | StepKind::Token(
                TokenStep::Move { .. }
                | TokenStep::HandOver { .. }
                | TokenStep::Forget { .. }
                | TokenStep::Clear { .. }
                | TokenStep::Drop { .. },
            ) => {}
        }
    }

    fn iterates(&mut self) -> bool {
        // What ends the loop may have told the thread of another.
        if self.check.orders {
            self.signal();
        }
        true
    }

    fn shortens(&self) -> bool {
        true
    }

    fn sees_values(&self) -> bool {
        false
    }

    fn pass_over(&mut self, branch: BlockId, blocks: &BlockSet) {
        self.trace.passed.insert(branch);
        for block in blocks.iter() {
            for step in &self.check.cfg.blocks[block.0].steps {
                match &step.kind {
                    StepKind::Memory(MemoryStep::Access(id)) => {
                        let access = &self.check.cfg.accesses[id.0];
                        if access.atomic.is_some() && self.check.orders {
                            self.tell();
                        }
                        if self.check.learning.learns_by(access.atomic)
                            || access.atomic.is_none() && !is_followed(access) && access.covers != Covers::Receiver
                        {
                            self.signal();
                        }
                    }
                    StepKind::Group(
                        GroupStep::Collective { .. }
                        | GroupStep::Convergent { .. }
                        | GroupStep::Aligned { .. }
                        | GroupStep::FormGroup(_),
                    ) => self.signal(),
                    // How many arrivals it has waited for is unknown from here on.
                    StepKind::Group(
                        GroupStep::Arrive { .. }
                        | GroupStep::Wait { .. }
                        | GroupStep::ArriveForgotten { .. }
                        | GroupStep::WaitElected { .. },
                    ) => {
                        self.signal();
                        self.time.is_lost = true;
                    }
                    StepKind::BarrierCall(call) if self.check.cfg.barrier_calls[call.0].is_ignored => {}
                    StepKind::BarrierCall(_) => self.signal(),
                    StepKind::Call(call) if self.check.cfg.calls[call.0].is_of_values() => {}
                    StepKind::Copy(_) | StepKind::Call(_) => {
                        self.signal();
                        self.forget_copies();
                    }
                    StepKind::Value(_)
                    | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                    | StepKind::Token(_) => {}
                }
            }
        }
    }
}

/// Whether the group has threads of one warp alone: a tile may have several.
pub(super) fn is_within_warp(team: &Team) -> bool {
    team.tile.is_none_or(|tile| matches!(tile.size, Granule::Number(size) if size <= 32))
}

/// Whether a step is one that the threads of a warp take together, each waiting for the others.
pub(super) fn is_together(step: &GroupStep) -> bool {
    match step {
        GroupStep::Collective { team, name, .. } => team.group.is_of_a_warp() && *name != "memcpy_async",
        GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_) => true,
        GroupStep::Arrive { .. }
        | GroupStep::Wait { .. }
        | GroupStep::ArriveForgotten { .. }
        | GroupStep::WaitElected { .. } => false,
    }
}

/// Whether a thread may learn by it what others did.
pub(super) fn waits(action: PhaseAction) -> bool {
    match action {
        PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => true,
        PhaseAction::Init
        | PhaseAction::InitCollective
        | PhaseAction::Arrive
        | PhaseAction::ArriveN
        | PhaseAction::ArriveAndDrop
        | PhaseAction::ExpectTx
        | PhaseAction::Copy
        | PhaseAction::Invalidate => false,
    }
}

/// Returns a hash of the waits so far and of one more, if it is known at which barrier it is and for which phase.
pub(super) fn waited(thread: &Thread<'_, '_, '_>, before: u64, call: &BarrierCall, at: Point) -> Option<u64> {
    let place = thread.place(&call.region).filter(|place| !place.part);
    let numbers = place.and_then(|place| {
        let indexes = place.ranges.into_iter().map(|range| range.map(|(start, _)| start.value));
        // A token is of the thread's own arrival.
        let parity = match call.method.action {
            PhaseAction::WaitParity => call.operands.first().map(|parity| thread.known(*parity).map(|is| is.value)),
            PhaseAction::TryWait => Some(None),
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate
            | PhaseAction::Wait
            | PhaseAction::ArriveAndWait => None,
        };
        indexes.chain(parity).collect::<Option<Vec<i64>>>()
    });
    let numbers = numbers?.into_iter().map(|number| number.unsigned_abs());
    Some(numbers.fold(combined(before, at), hashed))
}

/// A hash of what came before and of a step (FNV).
fn combined(before: u64, (block, step): Point) -> u64 {
    [block.0 as u64, step as u64].into_iter().fold(before, hashed)
}

fn hashed(before: u64, part: u64) -> u64 {
    (before ^ part ^ 1 << 40).wrapping_mul(0x0100_0000_01b3)
}

impl Check<'_, '_> {
    /// Whether a thread may learn what another did by something that is no barrier of a group: a phase barrier, an atomic, a call.
    pub(super) fn has_signals(&self) -> bool {
        let is_signal = |access: &Access| match access.kind {
            AccessKind::Opaque if access.covers == Covers::Receiver => false,
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => true,
            AccessKind::Read
            | AccessKind::Write
            | AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::AsyncWrite => self.orders && access.atomic.is_some(),
        };
        self.cfg.barrier_calls.iter().any(|call| waits(call.method.action))
            || self.cfg.calls.iter().any(|call| !call.is_of_values())
            || self.cfg.accesses.iter().any(is_signal)
    }
}
