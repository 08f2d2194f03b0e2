//! Numbers as far as indexes of memory need them: what a value is relative to what a variable holds now, and below
//! what it is. For one question: can two indexes be the same? Arithmetic is taken as if it did not overflow, but for
//! differences, which do at zero.

use crate::check::cfg::{Granule, Place};
use crate::model::ValueId;

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Number {
    pub(super) form: Form,
    /// At least this.
    pub(super) from: Option<u64>,
    /// Less than this. What is less than a granule is taken not to be negative.
    pub(super) below: Option<Granule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    #[default]
    Unknown,
    Linear(Linear),
    /// At least this, times the granule, and less than a granule more.
    Scaled(Linear, Granule),
    /// Less than this, or not less.
    Half {
        mid: Linear,
        second: bool,
    },
}

/// `base + offset`; with a modulus, a number that leaves the same remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) base: Base,
    pub(super) offset: i64,
    pub(super) modulus: Option<u64>,
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
    /// It is more by this, up to a multiple of the modulus.
    By(i64, Option<u64>),
    Lost,
}

impl Number {
    pub(super) const UNKNOWN: Number = Number { form: Form::Unknown, from: None, below: None };

    fn linear(base: Base, offset: i64, modulus: Option<u64>) -> Number {
        Form::Linear(Linear { base, offset, modulus }).into()
    }

    pub(super) fn literal(number: u64) -> Number {
        match i64::try_from(number) {
            Ok(offset) => Number {
                from: Some(number),
                below: number.checked_add(1).map(Granule::Number),
                ..Number::linear(Base::Zero, offset, None)
            },
            Err(_) => Number::UNKNOWN,
        }
    }

    pub(super) fn of(base: Base) -> Number {
        Number::linear(base, 0, None)
    }

    /// Anything in this range.
    pub(super) fn between(from: u64, below: Option<Granule>) -> Number {
        Number { form: Form::Unknown, from: Some(from), below }
    }

