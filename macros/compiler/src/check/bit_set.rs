//! Sets of the indexes of a table, as bits.

use std::marker::PhantomData;
use std::ops::Range;

use super::cfg::{BlockId, NodeId};

/// An index into a table.
pub(crate) trait Index: Copy {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Index for BlockId {
    fn new(index: usize) -> Self {
        BlockId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}

impl Index for NodeId {
    fn new(index: usize) -> Self {
        NodeId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}

/// A set of indexes into one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BitSet<I> {
    words: Vec<u64>,
    of: PhantomData<I>,
}

/// A set of basic blocks.
pub(crate) type BlockSet = BitSet<BlockId>;

impl<I: Index> BitSet<I> {
    /// The empty set, for a table of this many entries.
    pub(crate) fn none(count: usize) -> Self {
        BitSet { words: vec![0; count.div_ceil(64)], of: PhantomData }
    }

    /// The set of all indexes into a table of this many entries.
    pub(crate) fn all(count: usize) -> Self {
        let mut words = vec![u64::MAX; count.div_ceil(64)];
        if let Some(last) = words.last_mut() {
            *last >>= count.next_multiple_of(64) - count;
        }
        BitSet { words, of: PhantomData }
    }

    /// Adds an index, and returns whether it is new.
    pub(crate) fn insert(&mut self, index: I) -> bool {
        let new = !self.contains(index);
        self.words[index.index() / 64] |= 1 << (index.index() % 64);
        new
    }

    pub(crate) fn remove(&mut self, index: I) {
        self.words[index.index() / 64] &= !(1 << (index.index() % 64));
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    pub(crate) fn contains(&self, index: I) -> bool {
        self.words[index.index() / 64] >> (index.index() % 64) & 1 == 1
    }

    /// Adds all indexes of another set, and returns whether one of them is new.
    pub(crate) fn insert_all(&mut self, other: &Self) -> bool {
        let mut new = 0;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            new |= other & !*word;
            *word |= other;
        }
        new != 0
    }

    pub(crate) fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
        self
    }

    pub(crate) fn or(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self
    }

    pub(crate) fn without(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
        self
    }

    /// The smallest index in a range.
    pub(crate) fn first_in(&self, range: Range<usize>) -> Option<I> {
        let (first, offset) = (range.start / 64, range.start % 64);
        let shown = |(at, word): (usize, &u64)| if at == first { word >> offset << offset } else { *word };
        let words = self.words.iter().enumerate().skip(first).map(|(at, word)| (at, shown((at, word))));
        let (at, word) = words.take_while(|(at, _)| at * 64 < range.end).find(|(_, word)| *word != 0)?;
        let index = at * 64 + word.trailing_zeros() as usize;
        (index < range.end).then(|| I::new(index))
    }

    /// The indexes in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(I::new(at * 64 + bit as usize))
            })
        })
    }
}

impl<I: Index> Extend<I> for BitSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, indexes: T) {
        for index in indexes {
            self.insert(index);
        }
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
            for start in 0..count {
                assert_eq!(even.first_in(start..start), None);
                let next = Some(BlockId(start.next_multiple_of(2))).filter(|next| next.0 < count);
                assert_eq!(
                    (even.first_in(start..count), even.first_in(start..start + 1)),
                    (next, next.filter(|next| next.0 == start))
                );
            }
            even.remove(BlockId(0));
            assert!(!even.contains(BlockId(0)));
            assert!(!even.clone().insert_all(&even));
            assert_eq!(even.insert_all(&odd), count > 1);
            even.insert(BlockId(0));
            assert_eq!(even, BlockSet::all(count));
            even.clear();
            assert_eq!(even, BlockSet::none(count));
        }
    }
}
