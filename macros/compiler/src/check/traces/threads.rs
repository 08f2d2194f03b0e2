//! Which threads of a launch are followed: enough that two of them meet where the text has a fault, and not all of a large block.

use std::collections::BTreeSet;

use crate::check::cfg::Cfg;

/// The largest number of threads that are followed in all blocks together, but for those of the first that meet no other block's.
pub(super) const MOST: usize = 32;

/// The number of threads up to which all of one block are followed, too.
const SMALL: u64 = 256;

/// The largest number of blocks of which threads are followed.
const MOST_BLOCKS: u64 = 8;

/// The ranks of the blocks of which threads are followed: all, if blocks differ in what they do to each other.
pub(super) fn blocks_to_follow(blocks: u64, across: bool) -> Vec<u64> {
    if !across {
        return vec![0];
    }
    let first = (0..blocks).take(MOST_BLOCKS as usize);
    let mut all: BTreeSet<u64> = first.collect();
    all.insert(blocks - 1);
    all.into_iter().collect()
}

/// Whether all threads of a block are to be followed, too, for a few steps: they may meet in an order that no distance describes.
pub(super) fn are_few(threads: u64) -> bool {
    (MOST as u64 + 1..=SMALL).contains(&threads)
}

/// The ranks of the threads of a block that are followed. They are those on both sides of powers of two, from which threads at usual
/// distances meet, on both sides of a warp's end, and those that literals of the text name.
pub(super) fn ranks_to_follow(cfg: &Cfg<'_>, row: Option<u64>, threads: u64, blocks: usize, meet: bool) -> Vec<u64> {
    let last = threads - 1;
    let most = (MOST / blocks).max(4);
    if !meet {
        return BTreeSet::from([0, last]).into_iter().collect();
    }
    if threads as usize <= most {
        return (0..threads).collect();
    }
    let mut all = vec![0, 1, last, 32, 31, 2, 33];
    all.extend((2..10).map(|bits| 1 << bits).filter(|rank| *rank != 32));
    // Neighbours in both directions, of which none is at an edge.
    all.extend(row.into_iter().flat_map(|row| [row + 1, 2 * row + 1, row + 2, row]));
    // The same in the middle, which the guards of a wide border let through.
    all.extend(row.into_iter().flat_map(|row| {
        let middle = (threads / row / 2) * row + row / 2;
        [middle, middle + 1, middle + row, middle.saturating_sub(1), middle.saturating_sub(row)]
    }));
    let literals = cfg.nodes.iter().filter_map(|node| node.source.integer());
    all.extend(literals);
    // A small block, of which few threads are followed because it has many neighbours, has no second warp.
    all.extend([3, last / 2].into_iter().chain([1, 31].into_iter().filter_map(|back| last.checked_sub(back))));
    let mut ranks = BTreeSet::new();
    for rank in all.into_iter().filter(|rank| *rank < threads) {
        if ranks.len() < most {
            ranks.insert(rank);
        }
    }
    ranks.into_iter().collect()
}
