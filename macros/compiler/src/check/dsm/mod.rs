//! Distributed shared memory: `remote_before_entry`, `exit_before_peers_done`, `unpublished_remote_read`,
//! `overwrite_while_read`, `write_after_arrive`, `unordered_remote_write`, `relaxed_publishes`, `rank_out_of_range`,
//! `uninit_shared_read`.
//!
//! CUDA C++ Programming Guide, Distributed Shared Memory: all blocks have started before one sites another's memory, and
//! none leaves while a peer sites its own. That reads and writes of one element are ordered by a barrier of the
//! cluster is the memory model's (PTX ISA, Memory Consistency Model). Who sites what when is found by `phases`; which
//! parts of memory are apart by `number`.
//!
//! Not checked here: accesses of the block's own threads against each other, or of two peers to one block's memory, and
//! orders that are made by atomics; those are races, and the simulator's.

mod access_site;
mod affine;
mod calls;
mod conflict;
mod divergent_arms;
mod in_flight;
mod index_analysis;
mod index_value;
mod path;
pub(crate) mod protocol;
pub(crate) mod ranks;
mod rows;
mod slices;
mod step_facts;
mod uninit;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{Behavior, ParameterUses, Party, When};

use super::cfg::{
    Access, AccessId, AccessKind, BarrierCallId, Cfg, MemoryStep, Region, Root, Shared, Source, Step, StepKind,
    ValueStep,
};
use super::engine;
use super::liveness::Live;
use super::tokens::Tokens;
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::expr::{Callee, FunctionPath};
use crate::model::{Function, Role};
use crate::rules::Rule;
use crate::span::SpanRange;
use access_site::{AccessSite, Accessor, Part, guard_of, rows};
use conflict::{Conflict, Race};
use divergent_arms::DivergentArms;
use in_flight::{InFlight, Key, Record, State};
use index_analysis::IndexAnalysis;
use path::Path;
use protocol::{Effect, Guard, Predicate, Protocol};
use slices::Slices;
use step_facts::StepFacts;

pub(super) fn check<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    tokens: &Tokens<'f>,
    live: &Live,
    values: &Values<'_, 'f>,
    meetings: &BTreeSet<BarrierCallId>,
    diags: &mut Diags,
) -> Protocol {
    ranks::check(function, diags);
    uninit::check(function, cfg, values, diags);
    if function.role == Role::Kernel && blocks_of_cluster(function) == Some(1) || !has_peers(cfg) && !is_seen(cfg) {
        return Protocol::plain();
    }
    let indexes = IndexAnalysis::new(function, cfg, live, values);
    let facts = StepFacts::of(cfg, &indexes, tokens);
    let (arms, role) = (DivergentArms::of_cfg(cfg, values, &indexes), function.role);
    let slices = Slices::of(cfg, role);
    let in_flight = InFlight { cfg, facts, arms, shared: shared(cfg, &slices), role, meetings };
    let states = engine::solve(&in_flight, cfg);
    let rows = if role == Role::Device { rows::of(function, cfg) } else { Vec::new() };
    let mut check = Check {
        function,
        in_flight: &in_flight,
        slices,
        blocks: blocks_of_cluster(function).and_then(|blocks| u32::try_from(blocks).ok()),
        calls: calls(cfg),
        found: BTreeMap::new(),
        firsts: Vec::new(),
        protocol: Protocol { rows, ..Protocol::default() },
    };
    engine::visit(&in_flight, cfg, &states, |state, step| check.step(state, step));
    for (block, state) in engine::leaves(&in_flight, cfg, &states) {
        let at = block.steps.iter().rev().find(|step| matches!(step.kind, StepKind::Value(ValueStep::Return(_))));
        check.leave(&state, at.map_or(SpanRange::at(function.body.span.hi), |step| step.at));
    }
    check.finish(diags)
}

/// Whether the function sites memory of peers, or calls one that may.
fn has_peers(cfg: &Cfg<'_>) -> bool {
    let mut steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    let remote = cfg.accesses.iter().any(|access| matches!(access.region.root, Root::Remote(_)));
    remote || steps.any(|step| matches!(step.kind, StepKind::Call { .. }))
}

