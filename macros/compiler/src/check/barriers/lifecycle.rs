//! The lifecycle of each barrier as a thread observes it: whether a thread has initialized the barrier, whether the threads
//! have synchronized since, and whether it was invalidated. The analysis is path-sensitive in the branches around `init` and
//! `invalidate`: a barrier that is initialized in `if deep { .. }` is live on the paths where `deep` holds.
//!
//! A change that some threads make on one arm of a branch is observed by the others once all have synchronized. Other means of
//! communication (another phase barrier, an atomic, a device function) make the state unknown, and nothing is reported about it.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::conditions::{Condition, Requirement};
use super::path_states::{BarrierArgument, Lifecycle, Observers, PathState, PathStates, after};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    Access, AccessKind, BarrierCall, BarrierCallId, BlockId, CallId, Cfg, GroupStep, MemoryStep, Region, Root, Select,
    Shared, Step, StepKind,
};
use crate::check::engine::{Analysis, Join};
use crate::check::uniform::control::reachable;
use crate::check::uniform::values::Values;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::group::Group;

/// A barrier that is followed. In an array, it is the element of a literal index; `None` stands for all other elements, and
/// for those whose index is not a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) shared: Shared,
    pub(super) index: Option<u64>,
}

/// The state of all barriers at a point.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) paths: BTreeMap<Id, PathStates>,
    /// The barriers that the thread has dropped out of on every path, itself or in a call that may have, each with the calls since that were
    /// given the barrier.
    pub(super) dropped: BTreeMap<(Id, Option<BarrierArgument>), BTreeSet<BarrierArgument>>,
    /// The barriers at which the thread has arrived on every path, itself or in a call that may have.
    pub(super) arrived: BTreeSet<(Id, Option<BarrierArgument>)>,
    /// Whether the thread has reached a barrier of the scope, on every path.
    pub(super) entered: bool,
}

impl Join for State {
    // bottom = no path reaches this point; join = the paths of both
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (id, paths) in &mut self.paths {
            let Some(others) = other.paths.get(id) else { continue };
            let both = PathStates::of(paths.0.iter().chain(&others.0).cloned());
            // Different states may cover the same paths.
            if both.iter().any(|path| !paths.iter().any(|known| known.covers(path))) {
                *paths = both;
                changed = true;
            }
        }
        let size = |state: &Self| {
            (state.arrived.len(), state.dropped.len(), state.dropped.values().map(BTreeSet::len).sum::<usize>())
        };
        let before = size(self);
        self.arrived.retain(|by| other.arrived.contains(by));
        self.dropped.retain(|by, since| match other.dropped.get(by) {
            Some(calls) => {
                since.extend(calls);
                true
            }
            None => false,
        });
        changed |= size(self) != before || self.entered && !other.entered;
        self.entered &= other.entered;
        changed
    }
}

/// The lifecycle analysis for one scope: the threads of the block, or those of the cluster.
pub(super) struct Lifecycles<'a, 'f> {
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) values: &'a Values<'a, 'f>,
    pub(super) within: Uniformity,
    /// The barriers that the analysis follows.
    pub(super) ids: BTreeSet<Id>,
    conditions: &'a BTreeMap<BlockId, Condition>,
    /// The conditions of branches that decide whether a barrier's lifecycle changes.
    life_conditions: BTreeSet<usize>,
    /// The conditions among those in `life_conditions` that are not uniform in the scope, each with what the block must be like
    /// for a thread to have an outcome.
    divergent_conditions: BTreeMap<usize, [Vec<Requirement>; 2]>,
    /// For each edge of a divergent branch, the barriers whose lifecycle changes on the other arm.
    changed_on_other_arm: BTreeMap<(BlockId, BlockId), BTreeSet<Id>>,
}

/// Returns the barrier that a region stands for, `None` for global memory. See [`is_exact`] for whether it is just one.
pub(super) fn id_of(cfg: &Cfg<'_>, region: &Region) -> Option<Id> {
    let (Root::Shared(shared) | Root::Remote(shared)) = region.root else { return None };
    let index = match region.path.first() {
        Some(Select::At(node)) => cfg.nodes[node.0].source.integer(),
        Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None => None,
    };
    Some(Id { shared, index })
}

/// Whether the text shows exactly which barrier a call is about.
pub(super) fn is_exact(call: &BarrierCall, id: Id) -> bool {
    call.barrier.form == BarrierForm::One && (call.region.path.is_empty() || id.index.is_some())
}

