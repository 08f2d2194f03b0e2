//! Phase barriers: `barrier_uninitialized`, `barrier_unpublished`, `barrier_init_not_elected`, `barrier_reinit` and
//! `barrier_use_after_drop`. In files of their own are `barrier_stale_token` and `barrier_token_mixed` for the elements of one
//! array (`tokens`), and `barrier_count` and `arrive_while_pending` (`counts`).
//!
//! CUDA C++ Programming Guide, Asynchronous Barrier: one thread initializes a barrier, the threads synchronize, and only then
//! does a thread arrive. `lifecycle` finds the paths that lead to a use of a barrier, and what happened to it on each;
//! `learned` has the calls in which a thread may learn it in another way.
//!
//! The function's summary (`summary`) says what a device function does with a barrier that it is given: relies on an `init`, or calls it.
//!
//! Not checked here: elements at an index that is not a literal, what methods do with a barrier, tokens that a device function
//! takes or returns, barriers that inline CUDA uses, and how many threads arrive, but for the two cases of `counts`.

mod callee;
mod conditions;
mod counted_calls;
mod counts;
mod dropped;
mod elements;
mod exchange;
mod expected;
pub(crate) mod gather;
mod given;
mod invalidated;
mod learned;
mod lifecycle;
mod path_states;
mod repeated;
mod summary;
mod tokens;
mod warps;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, ParameterUses, When};
use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    AccessKind, BarrierCall, BarrierCallId, BlockId, Cfg, GroupStep, NodeId, Region, Select, Shared, Source, Step,
    StepKind, Variable,
};
use super::dsm::protocol::{Effect, Guard};
use super::election::{Election, MaxThreads, Threads};
use super::engine::{self, Analysis};
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::{Function, Role};
use crate::rules::Rule;
use crate::span::SpanRange;
use lifecycle::{Id, Lifecycles, State, id_of, is_exact};
use path_states::{Lifecycle, Observers, PathState};
pub(super) use summary::Summary;
use summary::unless;

/// Reports the faults, and returns what callers must know and what rustc is asked.
pub(super) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) -> Summary {
    let mut summary = Summary::default();
    repeated::check(function.role, cfg, &mut summary);
    if function.role == Role::Device {
        summary.effects.extend(learned::learns(cfg));
    }
    let cx = Context { function, cfg, values, hidden: hidden(cfg) };
    if cx.ids().is_empty() {
        return summary;
    }
    let election = Election::of(function, cfg, values);
    let conditions = conditions::conditions(cfg, values, &election);
    let dropped = dropped::arrivals(&cx, &conditions);
    summary.asked.extend(dropped::in_calls(&cx, &conditions));
    for scope in [Uniformity::Block, Uniformity::Cluster] {
        let lives = Lifecycles::new(cfg, values, scope, cx.ids(), &conditions);
        let states = engine::solve(&lives, cfg);
        let ends: Vec<State> = engine::leaves(&lives, cfg, &states).into_iter().map(|(_, end)| end).collect();
        if scope == Uniformity::Block && function.role == Role::Device && repeated::leaves_in_use(&lives, &ends) {
            summary.effects.push((Effect::Again(When::Ever), Guard::default()));
        }
        given::add_ends(&cx, &lives, &ends, &mut summary);
        if scope == Uniformity::Block {
            dropped::add_ends(&cx, &lives, &ends, &mut summary);
        }
        given::check(&cx, &lives, &mut summary);
        let (reported, summary) = (BTreeSet::new(), &mut summary);
        let mut check =
            Check { cx: &cx, election: &election, lives: &lives, dropped: &dropped, reported, summary, diags };
        for (block, known) in states.iter().enumerate() {
            let Some(mut state) = known.clone() else { continue };
            for step in &cfg.blocks[block].steps {
                check.step(&state, step, BlockId(block));
                lives.transfer(&mut state, step);
            }
        }
        if scope == Uniformity::Block {
            check.ends();
        }
    }
    summary.add_kept(&cx);
    summary.handshakes = exchange::handshakes(&cx);
    summary.gathers = gather::gathers(&cx);
    tokens::check(&cx, diags);
    let missed = counts::check(&cx, diags);
    expected::check(&cx, &election, &missed, diags);
    elements::check(&cx, diags);
    counted_calls::check(&cx, &election, &mut summary);
    counted_calls::summarize(&cx, &mut summary);
    summary
}

/// The function, its graph and its values, which all checks of phase barriers read.
struct Context<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
    /// The barriers with uses that are not steps of the graph, which are not followed.
    hidden: BTreeSet<Shared>,
}