/// Whether its callers can tell that the function uses the cluster or what it was given.
fn is_seen(cfg: &Cfg<'_>) -> bool {
    let given = |access: &Access| matches!(access.region.root.party(), Some((_, Shared::Param(_))));
    let mut steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    cfg.accesses.iter().any(given) || steps.any(divergent_arms::is_barrier)
}

/// The accesses that can be at once with one of a peer.
fn shared(cfg: &Cfg<'_>, slices: &Slices) -> Vec<bool> {
    let of = |access: &Access| access.region.root.party();
    let met: BTreeSet<Shared> = cfg
        .accesses
        .iter()
        .filter_map(|access| match (of(access)?, access.kind) {
            ((Party::Peer, shared), _) | ((Party::Owner, shared), AccessKind::Lent) => Some(shared),
            ((Party::Owner, _), _) => None,
        })
        .collect();
    let meets = |shared: Shared| match shared {
        Shared::Param(_) | Shared::Any => true,
        Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) => met.iter().any(|other| slices.overlap(shared, *other)),
    };
    cfg.accesses.iter().map(|access| of(access).is_some_and(|(_, shared)| meets(shared))).collect()
}

fn blocks_of_cluster(function: &Function) -> Option<u64> {
    function.options.cluster.as_ref().and_then(|extents| extents.count())
}

/// What a region is called, in a sentence.
fn name_of(function: &Function, cfg: &Cfg<'_>, shared: Shared) -> String {
    match cfg.names.get(&shared) {
        Some(local) => format!("`{}`", function.local(*local).name),
        None => "shared memory".into(),
    }
}

/// A call of a device function.
#[derive(Clone, Copy)]
struct Call<'a> {
    at: SpanRange,
    path: &'a FunctionPath,
    regions: &'a [Option<Region>],
}

fn calls<'a>(cfg: &'a Cfg<'_>) -> BTreeMap<u16, Call<'a>> {
    let of = cfg.nodes.iter().filter_map(|node| match &node.source {
        Source::Call { slot, callee: Callee::Function(path), regions, .. } => {
            Some((slot.0, Call { at: node.at, path, regions }))
        }
        _ => None,
    });
    of.collect()
}

/// Line and column.
type SourcePos = (u32, u32);

/// A fault is told once where it is: by its rule and its place.
type FaultId = (Rule, SourcePos);

struct Fault {
    diag: Diag,
    /// Only another thread's way makes it, and not the order of the text.
    aside: bool,
    /// The accesses that it is a fault with.
    others: BTreeSet<SourcePos>,
}

struct Check<'a, 'f> {
    function: &'f Function,
    in_flight: &'a InFlight<'a, 'f>,
    slices: Slices,
    /// Of a cluster.
    blocks: Option<u32>,
    calls: BTreeMap<u16, Call<'a>>,
    found: BTreeMap<FaultId, Fault>,
    /// What is done to shared memory of the function's own before it has waited, and after which calls.
    firsts: Vec<(AccessSite, Path, BTreeSet<u16>)>,
    protocol: Protocol,
}

