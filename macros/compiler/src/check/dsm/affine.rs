//! Index values that are affine in the block's rank, the number of blocks, a variable and a constant. Their coefficients alone can
//! show that two blocks never select the same element, whatever their ranks are and whatever the variable holds, or for which
//! values of the constant they may.

use super::overlap::Overlap;
use crate::check::cfg::Variable;
use crate::model::ValueId;

/// The value `rank * r + blocks * n + factor * base + times * constant + offset`, where `r` is the block's rank in its cluster and
/// `n` the number of blocks in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Affine {
    /// The coefficient of the block's rank.
    pub(super) rank: i32,
    /// The coefficient of the number of blocks.
    pub(super) blocks: i32,
    pub(super) base: Base,
    /// The coefficient of the base.
    pub(super) factor: i32,
    /// A constant, which rustc knows, with its coefficient.
    pub(super) constant: Option<Multiple>,
    pub(super) offset: i32,
    /// The value is known modulo this; exactly, if this is 0.
    pub(super) modulus: u32,
    /// The value is known only modulo this as well.
    pub(super) cycle: Option<Cycle>,
    pub(super) wraparound: Wraparound,
}

/// A multiple of a constant; the coefficient is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Multiple {
    of: ValueId,
    times: i32,
}

/// The modulus of a value that is known modulo a number that the text does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cycle {
    /// The number of blocks in a cluster.
    Blocks,
    /// A constant.
    Constant(ValueId),
    /// A constant, if that is a power of two: `n & (N - 1)`.
    Mask(ValueId),
}

/// Whether a subtraction may have gone below zero. The value is then off by a multiple of 2^32 or 2^64, so that of its
/// remainders only those by powers of two are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wraparound {
    No,
    /// Only if the constant that is added is not positive: `k + N - 1`.
    UnlessPositive,
    Maybe,
}

/// The unknown that a value is affine in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The value depends on no unknown.
    Zero,
    /// The value that a variable holds now, which is uniform for the cluster.
    Variable(Variable),
    /// The value of a variable that is uniform for the cluster and never changes.
    Fixed(Variable),
}

/// What an assignment does to the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It adds this value, which depends on no variable.
    By(Affine),
    /// The new value has no known relation to the old one.
    Lost,
}

/// The facts about the owner of some memory and the peer that accesses it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranks {
    /// The owner's rank, as the peer computes it.
    pub(super) owner: Option<Affine>,
    /// The number of blocks in a cluster.
    pub(super) blocks: Option<u32>,
}

/// The most blocks that a cluster can have (CUDA C++ Programming Guide, Thread Block Clusters).
pub(super) const MAX_CLUSTER_SIZE: u32 = 16;

impl Affine {
    /// The block's rank in its cluster.
    pub(super) const RANK: Affine = Affine { rank: 1, ..Affine::of_number(0) };
    /// The number of blocks in the cluster.
    pub(super) const BLOCKS: Affine = Affine { blocks: 1, ..Affine::of_number(0) };

    pub(super) const fn of_number(offset: i32) -> Affine {
        Affine {
            rank: 0,
            blocks: 0,
            base: Base::Zero,
            factor: 0,
            constant: None,
            offset,
            modulus: 0,
            cycle: None,
            wraparound: Wraparound::No,
        }
    }

    pub(super) fn of(base: Base) -> Affine {
        Affine { base, factor: 1, ..Affine::of_number(0) }
    }

    pub(super) fn of_constant(constant: ValueId) -> Affine {
        Affine { constant: Some(Multiple { of: constant, times: 1 }), ..Affine::of_number(0) }
    }

    /// The constant, if the value is that plus a number.
    pub(super) fn constant_and_offset(self) -> Option<(ValueId, i32)> {
        let constant = self.constant?.of;
        let same = Affine { offset: self.offset, wraparound: self.wraparound, ..Affine::of_constant(constant) };
        (self == same).then_some((constant, self.offset))
    }

