//! Handshakes: two blocks synchronize at phase barriers of cluster scope, once. All threads of each block arrive at the other
//! block's barrier, and wait at their own for those arrivals. This orders what the blocks did as a barrier of the cluster does,
//! and the rules on distributed shared memory treat it as one.
//!
//! The wait is known to see the peer's arrivals if a phase expects as many arrivals as a block has threads, each thread of the
//! peer arrives once, no other thread arrives, and the wait is for the first phase. Instead, one thread of each block may arrive
//! for all, right after a barrier of the block. Other handshakes are not recognized: phases
//! that a loop counts, blocks that take turns, more than two blocks.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::counts::is_block_size;
use super::lifecycle::id_of;
use crate::check::cfg::{
    BarrierCall, BarrierCallId, BlockId, End, GroupStep, MemoryStep, NodeId, Region, Source, Step, StepKind, ValueStep,
};
use crate::check::uniform::control::following;
use crate::model::Role;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope, LifeChange, PhaseAction};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// The waits of handshakes, each right after its arrival.
pub(super) fn handshakes(cx: &Context<'_, '_>) -> BTreeSet<BarrierCallId> {
    let blocks = cx.function.options.cluster.as_ref().and_then(|extents| extents.count());
    if cx.function.role != Role::Kernel || blocks != Some(2) {
        return BTreeSet::new();
    }
    let waits = (0..cx.cfg.barrier_calls.len())
        .filter(|call| cx.cfg.barrier_calls[*call].method.action == PhaseAction::WaitParity);
    waits.map(BarrierCallId).filter(|wait| is_handshake(cx, *wait)).collect()
}

/// ```text
/// bar.init_collective(&cluster, block.num_threads());
/// let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
/// .. peer.arrive(); bar.wait_parity(false);
/// bar.init_collective(&cluster, 1);
/// .. block.sync(); if block.thread_rank() == 0 { peer.arrive(); } bar.wait_parity(false);
/// ```
fn is_handshake(cx: &Context<'_, '_>, wait: BarrierCallId) -> bool {
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
    let count = begins_of(cx, init).and_then(|begins| begins.operands.last().copied());
    let is_one = count.is_some_and(|count| matches!(cfg.nodes[cx.resolved(count).0].source, Source::Integer(1)));
    let arrives_together = match is_one {
        true => is_elected_after_sync(cx, arrival, wait),
        false => {
            count.is_some_and(|count| is_block_size(cx, count))
                && is_executed_once(cx, arrival)
                && follows(cx, arrival, wait)
        }
    };
    let (begins, arrives) = (&cfg.barrier_calls[init.0], &cfg.barrier_calls[arrival.0]);
    arrives_together
        && last == wait
        && is_executed_once(cx, wait)
        && begins.barrier == one
        && is_begun_once(cx, init)
        && arrives.barrier.form == BarrierForm::Remote
        && arrives.method.action == PhaseAction::Arrive
        && is_of_the_peer(cx, &arrives.region)
        && is_false(cx, cfg.barrier_calls[wait.0].operands[0])
}

/// The call that begins the barrier's life.
pub(super) fn begins_of<'a>(cx: &Context<'a, '_>, BarrierCallId(init): BarrierCallId) -> Option<&'a BarrierCall> {
    Some(&cx.cfg.barrier_calls[init]).filter(|call| call.method.action.begins())
}

/// Whether the barrier's life begins once: by all threads, or by one, for which the lifecycle asks, and which has peers wait.
pub(super) fn is_begun_once(cx: &Context<'_, '_>, init: BarrierCallId) -> bool {
    match cx.cfg.barrier_calls[init.0].method.action.life_change() {
        Some(LifeChange::BeginsByAll) => is_executed_once(cx, init),
        Some(LifeChange::BeginsByOne) => !is_repeated(cx, init),
        Some(LifeChange::Ends) | None => false,
    }
}

/// Whether one thread of each block arrives, after all have synchronized, and then all wait.
fn is_elected_after_sync(cx: &Context<'_, '_>, arrival: BarrierCallId, wait: BarrierCallId) -> bool {
    let (Some(inside), Some(waiting)) = (cx.block_of(arrival), cx.block_of(wait)) else { return false };
    let Some(branch) = elected_after_sync(cx, arrival) else { return false };
    // The arms meet right before the wait.
    let End::Branch { then, otherwise, .. } = cx.cfg.blocks[branch.0].end else { return false };
    let other = if then == inside { otherwise } else { then };
    let is_wait = |step: &Step| matches!(step.kind, StepKind::BarrierCall(at) if at == wait);
    let at_once = cx.cfg.blocks[waiting.0].steps.iter().take_while(|step| !is_wait(step)).all(is_idle);
    leads(cx, other, waiting) && leads_on(cx, inside, waiting) && at_once
}

/// The branch to an arrival of one thread of each block, if all threads of the cluster come to it, right after a barrier of the block, and
/// the thread does nothing but arrive.
pub(super) fn elected_after_sync(cx: &Context<'_, '_>, arrival: BarrierCallId) -> Option<BlockId> {
    let inside = cx.block_of(arrival)?;
    let blocks = &cx.cfg.blocks;
    let leads_inside = |block: &BlockId| blocks[block.0].end.successors().any(|next| next == inside);
    let mut before = (0..blocks.len()).map(BlockId).filter(leads_inside);
    let (branch, None) = (before.next()?, before.next()) else { return None };
    let is_arrival = |step: &Step| matches!(step.kind, StepKind::BarrierCall(at) if at == arrival);
    let is_one =
        matches!(blocks[branch.0].end, End::Branch { on, then, .. } if then == inside && is_one_thread(cx, on));
    let peer = &cx.cfg.barrier_calls[arrival.0].region;
    let is_of_arrival = |step: &Step| {
        is_arrival(step)
            || matches!(step.kind, StepKind::Memory(MemoryStep::Access(at)) if cx.cfg.accesses[at.0].region == *peer)
    };
    let alone = blocks[inside.0].steps.iter().all(|step| is_of_arrival(step) || is_idle(step));
    let mut last = blocks[branch.0].steps.iter().rev().skip_while(|step| is_idle(step));
    let synced = last.next().is_some_and(|step| {
        matches!(step.kind, StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) if team.group >= Group::ThreadBlock)
    });
    let is_elected = is_one && alone && synced && cx.values.is_reached_uniformly(branch, Uniformity::Cluster);
    is_elected.then_some(branch)
}

