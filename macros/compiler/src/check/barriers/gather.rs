//! Gathers: blocks tell another one that they are done, at a phase barrier of cluster scope, once. All threads arrive at the barrier of
//! the block whose memory they have accessed, or one for all of a block, and that block waits for all of them. What they did to its
//! memory before happens before what it does after the wait; nothing else is ordered. (`exchange` has what orders both ways.)
//!
//! The wait is known to see the arrivals if the barrier expects as many as there are in the whole run, and the wait is for the
//! first phase. Phases that a loop counts are not recognized.

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::exchange::{
    begins_of, elected_after_sync, is_begun_once, is_cluster_size, is_executed_once, is_false, is_of_the_peer,
    is_own_rank, is_repeated,
};
use super::lifecycle::id_of;
use crate::check::cfg::{BarrierCallId, BlockId, NodeId, Region, Source, Variable};
use crate::check::uniform::control::following;
use crate::model::Role;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope, PhaseAction};
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::query::Answer;

/// An arrival and the wait that sees it.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    pub(crate) arrival: BarrierCallId,
    pub(crate) wait: BarrierCallId,
    /// The branch to the arrival, right after a barrier of the block, if one thread of each block arrives.
    pub(crate) elected_at: Option<BlockId>,
    /// All blocks tell one block, of what they did to any memory. Otherwise they tell each block of what they did to its own.
    pub(crate) tells_all: bool,
}

/// The blocks that a thread tells by its arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The block of this rank.
    One,
    /// All blocks, one after the other.
    Each,
    /// One block, a different one for each block.
    Another,
}

/// ```text
/// done.init_collective(&cluster, cluster.num_threads());
/// .. cluster.map_shared_rank(&done, 0).arrive();
/// if cluster.block_rank() == 0 { done.wait_parity(false); .. }
/// ```
pub(super) fn gathers(cx: &Context<'_, '_>) -> Vec<Gather> {
    if cx.function.role != Role::Kernel {
        return Vec::new();
    }
    let waits = (0..cx.cfg.barrier_calls.len()).map(BarrierCallId);
    let waits = waits.filter(|call| cx.cfg.barrier_calls[call.0].method.action == PhaseAction::WaitParity);
    waits.filter_map(|wait| gather(cx, wait)).collect()
}

fn gather(cx: &Context<'_, '_>, wait: BarrierCallId) -> Option<Gather> {
    let cfg = cx.cfg;
    let id = id_of(cfg, &cfg.barrier_calls[wait.0].region).filter(|id| !cx.hidden.contains(&id.shared))?;
    let is_given = |(_, region): &(usize, Region)| id_of(cfg, region).is_some_and(|of| of.shared == id.shared);
    if cfg.calls.iter().flat_map(|call| &call.barriers).any(is_given) {
        return None;
    }
    let calls: Vec<BarrierCallId> =
        (0..cfg.barrier_calls.len()).map(BarrierCallId).filter(|call| cx.is_of(*call, id.shared)).collect();
    let [init, arrival, last] = calls[..] else { return None };
    let (begins, arrives) = (begins_of(cx, init)?, &cfg.barrier_calls[arrival.0]);
    let one = Barrier { scope: BarrierScope::Cluster, form: BarrierForm::One };
    let is_meant = last == wait
        && begins.barrier == one
        && is_begun_once(cx, init)
        && arrives.barrier.form == BarrierForm::Remote
        && arrives.method.action == PhaseAction::Arrive
        && is_false(cx, cfg.barrier_calls[wait.0].operands[0]);
    if !is_meant {
        return None;
    }
    let rank = arrives.region.rank?;
    let told = told(cx, rank, &arrives.region)?;
    let elected_at = elected_after_sync(cx, arrival);
    let is_once = match told {
        Told::Each => elected_at.is_none() && is_once_for_each(cx, arrival, rank),
        Told::One | Told::Another => match elected_at {
            Some(_) => !is_repeated(cx, arrival),
            None => is_executed_once(cx, arrival),
        },
    };
    let count = begins.operands.last().copied()?;
    let is_all = expects(cx, count, told, elected_at.is_some());
    (is_once && is_all).then_some(Gather { arrival, wait, elected_at, tells_all: told == Told::One })
}

/// Returns the blocks that a thread tells which arrives at the barrier of the block of this rank.
fn told(cx: &Context<'_, '_>, rank: NodeId, region: &Region) -> Option<Told> {
    let node = &cx.cfg.nodes[cx.resolved(rank).0];
    match (&node.source, &node.operands[..]) {
        (Source::Integer(_), _) => Some(Told::One),
        (Source::Read(variable), _) => counts_ranks(cx, *variable).then_some(Told::Each),
        // A shift of the ranks is one to one.
        (Source::Binary(BinaryOp::Rem), [shifted, blocks]) if is_cluster_size(cx, *blocks) => {
            matches!(coefficient(cx, *shifted, 8), Some(1 | -1)).then_some(Told::Another)
        }
        _ => (blocks_of(cx) == Some(2) && is_of_the_peer(cx, region)).then_some(Told::Another),
    }
}