impl<'a, 'f> Lifecycles<'a, 'f> {
    pub(super) fn new(
        cfg: &'a Cfg<'f>,
        values: &'a Values<'a, 'f>,
        within: Uniformity,
        ids: BTreeSet<Id>,
        conditions: &'a BTreeMap<BlockId, Condition>,
    ) -> Self {
        let mut lives = Lifecycles {
            cfg,
            values,
            within,
            ids,
            conditions,
            life_conditions: BTreeSet::new(),
            divergent_conditions: BTreeMap::new(),
            changed_on_other_arm: BTreeMap::new(),
        };
        for (branch, region, end) in values.control.regions(cfg) {
            let Some(condition) = conditions.get(&branch) else { continue };
            if lives.changes(&region).is_empty() {
                continue;
            }
            // A loop is assumed to run often enough to initialize what it initializes.
            if !cfg.blocks[branch.0].end.successors().any(|side| reachable(cfg, side, end).contains(branch)) {
                lives.life_conditions.insert(condition.number);
            }
            if lives.is_uniform(branch) {
                continue;
            }
            // What is the same for a block need not be for the cluster.
            let in_scope = |requires: &Vec<Requirement>| {
                requires.iter().copied().filter(|_| within == Uniformity::Block).collect::<Vec<_>>()
            };
            let requires = condition.requires.each_ref().map(in_scope);
            lives.life_conditions.extend(requires.iter().flatten().map(|required| required.number));
            lives.divergent_conditions.insert(condition.number, requires);
            let arms: Vec<BlockId> = cfg.blocks[branch.0].end.successors().collect();
            if let [a, b] = arms[..] {
                for (one, other) in [(a, b), (b, a)] {
                    let changed = lives.changes(&reachable(cfg, one, end));
                    lives.changed_on_other_arm.insert((branch, other), changed);
                }
            }
        }
        lives
    }

    /// The barriers whose lifecycle changes in these blocks.
    fn changes(&self, blocks: &BlockSet) -> BTreeSet<Id> {
        let steps = blocks.iter().flat_map(|block| &self.cfg.blocks[block.0].steps);
        let changed = steps.flat_map(|step| match step.kind {
            StepKind::BarrierCall(BarrierCallId(index)) => {
                let call = &self.cfg.barrier_calls[index];
                let changes = call.method.action.life_change().is_some();
                id_of(self.cfg, &call.region).filter(|_| changes).into_iter().collect()
            }
            StepKind::Call(call) => self.barrier_arguments(call).into_iter().map(|(_, id, _)| id).collect(),
            StepKind::Value(_) | StepKind::Memory(_) | StepKind::Copy(_) | StepKind::Group(_) | StepKind::Token(_) => {
                Vec::new()
            }
        });
        changed.flat_map(|id| self.touched(id)).collect()
    }

    /// The block's own barriers that are passed to a device function, each with the argument if rustc knows the callee's
    /// summary, and whether it is exactly that barrier. At a peer's barrier the callee can only arrive.
    pub(super) fn barrier_arguments(&self, CallId(call): CallId) -> Vec<(Option<BarrierArgument>, Id, bool)> {
        let call = &self.cfg.calls[call];
        let own = call.barriers.iter().filter(|(_, region)| matches!(region.root, Root::Shared(_)));
        let arguments = own.filter_map(|(argument, region)| {
            let id = id_of(self.cfg, region)?;
            let argument = BarrierArgument { slot: call.slot.0, argument: *argument };
            Some((call.is_of_function().then_some(argument), id, region.path.is_empty() || id.index.is_some()))
        });
        arguments.collect()
    }

    /// Whether all threads of the scope take the same arm of a branch.
    pub(super) fn is_uniform(&self, branch: BlockId) -> bool {
        self.values.tested(branch).is_uniform(self.within)
    }

    /// The followed barriers that may be the same as this one.
    fn touched(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let of = move |known: &&Id| {
            known.shared == id.shared && (id.index.is_none() || known.index.is_none() || known.index == id.index)
        };
        self.ids.iter().filter(of).copied()
    }

    /// Changes the lifecycle of the barrier of a call.
    fn change(&self, state: &mut State, call: &BarrierCall, life: Lifecycle, observers: Observers) {
        let Some(id) = id_of(self.cfg, &call.region) else { return };
        let whole = call.region.path.is_empty();
        for touched in self.touched(id) {
            let paths = state.paths.entry(touched).or_default();
            if whole || touched.index.is_some() && touched == id {
                paths.each(|path| path.with(life, observers));
            } else if touched.index.is_none() && life == Lifecycle::Live {
                // At least one of the other elements is live.
                paths.each(|path| path.with(life, observers));
            } else {
                paths.each(|path| path.with(Lifecycle::Unknown, Observers::Own));
            }
            if life == Lifecycle::Live {
                state.dropped.retain(|(id, _), _| *id != touched);
            }
        }
    }

    /// Whether a barrier of this group synchronizes all threads of the scope.
    fn contains_scope(&self, group: Group) -> bool {
        match group {
            Group::ThreadBlock => self.within == Uniformity::Block,
            Group::Cluster | Group::Grid => true,
            Group::Tile | Group::Coalesced => false,
        }
    }

