//! What an index is counted from: the rank of the block, a variable, a number. By that alone it can be told that two
//! blocks do not choose one element, whatever their ranks are and whatever the variable holds.

use crate::check::cfg::Variable;
use crate::model::ValueId;

/// `rank` times the block's rank in its cluster, `blocks` times how many there are, `times` what the base holds, and
/// `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) rank: i32,
    pub(super) blocks: i32,
    pub(super) base: Base,
    pub(super) times: i32,
    pub(super) offset: i32,
    /// It is known up to multiples of this; itself, if this is 0.
    pub(super) modulus: u32,
    /// Multiples of the number of blocks do not count either.
    pub(super) cyclic: bool,
    /// A difference on the way may have gone below zero: a power of two divides what it is off by then, and nothing else.
    pub(super) wraps: bool,
}

/// What a number is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Zero,
    /// What a variable holds now, which is the same for the whole cluster.
    Variable(Variable),
    Constant(ValueId),
}

/// What has become of a variable that others are counted from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// This is added, of which nothing is counted from a variable.
    By(Affine),
    Lost,
}

/// What is known of the two blocks of which one sites the other's memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranks {
    /// The owner's rank, as the peer has it.
    pub(super) owner: Option<Affine>,
    /// How many there are in a cluster.
    pub(super) blocks: Option<u32>,
}

/// The most blocks that a cluster can have (CUDA C++ Programming Guide, Thread Block Clusters).
const MOST: u32 = 16;

impl Affine {
    /// The block's rank in its cluster.
    pub(super) const RANK: Affine = Affine { rank: 1, ..Affine::of_number(0) };
    /// How many blocks there are in it.
    pub(super) const BLOCKS: Affine = Affine { blocks: 1, ..Affine::of_number(0) };

    pub(super) const fn of_number(offset: i32) -> Affine {
        Affine { rank: 0, blocks: 0, base: Base::Zero, times: 0, offset, modulus: 0, cyclic: false, wraps: false }
    }

    pub(super) fn of(base: Base) -> Affine {
        Affine { base, times: 1, ..Affine::of_number(0) }
    }

    /// If it is one.
    pub(super) fn number(self) -> Option<i32> {
        (self == Affine { wraps: self.wraps, ..Affine::of_number(self.offset) }).then_some(self.offset)
    }

    /// It is known itself, and all blocks have the same.
    pub(super) fn is_exact(self) -> bool {
        self.rank == 0 && self.modulus == 0 && !self.cyclic
    }

    /// It is known to be this at least.
    pub(super) fn least(self) -> Option<i32> {
        let grows = self.modulus == 0 && !self.cyclic && !self.wraps && self.rank >= 0 && self.times >= 0;
        // There is a block.
        if grows && self.blocks >= 0 { self.offset.checked_add(self.blocks) } else { None }
    }

    /// The next is more by one, or leaves the remainder that this would.
    pub(super) fn is_just_before(self, next: Affine) -> bool {
        let after = self.plus(Affine::of_number(1));
        after.is_some_and(|after| Affine { wraps: next.wraps, ..after } == next)
    }

