//! Numbers of arrivals that the text shows: the part of `barrier_count` about phases that expect more arrivals than the kernel
//! has, or fewer than the threads that arrive and wait together.
//!
//! A barrier is counted if all calls on it are in the kernel and name exactly it, and no other thread's arrival, copy or drop
//! changes the count. What the text does not show is left to the simulator.

use std::collections::BTreeSet;

use super::Context;
use super::lifecycle::{Id, id_of, is_exact};
use crate::check::cfg::{BarrierCall, BarrierCallId, BlockId, NodeId, Region, Source};
use crate::check::dsm::ranks::blocks_of_cluster;
use crate::check::election::{Election, MaxThreads};
use crate::check::uniform::control::following;
use crate::diag::Diags;
use crate::messages;
use crate::model::Role;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;
use crate::span::SpanRange;

/// `missed` are the barriers at which some threads do not arrive, as was reported.
pub(super) fn check(cx: &Context<'_, '_>, election: &Election<'_, '_>, missed: &BTreeSet<Id>, diags: &mut Diags) {
    let Some(threads) = cx.threads().filter(|_| cx.function.role == Role::Kernel) else { return };
    for id in cx.ids().difference(missed).copied() {
        if let Some(calls) = counted(cx, id) {
            Counted { cx, election, id, threads, calls }.check(diags);
        }
    }
}

/// The calls on a barrier, if they are all that can change its count.
fn counted(cx: &Context<'_, '_>, id: Id) -> Option<Vec<BarrierCallId>> {
    let is_given = |(_, region): &(usize, Region)| id_of(cx.cfg, region).is_some_and(|of| of.shared == id.shared);
    let is_own = !cx.cfg.calls.iter().flat_map(|call| &call.barriers).any(is_given);
    is_own.then(|| counted_here(cx, id)).flatten()
}

/// The function's own calls on a barrier, if none of them changes its count.
pub(super) fn counted_here(cx: &Context<'_, '_>, id: Id) -> Option<Vec<BarrierCallId>> {
    let cfg = cx.cfg;
    let calls: Vec<BarrierCallId> =
        (0..cfg.barrier_calls.len()).map(BarrierCallId).filter(|call| cx.is_of(*call, id.shared)).collect();
    let all = calls.iter().all(|BarrierCallId(at)| {
        let call = &cfg.barrier_calls[*at];
        let whole_array = call.method.action == PhaseAction::InitCollective && call.barrier.form == BarrierForm::Array;
        let is_counted = match call.method.action {
            PhaseAction::ArriveAndDrop | PhaseAction::Copy | PhaseAction::Invalidate => false,
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::ArriveAndWait
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx => true,
        };
        is_counted && (whole_array || id_of(cfg, &call.region).is_some_and(|of| is_exact(call, of)))
    });
    let of_it = |BarrierCallId(at): &BarrierCallId| {
        let call = &cfg.barrier_calls[*at];
        call.region.path.is_empty() || id_of(cfg, &call.region) == Some(id)
    };
    (all && !calls.is_empty()).then(|| calls.into_iter().filter(of_it).collect())
}

pub(super) struct Counted<'a, 'f> {
    pub(super) cx: &'a Context<'a, 'f>,
    pub(super) election: &'a Election<'a, 'f>,
    pub(super) id: Id,
    /// The number of threads in the block.
    pub(super) threads: u64,
    pub(super) calls: Vec<BarrierCallId>,
}

impl Counted<'_, '_> {
    fn of(&self, is: impl Fn(PhaseAction) -> bool) -> impl Iterator<Item = (BarrierCallId, &BarrierCall)> {
        let calls = self.calls.iter().map(|call| (*call, &self.cx.cfg.barrier_calls[call.0]));
        calls.filter(move |(_, call)| is(call.method.action))
    }

    /// The counts of all `init`s, if the text shows them.
    pub(super) fn counts(&self) -> Option<Vec<u64>> {
        self.of(PhaseAction::begins).map(|(_, call)| self.number(*call.operands.last()?, 8)).collect()
    }

    /// The place of the first `init`.
    pub(super) fn init(&self) -> Option<SpanRange> {
        self.of(PhaseAction::begins).next().map(|(_, call)| call.at)
    }

    /// The place of a wait for a phase that may not have completed yet.
    pub(super) fn blocking_wait(&self) -> Option<SpanRange> {
        self.of(PhaseAction::waits).find(|(_, call)| self.blocks(call)).map(|(_, call)| call.at)
    }

    /// The largest number of threads that come to a block of the graph.
    pub(super) fn threads_at(&self, block: BlockId) -> Option<u64> {
        Some(match self.election.at(block, |_| false)?.max_threads() {
            MaxThreads::One => 1,
            MaxThreads::OneOfEachWarp => self.threads.div_ceil(32),
            MaxThreads::Several => self.threads,
        })
    }