    /// All threads of the scope have synchronized. With `sent`, they did at a wait for an arrival of this group, which publishes
    /// only what came before the arrival.
    fn synchronize(&self, state: &mut State, sent: Option<Group>) {
        state.entered = true;
        let uniform = |assumed: &BTreeSet<(usize, bool)>| -> BTreeSet<(usize, bool)> {
            let required = |&(number, holds): &(usize, bool)| match self.divergent_conditions.get(&number) {
                Some(requires) => {
                    requires[usize::from(holds)].iter().map(|required| (required.number, required.holds)).collect()
                }
                None => vec![(number, holds)],
            };
            assumed.iter().flat_map(required).collect()
        };
        let is_published = |path: &PathState| match (path.observers, sent) {
            (Observers::Own, None) | (Observers::Arrived(_), None) => true,
            (Observers::Arrived(group), Some(sent)) => group == sent,
            (Observers::All | Observers::Own | Observers::OtherThread | Observers::OtherWarp, _) => false,
        };
        for paths in state.paths.values_mut() {
            let changed = paths.iter().filter(|path| matches!(path.observers, Observers::Own | Observers::Arrived(_)));
            let changed = changed.map(|path| (is_published(path), path.life, uniform(&path.assumed)));
            let (published, unpublished): (Vec<_>, Vec<_>) = changed.partition(|(published, ..)| *published);
            let mut joined = Vec::new();
            for path in std::mem::take(&mut paths.0) {
                if is_published(&path) {
                    joined.push(path.clone().with(path.life, Observers::All));
                    continue;
                }
                if let Observers::Own | Observers::Arrived(_) = path.observers {
                    joined.push(path);
                    continue;
                }
                // What another thread did depends on conditions that this path may not have tested.
                let mut rest = vec![path];
                for (_, life, assumed) in &published {
                    let parts: Vec<PathState> = std::mem::take(&mut rest);
                    for part in parts {
                        let (yes, no) = part.split(assumed);
                        joined.extend(yes.map(|path| path.with(*life, Observers::All)));
                        rest.extend(no);
                    }
                }
                for path in rest {
                    let in_progress = unpublished.iter().any(|(.., assumed)| path.clone().split(assumed).0.is_some());
                    let observers = if in_progress { Observers::OtherThread } else { Observers::All };
                    joined.push(path.clone().with(path.life, observers));
                }
            }
            *paths = PathStates::of(joined);
        }
    }

    /// What all threads of the scope observe once they have synchronized.
    pub(super) fn publish(&self, state: &mut State) {
        self.synchronize(state, None);
    }

    /// Whether the text always means one barrier: no element at a computed index.
    pub(super) fn is_one(&self, id: &Id) -> bool {
        let mut calls = self.cfg.barrier_calls.iter().filter(|call| id_of(self.cfg, &call.region) == Some(*id));
        id.index.is_some() || calls.all(|call| call.region.path.is_empty())
    }

    fn barrier_call(&self, state: &mut State, at: BarrierCallId) {
        let call = &self.cfg.barrier_calls[at.0];
        if call.barrier.form == BarrierForm::Remote {
            return;
        }
        let exact = id_of(self.cfg, &call.region).filter(|id| is_exact(call, *id));
        if call.method.action.arrives() {
            state.arrived.extend(exact.map(|id| (id, None)));
        }
        match call.method.action {
            PhaseAction::Init => self.change(state, call, Lifecycle::Live, Observers::Own),
            PhaseAction::InitCollective => self.change(state, call, Lifecycle::Live, Observers::All),
            PhaseAction::Invalidate => self.change(state, call, Lifecycle::Invalid, Observers::Own),
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => {
                self.may_learn(state);
            }
            PhaseAction::ArriveAndDrop => state.dropped.extend(exact.map(|id| ((id, None), BTreeSet::new()))),
            PhaseAction::Arrive | PhaseAction::ArriveN | PhaseAction::ExpectTx | PhaseAction::Copy => {}
        }
    }
}