impl<'a> Context<'a, '_> {
    /// The barriers that the analyses follow.
    fn ids(&self) -> BTreeSet<Id> {
        let given = self.cfg.calls.iter().flat_map(|call| &call.barriers).map(|(_, region)| region);
        let params = self.cfg.names.iter().filter(|(_, local)| matches!(self.function.kind(**local), Kind::Barrier(_)));
        let params = params.map(|(shared, _)| Id { shared: *shared, index: None });
        let regions = self.cfg.barrier_calls.iter().map(|call| &call.region).chain(given);
        let ids = regions.filter_map(|region| id_of(self.cfg, region)).chain(params);
        let ids = ids.flat_map(|id| [id, Id { index: None, ..id }]);
        ids.filter(|id| id.shared != Shared::Any && !self.hidden.contains(&id.shared)).collect()
    }

    /// The value of a node, through variables that are set only once.
    fn resolved(&self, mut node: NodeId) -> NodeId {
        // Longer chains are not followed.
        for _ in 0..8 {
            let Source::Read(Variable::Local(_)) = self.cfg.nodes[node.0].source else { break };
            node = self.cfg.origin(node);
        }
        node
    }

    /// The block that contains a call.
    fn block_of(&self, call: BarrierCallId) -> Option<BlockId> {
        let at = |step: &Step| matches!(step.kind, StepKind::BarrierCall(at) if at == call);
        self.cfg.blocks.iter().position(|block| block.steps.iter().any(at)).map(BlockId)
    }

    fn is_of(&self, BarrierCallId(index): BarrierCallId, shared: Shared) -> bool {
        id_of(self.cfg, &self.cfg.barrier_calls[index].region).is_some_and(|id| id.shared == shared)
    }

    /// The calls that may be about this barrier.
    fn calls(&self, id: Id) -> impl Iterator<Item = &'a BarrierCall> {
        let cfg = self.cfg;
        cfg.barrier_calls.iter().filter(move |call| {
            id_of(cfg, &call.region).is_some_and(|other| {
                other.shared == id.shared && (other.index == id.index || other.index.is_none() || id.index.is_none())
            })
        })
    }

    /// The barrier's name for a sentence.
    fn name(&self, id: Id) -> String {
        match (self.cfg.name_of(self.function, id.shared), id.index) {
            (Some(name), Some(index)) => format!("`{name}[{index}]`"),
            (Some(name), None) => format!("`{name}`"),
            (None, _) => "the barrier".into(),
        }
    }

    /// The number of threads in a block, if the text says it.
    fn threads(&self) -> Option<u64> {
        self.function.options.block.as_ref().and_then(|block| block.count())
    }
}

/// The barriers that inline CUDA uses, of which the graph does not say how.
fn hidden(cfg: &Cfg<'_>) -> BTreeSet<Shared> {
    let opaque = cfg.accesses.iter().filter(|access| access.kind == AccessKind::Opaque);
    opaque.filter_map(|access| Some(access.region.root.party()?.1)).collect()
}

/// Whether a step is this one, which is a call.
fn same_step(step: &Step) -> impl Fn(&Step) -> bool {
    move |other| match (&step.kind, &other.kind) {
        (StepKind::BarrierCall(call), StepKind::BarrierCall(other)) => call == other,
        (StepKind::Call(call), StepKind::Call(other)) => call == other,
        _ => false,
    }
}

struct Check<'a, 'f, 'd> {
    cx: &'a Context<'a, 'f>,
    election: &'a Election<'a, 'f>,
    lives: &'a Lifecycles<'a, 'f>,
    /// Arrivals after a drop on some path, each with the drop.
    dropped: &'a BTreeMap<BarrierCallId, BarrierCallId>,
    /// The faults that were reported, by rule and barrier and whether they are certain: each is reported once.
    reported: BTreeSet<(Rule, Shared, bool)>,
    summary: &'a mut Summary,
    diags: &'d mut Diags,
}

