//! Index values that are affine in the block's rank, the number of blocks and a variable. Their coefficients alone can show that
//! two blocks never select the same element, whatever their ranks are and whatever the variable holds.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::check::cfg::Variable;
use crate::model::ValueId;

/// The value `rank * r + blocks * n + factor * base + offset`, where `r` is the block's rank in its cluster and `n` the number of
/// blocks in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Affine {
    /// The coefficient of the block's rank.
    pub(super) rank: i32,
    /// The coefficient of the number of blocks.
    pub(super) blocks: i32,
    pub(super) base: Base,
    /// The coefficient of the base.
    pub(super) factor: i32,
    pub(super) offset: i32,
    /// The value is known modulo this; exactly, if this is 0.
    pub(super) modulus: u32,
    /// The value is known only modulo the number of blocks as well.
    pub(super) cyclic: bool,
    /// A subtraction may have gone below zero. The value is then off by a multiple of 2^32 or 2^64, so that of its remainders only
    /// those by powers of two are known.
    pub(super) wraps: bool,
}

/// The unknown that a value is affine in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The value depends on no unknown.
    Zero,
    /// The value that a variable holds now, which is uniform for the cluster.
    Variable(Variable),
    /// A constant, which rustc knows.
    Constant(ValueId),
}

/// What an assignment does to the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It adds this value, which depends on no variable.
    By(Affine),
    /// The new value has no known relation to the old one.
    Lost,
}

/// What is known of the owner of some memory and of the peer that accesses it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranks {
    /// The owner's rank, as the peer computes it.
    pub(super) owner: Option<Affine>,
    /// The number of blocks in a cluster.
    pub(super) blocks: Option<u32>,
}

/// The most blocks that a cluster can have (CUDA C++ Programming Guide, Thread Block Clusters).
const MAX_CLUSTER_SIZE: u32 = 16;

impl Affine {
    /// The block's rank in its cluster.
    pub(super) const RANK: Affine = Affine { rank: 1, ..Affine::of_number(0) };
    /// The number of blocks in the cluster.
    pub(super) const BLOCKS: Affine = Affine { blocks: 1, ..Affine::of_number(0) };

    pub(super) const fn of_number(offset: i32) -> Affine {
        Affine { rank: 0, blocks: 0, base: Base::Zero, factor: 0, offset, modulus: 0, cyclic: false, wraps: false }
    }

    pub(super) fn of(base: Base) -> Affine {
        Affine { base, factor: 1, ..Affine::of_number(0) }
    }

    /// The value, if it is a number.
    pub(super) fn number(self) -> Option<i32> {
        (self == Affine { wraps: self.wraps, ..Affine::of_number(self.offset) }).then_some(self.offset)
    }

    /// Whether the value is known exactly, not only modulo something, and is the same in all blocks.
    pub(super) fn is_exact(self) -> bool {
        self.rank == 0 && self.modulus == 0 && !self.cyclic
    }

    /// A lower bound of the value.
    pub(super) fn lower_bound(self) -> Option<i32> {
        let grows = self.modulus == 0 && !self.cyclic && !self.wraps && self.rank >= 0 && self.factor >= 0;
        // A cluster has at least one block.
        if grows && self.blocks >= 0 { self.offset.checked_add(self.blocks) } else { None }
    }

    /// Whether `next` is this value plus one, or congruent to that.
    pub(super) fn is_just_before(self, next: Affine) -> bool {
        let after = self.plus(Affine::of_number(1));
        after.is_some_and(|after| Affine { wraps: next.wraps, ..after } == next)
    }

    /// The sum; `None` if the two have different bases or it overflows.
    pub(super) fn plus(self, other: Affine) -> Option<Affine> {
        let (base, factor) = match (self.base, other.base) {
            (base, Base::Zero) => (base, self.factor),
            (Base::Zero, base) => (base, other.factor),
            (base, same) if base == same => (base, self.factor.checked_add(other.factor)?),
            (Base::Variable(_) | Base::Constant(_), Base::Variable(_) | Base::Constant(_)) => return None,
        };
        let cyclic = self.cyclic || other.cyclic;
        let sum = Affine {
            rank: self.rank.checked_add(other.rank)?,
            blocks: if cyclic { 0 } else { self.blocks.checked_add(other.blocks)? },
            base: if factor == 0 { Base::Zero } else { base },
            factor,
            offset: self.offset.checked_add(other.offset)?,
            modulus: self.modulus,
            cyclic,
            wraps: self.wraps || other.wraps,
        };
        sum.modulo(other.modulus)
    }

