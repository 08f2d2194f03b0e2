//! The numbers that divide a value, as data: literals, sizes of groups, and values by what they are made of. `factored` finds them.

use std::collections::BTreeSet;

use crate::check::cfg::gcd;
use crate::model::group::Group;

/// The number of operators and variables through which factors are followed.
pub(super) const MAX_DEPTH: u8 = 4;

/// The numbers that divide a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Factors {
    /// A literal factor; zero only if the value is zero.
    pub(super) number: u64,
    /// Factors that are no literals.
    pub(super) names: BTreeSet<Name>,
}

/// A factor that is the same for all threads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// The number of threads in each block, cluster or grid.
    ThreadsOf(Whole),
    /// The number of blocks in each cluster.
    Blocks,
    /// A value, by the text of what it is made of.
    Text(String),
}

/// A group of whole blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whole {
    Block,
    Cluster,
    Grid,
}

impl Whole {
    pub(super) fn of(group: Group) -> Option<Whole> {
        match group {
            Group::ThreadBlock => Some(Whole::Block),
            Group::Cluster => Some(Whole::Cluster),
            Group::Grid => Some(Whole::Grid),
            Group::Coalesced | Group::Tile => None,
        }
    }
}

impl Factors {
    pub(super) const NONE: Factors = Factors { number: 1, names: BTreeSet::new() };

    pub(super) fn of(number: u64) -> Factors {
        Factors { number, ..Factors::NONE }
    }

    /// The factors that are left if the value wraps around: powers of two.
    pub(super) fn wrapped(self) -> Factors {
        Factors::of(match self.number {
            0 => 0,
            number => 1 << number.trailing_zeros(),
        })
    }

    /// The factors of a sum.
    pub(super) fn common(&self, other: &Factors) -> Factors {
        let names = self.names.intersection(&other.names).cloned().collect();
        Factors { number: gcd(self.number, other.number), names }
    }

    /// The factors of a product.
    pub(super) fn times(mut self, other: Factors) -> Factors {
        // A product beyond 64 bits has the powers of two of both, or is zero.
        let number = self.number.checked_mul(other.number);
        self.number = number.unwrap_or(1 << (self.number.trailing_zeros() + other.number.trailing_zeros()).min(63));
        self.names.extend(other.names);
        self
    }

    /// Whether each factor but one is no help, because it divides everything.
    pub(super) fn is_none(&self) -> bool {
        self.number <= 1 && self.names.is_empty()
    }
}
