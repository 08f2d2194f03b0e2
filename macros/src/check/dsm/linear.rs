//! What an index is counted from: the rank of the block, a variable, a number. By that alone it can be told that two
//! blocks do not choose one element, whatever their ranks are and whatever the variable holds.

use crate::check::cfg::Place;
use crate::model::ValueId;

/// `rank` times the block's rank in its cluster, `times` what the base holds, and `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) rank: i64,
    pub(super) base: Base,
    pub(super) times: i64,
    pub(super) offset: i64,
    /// It is known up to multiples of this; itself, if this is 0.
    pub(super) modulus: u64,
    /// A difference on the way may have gone below zero: a power of two divides what it is off by then, and nothing else.
    pub(super) wraps: bool,
}

/// What a number is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Zero,
    /// What a place holds now, which is the same for the whole cluster.
    Place(Place),
    Constant(ValueId),
}

/// What has become of a place that others are counted from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// It is more by this, up to multiples of the modulus.
    By {
        more: i64,
        modulus: u64,
        wraps: bool,
    },
    Lost,
}

/// What is known of the two blocks of which one touches the other's memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranks {
    /// The owner's rank, as the peer has it.
    pub(super) owner: Option<Linear>,
    /// How many there are in a cluster.
    pub(super) blocks: Option<u64>,
}

impl Linear {
    /// The block's rank in its cluster.
    pub(super) const RANK: Linear = Linear { rank: 1, ..Linear::of_number(0) };

    pub(super) const fn of_number(offset: i64) -> Linear {
        Linear { rank: 0, base: Base::Zero, times: 0, offset, modulus: 0, wraps: false }
    }

    pub(super) fn of(base: Base) -> Linear {
        Linear { base, times: 1, ..Linear::of_number(0) }
    }

    /// If it is one.
    pub(super) fn number(self) -> Option<i64> {
        (self.base == Base::Zero && self.is_exact()).then_some(self.offset)
    }

    /// All blocks have the same, and it is known itself.
    pub(super) fn is_exact(self) -> bool {
        self.rank == 0 && self.modulus == 0
    }

    /// It is known to be this at least.
    pub(super) fn least(self) -> Option<i64> {
        (self.modulus == 0 && !self.wraps && self.rank >= 0 && self.times >= 0).then_some(self.offset)
    }

    /// The next is more by one, or leaves the remainder that this would.
    pub(super) fn is_just_before(self, next: Linear) -> bool {
        let after = self.plus(Linear::of_number(1));
        after.is_some_and(|after| Linear { wraps: next.wraps, ..after } == next)
    }

    pub(super) fn plus(self, other: Linear) -> Option<Linear> {
        let (base, times) = match (self.base, other.base) {
            (base, Base::Zero) => (base, self.times),
            (Base::Zero, base) => (base, other.times),
            (base, same) if base == same => (base, self.times.checked_add(other.times)?),
            (Base::Place(_) | Base::Constant(_), Base::Place(_) | Base::Constant(_)) => return None,
        };
        let sum = Linear {
            rank: self.rank.checked_add(other.rank)?,
            base: if times == 0 { Base::Zero } else { base },
            times,
            offset: self.offset.checked_add(other.offset)?,
            modulus: self.modulus,
            wraps: self.wraps || other.wraps,
        };
        sum.modulo(other.modulus)
    }

    pub(super) fn minus(self, other: Linear) -> Option<Linear> {
        self.plus(other.times(-1)?)
    }

    fn times(self, factor: i64) -> Option<Linear> {
        Some(Linear {
            rank: self.rank.checked_mul(factor)?,
            base: if factor == 0 { Base::Zero } else { self.base },
            times: self.times.checked_mul(factor)?,
            offset: self.offset.checked_mul(factor)?,
            modulus: self.modulus.checked_mul(factor.unsigned_abs())?,
            wraps: self.wraps,
        })
    }

    /// What is left of it where multiples of `modulus` do not count either; `None` if that is nothing.
    pub(super) fn modulo(self, modulus: u64) -> Option<Linear> {
        let modulus = common(self.modulus, modulus);
        let offset = match i64::try_from(modulus) {
            Ok(modulus @ 1..) => self.offset.rem_euclid(modulus),
            Ok(_) | Err(_) => self.offset,
        };
        (modulus != 1).then_some(Linear { offset, modulus, ..self })
    }

    /// It changes with this place: with the whole, its fields do.
    pub(super) fn is_counted_from(self, place: Place) -> bool {
        matches!(self.base, Base::Place(base) if base == place || base.whole() == Some(place))
    }

    /// The same, counted from the place that has changed.
    pub(super) fn changed(self, place: Place, change: Change) -> Option<Linear> {
        let Change::By { more, modulus, wraps } = change else { return None };
        if self.base != Base::Place(place) {
            return None;
        }
        self.minus(Linear { modulus, wraps, ..Linear::of_number(more) }.times(self.times)?)
    }

    /// What becomes of `place` if it gets this.
    pub(super) fn change_of(self, place: Place) -> Change {
        let left =
            (self.base == Base::Place(place) && self.rank == 0).then(|| self.modulo(self.times.abs_diff(1))).flatten();
        left.map_or(Change::Lost, |Linear { offset, modulus, wraps, .. }| Change::By { more: offset, modulus, wraps })
    }

