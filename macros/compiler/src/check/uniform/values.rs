//! The uniformity of each variable and each value: the greatest solution over the graph.
//!
//! A variable that is set on one arm of a branch has, where the arms merge, a value that depends on what was tested
//! (`control` has the merge points). A load of shared memory is uniform in the block once a barrier follows every write to it;
//! after a further write, nothing is known of it. Of an array whose elements each are written by one warp alone, a load of the warp's
//! own is uniform in the warp once that has met (`own_elements`).
//!
//! The claims are about the threads that are at a point together. Whether all threads of a group are there is decided in the
//! parent module.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::control::Control;
use super::factors::Factors;
use super::level::{Level, Levels, Required, Unknown};
use super::unseen::Unseen;
use super::{alike, overwritten, own_elements, told};
use crate::check::cfg::{
    BarrierCallId, BlockId, Cfg, Extent, Granule, GroupStep, MemoryStep, NodeId, Root, Shared, Source, Step, StepKind,
    Team, ValueStep, Variable,
};
use crate::check::engine::{self, Analysis, Join};
use crate::check::fixed::FixedValues;
use crate::check::liveness::Live;
use crate::check::sorted_map::SortedMap;
use crate::model::expr::Callee;
use crate::model::group::Group;
use crate::model::{Function, Role, array_functions};

/// The solved uniformity of a function's values.
pub(crate) struct Values<'a, 'f> {
    pub(crate) cfg: &'a Cfg<'f>,
    pub(crate) control: &'a Control,
    pub(crate) live: &'a Live,
    pub(super) function: &'f Function,
    /// The values of variables that are set once.
    pub(in crate::check) fixed: FixedValues<'a, 'f>,
    /// The factors of values that were asked for.
    pub(super) factors: RefCell<BTreeMap<NodeId, Factors>>,
    levels: RefCell<Levels>,
    /// The arrays whose elements each are written by one warp alone.
    own_elements: BTreeSet<Shared>,
    told: told::Told,
    alike: alike::Alike,
    overwritten: overwritten::Overwritten,
    reached: Vec<bool>,
}

/// The uniformity of variables and of shared memory at a point.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// The levels of variables. One that is missing was not set, or is not live.
    variables: SortedMap<Variable, Level>,
    /// The unseen writes to some regions.
    unseen: BTreeMap<Shared, Unseen>,
    /// The unseen writes to all other regions.
    others: Unseen,
}

impl Join for State {
    // bottom = every value is uniform in the grid; join = meet of the levels
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (variable, level) in other.variables.iter() {
            if let Some(known) = self.variables.get_mut(variable) {
                changed |= known.meet(level);
                continue;
            }
            // A field that was not set by itself has the level of the whole.
            let whole = self.at(*variable).cloned();
            let mut both = whole.clone().unwrap_or_else(|| level.clone());
            both.meet(level);
            changed |= whole.as_ref() != Some(&both);
            self.variables.insert(*variable, both);
        }
        for (variable, level) in self.variables.iter_mut() {
            if let Variable::Field(local, _) = variable
                && !other.variables.contains_key(variable)
                && let Some(whole) = other.variables.get(&Variable::Local(*local))
            {
                changed |= level.meet(whole);
            }
        }
        for shared in other.unseen.keys() {
            self.unseen.entry(*shared).or_insert(self.others);
        }
        for (shared, unseen) in &mut self.unseen {
            let both = *unseen | other.unseen_of(*shared);
            changed |= *unseen != both;
            *unseen = both;
        }
        changed |= self.others | other.others != self.others;
        self.others |= other.others;
        self.forget_others();
        changed
    }
}

impl State {
    /// The level of a variable. A field that was not set by itself has that of the whole.
    fn at(&self, variable: Variable) -> Option<&Level> {
        match (self.variables.get(&variable), variable) {
            (None, Variable::Field(local, _)) => self.variables.get(&Variable::Local(local)),
            (level, _) => level,
        }
    }

    fn set(&mut self, variable: Variable, level: &Level, extent: Extent) {
        if let Some(fields) = variable.fields() {
            match extent {
                Extent::Whole => self.variables.remove_range(fields),
                Extent::Part => self.variables.range_mut(fields).for_each(|field| {
                    field.meet(level);
                }),
                Extent::Field => {}
            }
        }
        match self.variables.get_mut(&variable) {
            Some(known) if extent != Extent::Whole => {
                known.meet(level);
            }
            _ => {
                self.variables.insert(variable, level.clone());
            }
        }
    }

    fn unseen_of(&self, shared: Shared) -> Unseen {
        self.unseen.get(&shared.whole()).copied().unwrap_or(self.others)
    }

