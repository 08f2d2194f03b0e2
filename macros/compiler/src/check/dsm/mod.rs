//! Distributed shared memory: `remote_before_entry`, `exit_before_peers_done`, `unpublished_remote_read`,
//! `overwrite_while_read`, `write_after_arrive`, `unordered_remote_write`, `relaxed_publishes`, `rank_out_of_range`,
//! `uninit_shared_read`.
//!
//! CUDA C++ Programming Guide, Distributed Shared Memory: all blocks must have started before one accesses another's memory, and no
//! block may exit while a peer accesses its memory. That a barrier of the cluster orders conflicting accesses is the memory model's
//! (PTX ISA, Memory Consistency Model). `in_flight` finds the accesses that no barrier orders, and `index_analysis` the indexes that
//! are disjoint.
//!
//! Not checked here: races between threads of one block and between two peers, which the simulator finds. Order that atomics
//! establish is not seen.

mod access_site;
mod affine;
mod callers;
mod calls;
mod conflict;
mod copies;
mod counter;
mod divergent_arms;
mod each_pair;
mod exit;
mod explain;
mod guards;
mod in_flight;
mod index_analysis;
mod index_path;
mod index_value;
mod least;
pub(crate) mod overlap;
pub(crate) mod protocol;
mod questions;
pub(crate) mod ranks;
mod received;
mod record;
mod rows;
mod same_element;
mod skew;
mod skew_search;
mod skipped;
mod slices;
mod step_facts;
mod uninit;
mod visible;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{Behavior, Party, When};

use super::barriers::gather::Gather;
use super::cfg::{
    Access, AccessId, AccessKind, BarrierCallId, Call, CallId, Cfg, MemoryStep, Shared, Step, StepKind, ValueStep,
};
use super::completion::Completions;
use super::engine;
use super::liveness::Live;
use super::receipts::Receipts;
use super::tokens::Tokens;
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::kind::{Kind, Memory};
use crate::model::{Function, Param, Role};
use crate::rules::Rule;
use crate::span::SpanRange;
use access_site::{AccessSite, Accessor, Part, guard_of, in_both_times, in_time, is_repeated_later, rows};
use callers::is_given_token;
use conflict::Race;
use copies::Copies;
use divergent_arms::DivergentArms;
use in_flight::{InFlight, State};
use index_analysis::IndexAnalysis;
use index_path::IndexPath;
use overlap::ConstantIs;
use protocol::{Effect, Guard, Predicate, Protocol};
use questions::{About, Questions};
use ranks::blocks_of_cluster;
use record::{Record, RecordKey};
use slices::Slices;
use step_facts::StepFacts;
use visible::{is_visible_to_callers, may_access_peers, names_memory_of_others};

/// The function, and what other analyses know of it.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, 'f> {
    pub(super) function: &'f Function,
    pub(super) cfg: &'a Cfg<'f>,
    pub(super) tokens: &'a Tokens<'f>,
    pub(super) live: &'a Live,
    pub(super) values: &'a Values<'a, 'f>,
    /// The waits at phase barriers that order like a barrier of the cluster.
    pub(super) handshakes: &'a BTreeSet<BarrierCallId>,
    /// The waits of a block for what others have done to its memory.
    pub(super) gathers: &'a [Gather],
    pub(super) completions: &'a Completions,
    /// The arrays whose accesses are ordered, as a proof about phase barriers shows; by their index in `Function::shared`.
    pub(super) ordered: &'a BTreeSet<usize>,
}

/// Checks a function against all rules about distributed shared memory, and returns its summary.
pub(super) fn check(inputs: Inputs<'_, '_>, diags: &mut Diags) -> Protocol {
    let Inputs { function, cfg, values, .. } = inputs;
    ranks::check(function, diags);
    let unwritten = uninit::check(function, cfg, values, diags);
    let mut protocol = check_pairs(inputs, diags);
    unwritten.into_iter().for_each(|(guard, diag)| protocol.ask(guard, &diag));
    protocol
}

/// Checks the rules about pairs of accesses, entry and exit.
fn check_pairs(inputs: Inputs<'_, '_>, diags: &mut Diags) -> Protocol {
    let Inputs { function, cfg, .. } = inputs;
    if function.role == Role::Kernel && blocks_of_cluster(function) == Some(1)
        || !may_access_peers(cfg) && !is_visible_to_callers(cfg)
    {
        return Protocol::plain();
    }
    // Details only show that accesses are disjoint, so a kernel is looked at in detail where that is in question.
    let found = if function.role == Role::Kernel { analyze(inputs, false, diags) } else { None };
    found.or_else(|| analyze(inputs, true, diags)).unwrap_or_default()
}