impl<'a, 'f> Check<'a, 'f, '_> {
    fn step(&mut self, state: &State, step: &Step, block: BlockId) {
        if let (StepKind::Call(call), Uniformity::Block) = (&step.kind, self.lives.within) {
            for (argument, id, exact) in self.lives.barrier_arguments(*call) {
                if let Some(argument) = argument.filter(|_| exact && self.lives.ids.contains(&id)) {
                    self.check_argument(state, argument, id, block, step);
                }
            }
        }
        let StepKind::BarrierCall(BarrierCallId(index)) = step.kind else { return };
        let call = &self.cx.cfg.barrier_calls[index];
        let Some(id) = id_of(self.cx.cfg, &call.region).filter(|id| self.lives.ids.contains(id)) else { return };
        let remote = call.barrier.form == BarrierForm::Remote;
        match (self.lives.within, call.method.action) {
            // `remote_before_entry` asks whether the peer has started.
            (Uniformity::Cluster, _) if remote && state.entered => self.check_ready(state, call, id, block),
            (Uniformity::Block, _) if remote => {}
            (Uniformity::Block, PhaseAction::Init) => {
                let threads = self.threads_at(block, step, &call.region);
                self.begins(state, id, threads.as_ref());
                self.check_elected(state, call, id, threads.as_ref());
                self.check_reinit(state, call, id);
            }
            (Uniformity::Block, PhaseAction::InitCollective) => {
                self.begins(state, id, None);
                self.check_reinit(state, call, id);
            }
            (
                Uniformity::Block,
                PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::Wait
                | PhaseAction::WaitParity
                | PhaseAction::ArriveAndWait
                | PhaseAction::TryWait
                | PhaseAction::ExpectTx
                | PhaseAction::Copy
                | PhaseAction::Invalidate,
            ) => {
                if call.method.action == PhaseAction::Invalidate {
                    self.check_invalidate(call, id, self.threads_at(block, step, &call.region).as_ref());
                }
                self.check_ready(state, call, id, block);
                self.check_dropped(state, BarrierCallId(index), id);
            }
            (
                Uniformity::Divergent
                | Uniformity::Rank
                | Uniformity::Group(_)
                | Uniformity::Parameter(_)
                | Uniformity::Tile(_)
                | Uniformity::Warp
                | Uniformity::Warpgroup
                | Uniformity::Cluster
                | Uniformity::Grid,
                _,
            ) => {}
        }
    }

    fn report(&mut self, id: Id, diag: Diag) {
        self.report_if(id, Guard::default(), diag);
    }

    /// Reports a fault if the guard is certain; otherwise rustc is asked whether it is one.
    fn report_if(&mut self, id: Id, guard: Guard, diag: Diag) {
        let certain = guard.is_certain();
        if !self.reported.insert((diag.rule, id.shared, certain)) {
            return;
        }
        match certain {
            true => self.diags.push(diag),
            false => self.summary.asked.push((guard, diag)),
        }
    }

    /// Adds what the function does to a parameter to its summary.
    fn add_effect(&mut self, id: Id, what: BarrierUses, guard: Guard) {
        if let (Role::Device, Shared::Param(param)) = (self.cx.function.role, id.shared) {
            let effect = (Effect::Uses(param, ParameterUses::of_barrier(what)), guard);
            if !self.summary.effects.contains(&effect) {
                self.summary.effects.push(effect);
            }
        }
    }

    /// The threads that are at a step and mean the same barrier.
    fn threads_at(&self, block: BlockId, step: &Step, region: &Region) -> Option<Threads<'a, 'a, 'f>> {
        let threads = self.election.at(block, same_step(step))?;
        Some(region.path.iter().flat_map(Select::nodes).fold(threads, Threads::with_same))
    }

    /// A parameter is initialized as the caller left it: by all threads of the scope, or by those that are at a step.
    fn begins(&mut self, state: &State, id: Id, threads: Option<&Threads<'_, '_, '_>>) {
        let paths: Vec<&PathState> = state.paths.get(&id).into_iter().flat_map(|paths| paths.iter()).collect();
        for path in paths.into_iter().filter(|path| path.life == Lifecycle::Given) {
            self.add_effect(id, BarrierUses::BEGINS, unless(path));
            if let Some(threads) = threads {
                self.add_callers(id, threads, unless(path));
            }
        }
    }

    /// A condition on the way to an `init` of a barrier that holds in one block alone.
    fn in_one_block(&self, id: Id) -> Option<SpanRange> {
        let Context { cfg, values, .. } = self.cx;
        let inits = cfg.blocks.iter().enumerate().filter(|(_, block)| {
            block.steps.iter().any(|step| {
                matches!(step.kind, StepKind::BarrierCall(call)
                if cfg.barrier_calls[call.0].method.action == PhaseAction::Init && self.cx.is_of(call, id.shared))
            })
        });
        let mut branches = inits.flat_map(|(block, _)| values.control.deciders(BlockId(block)));
        let branch = branches
            .find(|branch| [true, false].iter().any(|holds| self.election.one_block(*branch, *holds).is_some()))?;
        cfg.blocks[branch.0].end.condition().map(|on| cfg.nodes[on.0].at)
    }

    /// The innermost condition that decides whether a thread reaches a block, and that is not the same for the whole block.
    fn condition(&self, block: BlockId) -> Option<SpanRange> {
        let Context { cfg, values, .. } = self.cx;
        let divergent =
            values.control.deciders(block).filter(|branch| !values.tested(*branch).is_uniform(Uniformity::Block));
        let on = divergent.last().and_then(|branch| cfg.blocks[branch.0].end.condition())?;
        Some(cfg.nodes[on.0].at)
    }

    /// The place of the first call that does one of these to the barrier.
    fn place(&self, id: Id, what: &[PhaseAction]) -> Option<SpanRange> {
        let call = self.cx.calls(id).find(|call| what.contains(&call.method.action));
        call.map(|call| call.at)
    }

    /// `barrier_uninitialized`, `barrier_unpublished`: before a barrier is used, a thread initializes it and all threads
    /// synchronize.
    ///
    /// ```text
    /// let bar = shared_barrier(); bar.arrive_and_wait();       // not initialized
    /// if rank == 0 { bar.init(n); } bar.arrive_and_wait();     // rank 0 may not have reached `init` yet
    /// ```
    fn check_ready(&mut self, state: &State, call: &BarrierCall, id: Id, block: BlockId) {
        let Some(paths) = state.paths.get(&id) else { return };
        let peers = self.lives.within == Uniformity::Cluster;
        let beyond_a_warp = || self.cx.comes_from_another_warp(block, id);
        let name = self.cx.name(id);
        let is_new = |life: Lifecycle| matches!(life, Lifecycle::New | Lifecycle::Invalid);
        for path in paths.iter().filter(|path| path.life == Lifecycle::Given) {
            self.add_effect(id, BarrierUses::NEEDS, unless(path));
        }
        let unpublished = paths.iter().filter(|path| match (path.life, path.observers) {
            (Lifecycle::Unknown, _) | (_, Observers::All) => false,
            (life, Observers::OtherThread) => is_new(life) && self.cx.threads() != Some(1),
            (life, Observers::OtherWarp) => is_new(life) && (peers || beyond_a_warp()),
            (Lifecycle::Invalid, Observers::Own | Observers::Arrived(_)) => true,
            (Lifecycle::New | Lifecycle::Live, Observers::Own | Observers::Arrived(_)) => peers,
            (Lifecycle::Given, _) => false,
        });
        let unpublished = unpublished.min_by_key(|path| path.unless().count());
        // A loop that initializes is taken to do so: what is left to mend is that the others must wait for it.
        let is_begun = |path: &PathState| {
            let begun = |other: &PathState| other.life == Lifecycle::Live && other.assumed == path.assumed;
            unpublished.is_some() && paths.iter().any(begun)
        };
        let is_unbegun = |path: &&PathState| path.observers == Observers::All && is_new(path.life) && !is_begun(path);
        if let Some(path) = paths.iter().filter(is_unbegun).min_by_key(|path| path.unless().count()) {
            let ended = (path.life == Lifecycle::Invalid).then(|| self.place(id, &[PhaseAction::Invalidate])).flatten();
            let later = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
            let diag = messages::barrier_uninitialized(call.at, &name, ended, later, self.in_one_block(id));
            return self.report_if(id, unless(path), diag);
        }
        if let Some(path) = unpublished {
            let (init, peers) = (self.place(id, &[PhaseAction::Init]), peers.then(|| call.barrier.scope.group()));
            let ended = self.place(id, &[PhaseAction::Invalidate]).filter(|_| path.has_ended_it());
            let early = || messages::barrier_unpublished(call.at, &name, init, peers);
            let late = |at| messages::barrier_uninitialized(call.at, &name, Some(at), None, None);
            self.report_if(id, unless(path), ended.map_or_else(early, late));
        }
    }

    /// `barrier_init_not_elected`: a single thread initializes a barrier.
    ///
    /// ```text
    /// bar.init(block.num_threads()); block.sync();             // every thread executes `init`
    /// if lane == 0 { bar.init(block.num_threads()); }          // one of each warp does
    /// ```
    fn check_elected(&mut self, state: &State, call: &BarrierCall, id: Id, threads: Option<&Threads<'a, 'a, 'f>>) {
        // Another thread may execute another `init`.
        let aside = |life: Lifecycle, observers: Observers| {
            matches!(life, Lifecycle::New | Lifecycle::Invalid) && observers == Observers::OtherThread
        };
        let mut paths = state.paths.get(&id).into_iter().flat_map(|paths| paths.iter()).peekable();
        if paths.peek().is_none() {
            return;
        }
        let two = is_exact(call, id)
            && paths.any(|path| aside(path.life, path.observers))
            && !self.are_one_with_others(id, threads);
        let several =
            self.is_of_whole_block(id) && threads.is_some_and(|threads| threads.max_threads() != MaxThreads::One);
        if self.cx.threads() != Some(1) && (several || two) {
            let condition = threads.and_then(|threads| self.condition(threads.block));
            self.report(id, messages::barrier_init_not_elected(call.at, &self.cx.name(id), condition));
        }
    }

    /// Whether the threads that initialize a barrier here, and those that do elsewhere, are the same thread.
    fn are_one_with_others(&self, id: Id, threads: Option<&Threads<'a, 'a, 'f>>) -> bool {
        let cfg = self.cx.cfg;
        let inits = cfg.blocks.iter().enumerate().flat_map(|(block, steps)| {
            let of = |step: &&Step| matches!(step.kind, StepKind::BarrierCall(BarrierCallId(call))
                if cfg.barrier_calls[call].method.action == PhaseAction::Init && self.cx.is_of(BarrierCallId(call), id.shared));
            steps.steps.iter().filter(of).map(move |step| (BlockId(block), step))
        });
        inits
            .filter_map(|(block, step)| self.election.at(block, same_step(step)))
            .all(|others| threads.is_some_and(|threads| others.or(threads).max_threads() == MaxThreads::One))
    }

    /// Whether all threads of the block execute the function, and the barrier is its own: the callers of another function may elect a
    /// thread. All threads call a function that has a collective of the block.
    fn is_of_whole_block(&self, id: Id) -> bool {
        let is_of_block = |group: Group| !group.is_of_a_warp();
        let mut steps = self.cx.cfg.blocks.iter().flat_map(|block| &block.steps);
        let mut has_collective = || {
            steps.any(|step| match &step.kind {
                StepKind::Group(GroupStep::Collective { team, .. }) => is_of_block(team.group),
                StepKind::Group(GroupStep::Arrive { group, .. } | GroupStep::Wait { group, .. }) => is_of_block(*group),
                StepKind::Group(
                    GroupStep::Convergent { .. }
                    | GroupStep::Aligned { .. }
                    | GroupStep::FormGroup(_)
                    | GroupStep::ArriveForgotten { .. }
                    | GroupStep::WaitElected { .. },
                )
                | StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => false,
            })
        };
        let is_own = matches!(id.shared, Shared::Array(_));
        self.is_kernel() || self.cx.function.role == Role::Device && is_own && has_collective()
    }

    fn is_kernel(&self) -> bool {
        self.cx.function.role == Role::Kernel
    }

    /// `barrier_init_not_elected`: one thread ends a barrier's life.
    ///
    /// ```text
    /// block.sync(); bar.invalidate();   // every thread executes it
    /// ```
    fn check_invalidate(&mut self, call: &BarrierCall, id: Id, threads: Option<&Threads<'a, 'a, 'f>>) {
        if self.cx.threads() == Some(1) || !self.is_of_whole_block(id) {
            return;
        }
        if threads.is_some_and(|threads| threads.max_threads() != MaxThreads::One) {
            let condition = threads.and_then(|threads| self.condition(threads.block));
            self.report(id, messages::barrier_invalidate_not_elected(call.at, &self.cx.name(id), condition));
        }
    }

    /// `barrier_reinit`: a barrier in use is not initialized again.
    ///
    /// ```text
    /// bar.init_collective(&block, 64); bar.init_collective(&block, 32);
    /// ```
    fn check_reinit(&mut self, state: &State, call: &BarrierCall, id: Id) {
        let whole = call.region.path.is_empty();
        let ids = state.paths.iter().filter(|(other, _)| match whole {
            true => other.shared == id.shared,
            false => **other == id && is_exact(call, id),
        });
        let live = |observers: Observers| observers != Observers::OtherThread && observers != Observers::OtherWarp;
        let again =
            ids.flat_map(|(_, paths)| paths.iter()).any(|path| path.life == Lifecycle::Live && live(path.observers));
        if again {
            let earlier = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
            self.report(id, messages::barrier_reinit(call.at, &self.cx.name(id), earlier));
        }
    }
}
