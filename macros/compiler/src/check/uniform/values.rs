//! How many threads hold the same in each variable and each value: the greatest solution over the graph.
//!
//! A variable that is set on one way from a branch has, where the ways meet, a value that depends on what was tested
//! (`control` knows where). Shared memory is the same for all of a block once all writes to it are behind a barrier;
//! from each write on, nothing is known of it.
//!
//! Among the threads that are at a point together: whether all threads of a group are there is for `super` to ask.

#![warn(clippy::wildcard_enum_match_arm)]

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::control::Control;
use super::level::{Level, Unknown};
use crate::check::cfg::{BlockId, Cfg, Extent, Granule, NodeId, Place, Root, Shared, Source, Step, StepKind};
use crate::check::engine::{self, Analysis, Join};
use crate::check::live::Live;
use crate::check::scope::{Scope, Team};
use crate::model::Role;
use crate::model::expr::Callee;
use crate::model::ty::Group;

pub(crate) struct Values<'a, 'f> {
    pub(crate) cfg: &'a Cfg<'f>,
    pub(crate) control: &'a Control,
    live: &'a Live,
    role: Role,
    levels: RefCell<Levels>,
    reached: Vec<bool>,
}

/// Of each node. They only go down, round by round.
struct Levels {
    of: Vec<Level>,
    /// Whether something in this round was made of it.
    used: Vec<bool>,
    /// One went down after it was used.
    stale: bool,
}

impl Levels {
    fn of_nodes(count: usize) -> Levels {
        Levels { of: vec![Level::known(Scope::Grid); count], used: vec![false; count], stale: false }
    }

    fn use_of(&mut self, node: NodeId) -> &Level {
        self.used[node.0] = true;
        &self.of[node.0]
    }

    fn lower(&mut self, node: NodeId, to: &Level) {
        self.stale |= self.of[node.0].meet(to) && self.used[node.0];
    }
}

/// Writes to a piece of shared memory that a reader may not see, one bit each.
mod dirty {
    /// Of the block: behind no barrier of it; behind an arrival at the block's, or the cluster's.
    pub(super) const OWN: u8 = 1;
    pub(super) const OWN_BLOCK: u8 = 2;
    pub(super) const OWN_CLUSTER: u8 = 4;
    /// The same, of a peer.
    pub(super) const PEER: u8 = 8;
    pub(super) const PEER_CLUSTER: u8 = 16;
    /// Of anybody, for a reader in another block.
    pub(super) const FAR: u8 = 32;
    pub(super) const FAR_CLUSTER: u8 = 64;

    pub(super) const OF_BLOCK: u8 = OWN | OWN_BLOCK | OWN_CLUSTER | PEER | PEER_CLUSTER;
    pub(super) const OF_CLUSTER: u8 = FAR | FAR_CLUSTER;
}

#[derive(Debug, Clone)]
pub(crate) struct State {
    /// A place that is not named was not set, or is not read any more.
    places: BTreeMap<Place, Level>,
    dirty: BTreeMap<Shared, u8>,
    /// Of pieces that are not named.
    others: u8,
}

impl Join for State {
    // bottom = all agree on everything; join = what both say
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (place, level) in &other.places {
            if let Some(known) = self.places.get_mut(place) {
                changed |= known.meet(level);
                continue;
            }
            // A field that was not set by itself is as good as the whole.
            let whole = self.at(*place).cloned();
            let mut both = whole.clone().unwrap_or_else(|| level.clone());
            both.meet(level);
            changed |= whole.as_ref() != Some(&both);
            self.places.insert(*place, both);
        }
        for (place, level) in &mut self.places {
            if let Place::Field(local, _) = place
                && !other.places.contains_key(place)
                && let Some(whole) = other.places.get(&Place::Local(*local))
            {
                changed |= level.meet(whole);
            }
        }
        for shared in other.dirty.keys() {
            self.dirty.entry(*shared).or_insert(self.others);
        }
        for (shared, dirt) in &mut self.dirty {
            let both = *dirt | other.dirt(*shared);
            changed |= *dirt != both;
            *dirt = both;
        }
        changed |= self.others | other.others != self.others;
        self.others |= other.others;
        self.forget_others();
        changed
    }
}

impl State {
    /// What a place holds; a field that was not set by itself is as good as the whole.
    fn at(&self, place: Place) -> Option<&Level> {
        match (self.places.get(&place), place) {
            (None, Place::Field(local, _)) => self.places.get(&Place::Local(local)),
            (level, _) => level,
        }
    }

