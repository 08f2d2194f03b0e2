//! What one thread does, with the barriers that it has passed before each access.

use super::Check;
use super::copies::Flights;
use super::elements::is_followed;
use super::trace::{Made, Point, Time, Trace, Use};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    Access, AccessId, AccessKind, Granule, GroupStep, MemoryStep, Step, StepKind, TokenStep, ValueStep,
};
use crate::check::runs::{Observer, Thread, ThreadId};
use crate::diag::Diag;
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::model::group::Group;

pub(super) struct Recorder<'a, 'f> {
    check: &'a Check<'a, 'f>,
    trace: Trace,
    time: Time,
    flights: Flights,
    /// Whether a thread may learn of another by something that is no barrier of a group.
    has_signals: bool,
    /// Whether the thread has passed over a part of a split barrier.
    is_lost: bool,
    found: Vec<Diag>,
}

impl<'a, 'f> Recorder<'a, 'f> {
    pub(super) fn new(check: &'a Check<'a, 'f>, id: ThreadId) -> Self {
        Recorder {
            check,
            trace: Trace { id, made: Vec::new(), barriers: Vec::new() },
            time: Time::default(),
            flights: Flights::default(),
            has_signals: check.has_signals(),
            is_lost: false,
            found: Vec::new(),
        }
    }

    /// Returns what the thread does, and the faults that are its own.
    pub(super) fn end(self) -> (Trace, Vec<Diag>) {
        (self.trace, self.found)
    }

    fn access(&mut self, thread: &Thread<'_, '_, '_>, id: AccessId) {
        let access = &self.check.cfg.accesses[id.0];
        match access.kind {
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => self.time.may_know = true,
            AccessKind::Read
            | AccessKind::Write
            | AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::AsyncWrite => {}
        }
        if !is_followed(access) {
            return;
        }
        let Some((element, is_remote)) = self.check.elements.element(thread, &access.region) else { return };
        let writes = access.kind.changes();
        let by = match (access.atomic.is_some(), writes) {
            (false, false) => Use::Read,
            (false, true) => Use::Write,
            (true, false) => Use::AtomicRead,
            (true, true) => Use::AtomicWrite,
        };
        self.found.extend(self.flights.access(self.check, &element, access.at, writes));
        self.trace.made.push(Made { element, by, is_remote, time: self.time, access: id });
    }

    /// A barrier of a group, at which the thread arrives, or for which it waits, or both.
    fn barrier(&mut self, group: Group, at: Point, (arrives, waits): (bool, bool)) {
        let index = match group {
            Group::ThreadBlock => 0,
            Group::Cluster => 1,
            Group::Grid => 2,
            Group::Tile | Group::Coalesced => return,
        };
        let phases = &mut self.time.phases[index];
        phases.arrivals += u32::from(arrives);
        phases.waits += u32::from(waits);
        self.trace.barriers.push(at);
        self.time.barriers = self.trace.barriers.len();
        if arrives && waits {
            self.time.may_know = self.is_lost;
        }
    }

    fn together(&mut self, at: Point) {
        self.time.with_warp = combined(self.time.with_warp, at);
        self.time.may_know |= self.has_signals;
    }

    fn group(&mut self, step: &GroupStep, at: Point) {
        match step {
            GroupStep::Collective { team, barrier, .. } if !team.group.is_of_a_warp() => {
                if *barrier {
                    self.barrier(team.group, at, (true, true));
                }
            }
            GroupStep::Collective { team, .. } => {
                // A tile may have several warps.
                let is_of_warp = team.tile.is_none_or(|tile| matches!(tile.size, Granule::Number(size) if size <= 32));
                self.together(at);
                self.time.may_know |= !is_of_warp;
            }
            GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_) => self.together(at),
            GroupStep::Arrive { group, .. } => self.barrier(*group, at, (true, false)),
            GroupStep::Wait { group, .. } => self.barrier(*group, at, (false, true)),
            GroupStep::ArriveForgotten { .. } | GroupStep::WaitElected { .. } => self.time.may_know = true,
        }
    }
}

