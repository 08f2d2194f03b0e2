//! Phase barriers: `barrier_uninitialized`, `barrier_unpublished`, `barrier_init_not_elected`, `barrier_reinit`,
//! `barrier_use_after_drop`; and, in files of their own, `barrier_stale_token` and what is said of tokens of one array
//! (`tokens`), `barrier_count` and `arrive_while_pending` (`counts`).
//!
//! CUDA C++ Programming Guide, Asynchronous Barrier: one thread initialises a barrier, the threads meet, and only then does
//! one arrive. Which ways lead to a use of a barrier, and what was done on them, is found by `life`.
//!
//! What a device function does with a barrier that it is given goes into its summary (`summary`): whether it counts on an
//! `init` before, or begins a life itself.
//!
//! Not checked here: which element of an array an index chooses that is no literal, what methods do with a barrier, tokens that
//! a device function gives or takes, barriers that closures use, and whether as many arrive as are expected, but for the
//! two cases of `counts`. The simulator reports those where they happen.

#![warn(clippy::wildcard_enum_match_arm)]

mod conditions;
mod counts;
mod exchange;
mod lifecycle;
mod path_states;
mod summary;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::cfg::{BarrierCall, BarrierCallId, BlockId, Cfg, NodeId, Select, Shared, Source, Step, StepKind, Variable};
use super::dsm::protocol::{Effect, Guard, Predicate};
use super::engine::{self, Analysis};
use super::uniform::control::reachable;
use super::uniform::level::Level;
use super::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::expr::{Expr, ExprKind};
use crate::model::form::Form;
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, LocalId, Role};
use crate::rules::Rule;
use crate::span::SpanRange;
use lifecycle::{Id, Lifecycles, State, id_of, is_exact};
use path_states::{Lifecycle, Observers, PathState, Taker};
pub(super) use summary::Summary;
use summary::unless;

/// Gives what callers must know, and what rustc is asked.
pub(super) fn check<'f>(function: &'f Function, cfg: &Cfg<'f>, values: &Values<'_, 'f>, diags: &mut Diags) -> Summary {
    let mut summary = Summary::default();
    let seen = Facts { function, cfg, values, hidden: hidden(function, cfg) };
    if seen.ids().is_empty() {
        return summary;
    }
    let conditions = conditions::conditions(cfg);
    for scope in [Uniformity::Block, Uniformity::Cluster] {
        let lives = Lifecycles::new(cfg, values, scope, seen.ids(), &conditions);
        let states = engine::solve(&lives, cfg);
        let (told, summary) = (BTreeSet::new(), &mut summary);
        let mut check = Check { seen: &seen, lives: &lives, told, summary, diags };
        for (block, known) in states.iter().enumerate() {
            let Some(mut state) = known.clone() else { continue };
            for step in &cfg.blocks[block].steps {
                check.step(&state, step, BlockId(block));
                lives.transfer(&mut state, step);
            }
        }
    }
    summary.keeps(&seen);
    summary.meetings = exchange::meetings(&seen);
    tokens::check(&seen, diags);
    counts::check(&seen, diags);
    summary
}

/// What the checks look at.
struct Facts<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
    /// Barriers of which not all uses are steps.
    hidden: BTreeSet<Shared>,
}