    pub(super) fn minus(self, other: Affine) -> Option<Affine> {
        self.plus(other.times(-1)?)
    }

    pub(super) fn times(self, number: i32) -> Option<Affine> {
        Some(Affine {
            rank: self.rank.checked_mul(number)?,
            blocks: self.blocks.checked_mul(number)?,
            base: if number == 0 { Base::Zero } else { self.base },
            factor: self.factor.checked_mul(number)?,
            offset: self.offset.checked_mul(number)?,
            modulus: self.modulus.checked_mul(number.unsigned_abs())?,
            cyclic: self.cyclic && number != 0,
            wraps: self.wraps,
        })
    }

    /// The value, known only modulo `modulus` as well; `None` if nothing remains known of it.
    pub(super) fn modulo(self, modulus: u32) -> Option<Affine> {
        let modulus = gcd(self.modulus, modulus);
        let offset = match i32::try_from(modulus) {
            Ok(modulus @ 1..) => self.offset.rem_euclid(modulus),
            Ok(_) | Err(_) => self.offset,
        };
        (modulus != 1).then_some(Affine { offset, modulus, ..self })
    }

    /// The value, known only modulo the number of blocks as well.
    pub(super) fn modulo_blocks(self) -> Affine {
        Affine { blocks: 0, cyclic: true, ..self }
    }

    /// Whether an assignment to this variable changes the value. A variable's fields change with it.
    pub(super) fn depends_on(self, variable: Variable) -> bool {
        matches!(self.base, Base::Variable(base) if base == variable || base.whole() == Some(variable))
    }

    /// The same value, in terms of what the variable holds after the change.
    pub(super) fn rewritten(self, variable: Variable, change: Change) -> Option<Affine> {
        match change {
            Change::By(more) if self.base == Base::Variable(variable) => self.minus(more.times(self.factor)?),
            Change::By(_) | Change::Lost => None,
        }
    }

    /// What assigning this value to `variable` does to it. The difference is `(factor - 1) * variable` plus the rest, so it is the
    /// rest modulo `factor - 1`.
    pub(super) fn change_of(self, variable: Variable) -> Change {
        let is_relative = self.base == Base::Variable(variable) && self.rank == 0;
        let more = if is_relative { self.modulo(self.factor.abs_diff(1)) } else { None };
        more.map_or(Change::Lost, |more| Change::By(Affine { base: Base::Zero, factor: 0, ..more }))
    }

    /// What the value is known modulo, in a cluster of this many blocks; 0 if it is known exactly.
    fn effective_modulus(self, blocks: u32) -> u32 {
        gcd(self.modulus, if self.cyclic { blocks } else { 0 })
    }

    /// Whether no rank and no value of the base makes the value zero.
    fn is_never_zero(self, blocks: u32) -> bool {
        let step = gcd(self.effective_modulus(blocks), gcd(self.rank.unsigned_abs(), self.factor.unsigned_abs()));
        let rest = i64::from(self.blocks) * i64::from(blocks) + i64::from(self.offset);
        if step == 0 { rest != 0 } else { rest % i64::from(step) != 0 }
    }

    /// Whether this index of the owner and the peer's index are never equal.
    pub(super) fn is_disjoint(self, peers: Affine, Ranks { owner, blocks }: Ranks) -> bool {
        let mut sizes = blocks.map_or(2..=MAX_CLUSTER_SIZE, |blocks| blocks..=blocks);
        let difference = owner.and_then(|owner| self.difference(peers, owner));
        sizes.all(|blocks| {
            difference.is_some_and(|difference| difference.is_never_zero(blocks))
                || self.differs_with_rank(peers, blocks)
        })
    }

    /// The owner's index minus the peer's, in terms of one of the two ranks, if that rank determines the other.
    fn difference(self, peers: Affine, owner: Affine) -> Option<Affine> {
        match owner.rank {
            0 => self.at_rank(owner)?.minus(peers),
            1 | -1 => {
                let rank = Affine::RANK.minus(owner.without_rank())?.times(owner.rank)?;
                self.minus(peers.at_rank(rank)?)
            }
            _ => None,
        }
    }

