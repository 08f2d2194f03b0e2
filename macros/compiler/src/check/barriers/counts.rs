//! Barriers that count each thread of the block once a phase: `arrive_while_pending` of those, and the half of `barrier_count`
//! that is about who arrives. (The other half, numbers that no phase can have, is the parser's.)
//!
//! That they do is known of a barrier whose every `init` says so, at which all of the function's arrivals count for one, and
//! at which nobody else arrives. Of all others, how many arrive is for the simulator to see.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::lifecycle::{Id, id_of, is_exact};
use super::{Facts, is_same};
use crate::check::block_set::BlockSet;
use crate::check::cfg::{
    AccessKind, BarrierCall, BarrierCallId, BlockId, Cfg, End, GroupStep, MemoryStep, NodeId, Region, Source, Step,
    StepKind,
};
use crate::check::engine::{self, Analysis, Join};
use crate::check::uniform::control::reachable;
use crate::diag::Diags;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::group::Group;
use crate::model::query::{Answer, Query};

pub(super) fn check(seen: &Facts<'_, '_>, diags: &mut Diags) {
    if seen.function.role != Role::Kernel || seen.threads() == Some(1) {
        return;
    }
    let whole: BTreeMap<Id, BarrierCallId> =
        seen.ids().into_iter().filter_map(|id| Some((id, counts_all(seen, id)?))).collect();
    let twice = Twice { seen, whole };
    let states = engine::solve(&twice, seen.cfg);
    let mut told = BTreeSet::new();
    for (block, known) in states.iter().enumerate() {
        let Some(mut state) = known.clone() else { continue };
        for step in &seen.cfg.blocks[block].steps {
            if let StepKind::BarrierCall(phase) = step.kind {
                twice.check_pending(&state, phase, BlockId(block), &mut told, diags);
            }
            twice.transfer(&mut state, step);
        }
    }
    for (id, init) in &twice.whole {
        twice.check_apart(*id, *init, diags);
    }
}

