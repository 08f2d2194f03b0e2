//! Which accesses to shared memory may still be under way, in some block of the cluster, when control comes to a point.
//!
//! Let a thread have made `a` arrivals at barriers of the cluster before an access, and waited `w` times. An access is
//! before one of another block if its `a` is less than the other's `w`, and the two are at once if neither is before
//! the other. All blocks go the same way from barrier to barrier (`divergent_collective`), so at a point there are the
//! accesses since the last wait, and those between the arrival before and that wait. Where blocks may go different
//! ways between two barriers, what is done on one of them is done while others go the other (`divergent_arms`).

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet};

use bitflags::bitflags;
use phalanx_contract::protocol::Party;

use super::affine::Change;
use super::divergent_arms::DivergentArms;
use super::path::Path;
use super::step_facts::{AccessFacts, StepFacts};
use crate::check::cfg::{
    AccessId, AccessKind, BarrierCallId, BlockId, Cfg, End, GroupStep, MemoryStep, NodeId, Region, Source, Step,
    StepKind, ValueStep, Variable, spans_cluster,
};
use crate::check::engine::{Analysis, Join};
use crate::model::Role;
use crate::model::expr::{BinaryOp, Callee};
use crate::model::group::Group;
use crate::span::SpanRange;

/// PhaseAction was done to memory, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Access(AccessId),
    /// A device function had this argument, after it arrived or else before.
    Argument(u16, usize, bool),
    /// A device function may have touched what it has itself.
    Call(u16),
    /// The caller's.
    Caller,
}

bitflags! {
    /// When an access was made, and what has ordered it since.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Timing: u8 {
        /// Since the last wait, with no arrival before it.
        const SINCE_WAIT = 1;
        /// Since the last wait, after an arrival.
        const SINCE_ARRIVAL = 1 << 1;
        /// Between the arrival of the last wait and that wait.
        const BEFORE_WAIT = 1 << 2;
        /// Before a wait whose arrival was relaxed.
        const RELAXED = 1 << 3;
        /// No fence came after it.
        const UNFENCED = 1 << 4;
        /// No barrier of the block came after it, so that a fence of one of its threads would not be enough.
        const UNSYNCED = 1 << 5;
        /// It was unfenced when a relaxed arrival came that is not waited for.
        const MISSED = 1 << 6;
    }
}

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) path: Path,
    pub(super) timing: Timing,
    /// Only by others, who went another way.
    pub(super) aside: bool,
    /// Device functions that were called since: had one a barrier of the cluster in it, this is over.
    pub(super) passed: BTreeSet<u16>,
    /// The last relaxed arrival that did not order it.
    pub(super) relaxed: Option<SpanRange>,
}

/// A remote access that no arrival has ordered.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// Calls after it, one of which may have.
    pub(super) calls: BTreeSet<u16>,
    /// A relaxed arrival after it.
    pub(super) relaxed: Option<SpanRange>,
    /// There was a fence after it on all ways.
    fenced: bool,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    /// `None`: a barrier of the cluster is behind us. Otherwise if one of these calls had one in it.
    pub(super) entered: Option<BTreeSet<u16>>,
    /// Those since the last wait, and those before it (`true`), of which the same may be known of both.
    pub(super) records: BTreeMap<(Key, bool), Record>,
    /// Remote accesses after which nobody has arrived yet.
    pub(super) open: BTreeMap<Key, Open>,
}

impl Join for State {
    // bottom = entered, nothing under way; join = what may be
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        match (&mut self.entered, &other.entered) {
            (_, None) => {}
            (entered @ None, Some(_)) => {
                entered.clone_from(&other.entered);
                changed = true;
            }
            (Some(calls), Some(others)) => changed |= keep(calls, others),
        }
        for (key, record) in &other.records {
            match self.records.get_mut(key) {
                Some(known) => changed |= known.join(record),
                None => {
                    self.records.insert(*key, record.clone());
                    changed = true;
                }
            }
        }
        for (key, open) in &other.open {
            match self.open.get_mut(key) {
                Some(known) => {
                    changed |= keep(&mut known.calls, &open.calls) || known.fenced && !open.fenced;
                    known.fenced &= open.fenced;
                    known.relaxed = known.relaxed.or(open.relaxed);
                }
                None => {
                    self.open.insert(*key, open.clone());
                    changed = true;
                }
            }
        }
        changed
    }
}

/// PhaseAction both have.
fn keep(calls: &mut BTreeSet<u16>, others: &BTreeSet<u16>) -> bool {
    if calls.is_empty() {
        return false;
    }
    let before = calls.len();
    calls.retain(|call| others.contains(call));
    calls.len() != before
}

impl Record {
    fn join(&mut self, other: &Record) -> bool {
        let mut changed = keep(&mut self.passed, &other.passed);
        changed |= !self.timing.contains(other.timing) || self.aside && !other.aside;
        self.timing |= other.timing;
        self.aside &= other.aside;
        self.relaxed = self.relaxed.or(other.relaxed);
        changed |= self.path.join(&other.path);
        changed
    }
}