    /// The unseen writes to a region, and to all that may alias it.
    fn unseen_in(&self, shared: Shared) -> Unseen {
        match shared.whole() {
            Shared::Any => self.unseen.values().fold(self.others, |all, unseen| all | *unseen),
            shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_)) => {
                self.unseen_of(shared) | self.unseen_of(Shared::Any)
            }
        }
    }

    fn write(&mut self, shared: Shared, written: Unseen) {
        match shared.whole() {
            Shared::Any => self.each(|unseen| unseen | written),
            shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_)) => {
                let unseen = self.unseen_of(shared) | written;
                self.unseen.insert(shared, unseen);
                self.forget_others();
            }
        }
    }

    fn each(&mut self, change: impl Fn(Unseen) -> Unseen) {
        self.unseen.values_mut().for_each(|unseen| *unseen = change(*unseen));
        self.others = change(self.others);
        self.forget_others();
    }

    /// Removes the regions that equal `others`.
    fn forget_others(&mut self) {
        self.unseen.retain(|_, unseen| *unseen != self.others);
    }

    fn arrive(&mut self, group: Group) {
        let moved = |unseen: Unseen, from, to| if unseen.contains(from) { unseen & !from | to } else { unseen };
        self.each(|unseen| match group {
            Group::ThreadBlock => moved(unseen, Unseen::OWN, Unseen::OWN_BLOCK),
            Group::Cluster | Group::Grid => {
                let unseen = moved(unseen, Unseen::OWN, Unseen::OWN_CLUSTER);
                moved(moved(unseen, Unseen::PEER, Unseen::PEER_CLUSTER), Unseen::FAR, Unseen::FAR_CLUSTER)
            }
            Group::Tile | Group::Coalesced => unseen,
        });
    }

    fn wait(&mut self, group: Group) {
        self.each(|unseen| match group {
            Group::ThreadBlock => unseen & !Unseen::OWN_BLOCK,
            Group::Cluster | Group::Grid => {
                unseen & !(Unseen::OWN_CLUSTER | Unseen::PEER_CLUSTER | Unseen::FAR_CLUSTER)
            }
            Group::Tile | Group::Coalesced => unseen,
        });
    }

    fn sync(&mut self, group: Group) {
        self.each(|unseen| match group {
            Group::ThreadBlock => unseen & !(Unseen::OWN | Unseen::OWN_CLUSTER | Unseen::OWN_WARP),
            Group::Cluster | Group::Grid => Unseen::empty(),
            Group::Tile | Group::Coalesced => unseen,
        });
    }

    /// All threads of a warp meet.
    fn sync_warp(&mut self) {
        self.each(|unseen| unseen & !Unseen::OWN_WARP);
    }
}