impl<'a> Facts<'a, '_> {
    /// The barriers that are followed.
    fn ids(&self) -> BTreeSet<Id> {
        let given = self.cfg.nodes.iter().flat_map(|node| node.source.barriers()).map(|(_, region)| region);
        let params = self.cfg.names.iter().filter(|(_, local)| matches!(self.function.kind(**local), Kind::Barrier(_)));
        let params = params.map(|(shared, _)| Id { shared: *shared, index: None });
        let regions = self.cfg.barrier_calls.iter().map(|call| &call.region).chain(given);
        let ids = regions.filter_map(|region| id_of(self.cfg, region)).chain(params);
        let ids = ids.flat_map(|id| [id, Id { index: None, ..id }]);
        ids.filter(|id| id.shared != Shared::Any && !self.hidden.contains(&id.shared)).collect()
    }

    /// What a name stands for that is set once.
    fn resolved(&self, mut node: NodeId) -> NodeId {
        // No longer a chain than anybody writes.
        for _ in 0..8 {
            let Source::Read(Variable::Local(_)) = self.cfg.nodes[node.0].source else { break };
            node = self.cfg.origin(node);
        }
        node
    }

    /// Where a call is.
    fn block_of(&self, phase: BarrierCallId) -> Option<BlockId> {
        let at = |step: &Step| matches!(step.kind, StepKind::BarrierCall(at) if at == phase);
        self.cfg.blocks.iter().position(|block| block.steps.iter().any(at)).map(BlockId)
    }

    fn is_of(&self, BarrierCallId(phase): BarrierCallId, shared: Shared) -> bool {
        id_of(self.cfg, &self.cfg.barrier_calls[phase].region).is_some_and(|id| id.shared == shared)
    }

    /// The calls that may be about a barrier.
    fn calls(&self, id: Id) -> impl Iterator<Item = &'a BarrierCall> {
        let cfg = self.cfg;
        cfg.barrier_calls.iter().filter(move |call| {
            id_of(cfg, &call.region).is_some_and(|other| {
                other.shared == id.shared && (other.index == id.index || other.index.is_none() || id.index.is_none())
            })
        })
    }

    /// In a sentence.
    fn name(&self, id: Id) -> String {
        match (self.cfg.names.get(&id.shared), id.index) {
            (Some(local), Some(index)) => format!("`{}[{index}]`", self.function.local(*local).name),
            (Some(local), None) => format!("`{}`", self.function.local(*local).name),
            (None, _) => "the barrier".into(),
        }
    }

    /// Whether all threads of each of these groups come to a block, or none of it.
    fn comes_whole(&self, block: BlockId, group: Uniformity) -> bool {
        self.values.control.deciders(block).all(|branch| is_same(&self.values.tested(branch), group))
    }

    fn is_same_index(&self, node: NodeId, group: Uniformity) -> bool {
        is_same(&self.values.level(node), group)
    }

    /// The blocks have so many threads, if the text says it.
    fn threads(&self) -> Option<u64> {
        self.function.options.block.as_ref().and_then(|block| block.count())
    }
}

fn is_same(level: &Level, group: Uniformity) -> bool {
    level.at_most.covers(group) && level.unknown.is_empty()
}

/// Barriers that closures use, or a text by hand.
fn hidden(function: &Function, cfg: &Cfg<'_>) -> BTreeSet<Shared> {
    let mut uses: BTreeMap<LocalId, isize> = BTreeMap::new();
    let is_barrier = |expr: &Expr| matches!(expr.result_kind, Kind::Barrier(_));
    let name = |expr: &Expr| {
        let target = if let ExprKind::Borrow { target, .. } = &expr.kind { target } else { expr };
        local_of(target)
    };
    walk_block(&function.body, &mut |expr| {
        let (followed, by): (Vec<&Expr>, isize) = match expr.kind.form() {
            Form::Variable(_) => (Some(expr).filter(|expr| is_barrier(expr)).into_iter().collect(), 1),
            Form::Operation { op, operands } => {
                (followed_operand(op).and_then(|at| operands.get(at)).into_iter().collect(), -1)
            }
            Form::Call { arguments } => (arguments.iter().filter(|given| is_barrier(given)).collect(), -1),
            Form::Plain
            | Form::Prelude(_)
            | Form::Element { .. }
            | Form::Store { .. }
            | Form::CallClosure(_)
            | Form::Cuda(_) => return,
        };
        followed.into_iter().filter_map(name).for_each(|local| *uses.entry(local).or_default() += by);
    });
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Closure { body, .. } = &expr.kind {
            walk(body, &mut |inner| {
                if let (ExprKind::Local(local), true) = (&inner.kind, is_barrier(inner)) {
                    *uses.entry(*local).or_default() += 1;
                }
            });
        }
    });
    let hidden = cfg.names.iter().filter(|(_, local)| uses.get(local).is_some_and(|left| *left > 0));
    hidden.map(|(shared, _)| *shared).collect()
}