    /// The factor, the constant and the number, if the value is a multiple of a constant plus a number.
    pub(super) fn multiple_of_constant(self) -> Option<(i32, ValueId, i32)> {
        let Multiple { of, times } = self.constant?;
        let same = Affine { constant: self.constant, wraparound: self.wraparound, ..Affine::of_number(self.offset) };
        (self == same).then_some((times, of, self.offset))
    }

    /// The value, if it is a number.
    pub(super) fn number(self) -> Option<i32> {
        (self == Affine { wraparound: self.wraparound, ..Affine::of_number(self.offset) }).then_some(self.offset)
    }

    /// Whether the value is known exactly, not only modulo something, and is the same in all blocks.
    pub(super) fn is_exact(self) -> bool {
        self.rank == 0 && self.modulus == 0 && self.cycle.is_none()
    }

    /// Whether nothing but a remainder is known of the value.
    pub(super) fn is_only_congruent(self) -> bool {
        let offset = Affine { modulus: self.modulus, wraparound: self.wraparound, ..Affine::of_number(self.offset) };
        self.modulus != 0 && self == offset
    }

    /// Whether a subtraction may have gone below zero.
    pub(super) fn may_wrap(self) -> bool {
        self.wraparound != Wraparound::No
    }

    /// Whether a subtraction may have gone below zero, but only if this constant is not positive.
    pub(super) fn wraps_unless_positive(self, constant: ValueId) -> bool {
        self.wraparound == Wraparound::UnlessPositive && self.constant.is_some_and(|multiple| multiple.of == constant)
    }

    /// A lower bound of the value.
    pub(super) fn lower_bound(self) -> Option<i32> {
        let times = self.constant.map_or(0, |constant| constant.times);
        let grows = self.modulus == 0 && self.cycle.is_none() && !self.may_wrap() && self.rank >= 0;
        let grows = grows && self.factor >= 0 && times >= 0;
        // A cluster has at least one block.
        if grows && self.blocks >= 0 { self.offset.checked_add(self.blocks) } else { None }
    }

    /// A lower bound of the value, if the constant is positive.
    pub(super) fn lower_bound_if_positive(self) -> Option<i32> {
        self.lower_bound()?.checked_add(self.constant.map_or(0, |constant| constant.times))
    }

    /// Whether `next` is this value plus one, or congruent to that.
    pub(super) fn is_just_before(self, next: Affine) -> bool {
        let after = self.plus(Affine::of_number(1));
        after.is_some_and(|after| Affine { wraparound: next.wraparound, ..after } == next)
    }

