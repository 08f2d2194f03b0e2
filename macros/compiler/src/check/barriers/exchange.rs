//! Two blocks that meet at phase barriers of the cluster's scope, once: all threads of each arrive at the other's, and wait at
//! their own for that. It orders what they did as a barrier of the cluster does, and the rules on distributed shared memory
//! take it for one.
//!
//! That the wait sees those arrivals is known where a phase expects as many as a block has threads, each of the peer's arrives
//! once, nobody else does, and the wait is for the first phase. Of all other handshakes it is not known: of phases that
//! a loop counts, of turns that blocks take, of more than two blocks.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::Facts;
use super::counts::is_all;
use super::lifecycle::id_of;
use crate::check::cfg::{BarrierCallId, BlockId, NodeId, Region, Source, StepKind, ValueStep};
use crate::check::uniform::control::reachable;
use crate::model::Role;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope, PhaseAction};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// The waits of such meetings, each right after its arrival.
pub(super) fn meetings(seen: &Facts<'_, '_>) -> BTreeSet<BarrierCallId> {
    let blocks = seen.function.options.cluster.as_ref().and_then(|extents| extents.count());
    if seen.function.role != Role::Kernel || blocks != Some(2) {
        return BTreeSet::new();
    }
    let waits = (0..seen.cfg.barrier_calls.len())
        .filter(|phase| seen.cfg.barrier_calls[*phase].method.action == PhaseAction::WaitParity);
    waits.map(BarrierCallId).filter(|wait| is_meeting(seen, *wait)).collect()
}

/// ```text
/// bar.init_collective(&cluster, block.num_threads());
/// let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
/// .. peer.arrive(); bar.wait_parity(false);
/// ```
fn is_meeting(seen: &Facts<'_, '_>, wait: BarrierCallId) -> bool {
    let cfg = seen.cfg;
    let Some(id) = id_of(cfg, &cfg.barrier_calls[wait.0].region).filter(|id| !seen.hidden.contains(&id.shared)) else {
        return false;
    };
    let is_given = |(_, region): &(usize, Region)| id_of(cfg, region).is_some_and(|of| of.shared == id.shared);
    if cfg.nodes.iter().flat_map(|node| node.source.barriers()).any(is_given) {
        return false;
    }
    // All that is done to the barrier: its `init`, the arrival, the wait.
    let calls: Vec<BarrierCallId> =
        (0..cfg.barrier_calls.len()).map(BarrierCallId).filter(|phase| seen.is_of(*phase, id.shared)).collect();
    let [init, arrival, last] = calls[..] else { return false };
    let one = Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One };
    let all = [init, arrival, wait].iter().all(|phase| comes_once(seen, *phase));
    let (begins, arrives) = (&cfg.barrier_calls[init.0], &cfg.barrier_calls[arrival.0]);
    all && last == wait
        && begins.barrier == one
        && begins.method.action == PhaseAction::InitCollective
        && begins.operands.last().is_some_and(|count| is_all(seen, *count))
        && arrives.barrier.form == BarrierForm::Remote
        && arrives.method.action == PhaseAction::Arrive
        && is_of_the_peer(seen, &arrives.region)
        && is_false(seen, cfg.barrier_calls[wait.0].operands[0])
        && follows(seen, arrival, wait)
}

/// All threads of the cluster come to it, once.
fn comes_once(seen: &Facts<'_, '_>, phase: BarrierCallId) -> bool {
    let Some(block) = seen.block_of(phase) else { return false };
    let mut next = seen.cfg.blocks[block.0].end.successors();
    seen.comes_whole(block, Uniformity::Cluster) && !next.any(|next| reachable(seen.cfg, next, None).contains(block))
}

/// Nothing is done between the two.
fn follows(seen: &Facts<'_, '_>, arrival: BarrierCallId, wait: BarrierCallId) -> bool {
    let Some(BlockId(block)) = seen.block_of(arrival).filter(|block| seen.block_of(wait) == Some(*block)) else {
        return false;
    };
    let steps = &seen.cfg.blocks[block].steps;
    let at = |phase: BarrierCallId| {
        steps.iter().position(|step| matches!(step.kind, StepKind::BarrierCall(at) if at == phase))
    };
    let (Some(first), Some(second)) = (at(arrival), at(wait)) else { return false };
    let idle = |kind: &StepKind| matches!(kind, StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. }));
    first < second && steps[first + 1..second].iter().all(|step| idle(&step.kind))
}

/// `cluster.map_shared_rank(&bar, 1 - cluster.block_rank())`: of two blocks, the other one's.
fn is_of_the_peer(seen: &Facts<'_, '_>, region: &Region) -> bool {
    let (cfg, Some(rank)) = (seen.cfg, region.rank) else { return false };
    let rank = &cfg.nodes[seen.resolved(rank).0];
    let own = |node: NodeId| {
        let query = cfg.queries.get(&seen.resolved(node));
        query.is_some_and(|(group, query)| (*group, query.answer) == (Group::Cluster, Answer::BlockRank))
    };
    let is_one = |node: NodeId| matches!(cfg.nodes[seen.resolved(node).0].source, Source::Integer(1));
    match (&rank.source, &rank.operands[..]) {
        (Source::Binary(BinaryOp::Sub), [one, rank]) => is_one(*one) && own(*rank),
        (Source::Binary(BinaryOp::BitXor), [a, b]) => is_one(*a) && own(*b) || own(*a) && is_one(*b),
        _ => false,
    }
}

fn is_false(seen: &Facts<'_, '_>, node: NodeId) -> bool {
    matches!(seen.cfg.nodes[seen.resolved(node).0].source, Source::Integer(0))
}