/// The coefficient of the block's rank in a sum of it, numbers and the size of the cluster.
fn coefficient(cx: &Context<'_, '_>, node: NodeId, depth: u32) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    if is_own_rank(cx, node) {
        return Some(1);
    }
    let node = cx.resolved(node);
    if is_cluster_size(cx, node) {
        return Some(0);
    }
    let node = &cx.cfg.nodes[node.0];
    let of = |node: NodeId| coefficient(cx, node, depth);
    match (&node.source, &node.operands[..]) {
        (Source::Integer(_), _) => Some(0),
        (Source::Binary(BinaryOp::Add), [a, b]) => Some(of(*a)? + of(*b)?),
        // What is below zero is off by a multiple of 2^32, which is none of the size.
        (Source::Binary(BinaryOp::Sub), [a, b]) if blocks_of(cx).is_some_and(u64::is_power_of_two) => {
            Some(of(*a)? - of(*b)?)
        }
        _ => None,
    }
}

/// Whether a variable is the counter of a loop over all ranks, and is not set otherwise.
fn counts_ranks(cx: &Context<'_, '_>, variable: Variable) -> bool {
    let is_of_ranks = |value: NodeId| {
        let Source::Counter { by: Some(1), range: Some((start, end)), .. } = cx.cfg.nodes[value.0].source else {
            return false;
        };
        matches!(cx.cfg.nodes[cx.resolved(start).0].source, Source::Integer(0)) && is_cluster_size(cx, end)
    };
    let sets = cx.cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set());
    let values: Vec<NodeId> = sets.filter(|(set, ..)| *set == variable).map(|(_, value, _)| value).collect();
    values.iter().filter(|value| !is_nothing(cx, **value)).count() == 1
        && values.iter().all(|value| is_nothing(cx, *value) || is_of_ranks(*value))
}

/// Whether a value is none: that of a loop's counter before the loop.
fn is_nothing(cx: &Context<'_, '_>, value: NodeId) -> bool {
    let node = &cx.cfg.nodes[value.0];
    matches!(node.source, Source::Operands) && node.operands.is_empty()
}

/// Whether all threads of the cluster execute the call, once for each value of the counter of the loop around it.
fn is_once_for_each(cx: &Context<'_, '_>, arrival: BarrierCallId, rank: NodeId) -> bool {
    let Source::Read(variable) = cx.cfg.nodes[cx.resolved(rank).0].source else { return false };
    let Some(at) = cx.block_of(arrival) else { return false };
    let sets = |block: BlockId, first: bool| {
        let sets = cx.cfg.blocks[block.0].steps.iter().filter_map(|step| step.kind.set());
        sets.filter(|(set, ..)| *set == variable).any(|(_, value, _)| is_nothing(cx, value) == first)
    };
    let blocks = || (0..cx.cfg.blocks.len()).map(BlockId);
    // The counter begins once, and no way leads from the arrival back to it but by the next value.
    let begins_once =
        blocks().filter(|block| sets(*block, true)).all(|block| !following(cx.cfg, block).contains(block));
    let (mut work, mut seen) = (vec![at], vec![false; cx.cfg.blocks.len()]);
    while let Some(block) = work.pop() {
        for next in cx.cfg.blocks[block.0].end.successors().filter(|next| !sets(*next, false)) {
            if next == at {
                return false;
            }
            if !std::mem::replace(&mut seen[next.0], true) {
                work.push(next);
            }
        }
    }
    begins_once && cx.values.is_reached_uniformly(at, Uniformity::Cluster)
}

/// Whether the count is the number of arrivals at a barrier.
fn expects(cx: &Context<'_, '_>, count: NodeId, told: Told, elected: bool) -> bool {
    let node = cx.resolved(count);
    let by_one_block = if elected { Some(1) } else { cx.threads() };
    let arrivals = match told {
        Told::One | Told::Each => {
            by_one_block.zip(blocks_of(cx)).and_then(|(threads, blocks)| threads.checked_mul(blocks))
        }
        Told::Another => by_one_block,
    };
    let query = match (told, elected) {
        (Told::One | Told::Each, false) => Some((Group::Cluster, Answer::ThreadCount)),
        (Told::One | Told::Each, true) => Some((Group::Cluster, Answer::BlockCount)),
        (Told::Another, false) => Some((Group::ThreadBlock, Answer::ThreadCount)),
        (Told::Another, true) => None,
    };
    let asked = cx.cfg.queries.get(&node).map(|(group, query)| (*group, query.answer));
    match cx.cfg.nodes[node.0].source.integer() {
        Some(number) => arrivals == Some(number),
        None => query.is_some() && asked == query,
    }
}

fn blocks_of(cx: &Context<'_, '_>) -> Option<u64> {
    cx.function.options.cluster.as_ref().and_then(|extents| extents.count())
}