    /// The same for all threads, whatever variables hold.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.form, Form::Linear(Linear { base: Base::Zero | Base::Constant(_), modulus: None, .. }))
    }

    /// Not the same for all threads, as far as it is understood.
    pub(super) fn is_varied(&self) -> bool {
        self.form == Form::Unknown
    }

    /// Those of a chunk of `self` elements; of one of no known size, only which it is.
    pub(super) fn as_chunk(self) -> Number {
        match self.form {
            Form::Scaled(..) => self,
            Form::Unknown | Form::Linear(_) | Form::Half { .. } => Number::UNKNOWN,
        }
    }

    /// Those from here up to the end.
    pub(super) fn up_to(self, end: &Number) -> Number {
        match (self.form, end.form) {
            (Form::Scaled(from, size), Form::Scaled(to, other))
                if size == other && from.shifted(1).form == Form::Linear(to) =>
            {
                self
            }
            _ => Number::UNKNOWN,
        }
    }

    /// One of the two halves that are parted here.
    pub(super) fn half(self, second: bool) -> Number {
        match self.form {
            Form::Linear(mid) => Form::Half { mid, second }.into(),
            Form::Unknown | Form::Scaled(..) | Form::Half { .. } => Number::UNKNOWN,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        *self != Number::UNKNOWN
    }

    /// Of a literal.
    pub(super) fn value(&self) -> Option<i64> {
        match self.form {
            Form::Linear(Linear { base: Base::Zero, offset, modulus: None }) => Some(offset),
            _ => None,
        }
    }

    /// As a number of elements.
    pub(super) fn granule(&self) -> Option<Granule> {
        match self.form {
            Form::Linear(Linear { base: Base::Zero, offset, modulus: None }) => {
                u64::try_from(offset).ok().map(Granule::Number)
            }
            Form::Linear(Linear { base: Base::Constant(value), offset: 0, modulus: None }) => {
                Some(Granule::Constant(value))
            }
            _ => None,
        }
    }

    pub(super) fn plus(&self, other: &Number) -> Number {
        let raised = |number: &Number, by: &Number| number.raised(by.value().and_then(|by| u64::try_from(by).ok()));
        let (from, below) = if other.value().is_some() { raised(self, other) } else { raised(other, self) };
        let sum = self.sum(other);
        Number { from: sum.from.or(from), below: sum.below.or(below), ..sum }
    }

    /// The bounds of what is by so much more.
    fn raised(&self, by: Option<u64>) -> (Option<u64>, Option<Granule>) {
        let from = self.from.zip(by).and_then(|(from, by)| from.checked_add(by));
        let below = match (self.below, by) {
            (Some(Granule::Number(below)), Some(by)) => below.checked_add(by).map(Granule::Number),
            _ => None,
        };
        (from, below)
    }

    fn sum(&self, other: &Number) -> Number {
        match (self.form, other.form) {
            (Form::Linear(linear), _) if other.value().is_some() => linear.shifted(other.value().unwrap_or(0)),
            (_, Form::Linear(linear)) if self.value().is_some() => linear.shifted(self.value().unwrap_or(0)),
            (Form::Scaled(linear, size), _) if other.fits(size) => Form::Scaled(linear, size).into(),
            (_, Form::Scaled(linear, size)) if self.fits(size) => Form::Scaled(linear, size).into(),
            _ => Number::UNKNOWN,
        }
    }

    pub(super) fn minus(&self, other: &Number) -> Number {
        match (self.form, other.form, self.value(), other.value()) {
            (Form::Linear(linear), _, _, Some(less)) => {
                less.checked_neg().map_or(Number::UNKNOWN, |by| linear.shifted(by))
            }
            // Odd where it was even, or the other way round.
            (_, _, Some(1), _) => other.flipped(),
            (_, Form::Linear(linear), Some(from), _) => match linear.parity() {
                Some(parity) => Linear { offset: (from - parity.offset).rem_euclid(2), ..parity }.into(),
                None => Number::UNKNOWN,
            },
            _ => Number::UNKNOWN,
        }
    }

    pub(super) fn times(&self, other: &Number) -> Number {
        match (self.value(), other.value(), self.form, other.form) {
            (Some(a), Some(b), ..) => a
                .checked_mul(b)
                .and_then(|product| u64::try_from(product).ok())
                .map_or(Number::UNKNOWN, Number::literal),
            (_, _, Form::Linear(linear), _) if other.granule().is_some() => Number::scaled(linear, other.granule()),
            (_, _, _, Form::Linear(linear)) => Number::scaled(linear, self.granule()),
            _ => Number::UNKNOWN,
        }
    }

    fn scaled(linear: Linear, size: Option<Granule>) -> Number {
        size.map_or(Number::UNKNOWN, |size| Form::Scaled(linear, size).into())
    }

    pub(super) fn remainder(&self, other: &Number) -> Number {
        let limit = other.granule();
        let below = Number { form: Form::Unknown, from: self.from.map(|_| 0), below: limit };
        let Some(Granule::Number(modulus @ 1..)) = limit else { return below };
        match self.form {
            // Less than nothing is much, and leaves what it leaves.
            Form::Linear(linear) if linear.offset >= 0 || modulus.is_power_of_two() => match linear.modulus {
                None => Number { form: Form::Linear(Linear { modulus: Some(modulus), ..linear }), ..below },
                Some(own) if own % modulus == 0 => {
                    Number { form: Form::Linear(Linear { modulus: Some(modulus), ..linear }), ..below }
                }
                Some(_) if self.fits(Granule::Number(modulus)) => *self,
                Some(_) => below,
            },
            _ => below,
        }
    }

    /// `n & mask`
    pub(super) fn and(&self, other: &Number) -> Number {
        let mask = |number: &Number| number.value().and_then(|mask| u64::try_from(mask).ok()).map(|mask| mask + 1);
        match (mask(self), mask(other)) {
            (_, Some(modulus)) if modulus.is_power_of_two() => self.remainder(&Number::literal(modulus)),
            (Some(modulus), _) if modulus.is_power_of_two() => other.remainder(&Number::literal(modulus)),
            _ => Number::UNKNOWN,
        }
    }

    /// `n ^ 1`
    pub(super) fn xor(&self, other: &Number) -> Number {
        match (self.value(), other.value()) {
            (Some(a), Some(b)) => u64::try_from(a ^ b).map_or(Number::UNKNOWN, Number::literal),
            (_, Some(1)) => self.flipped(),
            (Some(1), _) => other.flipped(),
            _ => Number::UNKNOWN,
        }
    }

    /// Of the other parity: `n ^ 1`, `1 - n`, `!n`.
    pub(super) fn flipped(&self) -> Number {
        let parity = match self.form {
            Form::Linear(linear) => linear.parity(),
            _ => None,
        };
        let form = parity.map_or(Form::Unknown, |parity| {
            Form::Linear(Linear { offset: (parity.offset + 1).rem_euclid(2), ..parity })
        });
        match self.fits(Granule::Number(2)) {
            true => Number { form, ..Number::between(0, Some(Granule::Number(2))) },
            false => form.into(),
        }
    }

    pub(super) fn shifted_left(&self, by: &Number) -> Number {
        match by.value() {
            Some(bits @ 0..32) => self.times(&Number::literal(1 << bits)),
            _ => Number::UNKNOWN,
        }
    }

    /// It is less than this.
    fn fits(&self, size: Granule) -> bool {
        match (self.below, size) {
            (Some(Granule::Number(below)), Granule::Number(size)) => below <= size,
            (below, size) => below == Some(size),
        }
    }

    /// The place that others are counted from has changed.
    pub(super) fn changed(&self, place: Place, change: Change) -> Number {
        let of_linear = |linear: Linear| linear.changed(place, change);
        let form = match self.form {
            Form::Unknown => Form::Unknown,
            Form::Half { mid, second } => of_linear(mid).map_or(Form::Unknown, |mid| Form::Half { mid, second }),
            Form::Linear(linear) => of_linear(linear).map_or(Form::Unknown, Form::Linear),
            Form::Scaled(linear, size) => of_linear(linear).map_or(Form::Unknown, |linear| Form::Scaled(linear, size)),
        };
        Number { form, ..*self }
    }

    /// What becomes of `place` if it gets this.
    pub(super) fn change_of(&self, place: Place) -> Change {
        match self.form {
            Form::Linear(Linear { base: Base::Place(base), offset, modulus }) if base == place => {
                Change::By(offset, modulus)
            }
            _ => Change::Lost,
        }
    }

    /// The two are never the same.
    pub(super) fn differs_from(&self, other: &Number) -> bool {
        let is_less = |a: &Number, b: &Number| match (a.below, b.from) {
            (Some(Granule::Number(below)), Some(from)) => below <= from,
            _ => false,
        };
        // Of a chunk, the form says which.
        let is_one = |number: &Number| !matches!(number.form, Form::Scaled(..) | Form::Half { .. });
        if is_one(self) && is_one(other) && (is_less(self, other) || is_less(other, self)) {
            return true;
        }
        match (self.form, other.form) {
            (Form::Linear(a), Form::Linear(b)) => a.differs_from(b),
            (Form::Scaled(a, of), Form::Scaled(b, other)) => of == other && a.differs_from(b),
            (Form::Half { mid: a, second: of }, Form::Half { mid: b, second: other }) => a == b && of != other,
            _ => false,
        }
    }
}

