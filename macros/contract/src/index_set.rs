//! A small set of indexes that `const fn`s can build.

/// A set of indexes below [`IndexSet::CAPACITY`].
///
/// ```
/// use phalanx_contract::IndexSet;
///
/// let set = IndexSet::EMPTY.with(3).union(IndexSet::EMPTY.with(5));
/// assert!(set.contains(3) && set.contains(5) && !set.contains(4));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSet(u128);

impl IndexSet {
    /// The set without members.
    pub const EMPTY: IndexSet = IndexSet(0);

    /// How many indexes a set tells apart.
    pub const CAPACITY: usize = u128::BITS as usize;

    /// The set and `index` too.
    ///
    /// # Panics
    /// If `index` is beyond the capacity: to leave it out would claim that it does not matter.
    #[must_use]
    pub const fn with(self, index: usize) -> IndexSet {
        assert!(index < Self::CAPACITY, "a device function has at most 128 parameters");
        IndexSet(self.0 | 1 << index)
    }

    /// Whether `index` is a member.
    pub const fn contains(self, index: usize) -> bool {
        index < Self::CAPACITY && self.0 >> index & 1 == 1
    }

    /// The members of both sets.
    #[must_use]
    pub const fn union(self, other: IndexSet) -> IndexSet {
        IndexSet(self.0 | other.0)
    }

    /// Whether the sets have a member in common.
    pub const fn intersects(self, other: IndexSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no member.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `index` is the only member.
    pub const fn is_just(self, index: usize) -> bool {
        index < Self::CAPACITY && self.0 == 1 << index
    }

    /// Whether both sets have the same members, as `==` says, which is no `const fn`.
    pub const fn equals(self, other: IndexSet) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_a_set() {
        let set = IndexSet::EMPTY.with(0).with(127);
        assert!(set.contains(0) && set.contains(127) && !set.contains(1) && !set.contains(128));
        assert!(set.intersects(IndexSet::EMPTY.with(127)) && !set.intersects(IndexSet::EMPTY.with(1)));
        assert!(IndexSet::EMPTY.is_empty() && !set.is_empty());
        assert!(IndexSet::EMPTY.with(7).is_just(7) && !set.is_just(0) && !set.is_just(128));
        assert!(set.equals(IndexSet::EMPTY.with(127).union(IndexSet::EMPTY.with(0))));
    }

    #[test]
    #[should_panic(expected = "at most 128 parameters")]
    fn no_index_is_lost() {
        let _ = IndexSet::EMPTY.with(128);
    }
}
