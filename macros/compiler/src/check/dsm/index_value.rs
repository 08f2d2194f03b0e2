//! IndexAnalysis as far as indexes of memory need them: what a value is relative to the block's rank and to what a variable
//! holds now (`affine`), and below what it is. For one question: can two blocks' indexes be the same? Arithmetic is taken as
//! if it did not overflow, but for differences, which do at zero.

use super::affine::{Affine, Base, Change, Ranks};
use crate::check::cfg::Variable;
use crate::model::ValueId;

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct IndexValue {
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
    Affine(Affine),
    /// At least this, times the granule, and less than a granule more.
    Scaled {
        which: Affine,
        size: Size,
        /// `which` is not above its modulus, if it has one.
        near: bool,
    },
    /// Less than this, or not less.
    Half {
        mid: Affine,
        second: bool,
    },
}

impl IndexValue {
    pub(super) const UNKNOWN: IndexValue = IndexValue { form: Form::Unknown, from: None, below: None };

    pub(super) fn literal(number: u64) -> IndexValue {
        let form = i32::try_from(number).map_or(Form::Unknown, |offset| Form::Affine(Affine::of_number(offset)));
        IndexValue { form, from: Some(number), below: number.checked_add(1).map(Size::Number) }
    }

    pub(super) fn of(base: Base) -> IndexValue {
        Form::Affine(Affine::of(base)).into()
    }

    /// The block's, in a cluster of so many.
    pub(super) fn rank(blocks: Option<u64>) -> IndexValue {
        IndexValue {
            form: Form::Affine(Affine::RANK),
            from: Some(0),
            below: Some(blocks.map_or(Size::Blocks, Size::Number)),
        }
    }

    /// As many as the blocks of a cluster.
    pub(super) fn blocks(blocks: Option<u64>) -> IndexValue {
        let unknown = IndexValue { form: Form::Affine(Affine::BLOCKS), from: Some(1), below: None };
        blocks.map_or(unknown, IndexValue::literal)
    }

    /// Anything in this range.
    pub(super) fn between(from: u64, below: Option<Size>) -> IndexValue {
        IndexValue { form: Form::Unknown, from: Some(from), below }
    }

    /// The same for all threads, whatever variables hold.
    pub(super) fn is_fixed(&self) -> bool {
        self.exact().is_some_and(|affine| matches!(affine.base, Base::Zero | Base::Constant(_)))
    }

    /// Not the same for all threads, as far as it is understood.
    pub(super) fn is_varied(&self) -> bool {
        match self.form {
            Form::Unknown => true,
            Form::Affine(affine) | Form::Scaled { which: affine, .. } | Form::Half { mid: affine, .. } => {
                affine.rank != 0
            }
        }
    }

    /// Those of a chunk of `self` elements; of one of no known size, only which it is.
    pub(super) fn as_chunk(self) -> IndexValue {
        match self.form {
            Form::Scaled { .. } => self,
            Form::Unknown | Form::Affine(_) | Form::Half { .. } => IndexValue::UNKNOWN,
        }
    }

    /// Those from here up to the end.
    pub(super) fn up_to(self, end: &IndexValue) -> IndexValue {
        match (self.form, end.form) {
            (Form::Scaled { which, size, .. }, Form::Scaled { which: next, size: other, near: true })
                if size == other && which.is_just_before(next) =>
            {
                self
            }
            _ => IndexValue::UNKNOWN,
        }
    }

