//! A may-analysis of the accesses to shared memory that are still in flight at a point: no barrier of the cluster orders them before
//! it, in some block.
//!
//! Let a thread have made `a` arrivals at barriers of the cluster before an access, and have waited `w` times. The access
//! happens-before one of another block if its `a` is less than the other's `w`. All blocks take the same path from barrier to
//! barrier (`divergent_collective`), so in flight are the accesses since the last wait, and those between that wait and its
//! arrival. Where blocks may diverge between two barriers, the accesses in one arm are concurrent with those in the other
//! (`divergent_arms`).

use std::collections::BTreeSet;

use phalanx_contract::protocol::Party;

use super::affine::Change;
use super::copies::Copies;
use super::divergent_arms::DivergentArms;
use super::index_path::IndexPath;
use super::record::{Instance, OpenAccess, Record, RecordKey, Timing, intersect};
use super::step_facts::{AccessFacts, StepFacts};
use crate::check::barriers::gather::Gather;
use crate::check::cfg::{
    AccessId, AccessKind, BarrierCallId, BlockId, CallId, Cfg, Completion, CopyStep, End, GivenTo, GroupStep,
    MemoryStep, NodeId, Root, Shared, Source, Step, StepKind, ValueStep, Variable, spans_cluster,
};
use crate::check::completion::{Begun, waits_of};
use crate::check::engine::{Analysis, Join};
use crate::check::sorted_map::SortedMap;
use crate::model::Role;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::span::SpanRange;

/// The accesses in flight at a point.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// `None` if a barrier of the cluster has been waited for, so that all blocks have started. Otherwise the calls since the
    /// function's start, on all paths: one of them may have waited.
    pub(super) not_entered: Option<BTreeSet<u16>>,
    /// The accesses in flight.
    pub(super) records: SortedMap<Instance, Record>,
    /// The open accesses to peers' memory.
    pub(super) open: SortedMap<RecordKey, OpenAccess>,
    /// The completions for which some thread has waited, on some path since the last copy with it began.
    shown: BTreeSet<Completion>,
}

