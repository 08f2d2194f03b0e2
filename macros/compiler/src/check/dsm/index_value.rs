//! Abstract values of indexes: how a value depends on the block's rank and on what a variable holds now (`affine`), and bounds of
//! it. They answer one question: may the indexes of two blocks be equal? Arithmetic is taken not to overflow, except that a
//! difference may go below zero.

mod bits;
mod by_rank;
mod chunks;

use by_rank::ByRank;

use super::affine::{Affine, Base, Change, Cycle, Ranks, Wraparound};
use super::overlap::Overlap;
use crate::check::cfg::Variable;
use crate::model::ValueId;

/// The largest bound that two values have in common where they differ.
const LARGEST_JOINED: u64 = 1 << 16;

/// The abstract value of an index: its form, and bounds that hold beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct IndexValue {
    pub(super) form: Form,
    /// The inclusive lower bound.
    pub(super) lower: Option<u64>,
    /// The exclusive upper bound. A value that has one is taken not to be negative.
    pub(super) upper: Option<Size>,
}

/// A number that is the same for all blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Number(u64),
    /// A constant, which rustc knows.
    Constant(ValueId),
    /// The number of blocks in a cluster.
    Blocks,
    /// The value of a variable that never changes.
    Fixed(Variable),
}

/// How a value depends on the block's rank and on variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// The value is affine.
    Affine(Affine),
    /// The value lies in a chunk: in `[index * size, (index + 1) * size)`.
    InChunk {
        index: Affine,
        size: Size,
        /// `index` is known exactly, or is at most what it is known modulo.
        near: bool,
        offset: Offset,
    },
    /// The value lies in one half of `split_at(mid)`: it is less than `mid`, or in the second half not less.
    InHalf { mid: Affine, second: bool },
    /// The value is another number in each block.
    ByRank(ByRank),
}

/// Where in its chunk a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offset {
    /// From the first number to the second one behind the chunk's start, if its size is larger than that.
    Between(u64, u64),
    /// Anywhere in the chunk, if its size is larger than this.
    Anywhere(u64),
}

impl Offset {
    /// The number that the size of the chunk must exceed.
    fn largest(self) -> u64 {
        match self {
            Offset::Between(_, max) => max,
            Offset::Anywhere(unless) => unless,
        }
    }
}

impl IndexValue {
    pub(super) const UNKNOWN: IndexValue = IndexValue { form: Form::Unknown, lower: None, upper: None };

    pub(super) fn literal(number: u64) -> IndexValue {
        let form = i32::try_from(number).map_or(Form::Unknown, |offset| Form::Affine(Affine::of_number(offset)));
        IndexValue { form, lower: Some(number), upper: number.checked_add(1).map(Size::Number) }
    }

    pub(super) fn of(base: Base) -> IndexValue {
        Form::Affine(Affine::of(base)).into()
    }

    pub(super) fn constant(constant: ValueId) -> IndexValue {
        Form::Affine(Affine::of_constant(constant)).into()
    }

    /// The block's rank in a cluster, which has this many blocks if the text says so.
    pub(super) fn rank(blocks: Option<u64>) -> IndexValue {
        IndexValue {
            form: Form::Affine(Affine::RANK),
            lower: Some(0),
            upper: Some(blocks.map_or(Size::Blocks, Size::Number)),
        }
    }

    /// The number of blocks in a cluster, which is this if the text says so.
    pub(super) fn blocks(blocks: Option<u64>) -> IndexValue {
        let unknown = IndexValue { form: Form::Affine(Affine::BLOCKS), lower: Some(1), upper: None };
        blocks.map_or(unknown, IndexValue::literal)
    }

    /// A value that is less than a number.
    fn below(number: u64) -> IndexValue {
        IndexValue::between(0, Some(Size::Number(number)))
    }

    /// A value of which only bounds are known.
    pub(super) fn between(lower: u64, upper: Option<Size>) -> IndexValue {
        IndexValue { form: Form::Unknown, lower: Some(lower), upper }
    }

