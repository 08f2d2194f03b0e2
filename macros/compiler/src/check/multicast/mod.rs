//! `multicast_unarmed`: each block that a multicast reaches lets its barrier expect the tile, and has emptied it before.
//!
//! A receiver is a rank of the list, calculated for each block that may come to the multicast. One whose rank is not calculated may be
//! any block. A block expects the tile if some thread of it may come to `expect_multicast` of the same array of tiles and the same
//! barriers; a branch on the block's rank decides who does, any other one does not count.
//!
//! That the tile is empty shows a wait on each path back to the multicast (`released`).
//!
//! Not checked here: which tile of the array, how often, and in which phase. `rings` follows those where it can, and `dsm` the order of
//! a thread's own reads. The simulator reports what is left.

mod released;
mod rounds;

use std::collections::BTreeSet;

use super::bit_set::BlockSet;
use super::cfg::{
    AccessKind, BlockId, Cfg, Completion, CopyBy, CopyStep, MemoryStep, NodeId, Region, Shared, Step, StepKind,
};
use super::completion::{barrier_of, may_be_same};
use super::dsm::ranks::blocks_of_cluster;
use super::reached::OfBlock;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::Function;
use crate::span::SpanRange;
use released::Released;

/// The most blocks of a cluster.
const MOST_BLOCKS: u64 = 16;

/// A copy to one receiver, or the call that expects it.
struct Tile<'a> {
    /// The block of the graph, and the number of the step there.
    step: (BlockId, usize),
    region: &'a Region,
    tile: Shared,
    completion: Completion,
    /// The receiver's rank in a copy.
    rank: Option<NodeId>,
    at: SpanRange,
}

/// `multicast_unarmed`: each block that a multicast reaches lets its barrier expect the tile, and has emptied it before.
///
/// ```text
/// if cluster.block_rank() == 0 {
///     input.expect_multicast(&tile, &full);                       // not in block rank 1
///     input.multicast_async([0, 0], &tile, &full, [0, 1]);
/// }
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    let (mut sent, mut expected) = (Vec::new(), Vec::new());
    for (number, block) in cfg.blocks.iter().enumerate() {
        for (index, step) in block.steps.iter().enumerate() {
            let StepKind::Copy(copy) = step.kind else { continue };
            let CopyStep::Begin { writes, completion, by, at, .. } = &cfg.copies[copy.0] else { continue };
            let (list, tile) = match by {
                CopyBy::Multicast => (&mut sent, written_before(cfg, &block.steps[..index])),
                CopyBy::Expected => (&mut expected, writes.as_ref()),
                CopyBy::Group | CopyBy::Thread | CopyBy::Warpgroup { .. } | CopyBy::Tile => continue,
            };
            let Some((shared, region)) = tile.and_then(|tile| Some((barrier_of(tile)?, tile))) else { continue };
            let (step, completion) = ((BlockId(number), index), *completion);
            list.push(Tile { step, region, tile: shared, completion, rank: region.rank, at: *at });
        }
    }
    if sent.is_empty() {
        return;
    }
    let blocks = blocks_of_cluster(function);
    let ranks = 0..blocks.unwrap_or(MOST_BLOCKS).min(MOST_BLOCKS);
    let of_rank = |rank| {
        let thread = OfBlock::new(function, cfg, rank);
        let reached = thread.reached();
        (thread, reached)
    };
    let of_rank: Vec<(OfBlock<'_, '_>, BlockSet)> = ranks.map(of_rank).collect();
    let mut reported = BTreeSet::new();
    for copy in &sent {
        let pairs = pairs(copy, &of_rank, blocks.is_some());
        let fault = unarmed(function, cfg, copy, &expected, &pairs, &of_rank).or_else(|| {
            let to_others: BTreeSet<(usize, usize)> =
                pairs.into_iter().filter(|(sender, receiver)| sender != receiver).collect();
            let released = Released::of(cfg, &to_others, &of_rank);
            let mut senders = to_others.iter().filter_map(|(sender, _)| of_rank.get(*sender));
            let is_missing = senders.any(|(sender, _)| released.may_be_missing(copy.step, copy.region, sender));
            is_missing.then(|| messages::multicast_unreleased(copy.at, &name(function, cfg, copy.tile)))
        });
        if let Some(fault) = fault
            && reported.insert((copy.at.line(), copy.at.column()))
        {
            diags.push(fault);
        }
    }
}

/// The ranks of the blocks that make a copy, each with that of a receiver. Where the number of blocks is not known, one of a rank that is
/// not known either is that of block 0: some block expects the tile.
fn pairs(copy: &Tile<'_>, of_rank: &[(OfBlock<'_, '_>, BlockSet)], is_known: bool) -> BTreeSet<(usize, usize)> {
    let mut pairs = BTreeSet::new();
    for (sender, (thread, reached)) in of_rank.iter().enumerate() {
        if !reached.contains(copy.step.0) {
            continue;
        }
        match copy.rank.and_then(|rank| thread.value(rank)).map(usize::try_from) {
            Some(Ok(receiver)) => drop(pairs.insert((sender, receiver))),
            // `rank_out_of_range`
            Some(Err(_)) => {}
            None if is_known => pairs.extend((0..of_rank.len()).map(|receiver| (sender, receiver))),
            None => drop(pairs.insert((sender, 0))),
        }
    }
    pairs
}

/// The fault that receivers do not expect the tile of a copy.
fn unarmed(
    function: &Function,
    cfg: &Cfg<'_>,
    copy: &Tile<'_>,
    expected: &[Tile<'_>],
    pairs: &BTreeSet<(usize, usize)>,
    of_rank: &[(OfBlock<'_, '_>, BlockSet)],
) -> Option<Diag> {
    let Completion::Barrier(bar) = copy.completion else { return None };
    let of_copy = |other: &&Tile<'_>| match other.completion {
        Completion::Barrier(other_bar) => may_be_same(copy.tile, other.tile) && may_be_same(bar, other_bar),
        Completion::Group | Completion::BulkGroup | Completion::Product => false,
    };
    let expected: Vec<&Tile<'_>> = expected.iter().filter(of_copy).collect();
    let receivers: BTreeSet<usize> = pairs.iter().map(|(_, receiver)| *receiver).collect();
    let expects = |rank: usize| match of_rank.get(rank) {
        Some((_, reached)) => expected.iter().any(|expected| reached.contains(expected.step.0)),
        // `rank_out_of_range`
        None => true,
    };
    let unarmed: Vec<String> =
        receivers.into_iter().filter(|rank| !expects(*rank)).map(|rank| rank.to_string()).collect();
    let who = match (unarmed.is_empty(), expected.is_empty()) {
        (true, _) => return None,
        (false, true) => "no block".to_string(),
        (false, false) => format!("block rank {} never", unarmed.join(", ")),
    };
    let (tile, bar) = (name(function, cfg, copy.tile), name(function, cfg, bar));
    Some(messages::multicast_unarmed(copy.at, &tile, &bar, &who, expected.first().map(|expected| expected.at)))
}

fn name(function: &Function, cfg: &Cfg<'_>, shared: Shared) -> String {
    cfg.name_of(function, shared).map_or_else(|| "tile".into(), ToString::to_string)
}

/// The tile that the last copy before a step writes.
fn written_before<'c>(cfg: &'c Cfg<'_>, steps: &[Step]) -> Option<&'c Region> {
    steps.iter().rev().find_map(|step| {
        let StepKind::Memory(MemoryStep::Access(access)) = step.kind else { return None };
        let access = &cfg.accesses[access.0];
        (access.kind == AccessKind::AsyncWrite).then_some(&access.region)
    })
}