    /// `barrier_count`: a phase expects as many arrivals as there can be, and no fewer than the threads that wait for it.
    ///
    /// ```text
    /// bar.init(block.num_threads() + 1); .. bar.arrive_and_wait();
    /// bar.init(block.num_threads() / 2); .. bar.arrive_and_wait();
    /// bar.init(block.num_threads()); .. let token = bar.arrive_n(2); bar.wait(token);
    /// bar.init(4); .. bar.arrive(); bar.wait_parity(false);
    /// bar.init(1); .. bar.wait_parity(false);
    /// ```
    fn check(&self, diags: &mut Diags) {
        let counts = self.counts();
        let Some((first, init)) = self.of(PhaseAction::begins).next() else { return };
        let name = self.cx.name(self.id);
        let arrivals = self.arrivals();
        // A token without an arrival is another barrier's.
        let mut waits = self.of(|action| action.waits() && (arrivals != Some(0) || action == PhaseAction::WaitParity));
        let wait = waits.find(|(_, call)| self.blocks(call));
        let counts = counts.unwrap_or_default();
        // An unknown count is at least one.
        let least = counts.iter().min().copied().unwrap_or(1);
        if let (Some((_, wait)), Some(arrivals)) = (wait, arrivals)
            && arrivals < least
            && self.cx.block_of(first).is_some()
        {
            let expected = (!counts.is_empty()).then_some(least);
            diags.push(messages::barrier_count_too_many(wait.at, &name, init.at, expected, arrivals));
            return;
        }
        let Some(most) = counts.iter().max() else { return };
        // A wait for a token is by a thread that has arrived; one by parity may be by others.
        let all_wait = self.of(|action| action == PhaseAction::Wait).next().is_some()
            || self.of(|action| action == PhaseAction::WaitParity).any(|(wait, _)| self.cx.is_reached_by_all(wait));
        let waits = |action: PhaseAction| action == PhaseAction::ArriveAndWait || all_wait;
        let by_all = self
            .of(|action| action.arrives() && waits(action))
            .filter(|(call, _)| self.cx.is_reached_by_all(*call))
            .filter_map(|(_, arrival)| Some((arrival, self.each(arrival)?)));
        let mut too_many =
            by_all.filter(|(_, each)| self.threads.checked_mul(*each).is_some_and(|arrivals| arrivals > *most));
        if let Some((arrival, each)) = too_many.next() {
            diags.push(messages::barrier_count_too_few(arrival.at, &name, init.at, *most, (self.threads, each)));
        }
    }

    /// For how many arrivals one call counts; `None` if the text does not show it.
    fn each(&self, call: &BarrierCall) -> Option<u64> {
        match call.method.action {
            PhaseAction::ArriveN => self.number(*call.operands.last()?, 8),
            PhaseAction::Arrive
            | PhaseAction::ArriveAndWait
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Wait
            | PhaseAction::WaitParity
            | PhaseAction::TryWait
            | PhaseAction::ExpectTx
            | PhaseAction::Copy
            | PhaseAction::Invalidate => Some(1),
        }
    }

    /// Whether a wait may be for a phase that has not completed yet.
    fn blocks(&self, call: &BarrierCall) -> bool {
        let passes = |node: &NodeId| matches!(self.cx.cfg.nodes[self.cx.resolved(*node).0].source, Source::Integer(1));
        call.method.action != PhaseAction::WaitParity || !call.operands.first().is_some_and(passes)
    }

    /// The largest number of arrivals in the barrier's first phase; `None` if the text does not show it.
    pub(super) fn arrivals(&self) -> Option<u64> {
        self.of(PhaseAction::arrives)
            .map(|(at, call)| {
                let block = self.cx.block_of(at)?;
                let is_repeated = || following(self.cx.cfg, block).contains(block);
                // A thread that waits at once does not arrive twice in a phase.
                if call.method.action != PhaseAction::ArriveAndWait && is_repeated() {
                    return None;
                }
                let each = self.each(call)?;
                self.threads_at(block)?.checked_mul(each)
            })
            .try_fold(0_u64, |all, some| all.checked_add(some?))
    }

    /// A number that literals and the sizes of the block and the cluster make.
    fn number(&self, node: NodeId, depth: u8) -> Option<u64> {
        let (cfg, node) = (self.cx.cfg, self.cx.resolved(node));
        let depth = depth.checked_sub(1)?;
        let whole = &cfg.nodes[node.0];
        match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number), _) => Some(*number),
            (Source::Known { .. }, _) => {
                let (group, query) = cfg.queries.get(&node)?;
                match (*group, query.answer) {
                    (Group::ThreadBlock, Answer::ThreadCount) => Some(self.threads),
                    (Group::Cluster, Answer::ThreadCount) => {
                        blocks_of_cluster(self.cx.function)?.checked_mul(self.threads)
                    }
                    _ => None,
                }
            }
            (Source::Binary(op) | Source::Round(_, op), [a, b]) if !cfg.cuts.contains_key(&node) => {
                let (a, b) = (self.number(*a, depth)?, self.number(*b, depth)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Div => a.checked_div(b),
                    BinaryOp::Rem
                    | BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::And
                    | BinaryOp::Or => None,
                }
            }
            (
                Source::Operands
                | Source::Constant(_)
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
                | Source::Call { .. },
                _,
            ) => None,
        }
    }
}
