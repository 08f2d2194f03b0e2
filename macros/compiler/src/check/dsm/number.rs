//! Numbers as far as indexes of memory need them: what a value is relative to the block's rank and to what a variable
//! holds now (`linear`), and below what it is. For one question: can two blocks' indexes be the same? Arithmetic is taken as
//! if it did not overflow, but for differences, which do at zero.

use super::linear::{Base, Change, Linear, Ranks};
use crate::check::cfg::Place;
use crate::model::ValueId;

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Number {
    pub(super) form: Form,
    /// At least this.
    pub(super) from: Option<u64>,
    /// Less than this. What is less than a granule is taken not to be negative.
    pub(super) below: Option<Size>,
}

/// A number that is the same for all blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Number(u64),
    /// A constant, which rustc knows.
    Constant(ValueId),
    /// As many as a cluster has blocks.
    Blocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    #[default]
    Unknown,
    Linear(Linear),
    /// At least this, times the granule, and less than a granule more.
    Scaled {
        which: Linear,
        size: Size,
        /// `which` is not above its modulus, if it has one.
        near: bool,
    },
    /// Less than this, or not less.
    Half {
        mid: Linear,
        second: bool,
    },
}

impl Number {
    pub(super) const UNKNOWN: Number = Number { form: Form::Unknown, from: None, below: None };

    pub(super) fn literal(number: u64) -> Number {
        let form = i32::try_from(number).map_or(Form::Unknown, |offset| Form::Linear(Linear::of_number(offset)));
        Number { form, from: Some(number), below: number.checked_add(1).map(Size::Number) }
    }

    pub(super) fn of(base: Base) -> Number {
        Form::Linear(Linear::of(base)).into()
    }

    /// The block's, in a cluster of so many.
    pub(super) fn rank(blocks: Option<u64>) -> Number {
        Number {
            form: Form::Linear(Linear::RANK),
            from: Some(0),
            below: Some(blocks.map_or(Size::Blocks, Size::Number)),
        }
    }

    /// As many as the blocks of a cluster.
    pub(super) fn blocks(blocks: Option<u64>) -> Number {
        let unknown = Number { form: Form::Linear(Linear::BLOCKS), from: Some(1), below: None };
        blocks.map_or(unknown, Number::literal)
    }

    /// Anything in this range.
    pub(super) fn between(from: u64, below: Option<Size>) -> Number {
        Number { form: Form::Unknown, from: Some(from), below }
    }

    /// The same for all threads, whatever variables hold.
    pub(super) fn is_fixed(&self) -> bool {
        self.exact().is_some_and(|linear| matches!(linear.base, Base::Zero | Base::Constant(_)))
    }

    /// Not the same for all threads, as far as it is understood.
    pub(super) fn is_varied(&self) -> bool {
        match self.form {
            Form::Unknown => true,
            Form::Linear(linear) | Form::Scaled { which: linear, .. } | Form::Half { mid: linear, .. } => {
                linear.rank != 0
            }
        }
    }

    /// Those of a chunk of `self` elements; of one of no known size, only which it is.
    pub(super) fn as_chunk(self) -> Number {
        match self.form {
            Form::Scaled { .. } => self,
            Form::Unknown | Form::Linear(_) | Form::Half { .. } => Number::UNKNOWN,
        }
    }

    /// Those from here up to the end.
    pub(super) fn up_to(self, end: &Number) -> Number {
        match (self.form, end.form) {
            (Form::Scaled { which, size, .. }, Form::Scaled { which: next, size: other, near: true })
                if size == other && which.is_just_before(next) =>
            {
                self
            }
            _ => Number::UNKNOWN,
        }
    }