impl From<Form> for Number {
    fn from(form: Form) -> Number {
        Number { form, from: None, below: None }
    }
}

impl From<Linear> for Number {
    fn from(linear: Linear) -> Number {
        Number::linear(linear.base, linear.offset, linear.modulus)
    }
}

impl Linear {
    fn shifted(self, by: i64) -> Number {
        match (self.offset.checked_add(by), self.modulus) {
            (Some(offset), None) if self.base == Base::Zero => {
                u64::try_from(offset).map_or(Form::Linear(Linear { offset, ..self }).into(), Number::literal)
            }
            (Some(offset), _) => Form::Linear(Linear { offset, ..self }).into(),
            (None, _) => Number::UNKNOWN,
        }
    }

    fn parity(self) -> Option<Linear> {
        let known = self.modulus.is_none_or(|modulus| modulus % 2 == 0);
        known.then_some(Linear { offset: self.offset.rem_euclid(2), modulus: Some(2), ..self })
    }

    fn changed(self, place: Place, change: Change) -> Option<Linear> {
        match (self.base, place) {
            (Base::Place(base), _) if base == place => {}
            // With the whole, its fields.
            (Base::Place(Place::Field(of, _)), Place::Local(local)) if of == local => return None,
            (Base::Zero | Base::Place(_) | Base::Constant(_), _) => return Some(self),
        }
        let Change::By(by, modulus) = change else { return None };
        let modulus = match (self.modulus, modulus) {
            (None, other) | (other, None) => other,
            (Some(a), Some(b)) => Some(common(a, b)).filter(|common| *common > 1).map(Some)?,
        };
        let offset = self.offset.checked_sub(by)?;
        let offset = modulus.map_or(offset, |modulus| offset.rem_euclid(i64::try_from(modulus).unwrap_or(i64::MAX)));
        Some(Linear { offset, modulus, ..self })
    }