/// Whether a condition is `block.thread_rank() == n`, for a thread that each block has.
fn is_one_thread(cx: &Context<'_, '_>, condition: NodeId) -> bool {
    let cfg = cx.cfg;
    let test = &cfg.nodes[cx.resolved(condition).0];
    let is_rank = |node: NodeId| matches!(cfg.nodes[cx.resolved(node).0].source, Source::ThreadRank);
    let is_there = |node: NodeId| {
        let rank = cfg.nodes[cx.resolved(node).0].source.integer();
        rank.is_some_and(|rank| rank == 0 || cx.threads().is_some_and(|threads| rank < threads))
    };
    match (&test.source, &test.operands[..]) {
        (Source::Binary(BinaryOp::Eq), [a, b]) => is_rank(*a) && is_there(*b) || is_there(*a) && is_rank(*b),
        _ => false,
    }
}

/// Whether control goes from one block to another through blocks that only compute values.
fn leads(cx: &Context<'_, '_>, from: BlockId, to: BlockId) -> bool {
    from == to || cx.cfg.blocks[from.0].steps.iter().all(is_idle) && leads_on(cx, from, to)
}

/// Whether control goes from the end of one block to another through blocks that only compute values.
fn leads_on(cx: &Context<'_, '_>, from: BlockId, to: BlockId) -> bool {
    match cx.cfg.blocks[from.0].end {
        End::Goto(next) => next == to || next != from && leads(cx, next, to),
        End::Branch { .. } | End::Option { .. } | End::Leave | End::Never => false,
    }
}

/// Whether a step only computes a value.
fn is_idle(step: &Step) -> bool {
    matches!(step.kind, StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Set { .. }))
}

/// Whether all threads of the cluster execute the call, and only once.
pub(super) fn is_executed_once(cx: &Context<'_, '_>, call: BarrierCallId) -> bool {
    let is_uniform = |block| cx.values.is_reached_uniformly(block, Uniformity::Cluster);
    cx.block_of(call).is_some_and(is_uniform) && !is_repeated(cx, call)
}

/// Whether the call stands in a loop.
pub(super) fn is_repeated(cx: &Context<'_, '_>, call: BarrierCallId) -> bool {
    let Some(block) = cx.block_of(call) else { return true };
    following(cx.cfg, block).contains(block)
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
    first < second && steps[first + 1..second].iter().all(is_idle)
}

/// Whether the region is the other block's, as `cluster.map_shared_rank(&bar, 1 - cluster.block_rank())` maps it.
pub(super) fn is_of_the_peer(cx: &Context<'_, '_>, region: &Region) -> bool {
    let (cfg, Some(rank)) = (cx.cfg, region.rank) else { return false };
    let rank = &cfg.nodes[cx.resolved(rank).0];
    let own = |node: NodeId| is_own_rank(cx, node);
    let is_one = |node: NodeId| matches!(cfg.nodes[cx.resolved(node).0].source, Source::Integer(1));
    match (&rank.source, &rank.operands[..]) {
        (Source::Binary(BinaryOp::Sub), [one, rank]) => is_one(*one) && own(*rank),
        (Source::Binary(BinaryOp::BitXor), [a, b]) => is_one(*a) && own(*b) || own(*a) && is_one(*b),
        (Source::Binary(BinaryOp::Rem), [next, blocks]) => {
            let next = &cfg.nodes[cx.resolved(*next).0];
            let is_next = match (&next.source, &next.operands[..]) {
                (Source::Binary(BinaryOp::Add), [a, b]) => is_one(*a) && own(*b) || own(*a) && is_one(*b),
                _ => false,
            };
            is_next && is_cluster_size(cx, *blocks)
        }
        _ => false,
    }
}

/// Whether a value is the block's rank in its cluster.
pub(super) fn is_own_rank(cx: &Context<'_, '_>, node: NodeId) -> bool {
    let query = cx.cfg.queries.get(&cx.resolved(node));
    query.is_some_and(|(group, query)| (*group, query.answer) == (Group::Cluster, Answer::BlockRank))
}

pub(super) fn is_false(cx: &Context<'_, '_>, node: NodeId) -> bool {
    matches!(cx.cfg.nodes[cx.resolved(node).0].source, Source::Integer(0))
}

/// Whether a value is the number of blocks in the cluster.
pub(super) fn is_cluster_size(cx: &Context<'_, '_>, node: NodeId) -> bool {
    let node = cx.resolved(node);
    let of_cluster = cx.cfg.queries.get(&node);
    let blocks = cx.function.options.cluster.as_ref().and_then(|extents| extents.count());
    matches!(cx.cfg.nodes[node.0].source, Source::Integer(number) if blocks == Some(number))
        || of_cluster.is_some_and(|(group, query)| (*group, query.answer) == (Group::Cluster, Answer::BlockCount))
}