/// Compares the accesses of a function; `None`, and no report, if details may show that some of them are disjoint.
fn analyze(inputs: Inputs<'_, '_>, in_detail: bool, diags: &mut Diags) -> Option<Protocol> {
    let Inputs { function, cfg, tokens, live, values, handshakes, gathers, completions, ordered } = inputs;
    let mut indexes = IndexAnalysis::new(function, cfg, live, values, in_detail);
    if in_detail {
        skew_search::find(&mut indexes, cfg, values);
    }
    let facts = StepFacts::of(cfg, &indexes, tokens);
    let (arms, role) = (DivergentArms::of_cfg(cfg, values, &indexes), function.role);
    let slices = Slices::of(cfg, role);
    let shared_with_peers = shared_with_peers(cfg, role, &slices);
    let (copies, takes_token) = (Copies::of(cfg, completions), is_given_token(function));
    let in_flight =
        InFlight { cfg, facts, arms, shared_with_peers, role, takes_token, handshakes, gathers, copies, ordered };
    let states = engine::solve(&in_flight, cfg);
    let rows = if role == Role::Device { rows::of(function, cfg) } else { Vec::new() };
    let mut check = Check {
        function,
        in_flight: &in_flight,
        slices,
        blocks: blocks_of_cluster(function).and_then(|blocks| u32::try_from(blocks).ok()),
        faults: BTreeMap::new(),
        first_accesses: Vec::new(),
        questions: Questions::default(),
        names_memory_of_others: names_memory_of_others(cfg),
        protocol: Protocol { rows, ..Protocol::default() },
        receipts: OnceCell::new(),
        values,
        has_conflicts: false,
    };
    engine::visit(&in_flight, cfg, &states, |state, step| check.step(state, step));
    for (block, state) in engine::leaves(&in_flight, cfg, &states) {
        let result = block.steps.iter().rev().find(|step| matches!(step.kind, StepKind::Value(ValueStep::Return(_))));
        check.check_exit(&state, result.map_or(SpanRange::at(function.body.span.hi), |step| step.at));
    }
    if check.has_conflicts && !in_detail {
        return None;
    }
    same_element::check(function, cfg, values, &in_flight.facts, diags);
    check.check_unwritten(diags);
    Some(check.finish(diags))
}

/// By access, whether a peer may access the same shared memory.
fn shared_with_peers(cfg: &Cfg<'_>, role: Role, slices: &Slices) -> Vec<bool> {
    let party_of = |access: &Access| access.region.root.party();
    let by_peers: BTreeSet<Shared> = cfg
        .accesses
        .iter()
        .filter_map(|access| match (party_of(access)?, access.kind) {
            ((Party::Peer, shared), _) | ((Party::Owner, shared), AccessKind::Lent) => Some(shared),
            ((Party::Owner, _), _) => None,
        })
        .collect();
    // Another function may name the dynamic memory, too.
    let others_name_dynamic = role != Role::Kernel || cfg.calls.iter().any(Call::is_of_function);
    let is_shared = |shared: Shared| match shared {
        Shared::Param(_) | Shared::Any => true,
        Shared::Dynamic | Shared::Slice(_) if others_name_dynamic => true,
        Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) => {
            by_peers.iter().any(|other| slices.may_overlap(shared, *other))
        }
    };
    cfg.accesses.iter().map(|access| party_of(access).is_some_and(|(_, shared)| is_shared(shared))).collect()
}

/// A line and a column.
type SourcePos = (u32, u32);

fn position(at: SpanRange) -> SourcePos {
    (at.line(), at.column())
}

/// A fault is reported once for each rule and position.
type FaultId = (Rule, SourcePos);

/// A fault to report, unless another one turns out to describe the same race.
struct Fault {
    diag: Diag,
    /// The two accesses are on different arms of a divergent branch, so that no path has both in the order of the fault.
    on_other_arm: bool,
    /// The positions of the accesses that race with this one.
    others: BTreeSet<SourcePos>,
}