impl<'a, 'f> Values<'a, 'f> {
    /// Solves the uniformity of all values.
    pub(crate) fn function(&self) -> &'f Function {
        self.function
    }

    pub(crate) fn of(function: &'f Function, cfg: &'a Cfg<'f>, control: &'a Control, live: &'a Live) -> Values<'a, 'f> {
        let levels = RefCell::new(Levels::of_nodes(cfg.nodes.len()));
        let (fixed, factors) = (FixedValues::of(cfg, control), RefCell::default());
        let (own_elements, told) = (own_elements::of(cfg), told::Told::of(cfg));
        let (alike, overwritten) = (alike::Alike::of(function, cfg, control), overwritten::Overwritten::of(cfg));
        let reached = Vec::new();
        let mut values = Values {
            cfg,
            control,
            live,
            function,
            fixed,
            factors,
            levels,
            own_elements,
            told,
            alike,
            overwritten,
            reached,
        };
        loop {
            let states = engine::solve(&values, cfg);
            let levels = values.levels.get_mut();
            if !levels.stale {
                values.reached = states.iter().map(Option::is_some).collect();
                return values;
            }
            levels.stale = false;
            levels.used.fill(false);
        }
    }

    /// Takes what rustc is asked to be uniform for that: where it is not, rustc reports a fault.
    pub(crate) fn assume(&self, required: &Required) {
        self.levels.borrow_mut().of.iter_mut().for_each(|level| level.assume(required));
    }

    /// Whether all threads of a scope reach a block, or none of them.
    pub(crate) fn is_reached_uniformly(&self, block: BlockId, within: Uniformity) -> bool {
        self.control.deciders(block).all(|branch| self.tested(branch).is_uniform(within))
    }

    /// The slots of the calls that are given such a group: their results may be uniform in it.
    fn calls_with(&self, group: Uniformity) -> impl Iterator<Item = u16> + '_ {
        let given = move |team: &Option<Team>| team.is_some_and(|team| team.uniformity == group);
        self.cfg.calls.iter().filter(move |call| call.teams.iter().any(given)).map(|call| call.slot.0)
    }

    /// Whether control can reach a block.
    pub(crate) fn is_reached(&self, block: BlockId) -> bool {
        self.reached[block.0]
    }

    pub(crate) fn level(&self, node: NodeId) -> Level {
        self.levels.borrow_mut().use_of(node).clone()
    }

    /// The level of the value that a block's end tests.
    pub(crate) fn tested(&self, block: BlockId) -> Level {
        self.cfg.blocks[block.0].end.condition().map_or(Level::known(Uniformity::Grid), |on| self.level(on))
    }

    /// The level of a value.
    fn evaluate(&self, state: &State, node: NodeId) -> Level {
        let level = self.evaluate_source(state, node);
        let known = match level.at_most.covers(Uniformity::Cluster) {
            true => None,
            false => self.level_by_quotients(node).filter(|known| !level.at_most.covers(known.at_most)),
        };
        let level = known.unwrap_or(level);
        // A block that is a part of one warp, or of one tile, agrees where that does.
        let is_agreed = matches!(self.cfg.nodes[node.0].source, Source::Agreed { .. } | Source::Shuffled { .. });
        match (self.threads_of_block().filter(|_| is_agreed), level.at_most) {
            (Some(..=32), Uniformity::Warp) | (Some(..=128), Uniformity::Warpgroup) => {
                Level { at_most: Uniformity::Block, ..level }
            }
            (Some(threads), Uniformity::Tile(log2)) if threads <= 1 << log2 => {
                Level { at_most: Uniformity::Block, ..level }
            }
            _ => level,
        }
    }

    fn evaluate_source(&self, state: &State, value: NodeId) -> Level {
        let node = &self.cfg.nodes[value.0];
        let operand = |index: usize| node.operands.get(index).map(|operand| self.level(*operand));
        let operands = || {
            let (mut all, mut levels) = (Level::known(Uniformity::Grid), self.levels.borrow_mut());
            for operand in &node.operands {
                all.meet(levels.use_of(*operand));
            }
            all.combined()
        };
        let at_most = |within: Uniformity| {
            let mut level = operands();
            level.meet(&Level::known(within));
            level
        };
        match &node.source {
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. } => operands(),
            Source::Read(variable) => state.at(*variable).cloned().unwrap_or(Level::known(Uniformity::Grid)),
            Source::Param(index) => match self.function.role {
                Role::Kernel => Level::known(Uniformity::Grid),
                Role::Device | Role::Method => Level::of(Unknown::Param(*index)),
            },
            Source::Known { uniformity: Uniformity::Rank, .. } | Source::ThreadRank => Level::known(Uniformity::Rank),
            Source::Known { uniformity, .. } => at_most(*uniformity),
            Source::Round(granule, _) => match operand(0) {
                Some(rank) if rank.at_most == Uniformity::Rank => {
                    let mut level = match granule {
                        Granule::Number(number) => Level::known(Uniformity::of_threads(u128::from(*number))),
                        Granule::Constant(value) => Level::multiple(*value),
                    };
                    level.unknown.add(&rank.unknown);
                    level
                }
                _ => operands(),
            },
            Source::Load(root) => match root {
                Root::ReadOnly => operands(),
                Root::Global => Level::known(Uniformity::Divergent),
                Root::Shared(_) if self.is_overwritten(value, true) => Level::known(Uniformity::Divergent),
                Root::Shared(shared) if !state.unseen_in(*shared).intersects(Unseen::OF_BLOCK) => {
                    let is_uniform = |node| self.level(node).is_uniform(Uniformity::Cluster);
                    let sees_peers = !state.unseen_in(*shared).intersects(Unseen::OF_CLUSTER);
                    at_most(match self.is_overwritten(value, false) {
                        true => Uniformity::Warp,
                        false => self.alike.of_own(self.cfg, self.control, (*shared, value, sees_peers), is_uniform),
                    })
                }
                Root::Remote(shared) if !state.unseen_in(*shared).intersects(Unseen::OF_CLUSTER) => {
                    at_most(Uniformity::Cluster)
                }
                Root::Shared(shared)
                    if self.own_elements.contains(shared)
                        && node.operands.first().is_some_and(|place| own_elements::is_own_place(self.cfg, *place))
                        && !state.unseen_in(*shared).contains(Unseen::OWN_WARP) =>
                {
                    at_most(Uniformity::Warp)
                }
                Root::Shared(shared)
                    if self.told.tells_of(*shared) && !state.unseen_in(*shared).contains(Unseen::UNTOLD) =>
                {
                    at_most(Uniformity::Warp)
                }
                Root::Shared(_) | Root::Remote(_) => Level::known(Uniformity::Divergent),
            },
            Source::Agreed { team, .. } => Self::agreed(operands(), team),
            Source::Shuffled { team } => {
                // With a uniform rank, all threads get one thread's value. Otherwise the result is as uniform as the operands.
                let whose = operand(1).unwrap_or(Level::known(Uniformity::Divergent)).combined();
                match whose.is_uniform(team.uniformity) {
                    true => Self::agreed(operands(), team),
                    false => operands(),
                }
            }
            Source::Call { slot, callee } => {
                let is_function = matches!(callee, Callee::Function(_));
                let mut level = Level::of(if is_function { Unknown::Call } else { Unknown::Method }(slot.0));
                // A method is not known here, so that its result depends on all of its arguments, too.
                if !is_function || array_functions::compares_keys(callee) {
                    level.meet(&operands());
                }
                level
            }
        }
    }

    /// Whether other threads of the block, or of the warp (`warp`), may overwrite what a thread reads before they have read it, too.
    pub(super) fn is_overwritten(&self, read: NodeId, warp: bool) -> bool {
        self.threads_of_block() != Some(1) && self.overwritten.contains(read, warp)
    }

    /// The level of a result that is the same for all threads of a group: at least the group's own, and more if the operands
    /// are uniform beyond it.
    fn agreed(operands: Level, team: &Team) -> Level {
        let further = team.group != Group::Coalesced && operands.is_uniform(team.uniformity);
        if further { operands } else { Level::known(team.uniformity) }
    }
}