    /// No rank and no value of the base makes it zero.
    fn is_never_zero(self) -> bool {
        match common(common(self.rank.unsigned_abs(), self.times.unsigned_abs()), self.modulus) {
            0 => self.offset != 0,
            step => !self.offset.unsigned_abs().is_multiple_of(step),
        }
    }

    /// What the block that owns some memory has, and what a peer has, are never the same.
    pub(super) fn is_apart(self, peers: Linear, Ranks { owner, blocks }: Ranks) -> bool {
        let differs = |own: Option<Linear>, peers: Option<Linear>| {
            own.zip(peers).and_then(|(own, peers)| own.minus(peers)).is_some_and(Linear::is_never_zero)
        };
        // In terms of one rank, if the other follows from it.
        let follows = owner.is_some_and(|owner| match owner.rank {
            0 => differs(self.of_rank(owner), Some(peers)),
            1 | -1 => {
                let rank = Linear::RANK.minus(owner.without_rank()).and_then(|rank| rank.times(owner.rank));
                differs(Some(self), rank.and_then(|rank| peers.of_rank(rank)))
            }
            _ => false,
        });
        follows || self.is_apart_by_rank(peers, blocks)
    }

    /// The peer's rank is another one: nothing else is known of it.
    fn is_apart_by_rank(self, peers: Linear, blocks: Option<u64>) -> bool {
        let Some(between) = self.without_rank().minus(peers.without_rank()) else { return false };
        // Each is where its rank puts it.
        let are_alike =
            self.rank == peers.rank && self.rank != 0 && between == Linear { offset: 0, times: 0, ..between };
        let stays = match between.modulus {
            0 => true,
            // No two ranks leave the same.
            modulus => self.rank.abs() == 1 && blocks.is_some_and(|blocks| blocks <= modulus),
        };
        let ranks = common(self.rank.unsigned_abs(), peers.rank.unsigned_abs());
        are_alike && stays || between.modulo(ranks).is_some_and(Linear::is_never_zero)
    }

    fn without_rank(self) -> Linear {
        Linear { rank: 0, ..self }
    }

    /// Of another block: the one of this rank.
    fn of_rank(self, rank: Linear) -> Option<Linear> {
        self.without_rank().plus(rank.times(self.rank)?)
    }
}

/// The greatest common divisor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LocalId;

    const K: Base = Base::Place(Place::Local(LocalId(0)));

    /// What the block of this rank may have, if the variable holds `k`: this, and what is off by multiples of the modulus.
    fn value(linear: Linear, rank: i64, k: i64) -> i64 {
        linear.rank * rank + linear.times * k + linear.offset
    }

    fn may_be(a: i64, b: i64, modulus: u64) -> bool {
        if modulus == 0 { a == b } else { (a - b).unsigned_abs().is_multiple_of(modulus) }
    }

    /// Whether some two blocks choose one element.
    fn meet(own: Linear, peers: Linear, owner: Option<Linear>, blocks: i64) -> bool {
        let modulus = common(own.modulus, peers.modulus);
        let pairs =
            (0..blocks).flat_map(|own| (0..blocks).map(move |peer| (own, peer))).filter(|(own, peer)| own != peer);
        pairs.flat_map(|(own, peer)| (0..8).map(move |k| (own, peer, k))).any(|(rank, peer, k)| {
            owner.is_none_or(|owner| may_be(value(owner, peer, k), rank, owner.modulus))
                && may_be(value(own, rank, k), value(peers, peer, k), modulus)
        })
    }

    fn forms() -> Vec<Linear> {
        let mut forms = Vec::new();
        for (rank, times) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (2, 0), (0, 2)] {
            for (offset, modulus) in
                [(0, 0), (1, 0), (-1, 0), (3, 0), (0, 2), (1, 2), (1, 3), (2, 3), (0, 4), (3, 4), (1, 6)]
            {
                let base = if times == 0 { Base::Zero } else { K };
                forms.push(Linear { rank, base, times, offset, modulus, wraps: false });
            }
        }
        forms
    }

    /// All forms against all others, by trying.
    #[test]
    fn what_is_apart_never_meets() {
        let (mut apart, mut meeting) = (0, 0);
        let owners = forms().into_iter().step_by(3).map(Some).chain([None]);
        for owner in owners.filter(|owner| owner.is_none_or(|owner| owner.rank.abs() < 2)) {
            for (own, peers) in forms().into_iter().flat_map(|own| forms().into_iter().map(move |peers| (own, peers))) {
                for blocks in 2..=4 {
                    let says = own.is_apart(peers, Ranks { owner, blocks: Some(blocks) });
                    let unsized_says = own.is_apart(peers, Ranks { owner, blocks: None });
                    let met = meet(own, peers, owner, blocks as i64);
                    assert!(!(says && met), "{own:?} {peers:?} {owner:?} {blocks}");
                    assert!(says || !unsized_says, "{own:?} {peers:?} {owner:?} {blocks}");
                    apart += usize::from(says);
                    meeting += usize::from(met);
                }
            }
        }
        println!("{apart} {meeting}");
        assert!(apart > 1000 && meeting > 1000, "{apart} {meeting}");
    }
}