    /// One of the two halves that are parted here.
    pub(super) fn half(self, second: bool) -> IndexValue {
        self.exact().map_or(IndexValue::UNKNOWN, |mid| Form::Half { mid, second }.into())
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, IndexValue { form: Form::Unknown, from: None, below: None })
    }

    pub(super) fn affine(&self) -> Option<Affine> {
        match self.form {
            Form::Affine(affine) => Some(affine),
            Form::Unknown | Form::Scaled { .. } | Form::Half { .. } => None,
        }
    }

    /// All blocks have the same, and it is known itself.
    fn exact(&self) -> Option<Affine> {
        self.affine().filter(|affine| affine.is_exact())
    }

    /// Of a literal.
    pub(super) fn value(&self) -> Option<i32> {
        self.exact().and_then(Affine::number)
    }

    /// As a number of elements.
    fn size(&self) -> Option<Size> {
        let affine = self.exact()?;
        match affine.base {
            _ if affine == Affine::BLOCKS => Some(Size::Blocks),
            Base::Constant(value) if affine == Affine::of(affine.base) => Some(Size::Constant(value)),
            Base::Zero | Base::Variable(_) | Base::Constant(_) => {
                u64::try_from(affine.number()?).ok().map(Size::Number)
            }
        }
    }

    /// What is less than this is less than that.
    pub(super) fn limit(&self) -> Option<Size> {
        let affine = self.exact().filter(|affine| !affine.wraps)?;
        let offset = affine.number().unwrap_or(affine.offset.max(0));
        IndexValue::from(Form::Affine(Affine { offset, ..affine })).size()
    }

    /// The largest that it may be.
    fn last(&self) -> Option<u64> {
        match self.below? {
            Size::Number(below) => below.checked_sub(1),
            Size::Constant(_) | Size::Blocks => None,
        }
    }

    /// It is not above this.
    fn most(&self) -> Option<Affine> {
        let below = match self.below? {
            Size::Number(below) => Affine::of_number(i32::try_from(below).ok()?),
            Size::Constant(value) => Affine::of(Base::Constant(value)),
            Size::Blocks => Affine::BLOCKS,
        };
        below.minus(Affine::of_number(1))
    }

    pub(super) fn plus(&self, other: &IndexValue) -> IndexValue {
        match (self.form, other.form) {
            (Form::Scaled { size, .. }, _) if other.fits(size) => *self,
            (_, Form::Scaled { size, .. }) if self.fits(size) => *other,
            _ => {
                let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
                let affine = self.affine().zip(other.affine()).and_then(|(a, b)| a.plus(b));
                IndexValue::of_linear(affine, sum(self.from, other.from), sum(self.last(), other.last()))
            }
        }
    }

    pub(super) fn minus(&self, other: &IndexValue) -> IndexValue {
        let from = self.from.zip(other.last()).and_then(|(from, last)| from.checked_sub(last));
        let left = self.affine().zip(other.most()).and_then(|(affine, most)| affine.minus(most)?.least());
        let stays = from.is_some() || left.is_some_and(|left| left >= 0);
        let last = if stays { self.last() } else { None };
        let affine = self.affine().zip(other.affine()).and_then(|(a, b)| a.minus(b));
        let affine = affine.map(|affine| Affine { wraps: affine.wraps || !stays, ..affine });
        IndexValue::of_linear(affine, from, last)
    }

    fn of_linear(affine: Option<Affine>, from: Option<u64>, last: Option<u64>) -> IndexValue {
        let number = affine.filter(|affine| !affine.wraps).and_then(Affine::number);
        match number.map(u64::try_from) {
            Some(Ok(number)) => IndexValue::literal(number),
            _ => IndexValue {
                form: affine.map_or(Form::Unknown, Form::Affine),
                from,
                below: last.and_then(|last| last.checked_add(1)).map(Size::Number),
            },
        }
    }

    pub(super) fn times(&self, other: &IndexValue) -> IndexValue {
        let product = |number: &IndexValue, times: &IndexValue| {
            // Of what is counted from a variable, parts are.
            let affine = number.exact().filter(|affine| affine.base == Base::Zero)?;
            let by = |bound: Option<u64>| bound?.checked_mul(times.from?);
            let product = affine.times(times.value().filter(|times| *times >= 0)?);
            Some(IndexValue::of_linear(product, by(number.from), by(number.last())))
        };
        product(self, other).or_else(|| product(other, self)).unwrap_or_else(|| {
            match (self.affine(), other.size(), other.affine(), self.size()) {
                (Some(which), Some(size), ..) => self.scaled(which, size),
                (_, _, Some(which), Some(size)) => other.scaled(which, size),
                _ => IndexValue::UNKNOWN,
            }
        })
    }

    fn scaled(&self, which: Affine, size: Size) -> IndexValue {
        let near = match (which.modulus, which.cyclic) {
            (0, false) => true,
            (modulus, false) => self.last().is_some_and(|last| last <= u64::from(modulus)),
            (modulus, true) => modulus == 0 && self.fits(Size::Blocks),
        };
        Form::Scaled { which, size, near }.into()
    }

    pub(super) fn remainder(&self, other: &IndexValue) -> IndexValue {
        let Some(size) = other.size() else { return IndexValue::UNKNOWN };
        if self.fits(size) {
            return *self;
        }
        let left = self.affine().and_then(|affine| match size {
            // Less than nothing is much, and leaves what it leaves.
            Size::Number(number) if !affine.wraps || number.is_power_of_two() => {
                affine.modulo(u32::try_from(number).ok().filter(|number| *number > 0)?)
            }
            Size::Blocks if !affine.wraps => Some(affine.modulo_blocks()),
            Size::Number(_) | Size::Blocks | Size::Constant(_) => None,
        });
        let form = left.map_or(Form::Unknown, |affine| Form::Affine(Affine { wraps: false, ..affine }));
        IndexValue { form, from: self.from.map(|_| 0), below: Some(size) }
    }

    /// `n & mask`
    pub(super) fn and(&self, other: &IndexValue) -> IndexValue {
        let mask = |number: &IndexValue| number.value().and_then(|mask| u64::try_from(mask).ok()).map(|mask| mask + 1);
        match (mask(self), mask(other)) {
            (_, Some(modulus)) if modulus.is_power_of_two() => self.remainder(&IndexValue::literal(modulus)),
            (Some(modulus), _) if modulus.is_power_of_two() => other.remainder(&IndexValue::literal(modulus)),
            _ => IndexValue::UNKNOWN,
        }
    }

    /// `n ^ 1`
    pub(super) fn xor(&self, other: &IndexValue) -> IndexValue {
        match (self.value(), other.value()) {
            (Some(a), Some(b)) => u64::try_from(a ^ b).map_or(IndexValue::UNKNOWN, IndexValue::literal),
            (_, Some(1)) => self.flipped(),
            (Some(1), _) => other.flipped(),
            _ => IndexValue::UNKNOWN,
        }
    }

    /// Of the other parity: `n ^ 1`, `!n`.
    pub(super) fn flipped(&self) -> IndexValue {
        let other = self.affine().and_then(|affine| affine.plus(Affine::of_number(1))?.modulo(2));
        let form = other.map_or(Form::Unknown, |affine| Form::Affine(Affine { wraps: false, ..affine }));
        match self.fits(Size::Number(2)) {
            true => IndexValue { form, ..IndexValue::between(0, Some(Size::Number(2))) },
            false => form.into(),
        }
    }

    pub(super) fn shifted_left(&self, by: &IndexValue) -> IndexValue {
        match by.value() {
            Some(bits @ 0..32) => self.times(&IndexValue::literal(1 << bits)),
            _ => IndexValue::UNKNOWN,
        }
    }

    /// It is less than this.
    fn fits(&self, size: Size) -> bool {
        match (self.below, size) {
            (Some(Size::Number(below)), Size::Number(size)) => below <= size,
            (below, size) => below == Some(size),
        }
    }

    pub(super) fn is_counted_from(&self, variable: Variable) -> bool {
        match self.form {
            Form::Unknown => false,
            Form::Affine(affine) | Form::Scaled { which: affine, .. } | Form::Half { mid: affine, .. } => {
                affine.is_counted_from(variable)
            }
        }
    }

    /// The variable that it may be counted from has changed.
    pub(super) fn change(&mut self, variable: Variable, change: Change) {
        if self.is_counted_from(variable) {
            let affine = |affine: Affine| affine.changed(variable, change);
            let form = match self.form {
                Form::Unknown => None,
                Form::Half { mid, second } => affine(mid).map(|mid| Form::Half { mid, second }),
                Form::Affine(of) => affine(of).map(Form::Affine),
                Form::Scaled { which, size, near } => affine(which).map(|which| Form::Scaled { which, size, near }),
            };
            self.form = form.unwrap_or_default();
        }
    }

    /// PhaseAction becomes of `variable` if it gets this.
    pub(super) fn change_of(&self, variable: Variable) -> Change {
        self.affine().map_or(Change::Lost, |affine| affine.change_of(variable))
    }

    /// What the block that owns some memory chooses of it, and what a peer chooses, are never the same.
    pub(super) fn is_apart(&self, peers: &IndexValue, ranks: Ranks) -> bool {
        let is_less = |a: &IndexValue, b: &IndexValue| a.last().zip(b.from).is_some_and(|(last, from)| last < from);
        if is_less(self, peers) || is_less(peers, self) {
            return true;
        }
        match (self.form, peers.form) {
            (Form::Affine(a), Form::Affine(b)) => a.is_apart(b, ranks),
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

impl From<Form> for IndexValue {
    fn from(form: Form) -> IndexValue {
        IndexValue { form, from: None, below: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LocalId;

    const K: Variable = Variable::Local(LocalId(0));

    fn k() -> IndexValue {
        IndexValue::of(Base::Variable(K))
    }

    fn n(number: u64) -> IndexValue {
        IndexValue::literal(number)
    }

    #[track_caller]
    fn apart(a: IndexValue, b: IndexValue) {
        assert!(a.is_apart(&b, Ranks::default()) && b.is_apart(&a, Ranks::default()), "{a:?} {b:?}");
    }

    #[track_caller]
    fn maybe_one(a: IndexValue, b: IndexValue) {
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
        maybe_one(k(), IndexValue::UNKNOWN);
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
        let (size, inside) = (n(64), IndexValue::between(0, Some(Size::Number(64))));
        let of = |k: IndexValue, i: &IndexValue| k.remainder(&n(2)).times(&n(64)).plus(i);
        apart(of(k(), &inside), of(k().plus(&n(1)), &inside));
        apart(of(k(), &n(63)), of(k().plus(&n(1)), &inside).plus(&n(0)));
        maybe_one(of(k(), &n(64)), of(k().plus(&n(1)), &inside));
        maybe_one(of(k(), &IndexValue::UNKNOWN), of(k().plus(&n(1)), &inside));
        apart(k().times(&size).as_chunk(), k().plus(&n(1)).times(&size).as_chunk());
        let part = |k: IndexValue| k.times(&size).up_to(&k.plus(&n(1)).times(&size));
        apart(part(k()), part(k().plus(&n(1))));
        maybe_one(k().times(&size).up_to(&k().plus(&n(2)).times(&size)), part(k().plus(&n(1))));
        apart(k().shifted_left(&n(3)).plus(&n(7)), k().plus(&n(1)).times(&n(8)));
    }

    /// Cells of a halo, and those between them.
    #[test]
    fn ranges() {
        let inside = IndexValue::between(0, Some(Size::Number(64))).plus(&n(1));
        apart(inside, n(0));
        apart(inside, n(65));
        maybe_one(inside, n(64));
        apart(n(1).plus(&IndexValue::between(0, None)), n(0));
        maybe_one(IndexValue::between(0, None), n(0));
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

    /// PhaseAction was counted from `k` before it changed, beside what is counted from it now.
    #[test]
    fn the_variable_changes() {
        let was = |mut number: IndexValue, change| {
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
        let other = IndexValue::of(Base::Variable(Variable::Local(LocalId(1))));
        assert_eq!(was(other, Change::Lost), other);
        let field = IndexValue::of(Base::Variable(Variable::Field(LocalId(0), 3)));
        maybe_one(was(field, next), field.plus(&n(1)));
    }
}
