//! How many threads agree on something: the scopes of uniformity, and the groups that ask for them. Data and its order,
//! no analysis.
//!
//! ```text
//! Grid > Cluster > Block > Warp > Lanes(4) > .. > Lanes(1) > Nothing
//!                          Warp > Group(k) > Nothing         each k by itself
//!                          Warp > Rank     > Nothing
//! ```

use super::cfg::BlockId;
use crate::model::ty::Group;

/// All threads of each group of this size hold the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scope {
    Nothing,
    /// Nothing is the same, but either all threads of a warp hold something that they agree on, or each its rank in the
    /// block, up to a multiple of the warp's size.
    Rank,
    /// A group of a warp whose threads only the run knows.
    Group(u16),
    /// Tiles of this binary logarithm of threads, from 1 to 4.
    Lanes(u8),
    Warp,
    Block,
    Cluster,
    Grid,
}

/// How many groups of a warp rustc tells apart in one function: one bit each.
const GROUPS: u16 = 112;

impl Scope {
    /// Of tiles, or of ranks that are divided by a multiple of this.
    pub(crate) fn of_threads(number: u64) -> Scope {
        match number.trailing_zeros() {
            0 => Scope::Nothing,
            log2 @ 1..5 => Scope::Lanes(log2 as u8),
            // Zero divides nothing.
            5..64 => Scope::Warp,
            64.. => Scope::Nothing,
        }
    }

    /// The most that both say.
    pub(crate) fn meet(self, other: Scope) -> Scope {
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match low {
            _ if low == high => low,
            Scope::Nothing => Scope::Nothing,
            Scope::Rank | Scope::Group(_) if high < Scope::Warp => Scope::Nothing,
            Scope::Rank
            | Scope::Group(_)
            | Scope::Lanes(_)
            | Scope::Warp
            | Scope::Block
            | Scope::Cluster
            | Scope::Grid => low,
        }
    }

    /// Whether what is the same here is the same for `group` too.
    pub(crate) fn covers(self, group: Scope) -> bool {
        self.meet(group) == group
    }

    /// For rustc: its number among the constants of `phalanx::__private::scope`.
    pub(crate) fn number(self) -> u8 {
        match self {
            Scope::Nothing | Scope::Rank => 0,
            Scope::Lanes(log2) => log2,
            Scope::Warp => 5,
            Scope::Block => 6,
            Scope::Cluster => 7,
            Scope::Grid => 8,
            Scope::Group(group) if group < GROUPS => 16 + group as u8,
            // Of more groups than that, nothing is known.
            Scope::Group(_) => 0,
        }
    }

    /// For rustc, where this is asked for: its number among the groups of a warp, if it is one.
    pub(crate) fn group(self) -> Option<u16> {
        match self {
            Scope::Group(group) if group < GROUPS => Some(group),
            _ => None,
        }
    }

    /// For rustc, of a group that is an argument.
    pub(crate) fn argument(self) -> u8 {
        match self {
            Scope::Group(group) if group >= GROUPS => u8::MAX,
            scope => scope.number(),
        }
    }

    /// For rustc, where it is asked for and is none of the groups: at least this.
    pub(crate) fn at_least(self) -> u8 {
        match self {
            Scope::Group(group) if group >= GROUPS => Scope::Warp.number(),
            scope => scope.number(),
        }
    }

    /// In a sentence: "the same for all threads of ...".
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Scope::Nothing | Scope::Rank => "thread",
            Scope::Group(_) => "group",
            Scope::Lanes(_) => "tile",
            Scope::Warp => "warp",
            Scope::Block => "thread block",
            Scope::Cluster => "cluster",
            Scope::Grid => "grid",
        }
    }
}

/// A group of threads as an operation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Team {
    pub(crate) group: Group,
    pub(crate) scope: Scope,
    /// Where control stood when the group was made of the threads that were there.
    pub(crate) made: Option<BlockId>,
    /// The parameter that it is, where only the caller knows its scope.
    pub(crate) param: Option<usize>,
}

impl Team {
    /// All threads of the block, the cluster or the grid.
    pub(crate) fn whole(group: Group) -> Team {
        let scope = match group {
            Group::ThreadBlock => Scope::Block,
            Group::Cluster => Scope::Cluster,
            Group::Grid => Scope::Grid,
            // Whoever it is, the warp has them all.
            Group::Tile | Group::Coalesced => Scope::Warp,
        };
        Team { group, scope, made: None, param: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Scope; 9] = [
        Scope::Nothing,
        Scope::Rank,
        Scope::Group(0),
        Scope::Group(1),
        Scope::Lanes(2),
        Scope::Lanes(3),
        Scope::Warp,
        Scope::Block,
        Scope::Grid,
    ];

    #[test]
    fn a_lattice() {
        for a in ALL {
            assert_eq!(a.meet(a), a);
            assert_eq!(a.meet(Scope::Grid), a);
            assert_eq!(a.meet(Scope::Nothing), Scope::Nothing);
            for b in ALL {
                let both = a.meet(b);
                assert_eq!(both, b.meet(a));
                assert!(a.covers(both) && b.covers(both), "{a:?} {b:?}");
                // The greatest that both cover.
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

    /// More groups than rustc tells apart ask for their warp, and are known to nobody.
    #[test]
    fn numbers_of_groups() {
        let (few, many) = (Scope::Group(111), Scope::Group(112));
        assert_eq!((few.number(), few.argument(), few.group()), (127, 127, Some(111)));
        assert_eq!((many.number(), many.argument(), many.group(), many.at_least()), (0, 255, None, 5));
    }

    #[test]
    fn numbers_of_threads() {
        let scopes = [1, 2, 3, 16, 24, 32, 64, 96, 0].map(Scope::of_threads);
        let (two, eight, sixteen) = (Scope::Lanes(1), Scope::Lanes(3), Scope::Lanes(4));
        let nothing = Scope::Nothing;
        let warp = Scope::Warp;
        assert_eq!(scopes, [nothing, two, nothing, sixteen, eight, warp, warp, warp, nothing]);
    }
}
