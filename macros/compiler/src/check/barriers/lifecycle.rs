//! What a thread knows of each barrier's life on its way: whether anybody has initialised it, whether the threads have met
//! since, whether it was invalidated. All ways are kept apart that branches about `init` and `invalidate` tell apart,
//! each with what those tested: a barrier of `if deep { .. }` is initialised where `deep` holds.
//!
//! PhaseAction some threads do on one side of a branch, the others know once all have met. Whatever else may tell them (another phase
//! barrier, an atomic, a device function) leaves open what they know: of that, nothing is reported.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::conditions::Condition;
use super::path_states::{Lifecycle, Observers, PathState, PathStates, Taker, after};
use crate::check::block_set::BlockSet;
use crate::check::cfg::{
    Access, AccessKind, BarrierCall, BarrierCallId, BlockId, Cfg, GroupStep, MemoryStep, NodeId, Region, Root, Select,
    Shared, Source, Step, StepKind,
};
use crate::check::engine::{Analysis, Join};
use crate::check::uniform::control::reachable;
use crate::check::uniform::values::Values;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::expr::Callee;
use crate::model::group::Group;

/// A barrier: of an array, one by its literal index, or (`None`) the others and those of which the text does not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) shared: Shared,
    pub(super) index: Option<u64>,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) ways: BTreeMap<Id, PathStates>,
    /// The thread has left these for good, on each way.
    pub(super) left: BTreeSet<Id>,
    /// It has come to a barrier of the group, on each way.
    pub(super) entered: bool,
}

impl Join for State {
    // bottom = no way leads here; join = the ways of both
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (id, ways) in &mut self.ways {
            let Some(others) = other.ways.get(id) else { continue };
            let both = PathStates::of(ways.0.iter().chain(&others.0).cloned());
            // The same ways may be written in several manners.
            if both.iter().any(|way| !ways.iter().any(|known| known.covers(way))) {
                *ways = both;
                changed = true;
            }
        }
        let left = self.left.len();
        self.left.retain(|id| other.left.contains(id));
        changed |= self.left.len() != left || self.entered && !other.entered;
        self.entered &= other.entered;
        changed
    }
}

/// Among whom: the block's own threads, or those of the cluster.
pub(super) struct Lifecycles<'a, 'f> {
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) values: &'a Values<'a, 'f>,
    pub(super) scope: Uniformity,
    /// The barriers that are followed.
    pub(super) ids: BTreeSet<Id>,
    conditions: &'a BTreeMap<BlockId, Condition>,
    /// Conditions by which a barrier's life is changed, and those of them that are not the same for all of the group.
    deciding: BTreeSet<usize>,
    parting: BTreeSet<usize>,
    /// What is changed on the one side of a branch, by the block that begins the other.
    changed: BTreeMap<(BlockId, BlockId), BTreeSet<Id>>,
}

/// The barrier of a call, if the text shows which it is, and those that it may be.
pub(super) fn id_of(cfg: &Cfg<'_>, region: &Region) -> Option<Id> {
    let (Root::Shared(shared) | Root::Remote(shared)) = region.root else { return None };
    let index = match region.path.first() {
        Some(Select::At(node)) => cfg.nodes[node.0].source.integer(),
        Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None => None,
    };
    Some(Id { shared, index })
}

/// Whether one barrier is meant, and which.
pub(super) fn is_exact(call: &BarrierCall, id: Id) -> bool {
    call.barrier.form == BarrierForm::One && (call.region.path.is_empty() || id.index.is_some())
}

impl<'a, 'f> Lifecycles<'a, 'f> {
    pub(super) fn new(
        cfg: &'a Cfg<'f>,
        values: &'a Values<'a, 'f>,
        scope: Uniformity,
        ids: BTreeSet<Id>,
        conditions: &'a BTreeMap<BlockId, Condition>,
    ) -> Self {
        let mut lives = Lifecycles {
            cfg,
            values,
            scope,
            ids,
            conditions,
            deciding: BTreeSet::new(),
            parting: BTreeSet::new(),
            changed: BTreeMap::new(),
        };
        for (branch, region, end) in values.control.regions(cfg) {
            let Some(condition) = conditions.get(&branch) else { continue };
            if lives.changes(&region).is_empty() {
                continue;
            }
            // A loop's rounds are taken to be enough.
            if !cfg.blocks[branch.0].end.successors().any(|side| reachable(cfg, side, end).contains(branch)) {
                lives.deciding.insert(condition.number);
            }
            if lives.is_same(branch) {
                continue;
            }
            lives.parting.insert(condition.number);
            let sides: Vec<BlockId> = cfg.blocks[branch.0].end.successors().collect();
            if let [a, b] = sides[..] {
                for (one, other) in [(a, b), (b, a)] {
                    let changed = lives.changes(&reachable(cfg, one, end));
                    lives.changed.insert((branch, other), changed);
                }
            }
        }
        lives
    }

    pub(super) fn condition(&self, branch: BlockId) -> Option<&Condition> {
        self.conditions.get(&branch)
    }