impl Join for State {
    // bottom = entered, nothing in flight; join = union of what may be in flight
    fn join(&mut self, other: &Self) -> bool {
        let shown_before = self.shown.len();
        self.shown.extend(&other.shown);
        let mut changed = self.shown.len() != shown_before;
        match (&mut self.not_entered, &other.not_entered) {
            (_, None) => {}
            (not_entered @ None, Some(_)) => {
                not_entered.clone_from(&other.not_entered);
                changed = true;
            }
            (Some(calls), Some(others)) => changed |= intersect(calls, others),
        }
        // Where a wait follows an access on one of the paths, the thread may have synchronized with one that took that path.
        let has_waited =
            |records: &SortedMap<Instance, Record>| records.keys().next_back().is_some_and(|last| last.waited);
        // An access of another round, to another place, does not count.
        let is_only = |records: &SortedMap<_, Record>, instance: Instance, record: &Record| {
            let known = |waited| records.get(&Instance { waited, ..instance });
            let is_other = |known: &Record| known.path.is_elsewhere(&record.path);
            !instance.waited
                && match (known(true), known(false)) {
                    (Some(_), None) => true,
                    (Some(waited), Some(not_waited)) => !is_other(waited) && is_other(not_waited),
                    (None, _) => false,
                }
        };
        if has_waited(&other.records) {
            let own = self.records.iter().filter(|(own, record)| is_only(&other.records, **own, record));
            let own: Vec<Instance> = own.map(|(own, _)| *own).collect();
            changed |= !own.is_empty();
            own.into_iter().for_each(|instance| self.wait_for(instance));
        }
        let has_waited = has_waited(&self.records);
        for (&instance, record) in other.records.iter() {
            let waited = instance.waited || has_waited && is_only(&self.records, instance, record);
            match self.records.get_mut(&Instance { waited, ..instance }) {
                Some(known) => changed |= known.join(record),
                None => {
                    self.records.insert(Instance { waited, ..instance }, Record { waited, ..record.clone() });
                    changed = true;
                }
            }
        }
        for (key, open) in other.open.iter() {
            match self.open.get_mut(key) {
                Some(known) => {
                    changed |= intersect(&mut known.calls_since, &open.calls_since) || known.fenced && !open.fenced;
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

impl State {
    /// An arrival at a barrier of the cluster. What it orders is in flight until the wait.
    fn arrive(&mut self) {
        self.open.clear();
        self.records.values_mut().for_each(|record| record.timing.remove(Timing::MISSED));
        self.renew_copies(true);
    }

    /// A relaxed arrival, which orders only what a fence follows.
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
        self.renew_copies(true);
    }

    /// A wait at a barrier of the cluster, which ends what its arrival ordered.
    pub(super) fn wait(&mut self) {
        self.not_entered = None;
        for (Instance { key, before_wait, .. }, mut record) in std::mem::take(&mut self.records) {
            if record.is_sent || record.is_copied_beyond(&self.shown) {
                self.add(key, before_wait, record);
                continue;
            }
            let since_arrival = record.timing.contains(Timing::SINCE_ARRIVAL);
            let missed = record.timing.contains(Timing::MISSED);
            if since_arrival || missed {
                record.timing &= Timing::UNFENCED | Timing::UNSYNCED;
                record.timing.set(Timing::BEFORE_WAIT, since_arrival);
                record.timing.set(Timing::RELAXED, missed);
                self.add(key, true, record);
            }
        }
        self.renew_copies(false);
    }

    /// A barrier of the cluster that is not split.
    fn sync_cluster(&mut self) {
        self.open.clear();
        self.not_entered = None;
        let shown = &self.shown;
        self.records.retain(|_, record| record.is_sent || record.is_copied_beyond(shown));
        self.renew_copies(false);
    }

    /// A copy goes on beyond a barrier of the cluster, which does not order it: it is as if it had just begun.
    fn renew_copies(&mut self, arrival_pending: bool) {
        let shown = &self.shown;
        let going_on = self.records.values_mut().filter(|record| record.is_copied_beyond(shown));
        going_on.for_each(|record| record.renew(arrival_pending));
    }

    /// A barrier of the block, before which the accesses of all of its threads happen.
    fn sync_block(&mut self) {
        let ended = self.records.values_mut().filter(|record| !record.is_copying());
        ended.for_each(|record| record.timing.remove(Timing::UNSYNCED));
    }

    /// A fence that all threads execute.
    fn fence(&mut self) {
        let ended = self.records.values_mut().filter(|record| !record.is_copying());
        ended.for_each(|record| record.timing.remove(Timing::UNFENCED));
        self.open.values_mut().for_each(|open| open.fenced = true);
    }

    /// A fence that one thread of the block executes. It covers the accesses that a barrier of the block ordered before it.
    fn fence_by_one_thread(&mut self) {
        for record in self.records.values_mut().filter(|record| !record.timing.contains(Timing::UNSYNCED)) {
            record.timing.remove(Timing::UNFENCED);
        }
    }

    /// A wait that these records do not outlast, if it shows what completes them; it also shows these completions.
    fn wait_for_copies(&mut self, shown: impl Iterator<Item = Completion>, ends: impl Fn(RecordKey, &Record) -> bool) {
        self.shown.extend(shown);
        let ended = self.records.iter().filter(|(instance, record)| !instance.waited && ends(instance.key, record));
        let ended: Vec<Instance> = ended.map(|(instance, _)| *instance).collect();
        ended.into_iter().for_each(|instance| self.wait_for(instance));
    }

    /// A wait follows an access.
    fn wait_for(&mut self, instance: Instance) {
        if let Some(record) = self.records.remove(&instance) {
            self.add(instance.key, instance.before_wait, Record { waited: true, ..record });
        }
    }

    /// A call of a function that may have barriers. The slot stands for all calls of the function.
    fn pass_call(&mut self, slot: u16) {
        self.not_entered.iter_mut().for_each(|calls| {
            calls.insert(slot);
        });
        self.records.values_mut().for_each(|record| {
            record.calls_since.insert(slot);
        });
        self.open.values_mut().for_each(|open| {
            open.calls_since.insert(slot);
        });
    }

    /// Records an access at this point.
    fn record(&mut self, key: RecordKey, record: Record) {
        self.add(key, false, record);
    }

    fn add(&mut self, key: RecordKey, before_wait: bool, record: Record) {
        let Record { waited, on_other_arm, told, .. } = record;
        let instance = Instance { waited, key, before_wait, on_other_arm, told };
        match self.records.get_mut(&instance) {
            Some(known) => {
                known.join(&record);
            }
            None => {
                self.records.insert(instance, record);
            }
        }
    }

    /// States the indexes of all records in terms of what the variable holds after the change.
    fn rewrite_indexes(&mut self, variable: Variable, change: Change) {
        for Record { path, .. } in self.records.values_mut() {
            path.rewrite(variable, change);
        }
    }
}

/// The analysis, with what it knows of the function's steps.
pub(super) struct InFlight<'a, 'f> {
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) facts: StepFacts,
    pub(super) arms: DivergentArms,
    /// Whether the owner and a peer may both access the memory of each access.
    pub(super) shared_with_peers: Vec<bool>,
    pub(super) role: Role,
    /// Whether the function is given a token of a barrier of the cluster.
    pub(super) takes_token: bool,
    /// The waits at phase barriers that order like a barrier of the cluster.
    pub(super) handshakes: &'a BTreeSet<BarrierCallId>,
    /// The waits of a block for what others have done to its memory, of which the first eight are followed.
    pub(super) gathers: &'a [Gather],
    pub(super) copies: Copies<'a>,
    /// The arrays whose accesses are ordered without a barrier of the cluster.
    pub(super) ordered: &'a BTreeSet<usize>,
}

impl InFlight<'_, '_> {
    /// Whether all blocks may have started, also in a function that calls the closure in which this stands. A remote access before
    /// that is a fault by itself and is not checked for races.
    pub(super) fn may_have_entered(&self, state: &State, given_to: Option<GivenTo>) -> bool {
        match self.role {
            Role::Kernel => given_to.is_some() || state.not_entered.as_ref().is_none_or(|calls| !calls.is_empty()),
            Role::Device => true,
            Role::Method => false,
        }
    }

    /// Whether the condition is `block.thread_rank() == 0`, which holds for exactly one thread of each block.
    fn is_thread_zero(&self, condition: NodeId) -> bool {
        let node = &self.cfg.nodes[condition.0];
        match (&node.source, &node.operands[..]) {
            (Source::Binary(BinaryOp::Eq), [a, b]) => {
                let zero = |node: &NodeId| matches!(self.cfg.nodes[node.0].source, Source::Integer(0));
                self.is_thread_rank(*a) && zero(b) || zero(a) && self.is_thread_rank(*b)
            }
            _ => false,
        }
    }

    fn is_thread_rank(&self, node: NodeId) -> bool {
        matches!(self.cfg.nodes[self.cfg.origin(node).0].source, Source::ThreadRank)
    }

    fn access(&self, state: &mut State, id: AccessId) {
        let access = &self.cfg.accesses[id.0];
        let Some((party, _)) = access.region.root.party() else { return };
        // A closure's accesses are open for the function that makes the closure.
        let is_open = party == Party::Peer && !matches!(access.kind, AccessKind::Lent | AccessKind::ByClosure);
        if is_open && !self.facts.access(id).is_of_own_block {
            state.open.insert(RecordKey::Access(id), OpenAccess::default());
        }
        let may_race = !matches!(access.kind, AccessKind::Lent | AccessKind::Opaque) && self.shared_with_peers[id.0];
        if may_race && (party == Party::Owner || self.may_have_entered(state, access.given_to)) {
            let AccessFacts { path, arrival_pending, .. } = self.facts.access(id);
            let is_sent = access.kind == AccessKind::AsyncWrite;
            let completion = access.completion;
            let record = Record { completion, is_sent, ..Record::new(path.clone(), *arrival_pending) };
            state.record(RecordKey::Access(id), record);
        }
        if let Some(completion) = access.completion {
            state.shown.remove(&completion);
            if let (AccessKind::AsyncWrite, Completion::Barrier(barrier)) = (access.kind, completion) {
                state.records.values_mut().for_each(|record| {
                    record.sent_since.insert(barrier);
                });
            }
        }
    }

    fn gathers(&self) -> impl Iterator<Item = (u8, &'_ Gather)> {
        (0..8).map(|bit| 1 << bit).zip(self.gathers)
    }

    /// An arrival that tells a block what was done to its memory before, or to any. Where one thread arrives for its block, the others'
    /// accesses are meant that came before the barrier of the block.
    fn tell(&self, state: &mut State, bit: u8, gather: &Gather) {
        let region = &self.cfg.barrier_calls[gather.arrival.0].region;
        let of_arrival = (0..).map(AccessId).zip(&self.cfg.accesses).find(|(_, access)| access.region == *region);
        let arrival = of_arrival.map(|(id, _)| &self.facts.access(id).path);
        let is_meant = |key: RecordKey, record: &Record| {
            let RecordKey::Access(id) = key else { return false };
            let is_remote = matches!(self.cfg.accesses[id.0].region.root, Root::Remote(_));
            let is_told =
                gather.tells_all || is_remote && arrival.is_some_and(|arrival| record.path.has_owner_of(arrival));
            let is_synced = gather.elected_at.is_none() || !record.timing.contains(Timing::UNSYNCED);
            is_told && is_synced && record.completion.is_none() && !record.is_sent && !record.on_other_arm
        };
        for (instance, record) in std::mem::take(&mut state.records) {
            let told = if is_meant(instance.key, &record) { record.told | bit } else { record.told };
            state.add(instance.key, instance.before_wait, Record { told, ..record });
        }
    }

    /// A wait at one of these phase barriers, here or in a function that is called.
    fn wait_at(&self, state: &mut State, barriers: &[Shared]) {
        state.wait_for_copies(self.copies.shown_at(barriers), |key, record| {
            let is_own = match key {
                RecordKey::Access(id) => matches!(self.cfg.accesses[id.0].region.root, Root::Shared(_)),
                RecordKey::Argument { .. } | RecordKey::Call(_) | RecordKey::Caller | RecordKey::CallerArrived => false,
            };
            self.copies.is_waited_for_at(barriers, is_own, record)
        });
    }

    /// A call of a device function, which may take and return a token of a barrier of the cluster.
    fn call(&self, state: &mut State, id: CallId, step: &Step) {
        let call = &self.cfg.calls[id.0];
        self.wait_at(state, &waits_of(self.cfg, step));
        let of_thread_or_group = [Completion::Group, Completion::BulkGroup];
        state.wait_for_copies(of_thread_or_group.into_iter(), |_, record| {
            record.completion.is_some_and(|completion| of_thread_or_group.contains(&completion))
        });
        if !call.is_of_function() {
            return;
        }
        let takes = call.takes_token_of_cluster();
        let may_return = call.returned_token.is_some_and(|(group, _)| spans_cluster(group));
        let returns = may_return && call.always_returns;
        match (takes, returns) {
            (true, false) => state.wait(),
            (false, true) => state.arrive(),
            (false, false) | (true, true) => state.pass_call(self.cfg.representative(call)),
        }
        // Its accesses may still be in flight after it has returned.
        for argument in call.shared_memory() {
            if let Some(AccessFacts { path, arrival_pending, .. }) = self.facts.argument(id, argument) {
                if returns {
                    let record = Record::new(path.clone(), true);
                    state.record(RecordKey::Argument { call: id, argument, arrived: true }, record);
                }
                let pending = !returns && *arrival_pending;
                let record = Record::new(path.clone(), pending);
                state.record(RecordKey::Argument { call: id, argument, arrived: false }, record);
            }
        }
        state.open.insert(RecordKey::Call(id), OpenAccess::default());
    }
}

/// Whether the block has a fence, before any arrival and any call.
fn fences_first(cfg: &Cfg<'_>, block: BlockId) -> bool {
    let mut steps = cfg.blocks[block.0].steps.iter();
    steps
        .find(|step| {
            matches!(
                step.kind,
                StepKind::Memory(MemoryStep::Fence) | StepKind::Group(GroupStep::Arrive { .. }) | StepKind::Call(_)
            )
        })
        .is_some_and(|step| matches!(step.kind, StepKind::Memory(MemoryStep::Fence)))
}

impl Analysis for InFlight<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        let mut state = State {
            not_entered: Some(BTreeSet::new()),
            records: SortedMap::default(),
            open: SortedMap::default(),
            shown: BTreeSet::new(),
        };
        if self.role != Role::Kernel {
            state.open.insert(RecordKey::Caller, OpenAccess::default());
            state.record(RecordKey::Caller, Record::new(IndexPath::default(), false));
            if self.takes_token {
                state.record(RecordKey::CallerArrived, Record::new(IndexPath::default(), true));
            }
        }
        state
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Value(ValueStep::Set { variable, value, .. }) => {
                if let Some(change) = self.facts.change(*variable, *value) {
                    state.rewrite_indexes(*variable, change);
                }
            }
            StepKind::Memory(MemoryStep::Access(id)) => self.access(state, *id),
            StepKind::Group(GroupStep::Arrive { method, .. }) if method.relaxed => state.arrive_relaxed(step.at),
            StepKind::Group(GroupStep::Arrive { group, .. }) if spans_cluster(*group) => state.arrive(),
            StepKind::Memory(MemoryStep::Fence) => state.fence(),
            StepKind::Group(GroupStep::Wait { group, .. }) if spans_cluster(*group) => state.wait(),
            // All blocks have started, for the thread that has waited. Nothing else is over: others have not waited.
            StepKind::Group(GroupStep::WaitElected { group, .. }) if spans_cluster(*group) => state.not_entered = None,
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if spans_cluster(team.group) => {
                state.sync_cluster()
            }
            StepKind::BarrierCall(phase) if self.handshakes.contains(phase) => state.sync_cluster(),
            StepKind::BarrierCall(call) => {
                for (bit, gather) in self.gathers() {
                    if gather.arrival == *call && gather.elected_at.is_none() {
                        self.tell(state, bit, gather);
                    }
                    if gather.wait == *call {
                        state.records.retain(|instance, _| instance.told & bit == 0);
                    }
                }
                self.wait_at(state, &waits_of(self.cfg, step));
            }
            StepKind::Copy(copy) => {
                if let CopyStep::Wait { completion, .. } = self.cfg.copies[copy.0] {
                    state.wait_for_copies([completion].into_iter(), |_, record| record.completion == Some(completion));
                }
            }
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group == Group::ThreadBlock => {
                state.sync_block()
            }
            StepKind::Call(call) => self.call(state, *call, step),
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
            | StepKind::Memory(MemoryStep::WaitPrevious)
            | StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Token(_) => {}
        }
    }

    fn extra_successors(&self, from: BlockId) -> &[BlockId] {
        self.arms.edges_from(from)
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        if let End::Branch { on, then, otherwise } = cfg.blocks[from.0].end
            && to == otherwise
            && self.is_thread_zero(on)
            && fences_first(cfg, then)
        {
            state.fence_by_one_thread();
        }
        for (bit, gather) in self.gathers().filter(|(_, gather)| gather.elected_at == Some(from)) {
            self.tell(state, bit, gather);
        }
        for begun in self.copies.waits.begun_in_arms(from) {
            if let Begun::Copy(copy) = begun {
                state.shown.remove(&self.cfg.copies[copy.0].completion());
            }
        }
        if cfg.blocks[from.0].end.successors().all(|next| next != to) {
            // The threads of the arm that begins have not waited as those of the other arm have.
            for (Instance { key, before_wait, .. }, record) in std::mem::take(&mut state.records) {
                state.add(key, before_wait, Record { waited: false, on_other_arm: true, ..record });
            }
        }
        for variable in self.arms.forgotten(from, to).into_iter().flatten() {
            state.rewrite_indexes(*variable, Change::Lost);
        }
    }
}
