//! Barriers that expect one arrival of each thread of the block in every phase: `arrive_while_pending` at such a barrier, and
//! the part of `barrier_count` about which threads arrive. (The other part, counts that no phase can have, is the parser's.)
//!
//! A barrier is known to be one if every `init` of it has that count, each of the function's arrivals at it counts once, and no
//! other function arrives. The arrivals at all other barriers are counted by the simulator alone.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::lifecycle::{Id, id_of, is_exact};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessKind, BarrierCall, BarrierCallId, BlockId, Cfg, End, GroupStep, MemoryStep, NodeId, Region, Source, Step,
    StepKind,
};
use crate::check::engine::{self, Analysis, Join};
use crate::check::uniform::control::reachable;
use crate::check::uniform::level::Unknown;
use crate::diag::Diags;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::group::Group;
use crate::model::query::{Answer, Query};
use crate::span::SpanRange;

/// Returns the barriers at which some threads do not arrive.
pub(super) fn check(cx: &Context<'_, '_>, diags: &mut Diags) -> BTreeSet<Id> {
    if cx.function.role != Role::Kernel || cx.threads() == Some(1) {
        return BTreeSet::new();
    }
    let full_count: BTreeMap<Id, BarrierCallId> =
        cx.ids().into_iter().filter_map(|id| Some((id, init_of_full_count(cx, id)?))).collect();
    let analysis = PendingArrivals { cx, full_count };
    let states = engine::solve(&analysis, cx.cfg);
    let mut reported = BTreeSet::new();
    for (block, known) in cx.cfg.blocks.iter().zip(&states) {
        let Some(mut state) = known.clone() else { continue };
        for step in &block.steps {
            if let StepKind::BarrierCall(call) = step.kind {
                analysis.check_pending(&state, call, &mut reported, diags);
            }
            analysis.transfer(&mut state, step);
        }
    }
    let mut missed = BTreeSet::new();
    for (id, init) in &analysis.full_count {
        if analysis.check_divergent_arrivals(*id, *init, diags) {
            missed.insert(*id);
        }
    }
    missed
}

/// The `init` of a barrier that expects one arrival of each thread of the block, `None` for other barriers.
pub(super) fn init_of_full_count(cx: &Context<'_, '_>, id: Id) -> Option<BarrierCallId> {
    let is_given = |(_, region): &(usize, Region)| id_of(cx.cfg, region).is_some_and(|of| of.shared == id.shared);
    if cx.cfg.calls.iter().flat_map(|call| &call.barriers).any(is_given) {
        return None;
    }
    init_of_full_count_here(cx, id)
}

/// Finds the `init` of a barrier that expects one arrival of each thread of the block, among those of the function itself. What called
/// functions do to the barrier is left out.
pub(super) fn init_of_full_count_here(cx: &Context<'_, '_>, id: Id) -> Option<BarrierCallId> {
    let cfg = cx.cfg;
    let mut init = None;
    for (at, call) in cfg.barrier_calls.iter().enumerate() {
        let Some(other) = id_of(cfg, &call.region).filter(|other| other.shared == id.shared) else { continue };
        if call.barrier.form == BarrierForm::Remote || call.method.action.arrives() && !is_exact(call, other) {
            return None;
        }
        let is_of = other == id || !is_exact(call, other);
        match call.method.action {
            PhaseAction::Init | PhaseAction::InitCollective if is_of => {
                let count = call.operands.last()?;
                let all = is_block_size(cx, *count);
                init = Some(BarrierCallId(at)).filter(|_| all);
                init?;
            }
            PhaseAction::ArriveN => return None,
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::ArriveAndWait
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => {}
        }
    }
    init
}