impl Observer for Recorder<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, at: Point, step: &Step) {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => self.access(thread, *id),
            StepKind::Value(ValueStep::Evaluate(node)) if self.check.questions.ranks.contains(node) => {
                if let Some(rank) = thread.known(*node).filter(|rank| !rank.is_given)
                    && rank.natural().is_none_or(|rank| rank >= self.check.blocks)
                {
                    let (at, block) = (self.check.cfg.nodes[node.0].at, thread.id.block.unwrap_or(0));
                    self.found.push(messages::rank_of_block_out_of_range(at, rank.natural(), self.check.blocks, block));
                }
            }
            StepKind::Group(step) => self.group(step, at),
            StepKind::BarrierCall(call) => {
                self.time.may_know |= waits(self.check.cfg.barrier_calls[call.0].method.action);
            }
            StepKind::Copy(id) => {
                let step = &self.check.cfg.copies[id.0];
                let found = self.flights.copy(self.check, thread, step, &self.trace.made, self.time);
                self.found.extend(found);
            }
            StepKind::Call(call) => {
                let call = &self.check.cfg.calls[call.0];
                // The function arrives for its caller, or waits.
                self.is_lost |= call.returned_token.is_some() || !call.given_tokens.is_empty();
                self.time.may_know = true;
                self.flights.forget();
            }
            StepKind::Value(_)
            | StepKind::Memory(MemoryStep::Fence)
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
        self.time.may_know |= self.check.orders;
        true
    }

    fn pass_over(&mut self, blocks: &BlockSet) {
        for block in blocks.iter() {
            for step in &self.check.cfg.blocks[block.0].steps {
                match &step.kind {
                    StepKind::Memory(MemoryStep::Access(id)) => {
                        let access = &self.check.cfg.accesses[id.0];
                        self.time.may_know |= match access.atomic {
                            Some(_) => self.check.orders,
                            None => !is_followed(access),
                        };
                    }
                    StepKind::Group(
                        GroupStep::Collective { .. }
                        | GroupStep::Convergent { .. }
                        | GroupStep::Aligned { .. }
                        | GroupStep::FormGroup(_),
                    ) => {
                        self.time.may_know = true;
                    }
                    // How many arrivals it has waited for is unknown from here on.
                    StepKind::Group(
                        GroupStep::Arrive { .. }
                        | GroupStep::Wait { .. }
                        | GroupStep::ArriveForgotten { .. }
                        | GroupStep::WaitElected { .. },
                    ) => (self.time.may_know, self.is_lost) = (true, true),
                    StepKind::BarrierCall(_) => self.time.may_know = true,
                    StepKind::Copy(_) | StepKind::Call(_) => {
                        self.time.may_know = true;
                        self.flights.forget();
                    }
                    StepKind::Value(_) | StepKind::Memory(MemoryStep::Fence) | StepKind::Token(_) => {}
                }
            }
        }
    }
}

/// Whether a thread may learn by it what others did.
fn waits(action: PhaseAction) -> bool {
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

/// A hash of what came before and of a step (FNV).
fn combined(before: u64, (block, step): Point) -> u64 {
    [block.0, step].into_iter().fold(before, |hash, part| (hash ^ part as u64 ^ 1 << 40).wrapping_mul(0x0100_0000_01b3))
}

impl Check<'_, '_> {
    /// Whether a thread may learn what another did by something that is no barrier of a group: a phase barrier, an atomic, a call.
    pub(super) fn has_signals(&self) -> bool {
        let is_signal = |access: &Access| match access.kind {
            AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => true,
            AccessKind::Read
            | AccessKind::Write
            | AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::AsyncWrite => self.orders && access.atomic.is_some(),
        };
        self.cfg.barrier_calls.iter().any(|call| waits(call.method.action))
            || !self.cfg.calls.is_empty()
            || self.cfg.accesses.iter().any(is_signal)
    }
}
