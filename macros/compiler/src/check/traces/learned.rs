//! Where a thread may have learned what another did, by something that is no barrier of a group: an atomic that acquires, a wait at a phase
//! barrier, a call. What the threads of a warp do together hands on what one of them knows, and nothing where none of them
//! may know anything. A forward may-analysis, of which each barrier of the whole block is a new beginning; or of the cluster, where it is
//! about what threads of other blocks did.

use std::collections::BTreeMap;

use super::Check;
use super::recorder::{is_within_warp, waits};
use super::trace::Point;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{AccessKind, BlockId, Cfg, Covers, GroupStep, MemoryStep, Step, StepKind};
use crate::check::engine::{self, Analysis, Join};
use crate::check::runs::{Launch, Observer, Thread, ThreadId};
use crate::model::atomic::AtomicAccess;
use crate::model::group::Group;

/// The largest number of steps of a lane that is asked whether it learns anything.
const STEPS_OF_LANE: usize = 400;

/// What is known of warps: in a launch, by its argument, its data and the branch that it decides, and by the block and the first thread.
pub(super) type Learners = BTreeMap<(Option<u64>, Option<u64>, Option<(BlockId, bool)>, Option<u64>, u64), bool>;

/// Whether some thread may have learned something since the last barrier of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Learned(bool);

impl Join for Learned {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0;
        self.0 |= other.0;
        self.0 != before
    }
}

/// The analysis.
pub(super) struct Learning<'a, 'f> {
    cfg: &'a Cfg<'f>,
    /// Whether atomics may acquire.
    atomics: bool,
    /// The smallest group whose barriers are a new beginning, if any are.
    anew_at: Option<Group>,
    before: Vec<Option<Learned>>,
}

impl<'a, 'f> Learning<'a, 'f> {
    /// What a thread may learn of those of its block.
    pub(super) fn of_block(cfg: &'a Cfg<'f>, atomics: bool) -> Learning<'a, 'f> {
        Learning::solve(Learning { cfg, atomics, anew_at: Some(Group::ThreadBlock), before: Vec::new() })
    }

    /// What a thread may learn of those of other blocks.
    pub(super) fn of_peers(cfg: &'a Cfg<'f>, atomics: bool) -> Learning<'a, 'f> {
        // Between the two halves of a barrier a thread learns of what comes after it for another.
        let is_half = |step: &Step| {
            let (StepKind::Group(GroupStep::Arrive { group, .. }) | StepKind::Group(GroupStep::Wait { group, .. })) =
                step.kind
            else {
                return false;
            };
            group >= Group::Cluster
        };
        let has_halves = cfg.blocks.iter().flat_map(|block| &block.steps).any(is_half);
        let anew_at = (!has_halves).then_some(Group::Cluster);
        Learning::solve(Learning { cfg, atomics, anew_at, before: Vec::new() })
    }

    fn solve(mut learning: Learning<'a, 'f>) -> Learning<'a, 'f> {
        learning.before = engine::solve(&learning, learning.cfg);
        learning
    }

    /// Whether a thread that comes to a step may have learned something before it.
    pub(super) fn before(&self, (block, number): (BlockId, usize)) -> bool {
        let Some(mut state) = self.before[block.0] else { return false };
        self.cfg.blocks[block.0].steps[..number].iter().for_each(|step| self.transfer(&mut state, step));
        state.0
    }

    /// Whether a thread may learn something by an atomic.
    pub(super) fn learns_by(&self, atomic: Option<AtomicAccess>) -> bool {
        self.atomics
            && match atomic {
                Some(AtomicAccess::Load | AtomicAccess::Exchange | AtomicAccess::Update) => true,
                Some(AtomicAccess::Store) | None => false,
            }
    }
}

/// Finds out whether a thread learns anything in its run.
struct Learner<'a, 'f> {
    learning: &'a Learning<'a, 'f>,
    learns: bool,
}

impl Learner<'_, '_> {
    fn see(&mut self, step: &Step) {
        let mut state = Learned(false);
        self.learning.transfer(&mut state, step);
        self.learns |= state.0;
    }
}

impl Observer for Learner<'_, '_> {
    fn step(&mut self, _: &Thread<'_, '_, '_>, _: Point, step: &Step) {
        self.see(step);
    }

    fn pass_over(&mut self, _: BlockId, arms: &BlockSet) {
        for block in arms.iter() {
            self.learning.cfg.blocks[block.0].steps.iter().for_each(|step| self.see(step));
        }
    }

    fn iterates(&mut self) -> bool {
        true
    }

    fn shortens(&self) -> bool {
        true
    }

    fn sees_values(&self) -> bool {
        true
    }
}

impl Check<'_, '_> {
    /// Whether some thread of a warp may learn anything of others by itself: the ranks may decide that none does.
    pub(super) fn warp_learns(&self, launch: Launch, of: ThreadId) -> bool {
        let (first, block) = (of.rank / 32 * 32, of.block);
        let key = (launch.argument, launch.data, launch.holds, block, first);
        if let Some(known) = self.learners.borrow().get(&key) {
            return *known;
        }
        let learns = (first..self.threads.min(first + 32)).any(|rank| {
            let mut learner = Learner { learning: self.learning, learns: false };
            let mut left = STEPS_OF_LANE;
            let ends = self.runs.run(launch, ThreadId { block, rank }, &mut left, &mut learner);
            learner.learns || !ends.unwrap_or(false)
        });
        self.learners.borrow_mut().insert(key, learns);
        learns
    }
}

impl Analysis for Learning<'_, '_> {
    type State = Learned;

    fn entry(&self) -> Learned {
        Learned(false)
    }

    fn transfer(&self, state: &mut Learned, step: &Step) {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                let access = &self.cfg.accesses[id.0];
                state.0 |= match access.kind {
                    AccessKind::Opaque if access.covers == Covers::Receiver => false,
                    AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => true,
                    AccessKind::Read
                    | AccessKind::Write
                    | AccessKind::AtomicRead
                    | AccessKind::Atomic
                    | AccessKind::AsyncWrite => self.learns_by(access.atomic),
                };
            }
            StepKind::BarrierCall(call) => state.0 |= waits(self.cfg.barrier_calls[call.0].method.action),
            StepKind::Call(call) => state.0 |= !self.cfg.calls[call.0].is_of_values(),
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if !team.group.is_of_a_warp() => {
                state.0 &= self.anew_at.is_none_or(|smallest| team.group < smallest);
            }
            StepKind::Group(GroupStep::Collective { team, .. }) if !is_within_warp(team) => state.0 = true,
            StepKind::Group(GroupStep::ArriveForgotten { .. } | GroupStep::WaitElected { .. }) => state.0 = true,
            StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::Wait { .. },
            )
            | StepKind::Value(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Token(_)
            | StepKind::Copy(_) => {}
        }
    }

    fn edge(&self, _: &mut Learned, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}