/// The `init` of a barrier that expects each thread of the block once.
fn counts_all(seen: &Facts<'_, '_>, id: Id) -> Option<BarrierCallId> {
    let cfg = seen.cfg;
    let is_given = |(_, region): &(usize, Region)| id_of(cfg, region).is_some_and(|of| of.shared == id.shared);
    if cfg.nodes.iter().flat_map(|node| node.source.barriers()).any(is_given) {
        return None;
    }
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
                let all = is_all(seen, *count);
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

/// Whether a number is how many threads the block has.
pub(super) fn is_all(seen: &Facts<'_, '_>, node: NodeId) -> bool {
    let (cfg, node) = (seen.cfg, seen.resolved(node));
    match cfg.nodes[node.0].source {
        Source::Integer(number) => seen.threads() == Some(number),
        Source::Constant(value) => match seen.function.options.block.as_ref().map(|block| &block.each[..]) {
            Some([extent]) => {
                let text = |tokens: &proc_macro2::TokenStream| tokens.to_string();
                text(&extent.tokens) == text(&seen.function.values[usize::from(value.0)].tokens)
            }
            _ => false,
        },
        Source::Known { .. } => {
            let is_count =
                |(group, query): &(Group, &Query)| (*group, query.answer) == (Group::ThreadBlock, Answer::ThreadCount);
            cfg.queries.get(&node).is_some_and(is_count)
        }
        _ => false,
    }
}

/// The arrivals since which the thread was told nothing.
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

struct Twice<'a, 'f> {
    seen: &'a Facts<'a, 'f>,
    /// The barriers that count each thread once, and where they are told to.
    whole: BTreeMap<Id, BarrierCallId>,
}

impl Analysis for Twice<'_, '_> {
    type State = Pending;

    fn entry(&self) -> Pending {
        Pending::default()
    }

    fn transfer(&self, state: &mut Pending, step: &Step) {
        if self.tells(step) {
            state.0.clear();
        }
        if let StepKind::BarrierCall(BarrierCallId(phase)) = step.kind {
            let call = &self.seen.cfg.barrier_calls[phase];
            let id = id_of(self.seen.cfg, &call.region).filter(|id| self.whole.contains_key(id));
            // After a thread's last arrival, there is another rule.
            if let (PhaseAction::Arrive, Some(id)) = (call.method.action, id) {
                state.0.entry(id).or_default().insert(BarrierCallId(phase));
            }
        }
    }

    fn edge(&self, _state: &mut Pending, _cfg: &Cfg<'_>, _from: BlockId, _to: BlockId) {}
}

impl Twice<'_, '_> {
    /// By such a step, another may tell the thread that a phase is over.
    fn tells(&self, step: &Step) -> bool {
        match &step.kind {
            StepKind::BarrierCall(BarrierCallId(phase)) => match self.seen.cfg.barrier_calls[*phase].method.action {
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
            | StepKind::Call { .. } => true,
            StepKind::Memory(MemoryStep::Access(id)) => match self.seen.cfg.accesses[id.0].kind {
                AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::Lent | AccessKind::ByHand => true,
                AccessKind::Read | AccessKind::Write | AccessKind::Sent => false,
            },
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_),
            )
            | StepKind::Copy(_)
            | StepKind::Memory(MemoryStep::Fence)
            | StepKind::Value(_)
            | StepKind::Token(_) => false,
        }
    }

    /// Whether some way from the one arrival to the other tells the thread something: an `Option` holds the token, perhaps.
    fn may_tell(&self, first: BarrierCallId, second: BarrierCallId) -> bool {
        let cfg = self.seen.cfg;
        let is = |step: &Step, phase: BarrierCallId| matches!(step.kind, StepKind::BarrierCall(at) if at == phase);
        let Some(start) = self.seen.block_of(first) else { return true };
        let at = cfg.blocks[start.0].steps.iter().position(|step| is(step, first)).map_or(0, |at| at + 1);
        let mut seen = [BlockSet::none(cfg.blocks.len()), BlockSet::none(cfg.blocks.len())];
        let mut work = vec![(start, at, false)];
        while let Some((block, from, mut told)) = work.pop() {
            let mut goes_on = true;
            for step in cfg.blocks[block.0].steps.iter().skip(from) {
                if is(step, second) && told {
                    return true;
                }
                goes_on &= !is(step, second) && !is(step, first);
                told |= self.tells(step);
            }
            if goes_on {
                let next = cfg.blocks[block.0].end.successors().filter(|next| seen[usize::from(told)].insert(*next));
                work.extend(next.map(|next| (next, 0, told)));
            }
        }
        false
    }

    /// `arrive_while_pending`: a thread arrives once a phase, where each is counted once. All of the block come to both.
    ///
    /// ```text
    /// bar.init(block.num_threads()); .. let first = bar.arrive(); let second = bar.arrive();
    /// ```
    fn check_pending(
        &self,
        state: &Pending,
        BarrierCallId(phase): BarrierCallId,
        block: BlockId,
        told: &mut BTreeSet<BarrierCallId>,
        diags: &mut Diags,
    ) {
        let call = &self.seen.cfg.barrier_calls[phase];
        let Some(id) = id_of(self.seen.cfg, &call.region).filter(|_| call.method.action.arrives()) else { return };
        let of_all = |arrival: &BarrierCallId| self.seen.block_of(*arrival).is_some_and(|at| self.is_of_all(at));
        let mut pending = state.0.get(&id).into_iter().flatten();
        let first = pending.find(|first| of_all(first) && !self.may_tell(**first, BarrierCallId(phase)));
        if let Some(first) = first
            && self.is_of_all(block)
            && told.insert(BarrierCallId(phase))
        {
            let first = self.seen.cfg.barrier_calls[first.0].at;
            diags.push(messages::phase_arrive_while_pending(call.at, &self.seen.name(id), first));
        }
    }

    fn is_of_all(&self, block: BlockId) -> bool {
        self.seen.comes_whole(block, Uniformity::Block)
    }

    /// `barrier_count`: where all threads are expected, all arrive.
    ///
    /// ```text
    /// bar.init(block.num_threads()); .. if rank < 32 { bar.arrive_and_wait(); }
    /// ```
    fn check_apart(&self, id: Id, BarrierCallId(init): BarrierCallId, diags: &mut Diags) {
        let cfg = self.seen.cfg;
        let is_arrival = |call: &BarrierCall| call.method.action.arrives() && id_of(cfg, &call.region) == Some(id);
        let arrivals: BTreeSet<usize> =
            (0..cfg.barrier_calls.len()).filter(|phase| is_arrival(&cfg.barrier_calls[*phase])).collect();
        let blocks: Option<BTreeSet<BlockId>> =
            arrivals.iter().map(|phase| self.seen.block_of(BarrierCallId(*phase))).collect();
        let Some(blocks) = blocks.filter(|blocks| !blocks.is_empty()) else { return };
        let is_alone = |phase: &usize| !self.comes_again(BarrierCallId(*phase), &arrivals);
        if !arrivals.iter().all(is_alone) {
            return;
        }
        let all_in = |side: &BlockSet| blocks.iter().all(|block| side.contains(*block));
        for (branch, _, end) in self.seen.values.control.regions(cfg) {
            if is_same(&self.seen.values.tested(branch), Uniformity::Block)
                || !self.seen.values.tested(branch).unknown.is_empty()
            {
                continue;
            }
            let sides: Vec<BlockSet> =
                cfg.blocks[branch.0].end.successors().map(|side| reachable(cfg, side, end)).collect();
            let [a, b] = &sides[..] else { continue };
            let none_in = |side: &BlockSet| !blocks.iter().any(|block| side.contains(*block));
            if all_in(a) && none_in(b) || all_in(b) && none_in(a) {
                let Some(first) = arrivals.first().map(|phase| &cfg.barrier_calls[*phase]) else { return };
                let tested = cfg.blocks[branch.0].end.condition().map_or(first.at, |on| cfg.nodes[on.0].at);
                let init = cfg.barrier_calls[init].at;
                diags.push(messages::barrier_count_apart(first.at, &self.seen.name(id), init, tested));
                return;
            }
        }
    }

    /// Whether a thread may arrive again before it has waited at the barrier: for others, perhaps.
    fn comes_again(&self, phase: BarrierCallId, arrivals: &BTreeSet<usize>) -> bool {
        let cfg = self.seen.cfg;
        let shared = id_of(cfg, &cfg.barrier_calls[phase.0].region).map(|id| id.shared);
        if cfg.barrier_calls[phase.0].method.action == PhaseAction::ArriveAndWait {
            return false;
        }
        let Some(start) = self.seen.block_of(phase) else { return true };
        let at = cfg.blocks[start.0]
            .steps
            .iter()
            .position(|step| matches!(step.kind, StepKind::BarrierCall(at) if at == phase));
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