impl Analysis for Lifecycles<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        let new = |id: &Id| {
            let life = match id.shared {
                Shared::Array(_) => Lifecycle::New,
                Shared::Param(_) => Lifecycle::Given,
                Shared::Dynamic | Shared::Slice(_) | Shared::Any => Lifecycle::Unknown,
            };
            (*id, PathStates::one(PathState::new(life, Observers::All)))
        };
        State {
            paths: self.ids.iter().map(new).collect(),
            dropped: BTreeMap::new(),
            arrived: BTreeSet::new(),
            entered: false,
        }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::BarrierCall(call) => self.barrier_call(state, *call),
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if self.contains_scope(team.group) => {
                self.synchronize(state, None)
            }
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group.is_of_a_warp() => {
                for paths in state.paths.values_mut() {
                    paths.each(|path| match path.observers {
                        Observers::OtherThread => path.clone().with(path.life, Observers::OtherWarp),
                        Observers::All | Observers::Own | Observers::Arrived(_) | Observers::OtherWarp => path,
                    });
                }
            }
            StepKind::Group(GroupStep::Arrive { group, method, .. }) if self.contains_scope(*group) => {
                for paths in state.paths.values_mut() {
                    paths.each(|path| match path.observers {
                        Observers::Own if path.fenced || !method.relaxed => {
                            path.clone().with(path.life, Observers::Arrived(*group))
                        }
                        Observers::All
                        | Observers::Own
                        | Observers::Arrived(_)
                        | Observers::OtherThread
                        | Observers::OtherWarp => path,
                    });
                }
            }
            // What a relaxed arrival publishes is what came before a fence.
            StepKind::Memory(MemoryStep::Fence) => {
                for paths in state.paths.values_mut() {
                    paths.each(|path| PathState { fenced: path.observers == Observers::Own, ..path });
                }
            }
            StepKind::Group(GroupStep::Wait { group, .. }) if self.contains_scope(*group) => {
                self.synchronize(state, Some(*group))
            }
            StepKind::Memory(MemoryStep::Access(id)) => {
                let Access { region, kind, .. } = &self.cfg.accesses[id.0];
                let arrival = id_of(self.cfg, region).is_some_and(|id| self.ids.contains(&id));
                match kind {
                    AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::Opaque | AccessKind::ByClosure
                        if !arrival =>
                    {
                        self.may_learn(state)
                    }
                    AccessKind::ByClosure
                    | AccessKind::AtomicRead
                    | AccessKind::Atomic
                    | AccessKind::Opaque
                    | AccessKind::Read
                    | AccessKind::Write
                    | AccessKind::AsyncWrite
                    | AccessKind::Lent => {}
                }
            }
            StepKind::Call(call) => {
                self.may_learn_in(state, &self.cfg.calls[call.0]);
                for (argument, id, exact) in self.barrier_arguments(*call) {
                    let known = argument.filter(|_| exact);
                    for touched in self.touched(id) {
                        match known {
                            Some(known) => state
                                .dropped
                                .iter_mut()
                                .filter(|((id, _), _)| *id == touched)
                                .for_each(|(_, since)| since.extend([known])),
                            None => state.dropped.retain(|(id, _), _| *id != touched),
                        }
                        let paths = state.paths.entry(touched).or_default();
                        *paths = match argument {
                            Some(argument) if exact => {
                                PathStates::of(paths.iter().flat_map(|path| after(path, argument)))
                            }
                            _ => PathStates::of(
                                paths.iter().map(|path| path.clone().with(Lifecycle::Unknown, Observers::Own)),
                            ),
                        };
                    }
                    state.dropped.extend(known.map(|known| ((id, Some(known)), BTreeSet::new())));
                    state.arrived.extend(known.map(|known| (id, Some(known))));
                }
            }
            StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::Wait { .. }
                // Those that do not wait have not met the others.
                | GroupStep::WaitElected { .. },
            )
            | StepKind::Memory(MemoryStep::WaitPrevious)
            | StepKind::Copy(_)
            | StepKind::Value(_)
            | StepKind::Token(_) => {}
        }
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        let Some(condition) = self.conditions.get(&from) else { return };
        let Some(holds) = condition.value_on_edge(&cfg.blocks[from.0].end, to) else { return };
        let on_other_arm = self.changed_on_other_arm.get(&(from, to));
        let own = Requirement { number: condition.number, holds, fixed: condition.fixed };
        let assumed = condition.requires[usize::from(holds)].iter().copied().chain([own]);
        for Requirement { number, holds, fixed } in assumed {
            if !self.life_conditions.contains(&number) {
                continue;
            }
            for paths in state.paths.values_mut() {
                let not = (number, !holds);
                if fixed {
                    paths.0.retain(|path| !path.assumed.contains(&not));
                }
                paths.each(|mut path| {
                    path.assumed.remove(&not);
                    path.assuming(number, holds)
                });
            }
        }
        for id in on_other_arm.into_iter().flatten() {
            let Some(paths) = state.paths.get_mut(id) else { continue };
            paths.each(|path| match path.observers {
                Observers::All if !matches!(path.life, Lifecycle::Unknown | Lifecycle::Given) => {
                    path.clone().with(path.life, Observers::OtherThread)
                }
                Observers::All
                | Observers::Own
                | Observers::Arrived(_)
                | Observers::OtherThread
                | Observers::OtherWarp => path,
            });
        }
    }
}