/// The position of the barrier among the operands of an operation that the analyses follow.
#[expect(clippy::wildcard_enum_match_arm, reason = "a barrier that any other operation takes is hidden")]
fn followed_operand(op: Op) -> Option<usize> {
    match op {
        Op::Barrier(..) => Some(0),
        Op::MapBarrier(_) => Some(1),
        Op::Copy(copy) => copy.barrier(),
        _ => None,
    }
}

struct Check<'a, 'f, 'd> {
    seen: &'a Facts<'a, 'f>,
    lives: &'a Lifecycles<'a, 'f>,
    /// By the rule and the barrier: one fault, one report.
    told: BTreeSet<(Rule, Shared, bool)>,
    summary: &'a mut Summary,
    diags: &'d mut Diags,
}

impl Check<'_, '_, '_> {
    fn step(&mut self, state: &State, step: &Step, block: BlockId) {
        if let (StepKind::Call { node, .. }, Uniformity::Block) = (&step.kind, self.lives.scope) {
            for (taker, id, exact) in self.lives.takers(*node) {
                if let Some(taker) = taker.filter(|_| exact && self.lives.ids.contains(&id)) {
                    self.check_taken(state, taker, id, block, step.at);
                }
            }
        }
        let StepKind::BarrierCall(BarrierCallId(phase)) = step.kind else { return };
        let call = &self.seen.cfg.barrier_calls[phase];
        let Some(id) = id_of(self.seen.cfg, &call.region).filter(|id| self.lives.ids.contains(id)) else { return };
        let remote = call.barrier.form == BarrierForm::Remote;
        match (self.lives.scope, call.method.action) {
            // Whether a peer has started, `remote_before_entry` asks.
            (Uniformity::Cluster, _) if remote && state.entered => self.check_ready(state, call, id, block),
            (Uniformity::Block, _) if remote => {}
            (Uniformity::Block, PhaseAction::Init) => {
                self.begins(state, id, Some(block));
                self.check_elected(state, call, id, block);
                self.check_again(state, call, id);
            }
            (Uniformity::Block, PhaseAction::InitCollective) => {
                self.begins(state, id, None);
                self.check_again(state, call, id);
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
                self.check_ready(state, call, id, block);
                self.check_left(state, call, id);
            }
            (
                Uniformity::Divergent
                | Uniformity::Rank
                | Uniformity::Group(_)
                | Uniformity::Parameter(_)
                | Uniformity::Tile(_)
                | Uniformity::Warp
                | Uniformity::Cluster
                | Uniformity::Grid,
                _,
            ) => {}
        }
    }

    fn tell(&mut self, id: Id, diag: Diag) {
        self.tell_if(id, Guard::default(), diag);
    }

    /// A fault, or a question to rustc whether it is one.
    fn tell_if(&mut self, id: Id, guard: Guard, diag: Diag) {
        let certain = guard.is_certain();
        if !self.told.insert((diag.rule, id.shared, certain)) {
            return;
        }
        match certain {
            true => self.diags.push(diag),
            false => self.summary.asked.push((guard, diag)),
        }
    }

    /// What the function does to a parameter, for its callers.
    fn give(&mut self, id: Id, what: BarrierUses, guard: Guard) {
        if let (Role::Device, Shared::Param(param)) = (self.seen.function.role, id.shared) {
            let effect = (Effect::Uses(param, ParameterUses::of_barrier(what)), guard);
            if !self.summary.effects.contains(&effect) {
                self.summary.effects.push(effect);
            }
        }
    }

    /// The parameter is initialised as the caller left it; at this block by who comes.
    fn begins(&mut self, state: &State, id: Id, by: Option<BlockId>) {
        let ways: Vec<&PathState> = state.ways.get(&id).into_iter().flat_map(|ways| ways.iter()).collect();
        for way in ways.into_iter().filter(|way| way.life == Lifecycle::Given) {
            self.give(id, BarrierUses::BEGINS, unless(way));
            if by.is_some_and(|block| self.come_several(block)) {
                self.give(id, BarrierUses::ALONE, unless(way));
            }
        }
    }

    /// A device function is given the barrier: the same rules, of what it does first.
    fn check_taken(&mut self, state: &State, taker: Taker, id: Id, block: BlockId, at: SpanRange) {
        let Taker { slot, argument } = taker;
        let name = self.seen.name(id);
        let does = |what: BarrierUses| Predicate::Uses(slot, argument, ParameterUses::of_barrier(what));
        let ways: Vec<PathState> = state.ways.get(&id).into_iter().flat_map(|ways| ways.iter()).cloned().collect();
        let several = self.come_several(block);
        for way in &ways {
            let guard = |what| unless(way).when(does(what));
            match (way.life, way.known) {
                (Lifecycle::Given, _) => {
                    for what in [BarrierUses::NEEDS, BarrierUses::BEGINS] {
                        self.give(id, what, guard(what));
                    }
                    if several {
                        self.give(id, BarrierUses::ALONE, guard(BarrierUses::ALONE));
                    }
                }
                (Lifecycle::New | Lifecycle::Invalid, Observers::All) => {
                    let later = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
                    let ended =
                        (way.life == Lifecycle::Invalid).then(|| self.place(id, &[PhaseAction::Invalidate])).flatten();
                    self.tell_if(
                        id,
                        guard(BarrierUses::NEEDS),
                        messages::barrier_uninitialized(at, &name, ended, later),
                    );
                }
                (Lifecycle::New | Lifecycle::Invalid, Observers::Aside) if self.seen.threads() != Some(1) => {
                    let init = self.place(id, &[PhaseAction::Init]);
                    self.tell_if(id, guard(BarrierUses::NEEDS), messages::barrier_unpublished(at, &name, init, None));
                }
                (Lifecycle::Live, Observers::All | Observers::Own | Observers::Sent(_)) => {
                    let earlier = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
                    self.tell_if(id, guard(BarrierUses::BEGINS), messages::barrier_reinit(at, &name, earlier));
                }
                (Lifecycle::New | Lifecycle::Invalid | Lifecycle::Live | Lifecycle::Open, _) => {}
            }
        }
        if self.is_kernel() && several && self.seen.threads() != Some(1) && !ways.is_empty() {
            let guard = Guard::default().when(does(BarrierUses::ALONE));
            self.tell_if(id, guard, messages::barrier_init_not_elected(at, &name));
        }
    }

    /// Where the barrier's life first changes so.
    fn place(&self, id: Id, what: &[PhaseAction]) -> Option<SpanRange> {
        let call = self.seen.calls(id).find(|call| what.contains(&call.method.action));
        call.map(|call| call.at)
    }

    /// `barrier_uninitialized`, `barrier_unpublished`: one thread has initialised the barrier, and all have met since.
    ///
    /// ```text
    /// let bar = shared_barrier(); bar.arrive_and_wait();       // by nobody
    /// if rank == 0 { bar.init(n); } bar.arrive_and_wait();     // by rank 0, which may not have come to it
    /// ```
    fn check_ready(&mut self, state: &State, call: &BarrierCall, id: Id, block: BlockId) {
        let Some(ways) = state.ways.get(&id) else { return };
        let peers = self.lives.scope == Uniformity::Cluster;
        let threads = self.seen.threads();
        let beyond_a_warp =
            threads.is_none_or(|threads| threads > 32) && self.seen.comes_whole(block, Uniformity::Block);
        let name = self.seen.name(id);
        let is_new = |life: Lifecycle| matches!(life, Lifecycle::New | Lifecycle::Invalid);
        for way in ways.iter().filter(|way| way.life == Lifecycle::Given) {
            self.give(id, BarrierUses::NEEDS, unless(way));
        }
        let new = ways.iter().filter(|way| is_new(way.life) && way.known == Observers::All);
        if let Some(way) = new.min_by_key(|way| way.unless().count()) {
            let ended = (way.life == Lifecycle::Invalid).then(|| self.place(id, &[PhaseAction::Invalidate])).flatten();
            let later = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
            let diag = messages::barrier_uninitialized(call.at, &name, ended, later);
            return self.tell_if(id, unless(way), diag);
        }
        let unpublished = ways.iter().filter(|way| match (way.life, way.known) {
            (Lifecycle::Open, _) | (_, Observers::All) => false,
            (life, Observers::Aside) => is_new(life) && threads != Some(1),
            (life, Observers::Near) => is_new(life) && (peers || beyond_a_warp),
            (Lifecycle::Invalid, Observers::Own | Observers::Sent(_)) => true,
            (Lifecycle::New | Lifecycle::Live, Observers::Own | Observers::Sent(_)) => peers,
            (Lifecycle::Given, _) => false,
        });
        if let Some(way) = unpublished.min_by_key(|way| way.unless().count()) {
            let init = self.place(id, &[PhaseAction::Init]);
            let group = call.barrier.scope.group();
            let diag = messages::barrier_unpublished(call.at, &name, init, peers.then_some(group));
            self.tell_if(id, unless(way), diag);
        }
    }

    /// `barrier_init_not_elected`: one thread initialises a barrier.
    ///
    /// ```text
    /// bar.init(block.num_threads()); block.sync();             // each of them does
    /// ```
    fn check_elected(&mut self, state: &State, call: &BarrierCall, id: Id, block: BlockId) {
        let pairs = Uniformity::Tile(1);
        let one = call.region.path.iter().all(|select| match select {
            Select::At(index) => self.seen.is_same_index(*index, pairs),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => false,
        });
        // Another thread may be at another `init`.
        let aside = |life: Lifecycle, known: Observers| {
            matches!(life, Lifecycle::New | Lifecycle::Invalid) && known == Observers::Aside
        };
        let mut ways = state.ways.get(&id).into_iter().flat_map(|ways| ways.iter()).peekable();
        if ways.peek().is_none() {
            return;
        }
        let two = is_exact(call, id) && ways.any(|way| aside(way.life, way.known));
        let several = one && self.is_kernel() && self.come_several(block);
        if self.seen.threads() != Some(1) && (several || two) {
            self.tell(id, messages::barrier_init_not_elected(call.at, &self.seen.name(id)));
        }
    }

    /// No branch lets one thread through alone.
    fn come_several(&self, block: BlockId) -> bool {
        let Facts { cfg, values, .. } = self.seen;
        values.control.deciders(block).all(|branch| {
            let leads = |side: &BlockId| reachable(cfg, *side, Some(branch)).contains(block);
            let sides: Vec<BlockId> = cfg.blocks[branch.0].end.successors().filter(leads).collect();
            let without_one = self.lives.condition(branch).is_some_and(|condition| {
                condition.elects
                    && sides[..]
                        .iter()
                        .all(|side| condition.on_the_way(&cfg.blocks[branch.0].end, *side) == Some(false))
            });
            without_one || is_same(&values.tested(branch), Uniformity::Tile(1))
        })
    }

    /// Who calls a device function is not seen.
    fn is_kernel(&self) -> bool {
        self.seen.function.role == Role::Kernel
    }

    /// `barrier_reinit`: a barrier that is in use is not initialised again.
    ///
    /// ```text
    /// bar.init_collective(&block, 64); bar.init_collective(&block, 32);
    /// ```
    fn check_again(&mut self, state: &State, call: &BarrierCall, id: Id) {
        let whole = call.region.path.is_empty();
        let ids = state.ways.iter().filter(|(other, _)| match whole {
            true => other.shared == id.shared,
            false => **other == id && is_exact(call, id),
        });
        let live = |known: Observers| known != Observers::Aside && known != Observers::Near;
        let again = ids.flat_map(|(_, ways)| ways.iter()).any(|way| way.life == Lifecycle::Live && live(way.known));
        if again {
            let earlier = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
            self.tell(id, messages::barrier_reinit(call.at, &self.seen.name(id), earlier));
        }
    }

    /// `barrier_use_after_drop`: who has dropped out arrives no more.
    ///
    /// ```text
    /// bar.arrive_and_drop(); bar.arrive_and_wait();
    /// ```
    fn check_left(&mut self, state: &State, call: &BarrierCall, id: Id) {
        if call.method.action.arrives() && is_exact(call, id) && state.left.contains(&id) {
            let dropped = self.seen.calls(id).find(|call| call.method.action == PhaseAction::ArriveAndDrop);
            self.tell(id, messages::barrier_use_after_drop(call.at, &self.seen.name(id), dropped.map(|call| call.at)));
        }
    }
}
