//! What threads have in common: digits of their coordinates that are equal for all of them, and whether these leave more than one
//! thread of a block. Data and its order, no analysis.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use crate::check::cfg::{Coordinate, Digit, Granule};
use crate::model::group::Group;
use crate::model::options::Extents;

/// The largest number of threads in a block.
const MOST_THREADS: u64 = 1024;

/// A digit has one value for all threads of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Equality {
    /// The value as text, and in which group it is the same, wherever a thread computes it.
    pub(super) value: Option<(String, Uniformity)>,
    /// The group in which the value is the same for the threads that are here together.
    pub(super) together: Uniformity,
    /// The value, if it is a literal and the digit's own.
    pub(super) literal: Option<u64>,
    /// The group of blocks of which only one block has such threads.
    pub(super) one_block_of: Option<Group>,
}

/// The digits that some threads have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Equalities(pub(super) BTreeMap<Digit, Equality>);

impl Equality {
    /// The largest group in which the value is known to be the same.
    pub(super) fn within(&self) -> Uniformity {
        match &self.value {
            Some((_, fixed)) if !self.together.covers(*fixed) => *fixed,
            Some(_) | None => self.together,
        }
    }

    /// Forgets what was known of the threads that are here together, beyond a group that chose the same path. Returns whether
    /// anything is left.
    fn demote(&mut self, to: Uniformity) -> bool {
        self.together = self.within().meet(to);
        self.value.is_some() || covers_threads(self.together)
    }
}

impl Equalities {
    pub(super) fn one(digit: Digit, equality: Equality) -> Equalities {
        Equalities(BTreeMap::from([(digit, equality)]))
    }

    /// Adds what else holds for the same threads.
    pub(super) fn and(mut self, other: &Equalities) -> Equalities {
        for (digit, equality) in &other.0 {
            let known = self.0.entry(*digit).or_insert_with(|| equality.clone());
            let better = equality.within() != known.within() && equality.within().covers(known.within());
            if better || equality.within() == known.within() && equality.value.is_some() && known.value.is_none() {
                *known = equality.clone();
            }
        }
        self
    }

    /// Keeps what holds for the threads of both paths.
    pub(super) fn join(&mut self, other: &Equalities) {
        self.0.retain(|digit, equality| {
            let Some(others) = other.0.get(digit) else { return false };
            if equality.value != others.value {
                equality.value = None;
            }
            if equality.literal != others.literal {
                equality.literal = None;
            }
            if equality.one_block_of != others.one_block_of {
                (equality.one_block_of, equality.literal) = (None, None);
            }
            equality.together = equality.together.meet(others.together);
            equality.value.is_some() || covers_threads(equality.together)
        });
    }

    /// Threads that took different paths meet; those of `within` took the same.
    pub(super) fn demote(&mut self, within: Uniformity) {
        self.0.retain(|_, equality| equality.demote(within));
    }

    /// The digits that are the same for all threads of a block.
    fn in_block(&self) -> BTreeSet<Digit> {
        self.0
            .iter()
            .filter(|(_, equality)| equality.within().covers(Uniformity::Block))
            .map(|(digit, _)| *digit)
            .collect()
    }

    /// Whether at most one thread of a block has all of this. `more` are further digits that are the same.
    pub(super) fn elect(&self, more: &[Digit], block: Option<&Extents>) -> bool {
        let threads = block.and_then(Extents::count).unwrap_or(MOST_THREADS).min(MOST_THREADS);
        let mut digits: BTreeSet<Digit> = self.in_block().into_iter().chain(more.iter().copied()).collect();
        loop {
            complete(&mut digits, block);
            if digits.contains(&Digit::whole(Coordinate::Rank)) {
                return true;
            }
            let classes = classes(&digits, threads);
            if classes.values().all(|threads| threads.len() < 2) {
                return true;
            }
            // What is the same in each warp is the same for threads of one warp.
            let in_one = |size: u64| {
                classes.values().all(|threads| threads.iter().all(|thread| thread / size == threads[0] / size))
            };
            let equal = self.0.iter().filter(|(digit, equality)| {
                let size = match equality.within() {
                    Uniformity::Warp => 32,
                    Uniformity::Warpgroup => 128,
                    Uniformity::Tile(log2) => 1 << log2,
                    Uniformity::Divergent
                    | Uniformity::Rank
                    | Uniformity::Group(_)
                    | Uniformity::Parameter(_)
                    | Uniformity::Block
                    | Uniformity::Cluster
                    | Uniformity::Grid => return false,
                };
                !digits.contains(digit) && in_one(size)
            });
            let equal: Vec<Digit> = equal.map(|(digit, _)| *digit).collect();
            if equal.is_empty() {
                return false;
            }
            digits.extend(equal);
        }
    }

    /// Whether no thread of a block can have all of this.
    pub(super) fn is_empty_set(&self, block: Option<&Extents>) -> bool {
        let Some(threads) = block.and_then(Extents::count) else { return false };
        let has = |thread: u64, digit: &Digit, equality: &Equality| {
            let literal = equality.literal.filter(|_| equality.one_block_of.is_none());
            literal.zip(digit.of_rank(thread)).is_none_or(|(value, digit)| value == digit)
        };
        (0..threads.min(MOST_THREADS))
            .all(|thread| self.0.iter().any(|(digit, equality)| !has(thread, digit, equality)))
    }
}

/// Whether a value that is the same in such a group says more than nothing.
fn covers_threads(within: Uniformity) -> bool {
    within != Uniformity::Divergent
}

/// Adds the coordinates that digits of constants and the axes of the block make whole.
fn complete(digits: &mut BTreeSet<Digit>, block: Option<&Extents>) {
    let wholes: Vec<Digit> = digits
        .iter()
        .filter_map(|digit| match (digit.modulus, digit.divisor) {
            (None, divisor @ Granule::Constant(_)) => {
                let rest = Digit { modulus: Some(divisor), ..Digit::whole(digit.of) };
                digits.contains(&rest).then_some(Digit::whole(digit.of))
            }
            (None | Some(_), Granule::Number(_) | Granule::Constant(_)) => None,
        })
        .collect();
    digits.extend(wholes);
    let axes = block.map_or(3, |block| block.each.len());
    if (0..3).take(axes).all(|axis| digits.contains(&Digit::whole(Coordinate::Axis(axis)))) {
        digits.insert(Digit::whole(Coordinate::Rank));
    }
}

/// The threads of a block by the values of these digits of their ranks.
fn classes(digits: &BTreeSet<Digit>, threads: u64) -> BTreeMap<Vec<u64>, Vec<u64>> {
    let mut classes: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
    for thread in 0..threads {
        let values = digits.iter().filter_map(|digit| digit.of_rank(thread)).collect();
        classes.entry(values).or_default().push(thread);
    }
    classes
}