    pub(super) fn plus(self, other: Affine) -> Option<Affine> {
        let (base, times) = match (self.base, other.base) {
            (base, Base::Zero) => (base, self.times),
            (Base::Zero, base) => (base, other.times),
            (base, same) if base == same => (base, self.times.checked_add(other.times)?),
            (Base::Variable(_) | Base::Constant(_), Base::Variable(_) | Base::Constant(_)) => return None,
        };
        let cyclic = self.cyclic || other.cyclic;
        let sum = Affine {
            rank: self.rank.checked_add(other.rank)?,
            blocks: if cyclic { 0 } else { self.blocks.checked_add(other.blocks)? },
            base: if times == 0 { Base::Zero } else { base },
            times,
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

    pub(super) fn times(self, factor: i32) -> Option<Affine> {
        Some(Affine {
            rank: self.rank.checked_mul(factor)?,
            blocks: self.blocks.checked_mul(factor)?,
            base: if factor == 0 { Base::Zero } else { self.base },
            times: self.times.checked_mul(factor)?,
            offset: self.offset.checked_mul(factor)?,
            modulus: self.modulus.checked_mul(factor.unsigned_abs())?,
            cyclic: self.cyclic && factor != 0,
            wraps: self.wraps,
        })
    }

    /// What is left of it where multiples of `modulus` do not count either; `None` if that is nothing.
    pub(super) fn modulo(self, modulus: u32) -> Option<Affine> {
        let modulus = common(self.modulus, modulus);
        let offset = match i32::try_from(modulus) {
            Ok(modulus @ 1..) => self.offset.rem_euclid(modulus),
            Ok(_) | Err(_) => self.offset,
        };
        (modulus != 1).then_some(Affine { offset, modulus, ..self })
    }

    /// What is left of it where multiples of the number of blocks do not count either.
    pub(super) fn modulo_blocks(self) -> Affine {
        Affine { blocks: 0, cyclic: true, ..self }
    }

    /// It changes with this variable: with the whole, its fields do.
    pub(super) fn is_counted_from(self, variable: Variable) -> bool {
        matches!(self.base, Base::Variable(base) if base == variable || base.whole() == Some(variable))
    }

    /// The same, counted from the variable that has changed.
    pub(super) fn changed(self, variable: Variable, change: Change) -> Option<Affine> {
        match change {
            Change::By(more) if self.base == Base::Variable(variable) => self.minus(more.times(self.times)?),
            Change::By(_) | Change::Lost => None,
        }
    }

    /// PhaseAction becomes of `variable` if it gets this.
    pub(super) fn change_of(self, variable: Variable) -> Change {
        let is_counted = self.base == Base::Variable(variable) && self.rank == 0;
        let more = if is_counted { self.modulo(self.times.abs_diff(1)) } else { None };
        more.map_or(Change::Lost, |more| Change::By(Affine { base: Base::Zero, times: 0, ..more }))
    }

    /// Multiples of this do not count in a cluster of so many blocks; 0 if all do.
    fn step(self, blocks: u32) -> u32 {
        common(self.modulus, if self.cyclic { blocks } else { 0 })
    }

    /// No rank and no value of the base makes it zero.
    fn is_never_zero(self, blocks: u32) -> bool {
        let step = common(self.step(blocks), common(self.rank.unsigned_abs(), self.times.unsigned_abs()));
        let least = i64::from(self.blocks) * i64::from(blocks) + i64::from(self.offset);
        if step == 0 { least != 0 } else { least % i64::from(step) != 0 }
    }

    /// What the block that owns some memory has, and what a peer has, are never the same.
    pub(super) fn is_apart(self, peers: Affine, Ranks { owner, blocks }: Ranks) -> bool {
        let mut sizes = blocks.map_or(2..=MOST, |blocks| blocks..=blocks);
        let follows = owner.and_then(|owner| self.difference(peers, owner));
        sizes.all(|blocks| {
            follows.is_some_and(|apart| apart.is_never_zero(blocks)) || self.is_apart_by_rank(peers, blocks)
        })
    }

    /// From the peer's to the owner's, in terms of one rank, where the other follows from it.
    fn difference(self, peers: Affine, owner: Affine) -> Option<Affine> {
        match owner.rank {
            0 => self.of_rank(owner)?.minus(peers),
            1 | -1 => {
                let rank = Affine::RANK.minus(owner.without_rank())?.times(owner.rank)?;
                self.minus(peers.of_rank(rank)?)
            }
            _ => None,
        }
    }

    /// The peer's rank is another one: nothing else is known of it.
    fn is_apart_by_rank(self, peers: Affine, blocks: u32) -> bool {
        let Some(between) = self.without_rank().minus(peers.without_rank()) else { return false };
        let ranks = common(self.rank.unsigned_abs(), peers.rank.unsigned_abs());
        if between.modulo(ranks).is_some_and(|between| between.is_never_zero(blocks)) {
            return true;
        }
        // Each is where its rank puts it, and no two ranks leave the same remainder.
        let is_one_place = between.times == 0 && !between.is_never_zero(blocks);
        let parts = match between.step(blocks) {
            0 => self.rank != 0,
            step => self.rank.abs() == 1 && blocks <= step,
        };
        self.rank == peers.rank && is_one_place && parts
    }

    fn without_rank(self) -> Affine {
        Affine { rank: 0, ..self }
    }

    /// Of another block: the one of this rank.
    fn of_rank(self, rank: Affine) -> Option<Affine> {
        self.without_rank().plus(rank.times(self.rank)?)
    }
}

/// The greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LocalId;

    const K: Base = Base::Variable(Variable::Local(LocalId(0)));

    /// What the block of this rank has, if the variable holds `k`, but for multiples of what does not count.
    fn value(affine: Affine, rank: i32, k: i32, blocks: i32) -> i32 {
        affine.rank * rank + affine.blocks * blocks + affine.times * k + affine.offset
    }

    /// Whether one may be what the other is.
    fn may_be(a: i32, b: i32, of: [Affine; 2], blocks: u32) -> bool {
        match common(of[0].step(blocks), of[1].step(blocks)) {
            0 => a == b,
            step => a.abs_diff(b).is_multiple_of(step),
        }
    }

    /// Whether some two blocks choose one element.
    fn meet(own: Affine, peers: Affine, owner: Option<Affine>, count: u32) -> bool {
        let blocks = count as i32;
        let pairs = (0..blocks).flat_map(|own| (0..blocks).map(move |peer| (own, peer)));
        let others = pairs.filter(|(own, peer)| own != peer);
        others.flat_map(|(own, peer)| (0..6).map(move |k| (own, peer, k))).any(|(rank, peer, k)| {
            let value = |affine, rank| value(affine, rank, k, blocks);
            owner.is_none_or(|owner| may_be(value(owner, peer), rank, [owner; 2], count))
                && may_be(value(own, rank), value(peers, peer), [own, peers], count)
        })
    }

    fn forms() -> Vec<Affine> {
        let mut forms = Vec::new();
        for (rank, times) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, -1), (-1, 0), (2, 0), (0, 2)] {
            for (blocks, offset) in [(0, 0), (0, 1), (1, -1), (1, 0)] {
                for (modulus, cyclic) in [(0, false), (2, false), (3, false), (4, false), (0, true), (6, true)] {
                    let base = if times == 0 { Base::Zero } else { K };
                    let exact = Affine { rank, blocks, base, times, ..Affine::of_number(offset) };
                    let form = exact.modulo(modulus).unwrap();
                    forms.push(if cyclic { form.modulo_blocks() } else { form });
                }
            }
        }
        forms
    }

    /// All forms against all others, by trying.
    #[test]
    fn what_is_apart_never_meets() {
        let (mut apart, mut sound, mut meeting) = (0, 0, 0);
        let owners = forms().into_iter().filter(|owner| owner.rank.abs() < 2).step_by(7).map(Some).chain([None]);
        for owner in owners {
            for (own, peers) in forms().into_iter().flat_map(|own| forms().into_iter().map(move |peers| (own, peers))) {
                let in_all = own.is_apart(peers, Ranks { owner, blocks: None });
                for blocks in 2..=4 {
                    let says = own.is_apart(peers, Ranks { owner, blocks: Some(blocks) });
                    let met = meet(own, peers, owner, blocks);
                    assert!(!(says && met), "{own:?} {peers:?} {owner:?} {blocks}");
                    assert!(says || !in_all, "{own:?} {peers:?} {owner:?} {blocks}");
                    apart += usize::from(says);
                    sound += usize::from(in_all);
                    meeting += usize::from(met);
                }
            }
        }
        println!("{apart} {sound} {meeting}");
        assert!(apart > 1000 && meeting > 1000, "{apart} {meeting}");
    }
}