    /// The barriers whose life is changed in these blocks.
    fn changes(&self, blocks: &BlockSet) -> BTreeSet<Id> {
        let steps = blocks.iter().flat_map(|block| &self.cfg.blocks[block.0].steps);
        let changed = steps.flat_map(|step| match step.kind {
            StepKind::BarrierCall(BarrierCallId(phase)) => {
                let call = &self.cfg.barrier_calls[phase];
                let changes = call.method.action.changes_life();
                id_of(self.cfg, &call.region).filter(|_| changes).into_iter().collect()
            }
            StepKind::Call { node, .. } => self.takers(node).into_iter().map(|(_, id, _)| id).collect(),
            StepKind::Value(_) | StepKind::Memory(_) | StepKind::Copy(_) | StepKind::Group(_) | StepKind::Token(_) => {
                Vec::new()
            }
        });
        changed.flat_map(|id| self.touched(id)).collect()
    }

    /// The barriers that a device function is given, by it if rustc knows what it does, and whether it is clear which those
    /// are. At a peer's it can only arrive.
    pub(super) fn takers(&self, call: NodeId) -> Vec<(Option<Taker>, Id, bool)> {
        let Source::Call { barriers, callee, slot, .. } = &self.cfg.nodes[call.0].source else { return Vec::new() };
        let own = barriers.iter().filter(|(_, region)| matches!(region.root, Root::Shared(_)));
        let takers = own.filter_map(|(argument, region)| {
            let id = id_of(self.cfg, region)?;
            let known = matches!(callee, Callee::Function(_));
            let taker = Taker { slot: slot.0, argument: *argument };
            Some((known.then_some(taker), id, region.path.is_empty() || id.index.is_some()))
        });
        takers.collect()
    }

    /// All of the group go the same way.
    pub(super) fn is_same(&self, branch: BlockId) -> bool {
        let tested = self.values.tested(branch);
        tested.at_most.covers(self.scope) && tested.unknown.is_empty()
    }

    /// Those of an array to which something may be done that is done to this one.
    fn touched(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let of = move |known: &&Id| {
            known.shared == id.shared && (id.index.is_none() || known.index.is_none() || known.index == id.index)
        };
        self.ids.iter().filter(of).copied()
    }

    /// A barrier begins or ends its life.
    fn change(&self, state: &mut State, call: &BarrierCall, life: Lifecycle, known: Observers) {
        let Some(id) = id_of(self.cfg, &call.region) else { return };
        let whole = call.region.path.is_empty();
        for touched in self.touched(id) {
            let ways = state.ways.entry(touched).or_default();
            if whole || touched.index.is_some() && touched == id {
                ways.each(|way| way.is(life, known));
            } else if touched.index.is_none() && life == Lifecycle::Live {
                // Some of them are.
                ways.each(|way| way.is(life, known));
            } else {
                ways.each(|way| way.is(Lifecycle::Open, Observers::Own));
            }
            if life == Lifecycle::Live {
                state.left.remove(&touched);
            }
        }
    }

    /// Something by which threads may have told each other what they did.
    fn tell(&self, state: &mut State) {
        let cluster = self.scope == Uniformity::Cluster;
        for ways in state.ways.values_mut() {
            ways.each(|way| match way.known {
                Observers::Aside | Observers::Near => way.is(Lifecycle::Open, Observers::All),
                Observers::Own | Observers::Sent(_) if cluster => way.is(Lifecycle::Open, Observers::All),
                Observers::All | Observers::Own | Observers::Sent(_) => way,
            });
        }
    }

    fn is_of_all(&self, group: Group) -> bool {
        match group {
            Group::ThreadBlock => self.scope == Uniformity::Block,
            Group::Cluster | Group::Grid => true,
            Group::Tile | Group::Coalesced => false,
        }
    }

    /// All have come here; `sent`: to a wait, so that only what came before the arrival is known.
    fn meet(&self, state: &mut State, sent: Option<Group>) {
        state.entered = true;
        let together = |given: &BTreeSet<(usize, bool)>| -> BTreeSet<(usize, bool)> {
            given.iter().filter(|(number, _)| !self.parting.contains(number)).copied().collect()
        };
        let is_told = |way: &PathState| match (way.known, sent) {
            (Observers::Own, None) | (Observers::Sent(_), None) => true,
            (Observers::Sent(group), Some(sent)) => group == sent,
            (Observers::All | Observers::Own | Observers::Aside | Observers::Near, _) => false,
        };
        for ways in state.ways.values_mut() {
            let changed = ways.iter().filter(|way| matches!(way.known, Observers::Own | Observers::Sent(_)));
            let changed = changed.map(|way| (is_told(way), way.life, together(&way.given)));
            let (told, kept): (Vec<_>, Vec<_>) = changed.partition(|(told, ..)| *told);
            let mut met = Vec::new();
            for way in std::mem::take(&mut ways.0) {
                if is_told(&way) {
                    met.push(way.clone().is(way.life, Observers::All));
                    continue;
                }
                if let Observers::Own | Observers::Sent(_) = way.known {
                    met.push(way);
                    continue;
                }
                // What others know may depend on more than the way itself has seen.
                let mut rest = vec![way];
                for (_, life, given) in &told {
                    let parts: Vec<PathState> = std::mem::take(&mut rest);
                    for part in parts {
                        let (yes, no) = part.split(given);
                        met.extend(yes.map(|told| told.is(*life, Observers::All)));
                        rest.extend(no);
                    }
                }
                for way in rest {
                    let aside = kept.iter().any(|(.., given)| way.clone().split(given).0.is_some());
                    met.push(way.clone().is(way.life, if aside { Observers::Aside } else { Observers::All }));
                }
            }
            *ways = PathStates::of(met);
        }
    }