    /// Keeps what holds of both values; says whether anything was dropped. A bound that grows at least doubles, and is dropped beyond
    /// a limit, so that loops reach a fixed point.
    pub(super) fn join(&mut self, other: &IndexValue) -> bool {
        let before = *self;
        if self.form != other.form {
            self.form = Form::Unknown;
        }
        self.lower =
            self.lower.zip(other.lower).map(|(own, other)| if own <= other { own } else { other.min(own / 2) });
        let joined = |own: Size, other: Size| match (own, other) {
            (Size::Number(own), Size::Number(other)) if other > own => {
                Some(other.max(2 * own)).filter(|upper| *upper <= LARGEST_JOINED).map(Size::Number)
            }
            (Size::Number(_), Size::Number(_)) => Some(own),
            (Size::Number(_) | Size::Constant(_) | Size::Blocks | Size::Fixed(_), _) => (own == other).then_some(own),
        };
        self.upper = self.upper.zip(other.upper).and_then(|(own, other)| joined(own, other));
        before != *self
    }

    /// Whether the value is the same for all threads, whatever variables hold.
    pub(super) fn is_fixed(&self) -> bool {
        self.exact().is_some_and(|affine| affine.base == Base::Zero)
    }

    /// Whether the bounds of a value that varies show that it may be this fixed one.
    pub(super) fn includes(&self, fixed: &IndexValue) -> bool {
        let number = fixed.number().and_then(|number| u64::try_from(number).ok());
        number.zip(self.lower).is_some_and(|(number, lower)| match self.max() {
            Some(max) => (lower..=max).contains(&number),
            None => number == lower,
        })
    }

    /// Whether the value differs between threads or is not understood.
    pub(super) fn is_varied(&self) -> bool {
        match self.form {
            Form::Unknown | Form::ByRank(_) => true,
            Form::Affine(affine) if affine.is_only_congruent() => !self.is_below(Size::Number(affine.modulus.into())),
            Form::Affine(affine) | Form::InChunk { index: affine, .. } | Form::InHalf { mid: affine, .. } => {
                affine.rank != 0
            }
        }
    }

    /// The indexes in one of the halves that are split at this index.
    pub(super) fn half(self, second: bool) -> IndexValue {
        let form = self.exact().map_or(Form::Unknown, |mid| Form::InHalf { mid, second });
        match second {
            true => IndexValue { form, lower: self.lower, upper: None },
            false => IndexValue { form, lower: Some(0), upper: self.one_less() },
        }
    }

    /// The exclusive bound of what is less than this value, unless there is no such number.
    fn one_less(&self) -> Option<Size> {
        match self.upper {
            Some(Size::Number(end)) => Some(Size::Number(end.checked_sub(1).filter(|end| *end > 0)?)),
            Some(Size::Constant(_) | Size::Blocks | Size::Fixed(_)) | None => None,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, IndexValue { form: Form::Unknown, lower: None, upper: None })
    }

    /// Whether more of the form is known than a remainder.
    pub(super) fn has_terms(&self) -> bool {
        match self.form {
            Form::Unknown => false,
            Form::Affine(affine) => !affine.is_only_congruent(),
            Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => true,
        }
    }

    pub(super) fn affine(&self) -> Option<Affine> {
        match self.form {
            Form::Affine(affine) => Some(affine),
            Form::Unknown | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => None,
        }
    }

    /// The value, if it is known exactly and is the same in all blocks.
    fn exact(&self) -> Option<Affine> {
        self.affine().filter(|affine| affine.is_exact())
    }

    /// The number that the value is, if it is a literal.
    pub(super) fn number(&self) -> Option<i32> {
        self.exact().and_then(Affine::number)
    }

    /// The value as a size.
    fn size(&self) -> Option<Size> {
        let affine = self.exact()?;
        if let Base::Fixed(variable) = affine.base {
            return (affine == Affine::of(affine.base)).then_some(Size::Fixed(variable));
        }
        match affine.constant_and_offset() {
            _ if affine == Affine::BLOCKS => Some(Size::Blocks),
            Some((constant, 0)) if !affine.may_wrap() => Some(Size::Constant(constant)),
            Some(_) | None => u64::try_from(affine.number()?).ok().map(Size::Number),
        }
    }

