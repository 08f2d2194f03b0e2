//! Sets of the basic blocks of a graph, as bits.

#![warn(clippy::wildcard_enum_match_arm)]

use super::cfg::BlockId;

/// A set of basic blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockSet(Vec<u64>);

impl BlockSet {
    /// The empty set, for a graph of this many blocks.
    pub(crate) fn none(count: usize) -> BlockSet {
        BlockSet(vec![0; count.div_ceil(64)])
    }

    /// The set of all blocks of a graph of this many.
    pub(crate) fn all(count: usize) -> BlockSet {
        let mut blocks = BlockSet(vec![u64::MAX; count.div_ceil(64)]);
        if let Some(last) = blocks.0.last_mut() {
            *last >>= count.next_multiple_of(64) - count;
        }
        blocks
    }

    /// Adds a block, and returns whether it is new.
    pub(crate) fn insert(&mut self, BlockId(block): BlockId) -> bool {
        let new = !self.contains(BlockId(block));
        self.0[block / 64] |= 1 << (block % 64);
        new
    }

    pub(crate) fn remove(&mut self, BlockId(block): BlockId) {
        self.0[block / 64] &= !(1 << (block % 64));
    }

    pub(crate) fn contains(&self, BlockId(block): BlockId) -> bool {
        self.0[block / 64] >> (block % 64) & 1 == 1
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn and(mut self, other: &BlockSet) -> BlockSet {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
        self
    }

    pub(crate) fn or(mut self, other: &BlockSet) -> BlockSet {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
        self
    }

    pub(crate) fn without(mut self, other: &BlockSet) -> BlockSet {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    /// The blocks in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(BlockId(at * 64 + bit as usize))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_a_set() {
        for count in [1, 63, 64, 65, 200] {
            let mut even = BlockSet::none(count);
            (0..count).step_by(2).for_each(|block| assert!(even.insert(BlockId(block))));
            assert!(!even.insert(BlockId(0)));
            assert_eq!(even.iter().collect::<Vec<_>>(), (0..count).step_by(2).map(BlockId).collect::<Vec<_>>());
            let all = BlockSet::all(count);
            assert_eq!((all.len() as usize, even.len() as usize), (count, count.div_ceil(2)));
            let odd = all.clone().without(&even);
            assert_eq!((odd.clone().and(&even), odd.clone().or(&even)), (BlockSet::none(count), all));
            assert!(odd.iter().all(|block| block.0 % 2 == 1));
            even.remove(BlockId(0));
            assert!(!even.contains(BlockId(0)));
        }
    }
}
