//! Where a thread may have learned what another did, by something that is no barrier of a group: an atomic that acquires, a wait at a phase
//! barrier, a call. What the threads of a warp do together hands on what one of them knows, and nothing where none of them
//! may know anything. A forward may-analysis, of which each barrier of the whole block is a new beginning; or of the cluster, where it is
//! about what threads of other blocks did.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Check;
use super::recorder::{is_together, is_within_warp, waited, waits};
use super::trace::{Met, Point, Time};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{AccessKind, BlockId, Cfg, Covers, GroupStep, MemoryStep, Step, StepKind};
use crate::check::engine::{self, Analysis, Join};
use crate::check::runs::{Launch, Observer, Thread, ThreadId};
use crate::model::atomic::AtomicAccess;
use crate::model::group::Group;

/// The largest number of steps of a lane that is asked whether it learns anything.
const STEPS_OF_LANE: usize = 400;

/// What is known of warps: in a launch, by its argument, its data and the branch that it decides, and by the block and the first thread.
pub(super) type Learners = BTreeMap<(Option<u64>, Option<u64>, Option<(BlockId, bool)>, Option<u64>, u64), Meetings>;

/// By the number of times that the lanes of a warp have done something together: what each of them has learned by itself before, if that is
/// the same. There is nothing behind what is known of some lane.
pub(super) type Meetings = Rc<[Option<Met>]>;

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

/// Finds out what a thread learns in its run.
struct Learner<'a, 'f> {
    learning: &'a Learning<'a, 'f>,
    now: Met,
    met: Vec<Met>,
}

impl Learner<'_, '_> {
    fn learns(&self, step: &Step) -> bool {
        let mut state = Learned(false);
        self.learning.transfer(&mut state, step);
        state.0
    }
}

impl Observer for Learner<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, at: Point, step: &Step) {
        let cfg = self.learning.cfg;
        match &step.kind {
            StepKind::BarrierCall(call) => {
                let call = &cfg.barrier_calls[call.0];
                if waits(call.method.action) && !call.is_ignored {
                    match waited(thread, self.now.waits, call, at) {
                        Some(waits) => self.now.waits = waits,
                        None => self.now.knows_more = true,
                    }
                }
            }
            StepKind::Group(GroupStep::Collective { team, barrier, .. }) if !team.group.is_of_a_warp() => {
                self.now.knows_more &= !barrier;
            }
            StepKind::Group(group) => {
                if is_together(group) {
                    self.met.push(self.now);
                }
                self.now.knows_more |= self.learns(step);
            }
            StepKind::Memory(_) | StepKind::Value(_) | StepKind::Token(_) | StepKind::Copy(_) | StepKind::Call(_) => {
                self.now.knows_more |= self.learns(step)
            }
        }
    }

    fn pass_over(&mut self, _: BlockId, arms: &BlockSet) {
        let mut steps = arms.iter().flat_map(|block| &self.learning.cfg.blocks[block.0].steps);
        self.now.knows_more |= steps.any(|step| self.learns(step));
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
    /// Whether all threads of a warp have learned of others, by themselves, what one of them has, when they do something together for so many
    /// times.
    pub(super) fn has_met_alike(&self, launch: Launch, of: ThreadId, meetings: usize, own: Met) -> bool {
        let (first, block) = (of.rank / 32 * 32, of.block);
        let key = (launch.argument, launch.data, launch.holds, block, first);
        let is_alike = |known: &Meetings| {
            meetings.checked_sub(1).and_then(|number| *known.get(number)?).is_some_and(|met| met == own)
        };
        if let Some(known) = self.learners.borrow().get(&key) {
            return is_alike(known);
        }
        let mut lanes = (first..self.threads.min(first + 32)).map(|rank| {
            let now = Met { waits: Time::default().waits, knows_more: false };
            let mut learner = Learner { learning: self.learning, now, met: Vec::new() };
            let mut left = STEPS_OF_LANE;
            // What is known of a thread that fails is what it has done before.
            let _ = self.runs.run(launch, ThreadId { block, rank }, &mut left, &mut learner);
            learner.met
        });
        let mut all: Vec<Option<Met>> = lanes.next().unwrap_or_default().into_iter().map(Some).collect();
        for lane in lanes {
            all.truncate(lane.len());
            all.iter_mut().zip(lane).for_each(|(met, own)| *met = met.filter(|met| *met == own));
        }
        let known = Meetings::from(all);
        let alike = is_alike(&known);
        self.learners.borrow_mut().insert(key, known);
        alike
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