    fn differs_from(self, other: Linear) -> bool {
        let Some(apart) = self.offset.checked_sub(other.offset) else { return false };
        let modulus = match (self.modulus, other.modulus) {
            (None, modulus) | (modulus, None) => modulus,
            (Some(a), Some(b)) => Some(common(a, b)),
        };
        self.base == other.base
            && match modulus.map(i64::try_from) {
                None => apart != 0,
                Some(Ok(modulus)) => apart.rem_euclid(modulus) != 0,
                Some(Err(_)) => false,
            }
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

    const K: Place = Place::Local(LocalId(0));

    fn k() -> Number {
        Number::of(Base::Place(K))
    }

    fn n(number: u64) -> Number {
        Number::literal(number)
    }

    #[track_caller]
    fn apart(a: Number, b: Number) {
        assert!(a.differs_from(&b) && b.differs_from(&a), "{a:?} {b:?}");
    }

    #[track_caller]
    fn maybe_one(a: Number, b: Number) {
        assert!(!a.differs_from(&b) && !b.differs_from(&a), "{a:?} {b:?}");
    }

    #[test]
    fn counted_from_one_variable() {
        apart(k(), k().plus(&n(1)));
        apart(k().remainder(&n(2)), k().plus(&n(1)).remainder(&n(2)));
        apart(k().remainder(&n(3)), k().plus(&n(5)).remainder(&n(3)));
        maybe_one(k().remainder(&n(3)), k().plus(&n(3)).remainder(&n(3)));
        maybe_one(k().remainder(&n(3)), k().plus(&n(1)).remainder(&n(2)));
        // Of remainders by 6 and 4, what they say of remainders by 2.
        apart(k().remainder(&n(6)), k().plus(&n(1)).remainder(&n(4)));
        apart(k(), n(1).minus(&k()));
        apart(k(), k().xor(&n(1)));
        apart(k(), k().flipped());
        maybe_one(k(), k().flipped().flipped());
        apart(k().and(&n(7)), k().plus(&n(1)).and(&n(7)));
        maybe_one(k().and(&n(6)), k().plus(&n(1)).and(&n(6)));
        maybe_one(k(), n(0));
        maybe_one(k(), Number::UNKNOWN);
        apart(n(3), n(4));
    }

    /// A remainder of something below zero is as of something very large, which is known to be even or odd only.
    #[test]
    fn below_zero() {
        apart(k().remainder(&n(2)), k().minus(&n(1)).remainder(&n(2)));
        maybe_one(k().remainder(&n(3)), k().minus(&n(1)).remainder(&n(3)));
        maybe_one(n(5).minus(&k().remainder(&n(3))), k());
    }

    #[test]
    fn chunks() {
        let (size, inside) = (n(64), Number::between(0, Some(Granule::Number(64))));
        let of = |k: Number, i: &Number| k.remainder(&n(2)).times(&n(64)).plus(i);
        apart(of(k(), &inside), of(k().plus(&n(1)), &inside));
        apart(of(k(), &n(63)), of(k().plus(&n(1)), &inside).plus(&n(0)));
        maybe_one(of(k(), &n(64)), of(k().plus(&n(1)), &inside));
        maybe_one(of(k(), &Number::UNKNOWN), of(k().plus(&n(1)), &inside));
        apart(k().times(&size).as_chunk(), k().plus(&n(1)).times(&size).as_chunk());
        let part = |k: Number| k.times(&size).up_to(&k.plus(&n(1)).times(&size));
        apart(part(k()), part(k().plus(&n(1))));
        maybe_one(k().times(&size).up_to(&k().plus(&n(2)).times(&size)), part(k().plus(&n(1))));
        apart(k().shifted_left(&n(3)).plus(&n(7)), k().plus(&n(1)).times(&n(8)));
    }

    /// Cells of a halo, and those between them.
    #[test]
    fn ranges() {
        let inside = Number::between(0, Some(Granule::Number(64))).plus(&n(1));
        apart(inside, n(0));
        apart(inside, n(65));
        maybe_one(inside, n(64));
        apart(n(1).plus(&Number::between(0, None)), n(0));
        maybe_one(Number::between(0, None), n(0));
        apart(k().remainder(&n(2)), n(2));
        maybe_one(k().remainder(&n(2)).plus(&n(1)), n(2));
        maybe_one(n(0).xor(&n(1)), n(1));
        apart(n(0).xor(&n(1)).xor(&n(1)), n(1));
    }

    #[test]
    fn halves() {
        apart(k().half(false), k().half(true));
        maybe_one(k().half(false), k().plus(&n(1)).half(true));
    }

    /// What was counted from `k` before it changed, beside what is counted from it now.
    #[test]
    fn the_variable_changes() {
        let was = |number: Number, change| number.changed(K, change);
        let next = k().plus(&n(1)).change_of(K);
        maybe_one(was(k().plus(&n(1)), next), k());
        apart(was(k(), next), k());
        apart(was(k().remainder(&n(2)), next), k().remainder(&n(2)));
        let turned = n(1).minus(&k()).change_of(K);
        apart(was(k(), turned), k());
        maybe_one(was(k(), turned), k().plus(&n(1)).remainder(&n(2)));
        let round = k().plus(&n(1)).remainder(&n(3)).change_of(K);
        apart(was(k(), round), k());
        maybe_one(was(k().remainder(&n(2)), round), k().remainder(&n(2)));
        maybe_one(was(k(), n(0).change_of(K)), k());
        // Another variable's is as it was; a field's is lost with the whole.
        let other = Number::of(Base::Place(Place::Local(LocalId(1))));
        assert_eq!(was(other, Change::Lost), other);
        let field = Number::of(Base::Place(Place::Field(LocalId(0), 3)));
        maybe_one(was(field, next), field.plus(&n(1)));
    }
}
