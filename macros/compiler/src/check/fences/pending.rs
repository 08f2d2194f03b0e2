//! What a thread may have done since its last arrival, and what it may do between an arrival and its wait: the needs of each
//! barrier of the cluster.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet};

use super::later::Later;
use super::{Effects, Needs, Position, position};
use crate::check::cfg::{AccessId, AccessKind, BlockId, Cfg, GroupStep, MemoryStep, Step, StepKind};
use crate::check::engine::{self, Analysis, Join};
use crate::model::group::Group;

/// The needs of the barriers that control reaches.
pub(super) fn needs(cfg: &Cfg<'_>, places: &BTreeSet<Position>) -> BTreeMap<Position, Needs> {
    let analysis = Pending { cfg, places };
    let states = engine::solve(&analysis, cfg);
    let later = Later::of(cfg);
    let mut found: BTreeMap<Position, Needs> = BTreeMap::new();
    for (index, (block, state)) in cfg.blocks.iter().zip(states).enumerate() {
        let Some(mut state) = state else { continue };
        for (number, step) in block.steps.iter().enumerate() {
            if let Some(operation) = analysis.operation(step) {
                let needs = found.entry(position(step.at)).or_default();
                if operation != Operation::Wait {
                    needs.before.join(&state.pending);
                    needs.after.join(&later.after(cfg, BlockId(index), number));
                }
                needs.is_whole |= operation == Operation::Sync;
            }
            if may_signal(cfg, step) {
                for open in &state.open {
                    found.entry(*open).or_default().between.add_step(cfg, step);
                }
            }
            analysis.transfer(&mut state, step);
        }
    }
    found
}

/// Whether another thread may learn by the step that this one has come so far.
fn may_signal(cfg: &Cfg<'_>, step: &Step) -> bool {
    match &step.kind {
        StepKind::Memory(MemoryStep::Access(AccessId(access))) => match cfg.accesses[*access].kind {
            AccessKind::Read | AccessKind::Write => false,
            AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::Lent
            | AccessKind::AsyncWrite
            | AccessKind::Opaque
            | AccessKind::ByClosure => true,
        },
        StepKind::BarrierCall(_) | StepKind::Copy(_) | StepKind::Call(_) => true,
        StepKind::Memory(MemoryStep::Fence) | StepKind::Value(_) | StepKind::Group(_) | StepKind::Token(_) => false,
    }
}

/// What a step does at the cluster's barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Sync,
    Arrive {
        /// Whether it orders what precedes it.
        releases: bool,
    },
    Wait,
}

struct Pending<'a, 'f> {
    cfg: &'a Cfg<'f>,
    places: &'a BTreeSet<Position>,
}

/// What no arrival has ordered yet.
#[derive(Debug, Clone, Default)]
struct State {
    /// The effects since the last arrival.
    pending: Effects,
    /// The arrivals that the thread has not waited for.
    open: BTreeSet<Position>,
}

impl Join for State {
    // bottom = not reached; join = union
    fn join(&mut self, other: &Self) -> bool {
        let before = self.open.len();
        self.open.extend(&other.open);
        self.pending.join(&other.pending) || self.open.len() != before
    }
}

impl Pending<'_, '_> {
    fn operation(&self, step: &Step) -> Option<Operation> {
        if !self.places.contains(&position(step.at)) {
            return None;
        }
        let StepKind::Group(step) = &step.kind else { return None };
        match step {
            GroupStep::Collective { team, barrier: true, .. } if team.group == Group::Cluster => Some(Operation::Sync),
            GroupStep::Arrive { group: Group::Cluster, method, .. } => {
                Some(Operation::Arrive { releases: !method.relaxed })
            }
            // No barrier of the cluster follows, whose arrival would depend on what this one ordered.
            GroupStep::ArriveForgotten { group: Group::Cluster, .. } => Some(Operation::Arrive { releases: false }),
            GroupStep::Wait { group: Group::Cluster, .. } | GroupStep::WaitElected { group: Group::Cluster, .. } => {
                Some(Operation::Wait)
            }
            GroupStep::Collective { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::Wait { .. }
            | GroupStep::WaitElected { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_) => None,
        }
    }
}

impl Analysis for Pending<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State::default()
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match self.operation(step) {
            Some(Operation::Sync) => state.pending.clear(),
            Some(Operation::Arrive { releases }) => {
                if releases {
                    state.pending.clear();
                }
                state.open.insert(position(step.at));
            }
            Some(Operation::Wait) => state.open.clear(),
            None => {
                state.pending.add_step(self.cfg, step);
            }
        }
    }

    fn edge(&self, _: &mut State, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}