    fn phase(&self, state: &mut State, call: &BarrierCall) {
        if call.barrier.form == BarrierForm::Remote {
            return;
        }
        match call.method.action {
            PhaseAction::Init => self.change(state, call, Lifecycle::Live, Observers::Own),
            PhaseAction::InitCollective => self.change(state, call, Lifecycle::Live, Observers::All),
            PhaseAction::Invalidate => self.change(state, call, Lifecycle::Invalid, Observers::Own),
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => {
                self.tell(state)
            }
            PhaseAction::ArriveAndDrop => {
                state.left.extend(id_of(self.cfg, &call.region).filter(|id| is_exact(call, *id)))
            }
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
                Shared::Dynamic | Shared::Slice(_) | Shared::Any => Lifecycle::Open,
            };
            (*id, PathStates::one(PathState::new(life, Observers::All)))
        };
        State { ways: self.ids.iter().map(new).collect(), left: BTreeSet::new(), entered: false }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::BarrierCall(BarrierCallId(phase)) => self.phase(state, &self.cfg.barrier_calls[*phase]),
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if self.is_of_all(team.group) => {
                self.meet(state, None)
            }
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group.is_of_a_warp() => {
                for ways in state.ways.values_mut() {
                    ways.each(|way| match way.known {
                        Observers::Aside => way.clone().is(way.life, Observers::Near),
                        Observers::All | Observers::Own | Observers::Sent(_) | Observers::Near => way,
                    });
                }
            }
            StepKind::Group(GroupStep::Arrive { group, method, .. }) if !method.relaxed && self.is_of_all(*group) => {
                for ways in state.ways.values_mut() {
                    ways.each(|way| match way.known {
                        Observers::Own => way.clone().is(way.life, Observers::Sent(*group)),
                        Observers::All | Observers::Sent(_) | Observers::Aside | Observers::Near => way,
                    });
                }
            }
            StepKind::Group(GroupStep::Wait { group, .. }) if self.is_of_all(*group) => self.meet(state, Some(*group)),
            StepKind::Memory(MemoryStep::Access(id)) => {
                let Access { region, kind, .. } = &self.cfg.accesses[id.0];
                let arrival = id_of(self.cfg, region).is_some_and(|id| self.ids.contains(&id));
                match kind {
                    AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::ByHand if !arrival => self.tell(state),
                    AccessKind::AtomicRead
                    | AccessKind::Atomic
                    | AccessKind::ByHand
                    | AccessKind::Read
                    | AccessKind::Write
                    | AccessKind::Sent
                    | AccessKind::Lent => {}
                }
            }
            StepKind::Call { node, .. } => {
                self.tell(state);
                for (taker, id, exact) in self.takers(*node) {
                    for touched in self.touched(id) {
                        state.left.remove(&touched);
                        let ways = state.ways.entry(touched).or_default();
                        *ways = match taker {
                            Some(taker) if exact => PathStates::of(ways.iter().flat_map(|way| after(way, taker))),
                            _ => PathStates::of(ways.iter().map(|way| way.clone().is(Lifecycle::Open, Observers::Own))),
                        };
                    }
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
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence)
            | StepKind::Value(_)
            | StepKind::Token(_) => {}
        }
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        let Some(condition) = self.conditions.get(&from).filter(|known| self.deciding.contains(&known.number)) else {
            return;
        };
        let Some(holds) = condition.on_the_way(&cfg.blocks[from.0].end, to) else { return };
        let aside = self.changed.get(&(from, to));
        for (id, ways) in &mut state.ways {
            let not = (condition.number, !holds);
            if condition.fixed {
                ways.0.retain(|way| !way.given.contains(&not));
            }
            let aside = aside.is_some_and(|changed| changed.contains(id));
            ways.each(|mut way| {
                way.given.remove(&not);
                way.given.insert((condition.number, holds));
                match way.known {
                    Observers::All if aside && !matches!(way.life, Lifecycle::Open | Lifecycle::Given) => {
                        way.clone().is(way.life, Observers::Aside)
                    }
                    Observers::All | Observers::Own | Observers::Sent(_) | Observers::Aside | Observers::Near => way,
                }
            });
        }
    }
}