    /// The upper bound of all values that are less than this one.
    pub(super) fn as_upper_bound(&self) -> Option<Size> {
        let affine = self.exact().filter(|affine| affine.wraparound != Wraparound::Maybe)?;
        // What is less than `N - 1` is less than `N`.
        let offset = affine.number().unwrap_or(affine.offset.max(0));
        IndexValue::from(Form::Affine(Affine { offset, wraparound: Wraparound::No, ..affine })).size()
    }

    /// The largest number that the value may be.
    fn max(&self) -> Option<u64> {
        match self.upper? {
            Size::Number(upper) => upper.checked_sub(1),
            Size::Constant(_) | Size::Blocks | Size::Fixed(_) => None,
        }
    }

    /// The largest value that this may be, as an affine value.
    fn affine_max(&self) -> Option<Affine> {
        let upper = match self.upper? {
            Size::Number(upper) => Affine::of_number(i32::try_from(upper).ok()?),
            Size::Constant(value) => Affine::of_constant(value),
            Size::Blocks => Affine::BLOCKS,
            Size::Fixed(variable) => Affine::of(Base::Fixed(variable)),
        };
        upper.minus(Affine::of_number(1))
    }

    pub(super) fn plus(&self, other: &IndexValue) -> IndexValue {
        match (self.number(), other.number()) {
            (Some(0), _) => return *other,
            (_, Some(0)) => return *self,
            (Some(_) | None, _) => {}
        }
        let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
        let affine = self.affine().zip(other.affine()).and_then(|(a, b)| a.plus(b));
        let sum = IndexValue::of_affine(affine, sum(self.lower, other.lower), sum(self.max(), other.max()));
        // A sum of numbers and constants says more than a place in a chunk.
        let in_chunk = || self.within_chunk_plus(other).or_else(|| other.within_chunk_plus(self));
        // A multiple of what is not known says less.
        let is_multiple = |value: &IndexValue| value.affine().is_some_and(Affine::is_only_congruent);
        let form = if affine.is_none() || is_multiple(self) || is_multiple(other) { in_chunk() } else { None };
        form.map_or(sum, |form| IndexValue { form, ..sum })
    }

    pub(super) fn minus(&self, other: &IndexValue) -> IndexValue {
        if let Form::InChunk { .. } = self.form {
            return self.within_chunk_minus(other);
        }
        if let Some(form) = self.minus_chunk_start(other) {
            return form.into();
        }
        // `N - 1 - i`, of an index that varies.
        if other.affine().is_none() && self.exact().is_some() {
            let within = self.within_chunk_minus(other);
            if within.form != Form::Unknown {
                return within;
            }
        }
        let lower = self.lower.zip(other.max()).and_then(|(lower, max)| lower.checked_sub(max));
        let least = |max: Option<Affine>| self.affine().zip(max).and_then(|(affine, max)| affine.minus(max));
        let exactly = other.exact().filter(|exact| !exact.may_wrap());
        let least = least(other.affine_max()).or_else(|| least(exactly));
        let is_positive = |bound: fn(Affine) -> Option<i32>| least.and_then(bound).is_some_and(|least| least >= 0);
        let wraparound = match lower.is_some() || is_positive(Affine::lower_bound) {
            true => Wraparound::No,
            false if is_positive(Affine::lower_bound_if_positive) => Wraparound::UnlessPositive,
            false => Wraparound::Maybe,
        };
        let max = if wraparound == Wraparound::No { self.max() } else { None };
        // `N - k` is positive where `k` is less than `N`.
        let lower = lower.or_else(|| u64::try_from(least.and_then(Affine::lower_bound)?).ok());
        let affine = self.affine().zip(other.affine()).and_then(|(a, b)| a.minus(b));
        let affine = affine.map(|affine| Affine { wraparound: affine.wraparound.max(wraparound), ..affine });
        IndexValue::of_affine(affine, lower, max)
    }

