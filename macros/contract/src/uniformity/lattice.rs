//! The lattice of uniformity: the groups in which a value is uniform.

#![warn(clippy::wildcard_enum_match_arm)]

use super::MAX_GROUPS;

/// The largest group in which a value is uniform: all of its threads hold the same value.
///
/// ```text
/// Grid > Cluster > Block > Warpgroup > Warp > Tile(4) > .. > Tile(1) > Divergent
///                                      Warp > Group(k) > Divergent          each k by itself
///                                      Warp > Rank     > Divergent
///                                      Warp > Parameter(k) > Divergent      each k by itself
/// ```
///
/// `Divergent` is the bottom: an analysis starts from `Grid` and only descends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Uniformity {
    /// Each thread may hold a different value.
    Divergent,
    /// In each warp, either all threads hold the same value, or each holds its rank in the block plus a common multiple of the
    /// warp's size. Callers see it as `Divergent`.
    Rank,
    /// Uniform in a group of a warp whose threads are known only at run time, by the function's number for it.
    Group(u16),
    /// Uniform in the group that is the parameter of this position; callers see a function's groups in this form.
    Parameter(usize),
    /// Uniform in tiles of this binary logarithm of threads, from 1 to 4.
    Tile(u8),
    /// Uniform in each warp.
    Warp,
    /// Uniform in each warpgroup: 128 threads whose first has a rank that is a multiple of 128.
    Warpgroup,
    /// Uniform in each thread block.
    Block,
    /// Uniform in each cluster.
    Cluster,
    /// Uniform in the grid.
    Grid,
}

impl Uniformity {
    /// The uniformity of a thread's rank divided by `divisor`, which is that of a tile of as many threads.
    ///
    /// ```
    /// use phalanx_contract::uniformity::Uniformity;
    ///
    /// assert_eq!(Uniformity::of_threads(64), Uniformity::Warp);
    /// assert_eq!(Uniformity::of_threads(256), Uniformity::Warpgroup);
    /// assert_eq!(Uniformity::of_threads(24), Uniformity::Tile(3));
    /// assert_eq!(Uniformity::of_threads(3), Uniformity::Divergent);
    /// ```
    pub const fn of_threads(divisor: u128) -> Uniformity {
        match divisor.trailing_zeros() {
            // Zero has no divisors.
            0 | u128::BITS => Uniformity::Divergent,
            log2 @ 1..=4 => Uniformity::Tile(log2 as u8),
            5..=6 => Uniformity::Warp,
            _ => Uniformity::Warpgroup,
        }
    }

    /// The greatest lower bound: the uniformity of a value that depends on two values of these uniformities.
    ///
    /// ```
    /// use phalanx_contract::uniformity::Uniformity::{Block, Divergent, Group, Grid, Tile};
    ///
    /// assert_eq!(Grid.meet(Block), Block);
    /// assert_eq!(Group(0).meet(Block), Group(0));
    /// assert_eq!(Group(0).meet(Tile(3)), Divergent);
    /// ```
    #[must_use]
    pub const fn meet(self, other: Uniformity) -> Uniformity {
        match (self.height(), other.height()) {
            // Both are in the chain from tiles to the grid.
            (Some(own), Some(others)) => {
                if own < others {
                    self
                } else {
                    other
                }
            }
            (Some(own), None) => {
                if own >= WARP {
                    other
                } else {
                    Uniformity::Divergent
                }
            }
            (None, Some(others)) => {
                if others >= WARP {
                    self
                } else {
                    Uniformity::Divergent
                }
            }
            (None, None) => {
                if self.equals(other) {
                    self
                } else {
                    Uniformity::Divergent
                }
            }
        }
    }

    /// Whether a value of this uniformity is also uniform in `group`.
    pub const fn covers(self, group: Uniformity) -> bool {
        self.meet(group).equals(group)
    }

    /// Whether both are equal: `==` cannot be called in a `const fn`.
    pub const fn equals(self, other: Uniformity) -> bool {
        match (self, other) {
            (Uniformity::Rank, Uniformity::Rank) => true,
            (Uniformity::Group(own), Uniformity::Group(others)) => own == others,
            (Uniformity::Parameter(own), Uniformity::Parameter(others)) => own == others,
            _ => match (self.height(), other.height()) {
                (Some(own), Some(others)) => own == others,
                _ => false,
            },
        }
    }

    /// Whether it is at or above the warp, which contains every tile and every other group of a warp.
    pub(super) const fn covers_warp(self) -> bool {
        matches!(self.height(), Some(height) if height >= WARP)
    }