    /// The sum; `None` if the two have different bases or constants, or it overflows.
    pub(super) fn plus(self, other: Affine) -> Option<Affine> {
        let (base, factor) = match (self.base, other.base) {
            (base, Base::Zero) => (base, self.factor),
            (Base::Zero, base) => (base, other.factor),
            (base, same) if base == same => (base, self.factor.checked_add(other.factor)?),
            (Base::Variable(_) | Base::Fixed(_), _) => return None,
        };
        let constant = match (self.constant, other.constant) {
            (constant, None) | (None, constant) => constant,
            (Some(one), Some(other)) if one.of == other.of => {
                let times = one.times.checked_add(other.times)?;
                (times != 0).then_some(Multiple { of: one.of, times })
            }
            (Some(_), Some(_)) => return None,
        };
        let sum = Affine {
            rank: self.rank.checked_add(other.rank)?,
            blocks: self.blocks.checked_add(other.blocks)?,
            base: if factor == 0 { Base::Zero } else { base },
            factor,
            constant,
            offset: self.offset.checked_add(other.offset)?,
            modulus: self.modulus,
            cycle: None,
            wraparound: self.wraparound.max(other.wraparound),
        };
        let sum = sum.modulo(other.modulus)?;
        [self.cycle, other.cycle].into_iter().flatten().try_fold(sum, Affine::modulo_cycle)
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
            constant: match self.constant.filter(|_| number != 0) {
                Some(Multiple { of, times }) => Some(Multiple { of, times: times.checked_mul(number)? }),
                None => None,
            },
            offset: self.offset.checked_mul(number)?,
            modulus: self.modulus.checked_mul(number.unsigned_abs())?,
            cycle: self.cycle.filter(|_| number != 0),
            wraparound: self.wraparound,
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

    /// The value, known only modulo this as well; `None` if it is known modulo another such number.
    pub(super) fn modulo_cycle(self, cycle: Cycle) -> Option<Affine> {
        let cycle = match (self.cycle, cycle) {
            (None, cycle) => cycle,
            (Some(known), cycle) if known == cycle => cycle,
            // Both are one number if that is a power of two.
            (Some(Cycle::Constant(one)), Cycle::Mask(other)) | (Some(Cycle::Mask(one)), Cycle::Constant(other))
                if one == other =>
            {
                Cycle::Mask(one)
            }
            (Some(_), _) => return None,
        };
        let known = Affine { cycle: Some(cycle), ..self };
        Some(match cycle {
            Cycle::Blocks => Affine { blocks: 0, ..known },
            Cycle::Constant(constant) | Cycle::Mask(constant) => {
                Affine { constant: self.constant.filter(|multiple| multiple.of != constant), ..known }
            }
        })
    }

    /// Whether an assignment to this variable changes the value. A variable's fields change with it.
    pub(super) fn depends_on(self, variable: Variable) -> bool {
        matches!(self.base, Base::Variable(base) if base == variable || base.whole() == Some(variable))
    }

    /// Returns the same value in terms of what the variable holds after a change.
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
    pub(super) fn effective_modulus(self, blocks: u32) -> u32 {
        gcd(self.modulus, if self.cycle == Some(Cycle::Blocks) { blocks } else { 0 })
    }

    /// The part of the value that is a number in a cluster of this many blocks.
    pub(super) fn rest(self, blocks: u32) -> i64 {
        i64::from(self.blocks) * i64::from(blocks) + i64::from(self.offset)
    }

    /// Whether some rank and some value of the base makes the value zero.
    fn is_zero(self, blocks: u32) -> Overlap {
        let rest = self.rest(blocks);
        let (constant, is_mask) = match self.cycle {
            None | Some(Cycle::Blocks) => return self.is_zero_exactly(blocks),
            Some(Cycle::Constant(constant)) => (constant, false),
            Some(Cycle::Mask(constant)) => (constant, true),
        };
        // A number is zero modulo its divisors.
        const MOST: u64 = 1 << 12;
        let is_number = self.modulus == 0 && self.rank == 0 && self.factor == 0 && self.constant.is_none();
        if !is_number || rest == 0 || rest.unsigned_abs() > MOST {
            return Overlap::Possible;
        }
        let divisors = (1..=rest.abs()).filter(|number| rest % number == 0).flat_map(|number| [number, -number]);
        Overlap::if_one_of(constant, divisors, is_mask)
    }

    /// Returns whether a value is zero for two blocks, if it is known modulo no constant.
    fn is_zero_exactly(self, blocks: u32) -> Overlap {
        let rest = self.rest(blocks);
        let step = gcd(self.effective_modulus(blocks), gcd(self.rank.unsigned_abs(), self.factor.unsigned_abs()));
        let divides = |step: u32| if step == 0 { rest == 0 } else { rest % i64::from(step) == 0 };
        let Some(Multiple { of, times }) = self.constant else {
            return if divides(step) { Overlap::Possible } else { Overlap::Never };
        };
        if !divides(gcd(step, times.unsigned_abs())) {
            return Overlap::Never;
        }
        match (self.factor, self.effective_modulus(blocks)) {
            (0, 0) => {
                let ranks = if self.rank == 0 { 0..1 } else { 0..i64::from(blocks) };
                Overlap::if_one_of(
                    of,
                    ranks.filter_map(|rank| quotient(rest + i64::from(self.rank) * rank, times)),
                    false,
                )
            }
            _ => Overlap::Possible,
        }
    }

    /// Whether this index of the owner and the peer's index may be equal.
    pub(super) fn overlap(self, peers: Affine, Ranks { owner, blocks }: Ranks) -> Overlap {
        let sizes = blocks.map_or(2..=MAX_CLUSTER_SIZE, |blocks| blocks..=blocks);
        let difference = owner.and_then(|owner| self.difference(peers, owner));
        let of_size = |blocks| match difference.map_or(Overlap::Possible, |difference| difference.is_zero(blocks)) {
            Overlap::Never => Overlap::Never,
            by_owner @ (Overlap::If(_) | Overlap::Possible) => by_owner.and(self.overlap_of_ranks(peers, blocks)),
        };
        // Nothing is more than `Possible`, so no further size would change it.
        let overlap = sizes.map(of_size).try_fold(Overlap::Never, |overlap, of_size| {
            Some(overlap.or(of_size)).filter(|overlap| *overlap != Overlap::Possible)
        });
        overlap.unwrap_or(Overlap::Possible)
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

    /// Whether the two indexes may be equal, though the two ranks differ, with nothing else known of the ranks.
    fn overlap_of_ranks(self, peers: Affine, blocks: u32) -> Overlap {
        let Some(between) = self.without_rank().minus(peers.without_rank()) else { return Overlap::Possible };
        if between.is_exact()
            && between.factor == 0
            && let Some(Multiple { of, times }) = between.constant
        {
            let rest = between.rest(blocks);
            let pairs = (0..blocks).flat_map(|own| (0..blocks).map(move |peer| (own, peer)));
            let rests = pairs.filter(|(own, peer)| own != peer).map(|(own, peer)| {
                rest + i64::from(self.rank) * i64::from(own) - i64::from(peers.rank) * i64::from(peer)
            });
            return Overlap::if_one_of(of, rests.filter_map(|rest| quotient(rest, times)), false);
        }
        let ranks = gcd(self.rank.unsigned_abs(), peers.rank.unsigned_abs());
        let apart = between.modulo(ranks).map_or(Overlap::Possible, |between| between.is_zero(blocks));
        // Both are the same function of the rank; equal values mean equal ranks, if it is injective.
        let is_same = self.rank == peers.rank && between.factor == 0 && between.constant.is_none();
        let repeats = match (between.cycle, between.effective_modulus(blocks)) {
            _ if !is_same || self.rank == 0 => Overlap::Possible,
            (None | Some(Cycle::Blocks), 0) if between.rest(blocks) == 0 => Overlap::Never,
            (None | Some(Cycle::Blocks), modulus @ 1..)
                if between.rest(blocks) % i64::from(modulus) == 0 && self.rank.abs() == 1 && blocks <= modulus =>
            {
                Overlap::Never
            }
            (Some(Cycle::Constant(constant) | Cycle::Mask(constant)), 0)
                if between.rest(blocks) == 0 && self.rank.abs() == 1 =>
            {
                let blocks = i64::from(blocks);
                Overlap::if_one_of(constant, 1 - blocks..blocks, matches!(between.cycle, Some(Cycle::Mask(_))))
            }
            (None | Some(_), _) => Overlap::Possible,
        };
        apart.and(repeats)
    }

    fn without_rank(self) -> Affine {
        Affine { rank: 0, ..self }
    }

    /// The value in the block of this rank.
    fn at_rank(self, rank: Affine) -> Option<Affine> {
        self.without_rank().plus(rank.times(self.rank)?)
    }
}

/// The number that makes `times * number + rest` zero.
fn quotient(rest: i64, times: i32) -> Option<i64> {
    let times = i64::from(times);
    (rest % times == 0).then_some(-rest / times)
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
                    forms.push(if cyclic { form.modulo_cycle(Cycle::Blocks).unwrap() } else { form });
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
                let in_all = own.overlap(peers, Ranks { owner, blocks: None }) == Overlap::Never;
                for blocks in 2..=4 {
                    let says = own.overlap(peers, Ranks { owner, blocks: Some(blocks) }) == Overlap::Never;
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