/// Whether a value is the number of threads in the block.
pub(super) fn is_block_size(cx: &Context<'_, '_>, node: NodeId) -> bool {
    let (cfg, node) = (cx.cfg, cx.resolved(node));
    match cfg.nodes[node.0].source {
        Source::Integer(number) => cx.threads() == Some(number),
        Source::Constant(value) => {
            let block = cx.function.options.block.as_ref();
            block.is_some_and(|extents| cx.function.is_extent(value, extents))
        }
        Source::Known { .. } => {
            let is_count =
                |(group, query): &(Group, &Query)| (*group, query.answer) == (Group::ThreadBlock, Answer::ThreadCount);
            cfg.queries.get(&node).is_some_and(is_count)
        }
        Source::Operands
        | Source::Binary(_)
        | Source::Not
        | Source::Counter { .. }
        | Source::Read(_)
        | Source::Param(_)
        | Source::ThreadRank
        | Source::Round(..)
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    }
}

/// A branch that is not uniform in the block and of which one arm leads to all of these blocks, and the other arm to none.
pub(super) fn divergent_branch(cx: &Context<'_, '_>, blocks: &BTreeSet<BlockId>) -> Option<BlockId> {
    let all_in = |side: &BlockSet| blocks.iter().all(|block| side.contains(*block));
    let none_in = |side: &BlockSet| !blocks.iter().any(|block| side.contains(*block));
    let mut regions = cx.values.control.regions(cx.cfg).filter(|(branch, ..)| {
        let tested = cx.values.tested(*branch);
        // The result of an unknown method is at most as uniform as its arguments; how far a part of a rank is uniform depends on a constant.
        let is_of_constant = |unknown: &Unknown| matches!(unknown, Unknown::Multiple(_));
        !tested.at_most.covers(Uniformity::Block) && !tested.unknown.iter().any(is_of_constant)
    });
    let found = regions.find(|(branch, _, end)| {
        let end_of = &cx.cfg.blocks[branch.0].end;
        let sides: Vec<BlockSet> = end_of.successors().map(|side| reachable(cx.cfg, side, *end)).collect();
        matches!(&sides[..], [a, b] if all_in(a) && none_in(b) || all_in(b) && none_in(a))
    });
    found.map(|(branch, ..)| branch)
}

/// The place of the condition that a branch tests.
pub(super) fn tested(cfg: &Cfg<'_>, branch: BlockId) -> Option<SpanRange> {
    cfg.blocks[branch.0].end.condition().map(|on| cfg.nodes[on.0].at)
}

impl Context<'_, '_> {
    /// Whether all threads of the block reach a call, if one does.
    pub(super) fn is_reached_by_all(&self, call: BarrierCallId) -> bool {
        self.block_of(call).is_some_and(|block| self.is_reached_by_all_at(block))
    }

    /// Whether all threads of the block come to a block of the graph, or none.
    pub(super) fn is_reached_by_all_at(&self, block: BlockId) -> bool {
        self.values.is_reached_uniformly(block, Uniformity::Block)
    }
}

/// The arrivals since which the thread cannot have learned that their phase has completed.
#[derive(Debug, Clone, Default)]
struct Pending(BTreeMap<Id, BTreeSet<BarrierCallId>>);

impl Join for Pending {
    // bottom = none; join = union
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (id, arrivals) in &other.0 {
            let known = self.0.entry(*id).or_default();
            let before = known.len();
            known.extend(arrivals);
            changed |= known.len() != before;
        }
        changed
    }
}

struct PendingArrivals<'a, 'f> {
    cx: &'a Context<'a, 'f>,
    /// The barriers that expect each thread once, with their `init`.
    full_count: BTreeMap<Id, BarrierCallId>,
}

impl Analysis for PendingArrivals<'_, '_> {
    type State = Pending;

    fn entry(&self) -> Pending {
        Pending::default()
    }

    fn transfer(&self, state: &mut Pending, step: &Step) {
        if self.may_learn(step) {
            state.0.clear();
        }
        if let StepKind::BarrierCall(BarrierCallId(index)) = step.kind {
            let call = &self.cx.cfg.barrier_calls[index];
            let id = id_of(self.cx.cfg, &call.region).filter(|id| self.full_count.contains_key(id));
            // `barrier_use_after_drop` is about arrivals after `arrive_and_drop`.
            if let (PhaseAction::Arrive, Some(id)) = (call.method.action, id) {
                state.0.entry(id).or_default().insert(BarrierCallId(index));
            }
        }
    }