impl Values<'_, '_> {
    /// Threads wait at a phase barrier, those of the block or of a warp together.
    fn wait_at_phase(&self, state: &mut State, call: BarrierCallId) {
        for (shared, block) in self.told.by_wait(self.cfg, call) {
            let of_block = self.is_reached_uniformly(block, Uniformity::Block);
            if !of_block && !self.is_reached_uniformly(block, Uniformity::Warp) {
                continue;
            }
            let seen = if of_block { Unseen::OF_BLOCK | Unseen::UNTOLD } else { Unseen::UNTOLD };
            let unseen = state.unseen_of(shared) & !seen;
            state.unseen.insert(shared, unseen);
            state.forget_others();
        }
    }
}

impl Analysis for Values<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State {
            variables: SortedMap::default(),
            unseen: BTreeMap::new(),
            others: Unseen::OWN | Unseen::OWN_WARP | Unseen::FAR | Unseen::UNTOLD,
        }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Evaluate(node)) => {
                let level = self.evaluate(state, *node);
                self.levels.borrow_mut().lower(*node, &level);
            }
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                state.set(*variable, self.levels.borrow_mut().use_of(*value), *extent);
            }
            StepKind::Memory(MemoryStep::Access(id)) => {
                let access = &self.cfg.accesses[id.0];
                match access.region.root {
                    Root::Shared(shared) if access.kind.changes() => {
                        state.write(shared, Unseen::OWN | Unseen::OWN_WARP | Unseen::FAR | Unseen::UNTOLD)
                    }
                    Root::Remote(shared) if access.kind.changes() => {
                        state.write(shared, Unseen::PEER | Unseen::FAR | Unseen::UNTOLD)
                    }
                    Root::ReadOnly | Root::Global | Root::Shared(_) | Root::Remote(_) => {}
                }
            }
            StepKind::Group(GroupStep::FormGroup(group)) => {
                let of_calls: Vec<u16> = self.calls_with(*group).collect();
                let is_lost = |level: &Level| {
                    let of_call = |unknown: &Unknown| matches!(unknown, Unknown::Call(slot) if of_calls.contains(slot));
                    level.at_most == *group || level.unknown.iter().any(of_call)
                };
                let lost = state.variables.values_mut().filter(|level| is_lost(level));
                lost.for_each(|level| level.at_most = Uniformity::Divergent);
            }
            // A relaxed arrival publishes nothing.
            StepKind::Group(GroupStep::Arrive { group, method, .. }) if !method.relaxed => state.arrive(*group),
            StepKind::Group(GroupStep::Wait { group, .. }) => state.wait(*group),
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
                state.sync(team.group);
                if own_elements::is_warp(team) {
                    state.sync_warp();
                }
            }
            // A callee may write to dynamic shared memory without being passed it.
            StepKind::Call(_) => {
                state.write(Shared::Dynamic, Unseen::OWN | Unseen::OWN_WARP | Unseen::FAR | Unseen::UNTOLD)
            }
            StepKind::BarrierCall(call) => self.wait_at_phase(state, *call),
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::WaitElected { .. }
                | GroupStep::Collective { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::Convergent { .. },
            )
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Token(_)
            | StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_)) => {}
        }
    }

    fn edge(&self, state: &mut State, _cfg: &Cfg<'_>, _from: BlockId, to: BlockId) {
        state.variables.retain(|variable, _| self.live.contains(to, *variable));
        for branch in &self.control.merges[to.0] {
            let tested = self.tested(*branch);
            if tested.is_top() {
                continue;
            }
            for variable in self.control.assigned.get(branch).into_iter().flatten() {
                if let Some(level) = state.variables.get_mut(variable) {
                    level.meet(&tested);
                }
            }
        }
    }
}