    /// The position in the chain from `Divergent` (0) to `Grid` (9); `None` for elements beside the chain.
    pub const fn height(self) -> Option<u8> {
        match self {
            Uniformity::Divergent => Some(0),
            Uniformity::Rank | Uniformity::Group(_) | Uniformity::Parameter(_) => None,
            Uniformity::Tile(log2) => Some(log2),
            Uniformity::Warp => Some(WARP),
            Uniformity::Warpgroup => Some(6),
            Uniformity::Block => Some(7),
            Uniformity::Cluster => Some(8),
            Uniformity::Grid => Some(9),
        }
    }

    /// The inverse of [`height`](Self::height), because const generic arguments on stable Rust are numbers.
    pub const fn from_height(height: u8) -> Uniformity {
        match height {
            0 => Uniformity::Divergent,
            log2 @ 1..WARP => Uniformity::Tile(log2),
            WARP => Uniformity::Warp,
            6 => Uniformity::Warpgroup,
            7 => Uniformity::Block,
            8 => Uniformity::Cluster,
            _ => Uniformity::Grid,
        }
    }

    /// The noun of the group in a sentence: "the same for all threads of the ...".
    pub const fn noun(self) -> &'static str {
        match self {
            Uniformity::Divergent | Uniformity::Rank => "thread",
            Uniformity::Group(_) | Uniformity::Parameter(_) => "group",
            Uniformity::Tile(_) => "tile",
            Uniformity::Warp => "warp",
            Uniformity::Warpgroup => "warpgroup",
            Uniformity::Block => "thread block",
            Uniformity::Cluster => "cluster",
            Uniformity::Grid => "grid",
        }
    }

    /// The greatest uniformity below it that a function's summary can name.
    pub(super) const fn nameable(self) -> Uniformity {
        match self {
            Uniformity::Rank => Uniformity::Divergent,
            Uniformity::Group(group) if group as usize >= MAX_GROUPS => Uniformity::Divergent,
            Uniformity::Divergent
            | Uniformity::Group(_)
            | Uniformity::Parameter(_)
            | Uniformity::Tile(_)
            | Uniformity::Warp
            | Uniformity::Warpgroup
            | Uniformity::Block
            | Uniformity::Cluster
            | Uniformity::Grid => self,
        }
    }
}

const WARP: u8 = 5;

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    const ALL: [Uniformity; 12] = [
        Uniformity::Divergent,
        Uniformity::Rank,
        Uniformity::Group(0),
        Uniformity::Group(1),
        Uniformity::Parameter(0),
        Uniformity::Tile(2),
        Uniformity::Tile(3),
        Uniformity::Warp,
        Uniformity::Warpgroup,
        Uniformity::Block,
        Uniformity::Cluster,
        Uniformity::Grid,
    ];

    #[test]
    fn a_lattice() {
        for a in ALL {
            assert_eq!(a.meet(a), a);
            assert_eq!(a.meet(Uniformity::Grid), a);
            assert_eq!(a.meet(Uniformity::Divergent), Uniformity::Divergent);
            for b in ALL {
                let both = a.meet(b);
                assert_eq!(both, b.meet(a));
                assert_eq!(a.equals(b), a == b);
                assert!(a.covers(both) && b.covers(both), "{a:?} {b:?}");
                // No greater one is covered by both.
                assert!(
                    ALL.into_iter().filter(|c| a.covers(*c) && b.covers(*c)).all(|c| both.covers(c)),
                    "{a:?} {b:?}"
                );
                for c in ALL {
                    assert_eq!(a.meet(b.meet(c)), both.meet(c));
                }
            }
        }
    }

    #[test]
    fn heights_name_the_chain() {
        for uniformity in ALL {
            let back = uniformity.height().map(Uniformity::from_height);
            assert!(back.is_none_or(|back| back == uniformity), "{uniformity:?}");
        }
        assert_eq!(ALL.iter().filter(|uniformity| uniformity.height().is_none()).count(), 4);
    }

    #[test]
    fn numbers_of_threads() {
        let uniformities = [1, 2, 3, 16, 24, 32, 64, 96, 384, 0].map(Uniformity::of_threads);
        let (two, eight, sixteen) = (Uniformity::Tile(1), Uniformity::Tile(3), Uniformity::Tile(4));
        let divergent = Uniformity::Divergent;
        let (warp, warpgroup) = (Uniformity::Warp, Uniformity::Warpgroup);
        let expected = [divergent, two, divergent, sixteen, eight, warp, warp, warp, warpgroup, divergent];
        assert_eq!(uniformities, expected);
    }
}
