//! The launches at the end of a stream that may still run when the next one begins, if that one waits for them by itself
//! (`wait_previous()`). A launch overlaps with them only where nothing of theirs is in its way: what it reads before it waits, and
//! the words that count failed threads.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::super::mode::{Access, FEW};
use super::GpuMemory;

/// The number of launches with counted blocks that may run at once. One more waits for all of them.
pub(super) const MOST_COUNTED: usize = 8;

/// The number of ranges of memory that are told apart. Launches that write more do not overlap.
const MOST_RANGES: usize = 256;

/// The launches since the last one that began after all work before it. There are none behind any other work.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Unfinished {
    launches: usize,
    /// Those whose blocks are counted.
    counted: usize,
    /// The memory that they may write.
    writes: SmallVec<[Range<u64>; FEW]>,
}

impl Unfinished {
    /// Returns whether a launch that reads this memory before it waits may begin while these run.
    pub(in crate::gpu) fn allows(&self, early: &[Arc<GpuMemory>], is_counted: bool) -> bool {
        let early = early.iter().map(|memory| (!memory.is_borrowed()).then(|| memory.bytes()));
        self.allows_ranges(early, is_counted)
    }

    /// The same of ranges, which are `None` for memory that others may write.
    fn allows_ranges(&self, mut early: impl Iterator<Item = Option<Range<u64>>>, is_counted: bool) -> bool {
        let is_written =
            |read: &Range<u64>| self.writes.iter().any(|write| read.start < write.end && write.start < read.end);
        self.launches > 0
            && self.writes.len() <= MOST_RANGES
            && !(is_counted && self.counted >= MOST_COUNTED)
            && early.all(|read| read.is_some_and(|read| !is_written(&read)))
    }

    /// Forgets them, because the next launch comes after all of them.
    pub(in crate::gpu) fn clear(&mut self) {
        (self.launches, self.counted) = (0, 0);
        self.writes.clear();
    }

    /// Returns the place of the next launch among those with counted blocks.
    pub(super) fn counted(&self) -> usize {
        self.counted
    }

    /// Adds a launch.
    pub(in crate::gpu) fn add(&mut self, uses: &[(Arc<GpuMemory>, Access)], is_counted: bool) {
        let written = uses.iter().filter(|(_, access)| *access == Access::Write).map(|(memory, _)| memory.bytes());
        self.add_ranges(written, is_counted);
    }

    fn add_ranges(&mut self, written: impl Iterator<Item = Range<u64>>, is_counted: bool) {
        self.launches += 1;
        self.counted += usize::from(is_counted);
        for range in written {
            if !self.writes.contains(&range) && self.writes.len() <= MOST_RANGES {
                self.writes.push(range);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What launches leave behind that each write from one address up to another.
    fn after(launches: &[(u64, u64)]) -> Unfinished {
        let mut unfinished = Unfinished::default();
        launches.iter().for_each(|(start, end)| unfinished.add_ranges(std::iter::once(*start..*end), false));
        unfinished
    }

    #[test]
    fn only_launches_are_overlapped() {
        let none: [Option<Range<u64>>; 0] = [];
        assert!(
            !Unfinished::default().allows_ranges(none.clone().into_iter(), false),
            "there may be any work in front"
        );
        assert!(after(&[(0, 8)]).allows_ranges(none.into_iter(), false));
    }

    #[test]
    fn what_is_read_early_is_written_by_none_of_them() {
        let unfinished = after(&[(0, 64), (128, 192)]);
        let allows = |read: Option<Range<u64>>| unfinished.allows_ranges([read].into_iter(), false);
        assert!(allows(Some(64..128)) && allows(Some(192..200)));
        for read in [0..1, 60..70, 100..130, 0..1000] {
            assert!(!allows(Some(read.clone())), "{read:?}");
        }
        assert!(!allows(None), "another library may write it");
    }

    #[test]
    fn those_with_counted_blocks_are_limited_and_so_is_what_is_remembered() {
        let mut unfinished = Unfinished::default();
        for _ in 0..MOST_COUNTED {
            unfinished.add_ranges(std::iter::empty(), true);
        }
        assert!(
            !unfinished.allows_ranges(std::iter::empty(), true) && unfinished.allows_ranges(std::iter::empty(), false)
        );
        assert_eq!(unfinished.counted(), MOST_COUNTED);
        let many: Vec<(u64, u64)> = (0..300).map(|at| (2 * at, 2 * at + 1)).collect();
        assert!(!after(&many).allows_ranges(std::iter::empty(), false));
        assert!(after(&[(0, 8); 300]).allows_ranges(std::iter::empty(), false), "the same memory again");
    }
}