    /// Whether the two indexes differ because the two ranks do, with nothing else known of the ranks.
    fn differs_with_rank(self, peers: Affine, blocks: u32) -> bool {
        let Some(between) = self.without_rank().minus(peers.without_rank()) else { return false };
        let ranks = gcd(self.rank.unsigned_abs(), peers.rank.unsigned_abs());
        if between.modulo(ranks).is_some_and(|between| between.is_never_zero(blocks)) {
            return true;
        }
        // Both are the same function of the rank, and it is injective.
        let is_same_rest = between.factor == 0 && !between.is_never_zero(blocks);
        let is_injective = match between.effective_modulus(blocks) {
            0 => self.rank != 0,
            modulus => self.rank.abs() == 1 && blocks <= modulus,
        };
        self.rank == peers.rank && is_same_rest && is_injective
    }

    fn without_rank(self) -> Affine {
        Affine { rank: 0, ..self }
    }

    /// The value in the block of this rank.
    fn at_rank(self, rank: Affine) -> Option<Affine> {
        self.without_rank().plus(rank.times(self.rank)?)
    }
}

/// The greatest common divisor.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LocalId;

    const K: Base = Base::Variable(Variable::Local(LocalId(0)));

    /// The value in the block of this rank if the variable holds `k`, without regard to what it is known modulo.
    fn value(affine: Affine, rank: i32, k: i32, blocks: i32) -> i32 {
        affine.rank * rank + affine.blocks * blocks + affine.factor * k + affine.offset
    }

    /// Whether the two values may be equal, given what they are known modulo.
    fn may_be_equal(a: i32, b: i32, of: [Affine; 2], blocks: u32) -> bool {
        match gcd(of[0].effective_modulus(blocks), of[1].effective_modulus(blocks)) {
            0 => a == b,
            step => a.abs_diff(b).is_multiple_of(step),
        }
    }

    /// Whether some owner and some peer select the same element.
    fn may_alias(own: Affine, peers: Affine, owner: Option<Affine>, count: u32) -> bool {
        let blocks = count as i32;
        let pairs = (0..blocks).flat_map(|own| (0..blocks).map(move |peer| (own, peer)));
        let others = pairs.filter(|(own, peer)| own != peer);
        others.flat_map(|(own, peer)| (0..6).map(move |k| (own, peer, k))).any(|(rank, peer, k)| {
            let value = |affine, rank| value(affine, rank, k, blocks);
            owner.is_none_or(|owner| may_be_equal(value(owner, peer), rank, [owner; 2], count))
                && may_be_equal(value(own, rank), value(peers, peer), [own, peers], count)
        })
    }

    fn forms() -> Vec<Affine> {
        let mut forms = Vec::new();
        for (rank, factor) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, -1), (-1, 0), (2, 0), (0, 2)] {
            for (blocks, offset) in [(0, 0), (0, 1), (1, -1), (1, 0)] {
                for (modulus, cyclic) in [(0, false), (2, false), (3, false), (4, false), (0, true), (6, true)] {
                    let base = if factor == 0 { Base::Zero } else { K };
                    let exact = Affine { rank, blocks, base, factor, ..Affine::of_number(offset) };
                    let form = exact.modulo(modulus).unwrap();
                    forms.push(if cyclic { form.modulo_blocks() } else { form });
                }
            }
        }
        forms
    }

    /// All forms are compared with all others, and with every pair of blocks of small clusters.
    #[test]
    fn what_is_disjoint_never_aliases() {
        let (mut disjoint, mut for_all_sizes, mut aliasing) = (0, 0, 0);
        let owners = forms().into_iter().filter(|owner| owner.rank.abs() < 2).step_by(7).map(Some).chain([None]);
        for owner in owners {
            for (own, peers) in forms().into_iter().flat_map(|own| forms().into_iter().map(move |peers| (own, peers))) {
                let in_all = own.is_disjoint(peers, Ranks { owner, blocks: None });
                for blocks in 2..=4 {
                    let says = own.is_disjoint(peers, Ranks { owner, blocks: Some(blocks) });
                    let aliases = may_alias(own, peers, owner, blocks);
                    assert!(!(says && aliases), "{own:?} {peers:?} {owner:?} {blocks}");
                    assert!(says || !in_all, "{own:?} {peers:?} {owner:?} {blocks}");
                    disjoint += usize::from(says);
                    for_all_sizes += usize::from(in_all);
                    aliasing += usize::from(aliases);
                }
            }
        }
        println!("{disjoint} {for_all_sizes} {aliasing}");
        assert!(disjoint > 1000 && aliasing > 1000, "{disjoint} {aliasing}");
    }
}