    fn set(&mut self, place: Place, level: &Level, extent: Extent) {
        if let (Place::Local(local), Extent::Whole) = (place, extent) {
            self.places.retain(|place, _| !matches!(place, Place::Field(of, _) if *of == local));
        }
        if let (Place::Local(local), Extent::Part) = (place, extent) {
            let fields = self.places.range_mut(Place::Field(local, 0)..=Place::Field(local, u16::MAX));
            fields.for_each(|(_, field)| {
                field.meet(level);
            });
        }
        match self.places.get_mut(&place) {
            Some(known) if extent != Extent::Whole => {
                known.meet(level);
            }
            _ => {
                self.places.insert(place, level.clone());
            }
        }
    }

    fn dirt(&self, shared: Shared) -> u8 {
        self.dirty.get(&shared.whole()).copied().unwrap_or(self.others)
    }

    /// Of a piece, and of what may be the same piece under another name.
    fn seen(&self, shared: Shared) -> u8 {
        match shared.whole() {
            Shared::Any => self.dirty.values().fold(self.others, |all, dirt| all | dirt),
            shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_)) => {
                self.dirt(shared) | self.dirt(Shared::Any)
            }
        }
    }

    fn write(&mut self, shared: Shared, bits: u8) {
        match shared.whole() {
            Shared::Any => self.each(|dirt| dirt | bits),
            shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_)) => {
                let dirt = self.dirt(shared) | bits;
                self.dirty.insert(shared, dirt);
                self.forget_others();
            }
        }
    }

    fn each(&mut self, change: impl Fn(u8) -> u8) {
        self.dirty.values_mut().for_each(|dirt| *dirt = change(*dirt));
        self.others = change(self.others);
        self.forget_others();
    }

    /// Those that are like the others need no name.
    fn forget_others(&mut self) {
        self.dirty.retain(|_, dirt| *dirt != self.others);
    }

    fn arrive(&mut self, group: Group) {
        let moved = |dirt: u8, from: u8, to: u8| if dirt & from != 0 { dirt & !from | to } else { dirt };
        self.each(|dirt| match group {
            Group::ThreadBlock => moved(dirt, dirty::OWN, dirty::OWN_BLOCK),
            Group::Cluster | Group::Grid => {
                let dirt = moved(dirt, dirty::OWN, dirty::OWN_CLUSTER);
                moved(moved(dirt, dirty::PEER, dirty::PEER_CLUSTER), dirty::FAR, dirty::FAR_CLUSTER)
            }
            Group::Tile | Group::Coalesced => dirt,
        });
    }

    fn wait(&mut self, group: Group) {
        self.each(|dirt| match group {
            Group::ThreadBlock => dirt & !dirty::OWN_BLOCK,
            Group::Cluster | Group::Grid => dirt & !(dirty::OWN_CLUSTER | dirty::PEER_CLUSTER | dirty::FAR_CLUSTER),
            Group::Tile | Group::Coalesced => dirt,
        });
    }

    fn sync(&mut self, group: Group) {
        self.each(|dirt| match group {
            Group::ThreadBlock => dirt & !(dirty::OWN | dirty::OWN_CLUSTER),
            Group::Cluster | Group::Grid => 0,
            Group::Tile | Group::Coalesced => dirt,
        });
    }
}