    fn of_affine(affine: Option<Affine>, lower: Option<u64>, max: Option<u64>) -> IndexValue {
        let number = affine.filter(|affine| !affine.may_wrap()).and_then(Affine::number);
        match number.map(u64::try_from) {
            Some(Ok(number)) => IndexValue::literal(number),
            Some(Err(_)) | None => IndexValue {
                form: affine.map_or(Form::Unknown, Form::Affine),
                lower,
                upper: max.and_then(|max| max.checked_add(1)).map(Size::Number),
            },
        }
    }

    pub(super) fn times(&self, other: &IndexValue) -> IndexValue {
        let product = |number: &IndexValue, times: &IndexValue| {
            // A multiple of a variable is the start of a chunk, below.
            let affine = number.exact().filter(|affine| affine.base == Base::Zero)?;
            let by = |bound: Option<u64>| bound?.checked_mul(times.lower?);
            let product = affine.times(times.number().filter(|times| *times >= 0)?);
            Some(IndexValue::of_affine(product, by(number.lower), by(number.max())))
        };
        product(self, other).or_else(|| product(other, self)).unwrap_or_else(|| {
            match (self.affine(), other.size(), other.affine(), self.size()) {
                (Some(index), Some(size), ..) => self.chunk_start(index, size),
                (_, _, Some(index), Some(size)) => other.chunk_start(index, size),
                // Of what varies, bounds, the chunk that is as much larger, or what it is a multiple of.
                _ => {
                    let by = |a: Option<u64>, b: Option<u64>| a?.checked_mul(b?);
                    let upper = by(self.max(), other.max()).and_then(|max| max.checked_add(1)).map(Size::Number);
                    let form = self.chunk_times(other).or_else(|| other.chunk_times(self));
                    let form = form.or_else(|| self.multiple_of(other)).or_else(|| other.multiple_of(self));
                    IndexValue { form: form.unwrap_or_default(), lower: by(self.lower, other.lower), upper }
                }
            }
        })
    }

    /// What is known of any number times this one.
    fn multiple_of(&self, any: &IndexValue) -> Option<Form> {
        let number = u32::try_from(self.number()?).ok().filter(|number| *number > 1)?;
        let form = matches!(any.form, Form::Unknown).then(|| Affine::of_number(0).modulo(number))?;
        form.map(Form::Affine)
    }

    pub(super) fn remainder(&self, other: &IndexValue) -> IndexValue {
        let Some(size) = other.size() else { return IndexValue::UNKNOWN };
        if self.is_below(size) {
            return *self;
        }
        if let Size::Number(by) = size
            && let Some(remainder) = self.chunk_modulo(by)
        {
            return remainder;
        }
        let remainder = self.affine().and_then(|affine| match size {
            // A power of two divides what a value that wrapped is off by.
            Size::Number(number) if !affine.may_wrap() || number.is_power_of_two() => {
                affine.modulo(u32::try_from(number).ok().filter(|number| *number > 0)?)
            }
            Size::Blocks if !affine.may_wrap() => affine.modulo_cycle(Cycle::Blocks),
            Size::Constant(constant) if !affine.may_wrap() || affine.wraps_unless_positive(constant) => {
                affine.modulo_cycle(Cycle::Constant(constant))
            }
            Size::Number(_) | Size::Blocks | Size::Constant(_) | Size::Fixed(_) => None,
        });
        let form =
            remainder.map_or(Form::Unknown, |affine| Form::Affine(Affine { wraparound: Wraparound::No, ..affine }));
        IndexValue { form, lower: self.lower.map(|_| 0), upper: Some(size) }
    }

    /// Division by a literal, of which bounds are known, and what is known of digits.
    pub(super) fn divided(&self, by: &IndexValue) -> IndexValue {
        match by.number().and_then(|by| u64::try_from(by).ok()).filter(|by| *by > 0) {
            Some(by) => {
                let upper = self.max().map(|max| Size::Number(max / by + 1));
                IndexValue {
                    form: self.chunk_divided(by).unwrap_or_default(),
                    lower: self.lower.map(|lower| lower / by),
                    upper,
                }
            }
            None => IndexValue::UNKNOWN,
        }
    }