impl State {
    fn arrive(&mut self) {
        self.open.clear();
        self.records.values_mut().for_each(|record| record.timing.remove(Timing::MISSED));
    }

    /// Orders only what was fenced.
    fn arrive_relaxed(&mut self, at: SpanRange) {
        self.open.retain(|_, open| !open.fenced);
        self.open.values_mut().for_each(|open| open.relaxed = Some(at));
        for record in self.records.values_mut() {
            record.timing.remove(Timing::MISSED);
            if record.timing.contains(Timing::UNFENCED) {
                record.timing |= Timing::MISSED;
                record.relaxed = Some(at);
            }
        }
    }

    fn wait(&mut self) {
        self.entered = None;
        for ((key, _), mut record) in std::mem::take(&mut self.records) {
            let since_arrival = record.timing.contains(Timing::SINCE_ARRIVAL);
            let missed = record.timing.contains(Timing::MISSED);
            if since_arrival || missed {
                record.timing &= Timing::UNFENCED | Timing::UNSYNCED;
                record.timing.set(Timing::BEFORE_WAIT, since_arrival);
                record.timing.set(Timing::RELAXED, missed);
                self.keep(key, true, record);
            }
        }
    }

    /// What all threads of the block did before is seen by each of them.
    fn sync_block(&mut self) {
        self.records.values_mut().for_each(|record| record.timing.remove(Timing::UNSYNCED));
    }

    fn fence(&mut self) {
        self.records.values_mut().for_each(|record| record.timing.remove(Timing::UNFENCED));
        self.open.values_mut().for_each(|open| open.fenced = true);
    }

    /// By one thread of the block: for those that it knows of.
    fn fence_of_one(&mut self) {
        for record in self.records.values_mut().filter(|record| !record.timing.contains(Timing::UNSYNCED)) {
            record.timing.remove(Timing::UNFENCED);
        }
    }

    fn sync(&mut self) {
        self.open.clear();
        self.entered = None;
        self.records.clear();
    }

    /// A call that may have had barriers in it.
    fn pass(&mut self, slot: u16) {
        self.entered.iter_mut().for_each(|calls| {
            calls.insert(slot);
        });
        self.records.values_mut().for_each(|record| {
            record.passed.insert(slot);
        });
        self.open.values_mut().for_each(|open| {
            open.calls.insert(slot);
        });
    }

    /// `arrived`: after an arrival that is not waited for.
    fn record(&mut self, key: Key, path: Path, arrived: bool) {
        let when = if arrived { Timing::SINCE_ARRIVAL } else { Timing::SINCE_WAIT };
        let timing = when | Timing::UNFENCED | Timing::UNSYNCED;
        self.keep(key, false, Record { path, timing, aside: false, passed: BTreeSet::new(), relaxed: None });
    }

    fn keep(&mut self, key: Key, before: bool, record: Record) {
        match self.records.get_mut(&(key, before)) {
            Some(known) => {
                known.join(&record);
            }
            None => {
                self.records.insert((key, before), record);
            }
        }
    }

    /// `None`: what the caller did is ordered by a barrier of the cluster. Otherwise if one of these calls had one in it.
    pub(super) fn unordered(&self) -> Option<&BTreeSet<u16>> {
        let of = |before| self.records.get(&(Key::Caller, before));
        of(false).or(of(true)).map(|record| &record.passed)
    }

    fn changed(&mut self, variable: Variable, change: Change) {
        for Record { path, .. } in self.records.values_mut() {
            path.change(variable, change);
        }
    }
}

pub(super) struct InFlight<'a, 'f> {
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) facts: StepFacts,
    pub(super) arms: DivergentArms,
    /// The accesses that matter to peers.
    pub(super) shared: Vec<bool>,
    pub(super) role: Role,
    /// Waits at phase barriers that are as good as a barrier of the cluster.
    pub(super) meetings: &'a BTreeSet<BarrierCallId>,
}

impl InFlight<'_, '_> {
    /// A remote access before the cluster was entered is a fault by itself: what else it breaks is not looked for.
    pub(super) fn has_entered(&self, state: &State) -> bool {
        match self.role {
            Role::Kernel => state.entered.as_ref().is_none_or(|calls| !calls.is_empty()),
            Role::Device => true,
            Role::Method => false,
        }
    }

    /// `block.thread_rank() == 0`: of each block there is one for whom it is so.
    fn is_first_thread(&self, condition: NodeId) -> bool {
        let node = &self.cfg.nodes[condition.0];
        match (&node.source, &node.operands[..]) {
            (Source::Binary(BinaryOp::Eq), [a, b]) => {
                let zero = |node: &NodeId| matches!(self.cfg.nodes[node.0].source, Source::Integer(0));
                self.is_rank(*a) && zero(b) || zero(a) && self.is_rank(*b)
            }
            _ => false,
        }
    }