impl<'a, 'f> Values<'a, 'f> {
    /// Solved.
    pub(crate) fn of(role: Role, cfg: &'a Cfg<'f>, control: &'a Control, live: &'a Live) -> Values<'a, 'f> {
        let levels = RefCell::new(Levels::of_nodes(cfg.nodes.len()));
        let mut values = Values { cfg, control, live, role, levels, reached: Vec::new() };
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

    /// Whether control comes to a block at all.
    pub(crate) fn is_reached(&self, block: BlockId) -> bool {
        self.reached[block.0]
    }

    pub(crate) fn level(&self, node: NodeId) -> Level {
        self.levels.borrow_mut().use_of(node).clone()
    }

    /// Of what a block's end tests.
    pub(crate) fn tested(&self, block: BlockId) -> Level {
        self.cfg.blocks[block.0].end.condition().map_or(Level::known(Scope::Grid), |on| self.level(on))
    }

    fn evaluate(&self, state: &State, node: NodeId) -> Level {
        let node = &self.cfg.nodes[node.0];
        let operand = |index: usize| node.operands.get(index).map(|operand| self.level(*operand));
        let operands = || {
            let (mut all, mut levels) = (Level::known(Scope::Grid), self.levels.borrow_mut());
            for operand in &node.operands {
                all.meet(levels.use_of(*operand));
            }
            all.combined()
        };
        let at_most = |scope: Scope| {
            let mut level = operands();
            level.meet(&Level::known(scope));
            level
        };
        match &node.source {
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. } => operands(),
            Source::Read(place) => state.at(*place).cloned().unwrap_or(Level::known(Scope::Grid)),
            Source::Param(index) => match self.role {
                Role::Kernel => Level::known(Scope::Grid),
                Role::Device | Role::Method => Level::of(Unknown::Param(*index)),
            },
            Source::Known { scope: Scope::Rank, .. } | Source::ThreadRank => Level::known(Scope::Rank),
            Source::Known { scope, .. } => at_most(*scope),
            Source::Round(granule, _) => match operand(0) {
                Some(rank) if rank.scope == Scope::Rank => {
                    let mut level = match granule {
                        Granule::Number(number) => Level::known(Scope::of_threads(*number)),
                        Granule::Constant(value) => Level::multiple(*value),
                    };
                    level.unknown.add(&rank.unknown);
                    level
                }
                _ => operands(),
            },
            Source::Load(root) => match root {
                Root::ReadOnly => operands(),
                Root::Global => Level::known(Scope::Nothing),
                Root::Shared(shared) if state.seen(*shared) & dirty::OF_BLOCK == 0 => at_most(Scope::Block),
                Root::Remote(shared) if state.seen(*shared) & dirty::OF_CLUSTER == 0 => at_most(Scope::Cluster),
                Root::Shared(_) | Root::Remote(_) => Level::known(Scope::Nothing),
            },
            Source::Agreed { team, .. } => Self::agreed(operands(), team),
            Source::Shuffled { team } => {
                // One lane for all: what it holds. Otherwise what all of them hold.
                let whose = operand(1).unwrap_or(Level::known(Scope::Nothing)).combined();
                match whose.scope.covers(team.scope) && whose.unknown.is_empty() {
                    true => Self::agreed(operands(), team),
                    false => operands(),
                }
            }
            Source::Call { slot, callee: Callee::Function(_), .. } => Level::of(Unknown::Call(slot.0)),
            // All of its arguments count.
            Source::Call { slot, callee: Callee::Associated(..) | Callee::Method(..), .. } => {
                let mut level = operands();
                level.meet(&Level::of(Unknown::Method(slot.0)));
                level
            }
        }
    }

    /// All of the group get the same, and more where all of those had the same.
    fn agreed(operands: Level, team: &Team) -> Level {
        let further =
            team.group != Group::Coalesced && operands.scope.covers(team.scope) && operands.unknown.is_empty();
        if further { operands } else { Level::known(team.scope) }
    }
}

impl Analysis for Values<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State { places: BTreeMap::new(), dirty: BTreeMap::new(), others: dirty::OWN | dirty::FAR }
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Evaluate(node) => {
                let level = self.evaluate(state, *node);
                self.levels.borrow_mut().lower(*node, &level);
            }
            StepKind::Set { place, value, extent } => {
                state.set(*place, self.levels.borrow_mut().use_of(*value), *extent);
            }
            StepKind::Access(id) => {
                let access = &self.cfg.accesses[id.0];
                match access.piece.root {
                    Root::Shared(shared) if access.how.changes() => state.write(shared, dirty::OWN | dirty::FAR),
                    Root::Remote(shared) if access.how.changes() => state.write(shared, dirty::PEER | dirty::FAR),
                    Root::ReadOnly | Root::Global | Root::Shared(_) | Root::Remote(_) => {}
                }
            }
            StepKind::Renew(group) => {
                let lost = state.places.values_mut().filter(|level| level.scope == *group);
                lost.for_each(|level| level.scope = Scope::Nothing);
            }
            // A relaxed one publishes nothing.
            StepKind::Arrive { group, method, .. } if !method.relaxed => state.arrive(*group),
            StepKind::Wait { group, .. } => state.wait(*group),
            StepKind::Collective { team, barrier: true, .. } => state.sync(team.group),
            // It may have a name of its own for dynamic shared memory.
            StepKind::Call { .. } => state.write(Shared::Dynamic, dirty::OWN | dirty::FAR),
            StepKind::Arrive { .. }
            | StepKind::Collective { .. }
            | StepKind::Aligned { .. }
            | StepKind::Copy(_)
            | StepKind::Fence
            | StepKind::Phase(_)
            | StepKind::Together { .. }
            | StepKind::Move { .. }
            | StepKind::Return(_)
            | StepKind::HandOver { .. }
            | StepKind::Clear { .. }
            | StepKind::Drop { .. } => {}
        }
    }

    fn edge(&self, state: &mut State, _cfg: &Cfg<'_>, _from: BlockId, to: BlockId) {
        state.places.retain(|place, _| self.live.contains(to, *place));
        for branch in &self.control.merges[to.0] {
            let tested = self.tested(*branch);
            if tested.is_top() {
                continue;
            }
            for place in self.control.assigned.get(branch).into_iter().flatten() {
                if let Some(level) = state.places.get_mut(place) {
                    level.meet(&tested);
                }
            }
        }
    }
}