/// The visitor that reports, with what it has found so far.
struct Check<'a, 'f> {
    function: &'f Function,
    values: &'a Values<'a, 'f>,
    in_flight: &'a InFlight<'a, 'f>,
    slices: Slices,
    /// The number of blocks in a cluster, if it is known.
    blocks: Option<u32>,
    faults: BTreeMap<FaultId, Fault>,
    /// The accesses to own arrays at the first time, or after a wait for the caller's arrival, with the calls before each.
    first_accesses: Vec<(When, AccessSite, IndexPath, BTreeSet<u16>)>,
    /// The questions about callees that have been asked.
    questions: Questions,
    /// Whether the function itself names memory that a callee may name, too: any but its own arrays.
    names_memory_of_others: bool,
    protocol: Protocol,
    /// The accesses to peers' memory whose owners wait for them, once they are asked for.
    receipts: OnceCell<Receipts>,
    /// Some accesses are taken to conflict because nothing shows that they are disjoint.
    has_conflicts: bool,
}

impl Check<'_, '_> {
    fn step(&mut self, state: &State, step: &Step) {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => self.access(state, *id),
            StepKind::Call(call) => self.call(state, *call),
            StepKind::Group(_)
            | StepKind::Value(_)
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::BarrierCall(_)
            | StepKind::Token(_) => {}
        }
    }

    /// Reports a fault; if its guard depends on callees, lets rustc report it.
    fn report(&mut self, guard: Guard, diag: Diag) {
        self.report_race(guard, diag, false);
    }

    /// Reports a fault, given whether the other access is on the other arm of a divergent branch.
    fn report_race(&mut self, guard: Guard, diag: Diag, on_other_arm: bool) {
        if !guard.is_certain() {
            return self.protocol.ask(guard, &diag);
        }
        self.has_conflicts = true;
        let other = diag.notes.first().and_then(|(at, _)| *at).map(position);
        let id = (diag.rule, position(diag.at));
        let fault = self.faults.entry(id).or_insert(Fault { diag, on_other_arm, others: BTreeSet::new() });
        fault.on_other_arm &= on_other_arm;
        fault.others.extend(other);
    }

    /// Adds an effect to the summary of a device function. Callers do not see the function's constants, so that the effect is
    /// taken to happen whatever they are.
    fn add_effect(&mut self, effect: Effect, guard: Guard) {
        let effect = (effect, Guard { constants: Vec::new(), ..guard });
        if self.function.role == Role::Device && self.questions.is_new_effect(&effect) {
            self.protocol.effects.push(effect);
        }
    }

    fn access(&mut self, state: &State, id: AccessId) {
        let access = &self.in_flight.cfg.accesses[id.0];
        let Some((party, shared)) = access.region.root.party() else { return };
        match access.kind {
            AccessKind::Lent => return,
            AccessKind::ByClosure => return self.given_closure(state, id),
            AccessKind::Read
            | AccessKind::Write
            | AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::AsyncWrite
            | AccessKind::Opaque => {}
        }
        if party == Party::Peer && !self.in_flight.facts.access(id).is_of_own_block {
            self.check_entered(state, access, shared);
        }
        let uses = conflict::uses_of(access.kind);
        if uses.is_empty()
            || !self.in_flight.shared_with_peers[id.0]
            || party == Party::Peer && !self.in_flight.may_have_entered(state, access.given_to)
        {
            return;
        }
        let path = &self.in_flight.facts.access(id).path;
        let accessor = Accessor::Itself(uses);
        let site = AccessSite { party, shared, at: access.at, accessor, given_to: access.given_to, number: Some(id) };
        self.check_conflicts(state, &site, path);
        if access.kind.changes() && shared.whole() == Shared::Dynamic {
            self.add_effect(Effect::Does(Behavior::WRITES_DYNAMIC), Guard::default());
        }
        self.add_first_use(state, &site, path);
    }

    /// `remote_before_entry`: a barrier of the cluster comes before an access to a peer's memory.
    ///
    /// ```text
    /// let peer = cluster.map_shared_rank(&array, rank);
    /// let x = peer[0];                                        // the peer may not have started
    /// ```
    fn check_entered(&mut self, state: &State, access: &Access, shared: Shared) {
        let Some(calls) = &state.not_entered else { return };
        let guard = in_time(access.given_to, Guard::unless(calls, Behavior::MAY_NOT_ENTER));
        let at = access.at;
        match (self.function.role, shared) {
            (Role::Kernel, _) => self.report(guard, messages::remote_before_entry(at)),
            (Role::Device, _) => self.add_effect(Effect::Does(Behavior::NEEDS_ENTRY), guard),
            // The caller mapped the peer's memory, so it must have entered.
            (Role::Method, shared) if self.was_mapped_by_caller(shared) => {}
            (Role::Method, _) => self.report(guard, messages::remote_in_method(at)),
        }
    }

    /// Whether memory of a peer was given to the function as such, rather than as memory of the own block.
    fn was_mapped_by_caller(&self, shared: Shared) -> bool {
        let is_remote = |param: &Param| {
            let kind = self.function.kind(param.local);
            let memory =
                if let Kind::Memory(memory) | Kind::OptionalMemory(memory) = kind { Some(memory) } else { None };
            memory.is_some_and(|memory| matches!(memory, Memory::RemoteArray | Memory::RemoteSlice))
        };
        match shared {
            Shared::Param(index) => is_remote(&self.function.params[index]),
            Shared::Any => self.function.params.iter().any(is_remote),
            Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) => false,
        }
    }

    /// The accesses in flight at a point, with their records.
    fn sites_in_flight<'s>(&self, state: &'s State) -> impl Iterator<Item = (AccessSite, &'s Record)> {
        let sites = state
            .records
            .iter()
            .flat_map(|(instance, record)| self.sites(instance.key).into_iter().map(move |site| (site, record)));
        sites.filter(|(site, record)| !is_repeated_later(site.given_to, record))
    }

    /// The accesses that a record stands for.
    fn sites(&self, key: RecordKey) -> Vec<AccessSite> {
        match key {
            RecordKey::Access(id) => {
                let access = &self.in_flight.cfg.accesses[id.0];
                let by_closure = access.kind == AccessKind::ByClosure;
                let accessor =
                    if by_closure { Accessor::Closure } else { Accessor::Itself(conflict::uses_of(access.kind)) };
                let Access { at, given_to, .. } = *access;
                let site = |(party, shared)| AccessSite { party, shared, at, accessor, given_to, number: Some(id) };
                access.region.root.party().map(site).into_iter().collect()
            }
            RecordKey::Argument { call, argument, arrived } => {
                self.argument_sites(call, argument, if arrived { When::Arrived } else { When::Last })
            }
            RecordKey::Call(_) | RecordKey::Caller | RecordKey::CallerArrived => Vec::new(),
        }
    }

    /// The accesses of a callee to one of its arguments. If that is memory of the own block, the callee may also map a peer's.
    fn argument_sites(&self, id: CallId, argument: usize, when: When) -> Vec<AccessSite> {
        let call = &self.in_flight.cfg.calls[id.0];
        let memory = call.argument(argument).filter(|_| call.is_of_function());
        let Some((given, shared)) = memory else { return Vec::new() };
        let parties = match given {
            Party::Owner => &[Party::Owner, Party::Peer][..],
            Party::Peer => &[Party::Peer],
        };
        let accessor = Accessor::Call { slot: self.in_flight.cfg.representative(call), argument, when };
        let Call { at, given_to, .. } = *call;
        parties.iter().map(|party| AccessSite { party: *party, shared, at, accessor, given_to, number: None }).collect()
    }

    /// `unpublished_remote_read`, `overwrite_while_read`, `write_after_arrive`, `unordered_remote_write`, `relaxed_publishes`:
    /// a barrier of the cluster orders conflicting accesses by the owner of some memory and by a peer.
    ///
    /// ```text
    /// array[i] = x; let y = peer[i];                          // the peer may not have written it
    /// let y = peer[i]; array[i] = x;                          // a peer may not have read it
    /// arrive(); array[i] = x; wait(); let y = peer[i];        // the peer's arrival came before its write
    /// peer[i] = x; let y = array[i];                          // a peer may not have written it
    /// ```
    fn check_conflicts(&mut self, state: &State, site: &AccessSite, path: &IndexPath) {
        let (mut found, mut beside_closure) = (Vec::new(), Vec::new());
        for (other, record) in self.sites_in_flight(state) {
            if other.party == site.party || !site.is_compared_with(&other) || site.is_of(self.in_flight.ordered) {
                continue;
            }
            if matches!(other.accessor, Accessor::Closure) {
                if site.is_beside_closure() {
                    continue;
                }
                let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
                beside_closure.push(in_both_times(other.given_to, site.given_to, guard));
                continue;
            }
            // Two callees that name memory themselves are compared by what they name.
            let are_callees = other.is_named_by_callee() && site.is_named_by_callee();
            if are_callees {
                continue;
            }
            let Some(constants) = self.aliasing(other.part(&record.path), site.part(path)) else { continue };
            let mut rows = None;
            for conflict in conflict::between(other.party, site.party, record) {
                if conflict.race == Race::UnorderedWrite && constants.is_empty() && record.path.is_halo_pair(path) {
                    continue;
                }
                if let Some(mut guard) = guard_of(&other, site, &conflict, record)
                    && !self.is_received_before(&other, site)
                {
                    let rows = rows.get_or_insert_with(|| self.row_predicates((&other, &record.path), (site, path)));
                    guard.when.extend(&*rows);
                    guard.constants.extend(constants.iter().cloned());
                    found.push((guard, other, conflict, record));
                }
            }
        }
        self.has_conflicts |= found.iter().any(|(guard, ..)| guard.constants.is_empty());
        beside_closure.into_iter().for_each(|guard| self.add_uses(site, When::BesideClosure, &guard));
        // The first report of a fault gives the message, so those whose accesses are on one path come first.
        found.sort_by_key(|(.., record)| record.on_other_arm);
        for (guard, other, conflict, record) in found {
            let about = About::Race(conflict.race, other.shared, site.shared);
            if self.is_new_question(about, [other.given_to, site.given_to], &guard) {
                let diag = self.message(&other, site, &conflict, (record, path), &guard.constants);
                self.report_race(guard, diag, record.on_other_arm);
            }
        }
        self.check_parameters(state, site);
    }

    /// Whether two parts may have an element in common, where one is the owner's and the other a peer's: `None` if they have
    /// none, and otherwise what must hold of constants for that.
    fn aliasing(&self, first: Part<'_>, second: Part<'_>) -> Option<Vec<ConstantIs>> {
        let slices = &self.slices;
        if !slices.have_same_base(first.shared, second.shared) {
            return slices.may_overlap(first.shared, second.shared).then(Vec::new);
        }
        let (own, peers) = if first.party == Party::Owner { (first, second) } else { (second, first) };
        each_pair::aliasing(own.path, peers.path, self.blocks)
    }

    /// Whether two parts may have an element in common, whatever constants are.
    fn may_alias(&self, first: Part<'_>, second: Part<'_>) -> bool {
        self.aliasing(first, second).is_some()
    }

    /// What must also hold for two accesses to conflict if the rows that a callee's arguments select are disjoint: the callee
    /// accesses more than its row.
    fn row_predicates(
        &self,
        (first, path): (&AccessSite, &IndexPath),
        (second, other): (&AccessSite, &IndexPath),
    ) -> Vec<Predicate> {
        let (firsts, seconds) = (rows(first, path), rows(second, other));
        let disjoint = |a: &IndexPath, b: &IndexPath| !self.may_alias(first.part(a), second.part(b));
        // Rows that are disjoint from all of the other memory come first, then pairs of rows that are disjoint.
        let (firsts_alone, firsts): (Vec<_>, Vec<_>) = firsts.into_iter().partition(|(_, row)| disjoint(row, other));
        let (seconds_alone, seconds): (Vec<_>, Vec<_>) = seconds.into_iter().partition(|(_, row)| disjoint(path, row));
        let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
        let pairs =
            pairs.filter(|((_, a), (_, b))| disjoint(a, b)).map(|((a, _), (b, _))| Predicate::Beyond(*a, Some(*b)));
        let alone = firsts_alone.into_iter().chain(seconds_alone).map(|(row, _)| Predicate::Beyond(row, None));
        alone.chain(pairs).collect()
    }

    /// Reports the faults that were found, except those that describe the same race as another one.
    fn finish(mut self, diags: &mut Diags) -> Protocol {
        self.protocol.demands.sort_by_key(|demand| position(demand.at));
        // Two accesses on different arms race in both orders. One of the two faults is reported: the one whose accesses are
        // on one path, if there is one.
        let is_reported = |(rule, at): &FaultId, other: &SourcePos| {
            self.faults.iter().any(|((as_rule, mirrored_at), mirrored)| {
                mirrored_at == other
                    && mirrored.others.contains(at)
                    && (!mirrored.on_other_arm
                        || *as_rule == Rule::UnpublishedRemoteRead && *rule != Rule::UnpublishedRemoteRead)
            })
        };
        let is_duplicate = |(id, fault): &(&FaultId, &Fault)| {
            fault.on_other_arm && !fault.others.is_empty() && fault.others.iter().all(|other| is_reported(id, other))
        };
        let duplicates: BTreeSet<FaultId> = self.faults.iter().filter(is_duplicate).map(|(id, _)| *id).collect();
        let faults = self.faults.into_iter().filter(|(id, _)| !duplicates.contains(id));
        faults.for_each(|(_, fault)| diags.push(fault.diag));
        self.protocol
    }
}