    fn is_rank(&self, node: NodeId) -> bool {
        matches!(self.cfg.nodes[self.cfg.origin(node).0].source, Source::ThreadRank)
    }

    fn access(&self, state: &mut State, id: AccessId) {
        let access = &self.cfg.accesses[id.0];
        let Some((party, _)) = access.region.root.party() else { return };
        if party == Party::Peer && access.kind != AccessKind::Lent {
            state.open.insert(Key::Access(id), Open::default());
        }
        let counts = !matches!(access.kind, AccessKind::Lent | AccessKind::ByHand) && self.shared[id.0];
        if counts && (party == Party::Owner || self.has_entered(state)) {
            let AccessFacts { path, arrived } = self.facts.access(id);
            state.record(Key::Access(id), path.clone(), *arrived);
        }
    }

    fn call(&self, state: &mut State, slot: u16, takes: bool, gives: bool, regions: &[Option<Region>]) {
        match (takes, gives) {
            (true, false) => state.wait(),
            (false, true) => state.arrive(),
            (false, false) | (true, true) => state.pass(slot),
        }
        // What it still does when it has returned.
        for (argument, region) in regions.iter().enumerate() {
            if region.as_ref().is_some_and(|region| region.root.party().is_some())
                && let Some(AccessFacts { path, arrived }) = self.facts.argument(slot, argument)
            {
                if gives {
                    state.record(Key::Argument(slot, argument, true), path.clone(), true);
                }
                state.record(Key::Argument(slot, argument, false), path.clone(), !gives && *arrived);
            }
        }
        state.record(Key::Call(slot), Path::default(), gives);
        state.open.insert(Key::Call(slot), Open::default());
    }
}

/// Whether who comes here fences, and arrives after that.
fn fences(cfg: &Cfg<'_>, block: BlockId) -> bool {
    let mut steps = cfg.blocks[block.0].steps.iter();
    steps
        .find(|step| {
            matches!(
                step.kind,
                StepKind::Memory(MemoryStep::Fence) | StepKind::Group(GroupStep::Arrive { .. }) | StepKind::Call { .. }
            )
        })
        .is_some_and(|step| matches!(step.kind, StepKind::Memory(MemoryStep::Fence)))
}

impl Analysis for InFlight<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        let mut state = State { entered: Some(BTreeSet::new()), records: BTreeMap::new(), open: BTreeMap::new() };
        if self.role != Role::Kernel {
            state.open.insert(Key::Caller, Open::default());
            state.record(Key::Caller, Path::default(), false);
        }
        state
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Set { variable, value, .. }) => {
                if let Some(change) = self.facts.change(*variable, *value) {
                    state.changed(*variable, change);
                }
            }
            StepKind::Memory(MemoryStep::Access(id)) => self.access(state, *id),
            StepKind::Group(GroupStep::Arrive { method, .. }) if method.relaxed => state.arrive_relaxed(step.at),
            StepKind::Group(GroupStep::Arrive { group, .. }) if spans_cluster(*group) => state.arrive(),
            StepKind::Memory(MemoryStep::Fence) => state.fence(),
            StepKind::Group(GroupStep::Wait { group, .. }) if spans_cluster(*group) => state.wait(),
            // All blocks have started, for the thread that has waited. Nothing else is over: others have not waited.
            StepKind::Group(GroupStep::WaitElected { group, .. }) if spans_cluster(*group) => state.entered = None,
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if spans_cluster(team.group) => {
                state.sync()
            }
            StepKind::BarrierCall(phase) if self.meetings.contains(phase) => state.sync(),
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group == Group::ThreadBlock => {
                state.sync_block()
            }
            StepKind::Call { node, takes, gives, slot } => {
                if let Source::Call { callee: Callee::Function(_), regions, .. } = &self.cfg.nodes[node.0].source {
                    let takes = takes.iter().any(|group| spans_cluster(*group));
                    let gives = gives.is_some_and(|(group, _)| spans_cluster(group));
                    self.call(state, slot.0, takes, gives, regions);
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
                | GroupStep::WaitElected { .. },
            )
            | StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Return(_))
            | StepKind::Copy(_)
            | StepKind::BarrierCall(_)
            | StepKind::Token(_) => {}
        }
    }

    fn beyond(&self, from: BlockId) -> &[BlockId] {
        self.arms.of(from)
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        if let End::Branch { on, then, otherwise } = cfg.blocks[from.0].end
            && to == otherwise
            && self.is_first_thread(on)
            && fences(cfg, then)
        {
            state.fence_of_one();
        }
        if cfg.blocks[from.0].end.successors().all(|next| next != to) {
            state.records.values_mut().for_each(|record| record.aside = true);
        }
        for variable in self.arms.forgotten(from, to).into_iter().flatten() {
            state.changed(*variable, Change::Lost);
        }
    }
}