    fn edge(&self, _state: &mut Pending, _cfg: &Cfg<'_>, _from: BlockId, _to: BlockId) {}
}

impl PendingArrivals<'_, '_> {
    /// Whether the thread may learn at this step that a phase has completed.
    fn may_learn(&self, step: &Step) -> bool {
        match &step.kind {
            StepKind::BarrierCall(BarrierCallId(index)) => match self.cx.cfg.barrier_calls[*index].method.action {
                PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::ExpectTx
                | PhaseAction::Copy => false,
                PhaseAction::Init
                | PhaseAction::InitCollective
                | PhaseAction::Wait
                | PhaseAction::WaitParity
                | PhaseAction::ArriveAndWait
                | PhaseAction::TryWait
                | PhaseAction::Invalidate => true,
            },
            StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Wait { .. }
                | GroupStep::WaitElected { .. }
                | GroupStep::Convergent { .. },
            )
            | StepKind::Call(_) => true,
            StepKind::Memory(MemoryStep::Access(id)) => match self.cx.cfg.accesses[id.0].kind {
                AccessKind::AtomicRead
                | AccessKind::Atomic
                | AccessKind::Lent
                | AccessKind::Opaque
                | AccessKind::ByClosure => true,
                AccessKind::Read | AccessKind::Write | AccessKind::AsyncWrite => false,
            },
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_),
            )
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Token(_) => false,
        }
    }

    /// Whether the thread may learn, on some path from the first arrival to the second, that the phase has completed: an
    /// `Option` may hold the token.
    fn may_learn_between(&self, first: BarrierCallId, second: BarrierCallId) -> bool {
        let cfg = self.cx.cfg;
        let is = |step: &Step, call: BarrierCallId| matches!(step.kind, StepKind::BarrierCall(at) if at == call);
        let Some(start) = self.cx.block_of(first) else { return true };
        let at = cfg.blocks[start.0].steps.iter().position(|step| is(step, first)).map_or(0, |at| at + 1);
        let mut seen = [BlockSet::none(cfg.blocks.len()), BlockSet::none(cfg.blocks.len())];
        let mut work = vec![(start, at, false)];
        while let Some((block, from, mut learned)) = work.pop() {
            let mut goes_on = true;
            for step in cfg.blocks[block.0].steps.iter().skip(from) {
                if is(step, second) && learned {
                    return true;
                }
                goes_on &= !is(step, second) && !is(step, first);
                learned |= self.may_learn(step);
            }
            if goes_on {
                let next = cfg.blocks[block.0].end.successors().filter(|next| seen[usize::from(learned)].insert(*next));
                work.extend(next.map(|next| (next, 0, learned)));
            }
        }
        false
    }

    /// `arrive_while_pending`: a thread arrives once per phase at a barrier that counts each thread once. Only arrivals that
    /// all threads of the block reach are compared.
    ///
    /// ```text
    /// bar.init(block.num_threads()); .. let first = bar.arrive(); let second = bar.arrive();
    /// ```
    fn check_pending(
        &self,
        state: &Pending,
        BarrierCallId(index): BarrierCallId,
        reported: &mut BTreeSet<BarrierCallId>,
        diags: &mut Diags,
    ) {
        let call = &self.cx.cfg.barrier_calls[index];
        let Some(id) = id_of(self.cx.cfg, &call.region).filter(|_| call.method.action.arrives()) else { return };
        let by_all = |arrival: &BarrierCallId| self.cx.is_reached_by_all(*arrival);
        let mut pending = state.0.get(&id).into_iter().flatten();
        let first = pending.find(|first| by_all(first) && !self.may_learn_between(**first, BarrierCallId(index)));
        if let Some(first) = first
            && self.cx.is_reached_by_all(BarrierCallId(index))
            && reported.insert(BarrierCallId(index))
        {
            let first = self.cx.cfg.barrier_calls[first.0].at;
            diags.push(messages::phase_arrive_while_pending(call.at, &self.cx.name(id), first));
        }
    }

    /// `barrier_count`: all threads arrive at a barrier that expects all threads.
    ///
    /// ```text
    /// bar.init(block.num_threads()); .. if rank < 32 { bar.arrive_and_wait(); }
    /// ```
    fn check_divergent_arrivals(&self, id: Id, BarrierCallId(init): BarrierCallId, diags: &mut Diags) -> bool {
        let cfg = self.cx.cfg;
        let is_arrival = |call: &BarrierCall| call.method.action.arrives() && id_of(cfg, &call.region) == Some(id);
        let arrivals: BTreeSet<usize> =
            (0..cfg.barrier_calls.len()).filter(|index| is_arrival(&cfg.barrier_calls[*index])).collect();
        let blocks: Option<BTreeSet<BlockId>> =
            arrivals.iter().map(|index| self.cx.block_of(BarrierCallId(*index))).collect();
        let Some(blocks) = blocks.filter(|blocks| !blocks.is_empty()) else { return false };
        let is_alone = |index: &usize| !self.may_arrive_again(BarrierCallId(*index), &arrivals);
        if !arrivals.iter().all(is_alone) {
            return false;
        }
        // Where all threads come to the other arrivals, these are none in place of those that some threads lack. Of a thread that drops
        // out, `barrier_use_after_drop` tells.
        let drops = |index: &usize| cfg.barrier_calls[*index].method.action == PhaseAction::ArriveAndDrop;
        let is_kept = |block: &BlockId| arrivals.iter().any(drops) || !self.cx.is_reached_by_all_at(*block);
        let apart: BTreeSet<BlockId> = blocks.into_iter().filter(is_kept).collect();
        let Some(branch) = divergent_branch(self.cx, &apart).filter(|_| !apart.is_empty()) else { return false };
        let is_apart = |index: &&usize| self.cx.block_of(BarrierCallId(**index)).is_some_and(|at| apart.contains(&at));
        let Some(first) = arrivals.iter().find(is_apart).map(|index| &cfg.barrier_calls[*index]) else { return false };
        let init = cfg.barrier_calls[init].at;
        diags.push(messages::barrier_count_divergent(first.at, &self.cx.name(id), init, tested(cfg, branch)));
        true
    }

    /// Whether a thread may arrive again before it has waited at the barrier, perhaps in place of other threads.
    fn may_arrive_again(&self, call: BarrierCallId, arrivals: &BTreeSet<usize>) -> bool {
        let cfg = self.cx.cfg;
        let shared = id_of(cfg, &cfg.barrier_calls[call.0].region).map(|id| id.shared);
        if cfg.barrier_calls[call.0].method.action == PhaseAction::ArriveAndWait {
            return false;
        }
        let Some(start) = self.cx.block_of(call) else { return true };
        let at = cfg.blocks[start.0]
            .steps
            .iter()
            .position(|step| matches!(step.kind, StepKind::BarrierCall(at) if at == call));
        let mut seen = BlockSet::none(cfg.blocks.len());
        let mut work = vec![(start, at.map_or(0, |at| at + 1))];
        while let Some((block, from)) = work.pop() {
            let mut waited = false;
            for step in cfg.blocks[block.0].steps.iter().skip(from) {
                let StepKind::BarrierCall(BarrierCallId(other)) = step.kind else { continue };
                if arrivals.contains(&other) {
                    return true;
                }
                let call = &cfg.barrier_calls[other];
                waited |= call.method.action.waits() && id_of(cfg, &call.region).map(|id| id.shared) == shared;
                if waited {
                    break;
                }
            }
            if !waited && !matches!(cfg.blocks[block.0].end, End::Leave) {
                work.extend(
                    cfg.blocks[block.0].end.successors().filter(|next| seen.insert(*next)).map(|next| (next, 0)),
                );
            }
        }
        false
    }
}