impl Check<'_, '_> {
    fn step(&mut self, state: &State, step: &Step) {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => self.access(state, *id),
            StepKind::Call { slot, .. } => self.call(state, slot.0),
            StepKind::Group(_)
            | StepKind::Value(_)
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence)
            | StepKind::BarrierCall(_)
            | StepKind::Token(_) => {}
        }
    }

    /// A fault, or a question to rustc whether it is one.
    fn tell(&mut self, guard: Guard, diag: Diag) {
        self.tell_if(guard, diag, false);
    }

    /// `aside`: only another thread's way makes it.
    fn tell_if(&mut self, guard: Guard, diag: Diag, aside: bool) {
        if !guard.is_certain() {
            return self.protocol.ask(guard, &diag);
        }
        let place = |at: SpanRange| (at.line(), at.column());
        let other = diag.notes.first().and_then(|(at, _)| *at).map(place);
        let id = (diag.rule, place(diag.at));
        let fault = self.found.entry(id).or_insert(Fault { diag, aside, others: BTreeSet::new() });
        fault.aside &= aside;
        fault.others.extend(other);
    }

    /// What the function does, for its callers.
    fn give(&mut self, effect: Effect, guard: Guard) {
        let given = (effect, guard);
        if self.function.role == Role::Device && !self.protocol.effects.contains(&given) {
            self.protocol.effects.push(given);
        }
    }

    fn access(&mut self, state: &State, id: AccessId) {
        let access = &self.in_flight.cfg.accesses[id.0];
        let Some((party, shared)) = access.region.root.party() else { return };
        if access.kind == AccessKind::Lent {
            return;
        }
        if party == Party::Peer {
            self.check_entered(state, access.at, shared);
        }
        let uses = conflict::use_of(access.kind);
        if uses.is_empty() || !self.in_flight.shared[id.0] || party == Party::Peer && !self.in_flight.has_entered(state)
        {
            return;
        }
        let path = &self.in_flight.facts.access(id).path;
        let site = AccessSite { party, shared, at: access.at, by: Accessor::Itself(uses) };
        self.check_conflicts(state, &site, path);
        if let Some(calls) = state.unordered() {
            match shared {
                Shared::Param(param) => {
                    let effect = Effect::Uses(param, ParameterUses::of(party, When::First, uses));
                    self.give(effect, Guard::unless(calls, Behavior::MAY_NOT_ORDER));
                }
                Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) => {
                    self.firsts.push((site, path.clone(), calls.clone()));
                }
                Shared::Any => {}
            }
        }
    }

    /// `remote_before_entry`: all blocks have come to a barrier of the cluster before one sites another's memory.
    ///
    /// ```text
    /// let peer = cluster.map_shared_rank(&array, rank);
    /// let x = peer[0];                                        // the peer may not have started
    /// ```
    fn check_entered(&mut self, state: &State, at: SpanRange, shared: Shared) {
        let Some(calls) = &state.entered else { return };
        let guard = Guard::unless(calls, Behavior::MAY_NOT_ENTER);
        match (self.function.role, shared) {
            (Role::Kernel, _) => self.tell(guard, messages::remote_before_entry(at)),
            (Role::Device, _) => self.give(Effect::Does(Behavior::NEEDS_ENTRY), guard),
            // Whoever calls it has the remote memory, and is asked.
            (Role::Method, Shared::Param(_) | Shared::Any) => {}
            (Role::Method, _) => self.tell(guard, messages::remote_in_method(at)),
        }
    }

    /// PhaseAction may be done still when control comes to a point.
    fn under_way<'s>(&self, state: &'s State) -> impl Iterator<Item = (AccessSite, &'s Record)> {
        let records = state.records.iter();
        records.flat_map(|((key, _), record)| self.sites(*key).into_iter().map(move |site| (site, record)))
    }

    fn sites(&self, key: Key) -> Vec<AccessSite> {
        match key {
            Key::Access(id) => {
                let access = &self.in_flight.cfg.accesses[id.0];
                let by = Accessor::Itself(conflict::use_of(access.kind));
                let site = |(party, shared)| AccessSite { party, shared, at: access.at, by };
                access.region.root.party().map(site).into_iter().collect()
            }
            Key::Argument(slot, argument, arrived) => {
                self.taken(slot, argument, if arrived { When::Arrived } else { When::Last })
            }
            Key::Call(_) | Key::Caller => Vec::new(),
        }
    }

    /// By a device function that is given memory: of its own block, it can map that of a peer.
    fn taken(&self, slot: u16, argument: usize, when: When) -> Vec<AccessSite> {
        let call = self.calls.get(&slot);
        let region = call.and_then(|call| call.regions.get(argument)?.as_ref());
        let (Some(Call { at, .. }), Some((given, shared))) = (call, region.and_then(|region| region.root.party()))
        else {
            return Vec::new();
        };
        let sides = match given {
            Party::Owner => &[Party::Owner, Party::Peer][..],
            Party::Peer => &[Party::Peer],
        };
        let site =
            |party: &Party| AccessSite { party: *party, shared, at: *at, by: Accessor::Call(slot, argument, when) };
        sides.iter().map(site).collect()
    }

    /// `unpublished_remote_read`, `overwrite_while_read`, `write_after_arrive`, `unordered_remote_write`: what a block does
    /// to its memory, and what a peer does to it, is ordered by a barrier of the cluster.
    ///
    /// ```text
    /// array[i] = x; let y = peer[i];                          // the peer may not have written it
    /// let y = peer[i]; array[i] = x;                          // a peer may not have read it
    /// arrive(); array[i] = x; wait(); let y = peer[i];        // the peer's arrival came before its write
    /// peer[i] = x; let y = array[i];                          // a peer may not have written it
    /// ```
    fn check_conflicts(&mut self, state: &State, site: &AccessSite, path: &Path) {
        let mut told = Vec::new();
        for (other, record) in self.under_way(state) {
            if other.party == site.party || !self.meet(other.part(&record.path), site.part(path)) {
                continue;
            }
            for pair in conflict::between(other.party, site.party, record.timing) {
                if pair.race == Race::UnorderedWrite && record.path.is_edge(path) {
                    continue;
                }
                if let Some(mut guard) = guard_of(&other, site, &pair, record) {
                    guard.when.extend(self.beyond_rows((&other, &record.path), (site, path)));
                    told.push((guard, self.message(&other, site, &pair, record), record.aside));
                }
            }
        }
        // What is in the order of the text goes first.
        told.sort_by_key(|(.., aside)| *aside);
        told.into_iter().for_each(|(guard, diag, aside)| self.tell_if(guard, diag, aside));
        self.check_parameters(state, site);
    }

    /// Whether the two may be to one element: one by the block that owns it, one by a peer.
    fn meet(&self, first: Part<'_>, second: Part<'_>) -> bool {
        let slices = &self.slices;
        if !slices.are_one(first.shared, second.shared) {
            return slices.overlap(first.shared, second.shared);
        }
        let (own, peers) = if first.party == Party::Owner { (first, second) } else { (second, first) };
        own.path.meets(peers.path, self.blocks)
    }

    /// Calls that site no more than rows which their arguments choose do not meet in these: that they do more.
    fn beyond_rows(
        &self,
        (first, path): (&AccessSite, &Path),
        (second, other): (&AccessSite, &Path),
    ) -> Vec<Predicate> {
        let (firsts, seconds) = (rows(first, path), rows(second, other));
        let apart = |a: &Path, b: &Path| !self.meet(first.part(a), second.part(b));
        let (firsts_alone, firsts): (Vec<_>, Vec<_>) = firsts.into_iter().partition(|(_, row)| apart(row, other));
        let (seconds_alone, seconds): (Vec<_>, Vec<_>) = seconds.into_iter().partition(|(_, row)| apart(path, row));
        let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
        let pairs =
            pairs.filter(|((_, a), (_, b))| apart(a, b)).map(|((a, _), (b, _))| Predicate::Beyond(*a, Some(*b)));
        let alone = firsts_alone.into_iter().chain(seconds_alone).map(|(row, _)| Predicate::Beyond(row, None));
        alone.chain(pairs).collect()
    }

    fn message(&self, first: &AccessSite, second: &AccessSite, pair: &Conflict, record: &Record) -> Diag {
        let fault = self.fault(first, second, pair, record);
        match (first.shared, second.shared) {
            (Shared::Dynamic | Shared::Slice(_), Shared::Dynamic | Shared::Slice(_))
                if first.shared != second.shared =>
            {
                let name = |site: &AccessSite| name_of(self.function, self.in_flight.cfg, site.shared);
                messages::may_share_bytes(fault, &name(first), &name(second))
            }
            _ => fault,
        }
    }

    fn fault(&self, first: &AccessSite, second: &AccessSite, pair: &Conflict, record: &Record) -> Diag {
        let Record { aside, relaxed, .. } = *record;
        let shared = if second.shared == Shared::Any { first.shared } else { second.shared };
        let name = name_of(self.function, self.in_flight.cfg, shared);
        let place = |at: SpanRange| (at.line(), at.column());
        let round = !aside && place(first.at) >= place(second.at);
        if let (Race::RelaxedPublishes, Some(arrival)) = (pair.race, relaxed) {
            let firsts = (first.party == Party::Peer, first.only_reads());
            return messages::relaxed_publishes(second.at, first.at, arrival, &name, firsts, round);
        }
        match pair.race {
            Race::UnpublishedRead => messages::unpublished_remote_read(second.at, first.at, &name, round),
            Race::WriteAfterArrive => messages::write_after_arrive(first.at, second.at, &name, round),
            Race::OverwriteWhileRead => messages::overwrite_while_read(second.at, first.at, &name, round),
            Race::RelaxedPublishes | Race::UnorderedWrite => {
                let own = if first.party == Party::Owner { first } else { second };
                let roles = (second.party == Party::Peer, !own.only_reads());
                messages::unordered_remote_write(second.at, first.at, &name, roles, round)
            }
        }
    }

    /// `exit_before_peers_done`: no block leaves while a peer sites its memory.
    ///
    /// ```text
    /// out[i] = peer[i];
    /// }                                                       // the peer may have left before it was read
    /// ```
    fn leave(&mut self, state: &State, end: SpanRange) {
        for (key, open) in &state.open {
            let guard = Guard::unless(&open.calls, Behavior::MAY_NOT_ARRIVE);
            match (*key, self.function.role) {
                (Key::Access(id), Role::Kernel) => {
                    let at = self.in_flight.cfg.accesses[id.0].at;
                    self.tell(
                        guard,
                        match open.relaxed {
                            Some(arrival) => messages::relaxed_before_exit(at, arrival, end),
                            None => messages::exit_before_peers_done(at, end),
                        },
                    );
                }
                (Key::Call(slot), Role::Kernel) => {
                    let at = self.calls.get(&slot).map_or(end, |call| call.at);
                    let guard = guard.when(Predicate::Does(slot, Behavior::LEAVES_REMOTE_OPEN));
                    self.tell(
                        guard,
                        match open.relaxed {
                            Some(arrival) => messages::relaxed_before_exit(at, arrival, end),
                            None => messages::call_before_exit(at, end),
                        },
                    );
                }
                (Key::Access(_), _) => self.give(Effect::Does(Behavior::LEAVES_REMOTE_OPEN), guard),
                (Key::Call(slot), _) => {
                    self.give(
                        Effect::Does(Behavior::LEAVES_REMOTE_OPEN),
                        guard.when(Predicate::Does(slot, Behavior::LEAVES_REMOTE_OPEN)),
                    );
                }
                (Key::Caller, _) => self.give(Effect::Does(Behavior::MAY_NOT_ARRIVE), guard),
                (Key::Argument(..), _) => {}
            }
        }
        if self.function.role == Role::Kernel {
            return;
        }
        if let Some(calls) = &state.entered {
            self.give(Effect::Does(Behavior::MAY_NOT_ENTER), Guard::unless(calls, Behavior::MAY_NOT_ENTER));
        }
        for ((key, _), record) in &state.records {
            self.leave_behind(*key, record);
        }
    }

    fn finish(mut self, diags: &mut Diags) -> Protocol {
        self.protocol.demands.sort_by_key(|demand| (demand.at.line(), demand.at.column()));
        // Of two accesses on different ways, each may be the first: one of the two is told, in the order of the text
        // if there is one.
        let is_told = |(rule, place): &FaultId, other: &SourcePos| {
            self.found.iter().any(|((as_rule, at), mirrored)| {
                at == other
                    && mirrored.others.contains(place)
                    && (!mirrored.aside
                        || *as_rule == Rule::UnpublishedRemoteRead && *rule != Rule::UnpublishedRemoteRead)
            })
        };
        let is_needless = |(id, fault): &(&FaultId, &Fault)| {
            fault.aside && !fault.others.is_empty() && fault.others.iter().all(|other| is_told(id, other))
        };
        let needless: BTreeSet<FaultId> = self.found.iter().filter(is_needless).map(|(id, _)| *id).collect();
        let faults = self.found.into_iter().filter(|(id, _)| !needless.contains(id));
        faults.for_each(|(_, fault)| diags.push(fault.diag));
        self.protocol
    }
}