    /// One of the two halves that are parted here.
    pub(super) fn half(self, second: bool) -> Number {
        self.exact().map_or(Number::UNKNOWN, |mid| Form::Half { mid, second }.into())
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Number { form: Form::Unknown, from: None, below: None })
    }

    pub(super) fn linear(&self) -> Option<Linear> {
        match self.form {
            Form::Linear(linear) => Some(linear),
            Form::Unknown | Form::Scaled { .. } | Form::Half { .. } => None,
        }
    }

    /// All blocks have the same, and it is known itself.
    fn exact(&self) -> Option<Linear> {
        self.linear().filter(|linear| linear.is_exact())
    }

    /// Of a literal.
    pub(super) fn value(&self) -> Option<i32> {
        self.exact().and_then(Linear::number)
    }

    /// As a number of elements.
    fn size(&self) -> Option<Size> {
        let linear = self.exact()?;
        match linear.base {
            _ if linear == Linear::BLOCKS => Some(Size::Blocks),
            Base::Constant(value) if linear == Linear::of(linear.base) => Some(Size::Constant(value)),
            Base::Zero | Base::Place(_) | Base::Constant(_) => u64::try_from(linear.number()?).ok().map(Size::Number),
        }
    }

    /// What is less than this is less than that.
    pub(super) fn limit(&self) -> Option<Size> {
        let linear = self.exact().filter(|linear| !linear.wraps)?;
        let offset = linear.number().unwrap_or(linear.offset.max(0));
        Number::from(Form::Linear(Linear { offset, ..linear })).size()
    }

    /// The largest that it may be.
    fn last(&self) -> Option<u64> {
        match self.below? {
            Size::Number(below) => below.checked_sub(1),
            Size::Constant(_) | Size::Blocks => None,
        }
    }

    /// It is not above this.
    fn most(&self) -> Option<Linear> {
        let below = match self.below? {
            Size::Number(below) => Linear::of_number(i32::try_from(below).ok()?),
            Size::Constant(value) => Linear::of(Base::Constant(value)),
            Size::Blocks => Linear::BLOCKS,
        };
        below.minus(Linear::of_number(1))
    }

    pub(super) fn plus(&self, other: &Number) -> Number {
        match (self.form, other.form) {
            (Form::Scaled { size, .. }, _) if other.fits(size) => *self,
            (_, Form::Scaled { size, .. }) if self.fits(size) => *other,
            _ => {
                let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
                let linear = self.linear().zip(other.linear()).and_then(|(a, b)| a.plus(b));
                Number::of_linear(linear, sum(self.from, other.from), sum(self.last(), other.last()))
            }
        }
    }

    pub(super) fn minus(&self, other: &Number) -> Number {
        let from = self.from.zip(other.last()).and_then(|(from, last)| from.checked_sub(last));
        let left = self.linear().zip(other.most()).and_then(|(linear, most)| linear.minus(most)?.least());
        let stays = from.is_some() || left.is_some_and(|left| left >= 0);
        let last = if stays { self.last() } else { None };
        let linear = self.linear().zip(other.linear()).and_then(|(a, b)| a.minus(b));
        let linear = linear.map(|linear| Linear { wraps: linear.wraps || !stays, ..linear });
        Number::of_linear(linear, from, last)
    }

    fn of_linear(linear: Option<Linear>, from: Option<u64>, last: Option<u64>) -> Number {
        let number = linear.filter(|linear| !linear.wraps).and_then(Linear::number);
        match number.map(u64::try_from) {
            Some(Ok(number)) => Number::literal(number),
            _ => Number {
                form: linear.map_or(Form::Unknown, Form::Linear),
                from,
                below: last.and_then(|last| last.checked_add(1)).map(Size::Number),
            },
        }
    }

    pub(super) fn times(&self, other: &Number) -> Number {
        let product = |number: &Number, times: &Number| {
            // Of what is counted from a variable, parts are.
            let linear = number.exact().filter(|linear| linear.base == Base::Zero)?;
            let by = |bound: Option<u64>| bound?.checked_mul(times.from?);
            let product = linear.times(times.value().filter(|times| *times >= 0)?);
            Some(Number::of_linear(product, by(number.from), by(number.last())))
        };
        product(self, other).or_else(|| product(other, self)).unwrap_or_else(|| {
            match (self.linear(), other.size(), other.linear(), self.size()) {
                (Some(which), Some(size), ..) => self.scaled(which, size),
                (_, _, Some(which), Some(size)) => other.scaled(which, size),
                _ => Number::UNKNOWN,
            }
        })
    }

    fn scaled(&self, which: Linear, size: Size) -> Number {
        let near = match (which.modulus, which.cyclic) {
            (0, false) => true,
            (modulus, false) => self.last().is_some_and(|last| last <= u64::from(modulus)),
            (modulus, true) => modulus == 0 && self.fits(Size::Blocks),
        };
        Form::Scaled { which, size, near }.into()
    }

    pub(super) fn remainder(&self, other: &Number) -> Number {
        let Some(size) = other.size() else { return Number::UNKNOWN };
        if self.fits(size) {
            return *self;
        }
        let left = self.linear().and_then(|linear| match size {
            // Less than nothing is much, and leaves what it leaves.
            Size::Number(number) if !linear.wraps || number.is_power_of_two() => {
                linear.modulo(u32::try_from(number).ok().filter(|number| *number > 0)?)
            }
            Size::Blocks if !linear.wraps => Some(linear.modulo_blocks()),
            Size::Number(_) | Size::Blocks | Size::Constant(_) => None,
        });
        let form = left.map_or(Form::Unknown, |linear| Form::Linear(Linear { wraps: false, ..linear }));
        Number { form, from: self.from.map(|_| 0), below: Some(size) }
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

    /// Of the other parity: `n ^ 1`, `!n`.
    pub(super) fn flipped(&self) -> Number {
        let other = self.linear().and_then(|linear| linear.plus(Linear::of_number(1))?.modulo(2));
        let form = other.map_or(Form::Unknown, |linear| Form::Linear(Linear { wraps: false, ..linear }));
        match self.fits(Size::Number(2)) {
            true => Number { form, ..Number::between(0, Some(Size::Number(2))) },
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
    fn fits(&self, size: Size) -> bool {
        match (self.below, size) {
            (Some(Size::Number(below)), Size::Number(size)) => below <= size,
            (below, size) => below == Some(size),
        }
    }

    pub(super) fn is_counted_from(&self, place: Place) -> bool {
        match self.form {
            Form::Unknown => false,
            Form::Linear(linear) | Form::Scaled { which: linear, .. } | Form::Half { mid: linear, .. } => {
                linear.is_counted_from(place)
            }
        }
    }

    /// The place that it may be counted from has changed.
    pub(super) fn change(&mut self, place: Place, change: Change) {
        if self.is_counted_from(place) {
            let linear = |linear: Linear| linear.changed(place, change);
            let form = match self.form {
                Form::Unknown => None,
                Form::Half { mid, second } => linear(mid).map(|mid| Form::Half { mid, second }),
                Form::Linear(of) => linear(of).map(Form::Linear),
                Form::Scaled { which, size, near } => linear(which).map(|which| Form::Scaled { which, size, near }),
            };
            self.form = form.unwrap_or_default();
        }
    }

    /// What becomes of `place` if it gets this.
    pub(super) fn change_of(&self, place: Place) -> Change {
        self.linear().map_or(Change::Lost, |linear| linear.change_of(place))
    }

    /// What the block that owns some memory chooses of it, and what a peer chooses, are never the same.
    pub(super) fn is_apart(&self, peers: &Number, ranks: Ranks) -> bool {
        let is_less = |a: &Number, b: &Number| a.last().zip(b.from).is_some_and(|(last, from)| last < from);
        if is_less(self, peers) || is_less(peers, self) {
            return true;
        }
        match (self.form, peers.form) {
            (Form::Linear(a), Form::Linear(b)) => a.is_apart(b, ranks),
            (Form::Scaled { which: a, size: of, .. }, Form::Scaled { which: b, size: other, .. }) => {
                of == other && a.is_apart(b, ranks)
            }
            (Form::Half { mid: a, second: of }, Form::Half { mid: b, second: other }) => {
                a == b && a.is_exact() && of != other
            }
            _ => false,
        }
    }
}

impl From<Form> for Number {
    fn from(form: Form) -> Number {
        Number { form, from: None, below: None }
    }
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
        assert!(a.is_apart(&b, Ranks::default()) && b.is_apart(&a, Ranks::default()), "{a:?} {b:?}");
    }

    #[track_caller]
    fn maybe_one(a: Number, b: Number) {
        assert!(!a.is_apart(&b, Ranks::default()) && !b.is_apart(&a, Ranks::default()), "{a:?} {b:?}");
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
        let (size, inside) = (n(64), Number::between(0, Some(Size::Number(64))));
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
        let inside = Number::between(0, Some(Size::Number(64))).plus(&n(1));
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
        let was = |mut number: Number, change| {
            number.change(K, change);
            number
        };
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
