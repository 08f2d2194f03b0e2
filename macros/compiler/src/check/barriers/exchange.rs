//! Meetings: two blocks synchronize at phase barriers of cluster scope, once. All threads of each block arrive at the other
//! block's barrier, and wait at their own for those arrivals. This orders what the blocks did as a barrier of the cluster does,
//! and the rules on distributed shared memory treat it as one.
//!
//! The wait is known to see the peer's arrivals if a phase expects as many arrivals as a block has threads, each thread of the
//! peer arrives once, no other thread arrives, and the wait is for the first phase. Other handshakes are not recognized: phases
//! that a loop counts, blocks that take turns, more than two blocks.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::counts::is_block_size;
use super::lifecycle::id_of;
use crate::check::cfg::{BarrierCallId, BlockId, NodeId, Region, Source, StepKind, ValueStep};
use crate::check::uniform::control::reachable;
use crate::model::Role;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope, PhaseAction};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// The waits of meetings, each right after its arrival.
pub(super) fn meetings(cx: &Context<'_, '_>) -> BTreeSet<BarrierCallId> {
    let blocks = cx.function.options.cluster.as_ref().and_then(|extents| extents.count());
    if cx.function.role != Role::Kernel || blocks != Some(2) {
        return BTreeSet::new();
    }
    let waits = (0..cx.cfg.barrier_calls.len())
        .filter(|call| cx.cfg.barrier_calls[*call].method.action == PhaseAction::WaitParity);
    waits.map(BarrierCallId).filter(|wait| is_meeting(cx, *wait)).collect()
}

/// ```text
/// bar.init_collective(&cluster, block.num_threads());
/// let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
/// .. peer.arrive(); bar.wait_parity(false);
/// ```
fn is_meeting(cx: &Context<'_, '_>, wait: BarrierCallId) -> bool {
    let cfg = cx.cfg;
    let Some(id) = id_of(cfg, &cfg.barrier_calls[wait.0].region).filter(|id| !cx.hidden.contains(&id.shared)) else {
        return false;
    };
    let is_given = |(_, region): &(usize, Region)| id_of(cfg, region).is_some_and(|of| of.shared == id.shared);
    if cfg.calls.iter().flat_map(|call| &call.barriers).any(is_given) {
        return false;
    }
    // The barrier has three calls: its `init`, the arrival and the wait.
    let calls: Vec<BarrierCallId> =
        (0..cfg.barrier_calls.len()).map(BarrierCallId).filter(|call| cx.is_of(*call, id.shared)).collect();
    let [init, arrival, last] = calls[..] else { return false };
    let one = Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One };
    let all = [init, arrival, wait].iter().all(|call| is_executed_once(cx, *call));
    let (begins, arrives) = (&cfg.barrier_calls[init.0], &cfg.barrier_calls[arrival.0]);
    all && last == wait
        && begins.barrier == one
        && begins.method.action == PhaseAction::InitCollective
        && begins.operands.last().is_some_and(|count| is_block_size(cx, *count))
        && arrives.barrier.form == BarrierForm::Remote
        && arrives.method.action == PhaseAction::Arrive
        && is_of_the_peer(cx, &arrives.region)
        && is_false(cx, cfg.barrier_calls[wait.0].operands[0])
        && follows(cx, arrival, wait)
}

/// Whether all threads of the cluster execute the call, and only once.
fn is_executed_once(cx: &Context<'_, '_>, call: BarrierCallId) -> bool {
    let Some(block) = cx.block_of(call) else { return false };
    let mut next = cx.cfg.blocks[block.0].end.successors();
    cx.values.is_reached_uniformly(block, Uniformity::Cluster)
        && !next.any(|next| reachable(cx.cfg, next, None).contains(block))
}

/// Whether the wait follows the arrival with nothing but the computation of values between them.
fn follows(cx: &Context<'_, '_>, arrival: BarrierCallId, wait: BarrierCallId) -> bool {
    let Some(BlockId(block)) = cx.block_of(arrival).filter(|block| cx.block_of(wait) == Some(*block)) else {
        return false;
    };
    let steps = &cx.cfg.blocks[block].steps;
    let at = |call: BarrierCallId| {
        steps.iter().position(|step| matches!(step.kind, StepKind::BarrierCall(at) if at == call))
    };
    let (Some(first), Some(second)) = (at(arrival), at(wait)) else { return false };
    let idle = |kind: &StepKind| matches!(kind, StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. }));
    first < second && steps[first + 1..second].iter().all(|step| idle(&step.kind))
}

/// Whether the region is the other block's, as `cluster.map_shared_rank(&bar, 1 - cluster.block_rank())` maps it.
fn is_of_the_peer(cx: &Context<'_, '_>, region: &Region) -> bool {
    let (cfg, Some(rank)) = (cx.cfg, region.rank) else { return false };
    let rank = &cfg.nodes[cx.resolved(rank).0];
    let own = |node: NodeId| {
        let query = cfg.queries.get(&cx.resolved(node));
        query.is_some_and(|(group, query)| (*group, query.answer) == (Group::Cluster, Answer::BlockRank))
    };
    let is_one = |node: NodeId| matches!(cfg.nodes[cx.resolved(node).0].source, Source::Integer(1));
    match (&rank.source, &rank.operands[..]) {
        (Source::Binary(BinaryOp::Sub), [one, rank]) => is_one(*one) && own(*rank),
        (Source::Binary(BinaryOp::BitXor), [a, b]) => is_one(*a) && own(*b) || own(*a) && is_one(*b),
        _ => false,
    }
}

fn is_false(cx: &Context<'_, '_>, node: NodeId) -> bool {
    matches!(cx.cfg.nodes[cx.resolved(node).0].source, Source::Integer(0))
}