    pub(super) fn is_below(&self, size: Size) -> bool {
        match (self.upper, size) {
            (Some(Size::Number(upper)), Size::Number(size)) => upper <= size,
            (upper, size) => upper == Some(size),
        }
    }

    /// Whether an assignment to this variable changes the value.
    pub(super) fn depends_on(&self, variable: Variable) -> bool {
        match self.form {
            Form::Unknown | Form::ByRank(_) => false,
            Form::Affine(affine) | Form::InChunk { index: affine, .. } | Form::InHalf { mid: affine, .. } => {
                affine.depends_on(variable)
            }
        }
    }

    /// States the value in terms of what the variable holds after the change, or forgets its form.
    pub(super) fn rewrite(&mut self, variable: Variable, change: Change) {
        if self.depends_on(variable) {
            let rewritten = |affine: Affine| affine.rewritten(variable, change);
            let form = match self.form {
                Form::Unknown | Form::ByRank(_) => None,
                Form::InHalf { mid, second } => rewritten(mid).map(|mid| Form::InHalf { mid, second }),
                Form::Affine(affine) => rewritten(affine).map(Form::Affine),
                Form::InChunk { index, size, near, offset } => {
                    rewritten(index).map(|index| Form::InChunk { index, size, near, offset })
                }
            };
            self.form = form.unwrap_or_default();
        }
    }

    /// What assigning this value to `variable` does to it.
    pub(super) fn change_of(&self, variable: Variable) -> Change {
        self.affine().map_or(Change::Lost, |affine| affine.change_of(variable))
    }

    /// Whether this index of the owner and the peer's index may be equal.
    pub(super) fn overlap(&self, peers: &IndexValue, ranks: Ranks) -> Overlap {
        let is_less = |a: &IndexValue, b: &IndexValue| a.max().zip(b.lower).is_some_and(|(max, lower)| max < lower);
        if is_less(self, peers) || is_less(peers, self) {
            return Overlap::Never;
        }
        let chunks = [self, peers].into_iter().find_map(|value| match value.form {
            Form::InChunk { size, .. } => Some(size),
            Form::Unknown | Form::Affine(_) | Form::InHalf { .. } | Form::ByRank(_) => None,
        });
        if let Some(size) = chunks
            && let Some(((a, offset), (b, others))) = self.in_chunk_of(size).zip(peers.in_chunk_of(size))
        {
            let in_chunks = match (offset, others) {
                // The size may be 0, where nothing is known to be less.
                (Offset::Between(..), Offset::Between(..)) if matches!(size, Size::Fixed(_)) => Overlap::Possible,
                (Offset::Between(_, max), Offset::Between(lower, _))
                | (Offset::Between(lower, _), Offset::Between(_, max))
                    if max < lower =>
                {
                    Overlap::Never
                }
                (Offset::Between(..) | Offset::Anywhere(_), _) => a.overlap(b, ranks),
            };
            // Offsets are inside of a chunk of constant size if that is larger than they are.
            let largest = offset.largest().max(others.largest());
            return match size {
                Size::Constant(constant) if largest > 0 => in_chunks.or(Overlap::if_below(constant, largest + 1)),
                Size::Constant(_) | Size::Number(_) | Size::Blocks | Size::Fixed(_) => in_chunks,
            };
        }
        match (self.form, peers.form) {
            (Form::Affine(a), Form::Affine(b)) => a.overlap(b, ranks),
            (Form::InHalf { mid: a, second }, Form::InHalf { mid: b, second: other })
                if a == b && a.is_exact() && second != other =>
            {
                Overlap::Never
            }
            (Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_), _) => {
                Overlap::Possible
            }
        }
    }
}

impl From<Form> for IndexValue {
    fn from(form: Form) -> IndexValue {
        IndexValue { form, lower: None, upper: None }
    }
}

#[cfg(test)]
mod tests;
