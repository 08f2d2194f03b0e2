//! What a thread may have done since its last arrival, and what it may do between an arrival and its wait: the needs of each
//! barrier of the cluster. And what a function's callees and callers must know: what is pending at its calls, and where it ends.

use std::collections::{BTreeMap, BTreeSet};

use super::effects::{EffectSet, StepEffects};
use super::later::Later;
use super::{CallNeeds, Needs, Position, position};
use crate::check::cfg::{AccessId, AccessKind, BlockId, CallId, Cfg, End, GroupStep, MemoryStep, Step, StepKind};
use crate::check::engine::{self, Analysis, Join};
use crate::model::group::Group;

/// The results of the analysis.
pub(super) struct Reached {
    /// The needs of the barriers that control reaches.
    pub(super) barriers: BTreeMap<Position, Needs>,
    /// The effects around each call of a function that may have barriers.
    pub(super) calls: Vec<CallNeeds>,
    /// The effects that no arrival has ordered where the function ends.
    pub(super) left: EffectSet,
}

pub(super) fn needs(cfg: &Cfg<'_>, effects: &StepEffects, places: &BTreeSet<Position>) -> Reached {
    let analysis = Pending { effects, places };
    let states = engine::solve(&analysis, cfg);
    let later = Later::of(cfg, effects);
    let mut found: BTreeMap<Position, Found> = BTreeMap::new();
    let new = || Found {
        before: effects.none(),
        between: effects.none(),
        after: effects.none(),
        is_whole: false,
        follows_entry: false,
    };
    let (mut calls, mut left) = (Vec::new(), effects.none());
    for (index, (block, state)) in cfg.blocks.iter().zip(states).enumerate() {
        let Some(mut state) = state else { continue };
        for (number, step) in block.steps.iter().enumerate() {
            if let Some((place, operation)) = analysis.operation(step) {
                let needs = found.entry(place).or_insert_with(new);
                if operation != Operation::Wait {
                    needs.before.insert_all(&state.pending);
                    needs.after.insert_all(&later.after(cfg, effects, BlockId(index), number));
                    needs.follows_entry |= state.follows_entry;
                }
                needs.is_whole |= operation == Operation::Sync;
            }
            if !state.open.is_empty()
                && may_signal(cfg, step)
                && let Some(effect) = effects.number(step)
            {
                for open in &state.open {
                    found.entry(*open).or_insert_with(new).between.insert(effect);
                }
            }
            // Methods and functions in closures have no barriers.
            if let StepKind::Call(CallId(call)) = step.kind
                && let call = &cfg.calls[call]
                && call.function().is_some()
                && !call.in_closure
            {
                calls.push(CallNeeds {
                    slot: call.slot,
                    before: effects.named(&state.pending),
                    after: effects.named(&later.after(cfg, effects, BlockId(index), number)),
                    follows_entry: state.follows_entry,
                });
            }
            analysis.transfer(&mut state, step);
        }
        if let End::Leave = block.end {
            left.insert_all(&state.pending);
        }
    }
    let barriers = found.into_iter().map(|(place, found)| (place, found.needs(effects))).collect();
    Reached { barriers, calls, left }
}

/// The needs of a barrier, as sets.
struct Found {
    before: EffectSet,
    between: EffectSet,
    after: EffectSet,
    is_whole: bool,
    follows_entry: bool,
}

impl Found {
    fn needs(self, effects: &StepEffects) -> Needs {
        let [before, between, after] = [self.before, self.between, self.after].map(|set| effects.named(&set));
        Needs { before, between, after, is_whole: self.is_whole, follows_entry: self.follows_entry }
    }
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
        StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Value(_)
        | StepKind::Group(_)
        | StepKind::Token(_) => false,
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

struct Pending<'a> {
    effects: &'a StepEffects,
    places: &'a BTreeSet<Position>,
}

/// What no arrival has ordered yet.
#[derive(Debug, Clone)]
struct State {
    /// The effects since the last arrival.
    pending: EffectSet,
    /// Whether there may have been no arrival yet.
    follows_entry: bool,
    /// The arrivals that the thread has not waited for.
    open: BTreeSet<Position>,
}

impl State {
    fn arrives(&mut self) {
        self.pending.clear();
        self.follows_entry = false;
    }
}

impl Join for State {
    // bottom = not reached; join = union
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.open.len(), self.follows_entry);
        self.open.extend(&other.open);
        self.follows_entry |= other.follows_entry;
        self.pending.insert_all(&other.pending) || (self.open.len(), self.follows_entry) != before
    }
}

impl Pending<'_> {
    /// The operation at the cluster's barrier, and its place.
    fn operation(&self, step: &Step) -> Option<(Position, Operation)> {
        let StepKind::Group(group_step) = &step.kind else { return None };
        let operation = match group_step {
            GroupStep::Collective { team, barrier: true, .. } if team.group == Group::Cluster => Operation::Sync,
            GroupStep::Arrive { group: Group::Cluster, method, .. } => Operation::Arrive { releases: !method.relaxed },
            // No barrier of the cluster follows, whose arrival would depend on what this one ordered.
            GroupStep::ArriveForgotten { group: Group::Cluster, .. } => Operation::Arrive { releases: false },
            GroupStep::Wait { group: Group::Cluster, .. } | GroupStep::WaitElected { group: Group::Cluster, .. } => {
                Operation::Wait
            }
            GroupStep::Collective { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::Wait { .. }
            | GroupStep::WaitElected { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_) => return None,
        };
        let place = position(step.at);
        self.places.contains(&place).then_some((place, operation))
    }
}

impl Analysis for Pending<'_> {
    type State = State;

    fn entry(&self) -> State {
        State { pending: self.effects.none(), follows_entry: true, open: BTreeSet::new() }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match self.operation(step) {
            Some((_, Operation::Sync)) => state.arrives(),
            Some((place, Operation::Arrive { releases })) => {
                if releases {
                    state.arrives();
                }
                state.open.insert(place);
            }
            Some((_, Operation::Wait)) => state.open.clear(),
            None => {
                if let Some(effect) = self.effects.number(step) {
                    state.pending.insert(effect);
                }
            }
        }
    }

    fn edge(&self, _: &mut State, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}
