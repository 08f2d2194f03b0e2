//! Index values in chunks: multiples of a size, and what lies between two of them. With the sizes that the text says, they are the
//! digits of a number of mixed radix: `q * N + r` with `r < N`, of which `q` tells two apart.

use super::{Form, IndexValue, Offset, Size};
use crate::check::dsm::affine::{Affine, Cycle, Wraparound};

impl IndexValue {
    /// The indexes in the chunk that starts at this product of a size and a number; unknown if the product is no chunk's start.
    pub(in crate::check::dsm) fn as_chunk(self) -> IndexValue {
        match self.form {
            Form::InChunk { index, size, near, offset: Offset::Between(0, 0) | Offset::Anywhere(0) } => {
                Form::InChunk { index, size, near, offset: Offset::Anywhere(0) }.into()
            }
            Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => {
                IndexValue::UNKNOWN
            }
        }
    }

    /// The indexes from this one up to `end`, if that is one chunk. With an end that is `near`, a range that is longer than its
    /// chunk would begin below zero.
    pub(in crate::check::dsm) fn up_to(self, end: &IndexValue) -> IndexValue {
        if let (Some(_), Some(_), Some(end)) = (self.number(), end.number(), end.lower) {
            return IndexValue { form: Form::Unknown, lower: self.lower, upper: Some(Size::Number(end)) };
        }
        match (self.form, end.form) {
            (
                Form::InChunk { index, size, offset: Offset::Between(0, 0), .. },
                Form::InChunk { index: next, size: other, near: true, offset: Offset::Between(0, 0) },
            ) if size == other && index.is_just_before(next) => self.as_chunk(),
            (Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_), _) => {
                IndexValue { form: Form::Unknown, lower: self.lower, upper: end.one_less() }
            }
        }
    }

    /// The indexes from this one on, as many as a length: the chunk that begins here, or those between two numbers.
    pub(in crate::check::dsm) fn and_further(self, length: &IndexValue) -> IndexValue {
        match (self.form, length.size()) {
            (Form::InChunk { size, offset: Offset::Between(0, 0), .. }, Some(length)) if size == length => {
                self.as_chunk()
            }
            (_, Some(Size::Number(length))) if self.number().is_some() => {
                let upper = self.lower.and_then(|lower| lower.checked_add(length));
                IndexValue { form: Form::Unknown, lower: self.lower, upper: upper.map(Size::Number) }
            }
            (Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_), _) => {
                self.bounded_from(length)
            }
        }
    }

    /// The indexes of the chunk of this size which begins here.
    pub(in crate::check::dsm) fn chunk_of(self, size: &IndexValue) -> IndexValue {
        IndexValue { form: self.as_chunk().form, ..self.bounded_from(size) }
    }

    /// Returns the interval of the indexes from this one on, as many as a length, by their bounds alone.
    fn bounded_from(self, length: &IndexValue) -> IndexValue {
        let end = self.max().zip(length.max()).and_then(|(most, length)| most.checked_add(length));
        let upper = end.filter(|end| *end > 0).map(Size::Number);
        IndexValue { form: Form::Unknown, lower: self.lower, upper }
    }

    /// A value in a chunk plus a number that does not lead out of it.
    pub(super) fn within_chunk_plus(&self, number: &IndexValue) -> Option<Form> {
        let Form::InChunk { index, size, near, offset } = self.as_chunk_start() else { return None };
        if let Some((chunks, rest)) = number.in_chunks_of(size) {
            let index = index.plus(chunks)?;
            let form = Form::InChunk { index, size, near: near && index.modulus == 0 && index.cycle.is_none(), offset };
            return if rest.number() == Some(0) { Some(form) } else { IndexValue::from(form).within_chunk_plus(&rest) };
        }
        let is_inside = |largest: u64| match size {
            Size::Number(size) => largest < size,
            Size::Constant(_) => true,
            Size::Blocks | Size::Fixed(_) => false,
        };
        let offset = match (offset, number.lower.unwrap_or(0), number.max()) {
            (Offset::Between(lower, max), least, Some(most)) if is_inside(max.saturating_add(most)) => {
                Offset::Between(lower.saturating_add(least), max.saturating_add(most))
            }
            (Offset::Between(0, 0), ..) if number.is_below(size) => Offset::Anywhere(0),
            (Offset::Anywhere(unless), 0, Some(0)) => Offset::Anywhere(unless),
            (Offset::Between(..) | Offset::Anywhere(_), ..) => return None,
        };
        Some(Form::InChunk { index, size, near, offset })
    }

    /// The chunks of this size that a number is, if it is at least one, and what is left of it.
    fn in_chunks_of(&self, chunks: Size) -> Option<(Affine, IndexValue)> {
        let is_one = || matches!(chunks, Size::Blocks | Size::Fixed(_)) && self.size() == Some(chunks);
        match (self.form, chunks, self.number().and_then(|number| u64::try_from(number).ok())) {
            (_, Size::Number(size @ 1..), Some(number)) if number >= size => {
                Some((Affine::of_number(i32::try_from(number / size).ok()?), IndexValue::literal(number % size)))
            }
            (Form::InChunk { index, size, offset: Offset::Between(lower, max), .. }, ..) if size == chunks => {
                Some((index, IndexValue::between(lower, Some(Size::Number(max.checked_add(1)?)))))
            }
            (_, Size::Number(_) | Size::Constant(_) | Size::Blocks | Size::Fixed(_), _) if is_one() => {
                Some((Affine::of_number(1), IndexValue::literal(0)))
            }
            (Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_), ..) => {
                None
            }
        }
    }

    /// The chunk of a size that the text says, by its index, with where in it the value lies, from the first number to the last.
    fn digits(&self) -> Option<(Affine, u64, bool, [u64; 2])> {
        let Form::InChunk { index, size: Size::Number(size), near, offset } = self.form else { return None };
        let offsets = match offset {
            Offset::Between(lower, max) => [lower, max],
            Offset::Anywhere(_) => [0, size.checked_sub(1)?],
        };
        (offsets[1] < size && offset.largest() < size).then_some((index, size, near, offsets))
    }

    /// The value that lies in a chunk of this size, from the first offset to the last.
    fn in_chunk(index: Affine, size: u64, near: bool, [lower, max]: [u64; 2]) -> Form {
        Form::InChunk { index, size: Size::Number(size), near, offset: Offset::Between(lower, max) }
    }

    /// A value in a chunk times a number: it is in a chunk that is larger by as much.
    pub(super) fn chunk_times(&self, number: &IndexValue) -> Option<Form> {
        let (index, size, near, offsets) = self.digits()?;
        let times = u64::try_from(number.number()?).ok().filter(|times| *times > 0)?;
        let [lower, max] = offsets.map(|offset| offset.checked_mul(times));
        Some(IndexValue::in_chunk(index, size.checked_mul(times)?, near, [lower?, max?]))
    }

    /// A value in a chunk divided by the chunk's size, which is the chunk's index, or by a divisor of it.
    pub(super) fn chunk_divided(&self, by: u64) -> Option<Form> {
        let (index, size, near, offsets) = self.digits()?;
        if size % by != 0 || index.may_wrap() {
            return None;
        }
        let in_chunk = IndexValue::in_chunk(index, size / by, near, offsets.map(|offset| offset / by));
        Some(if size == by { Form::Affine(index) } else { in_chunk })
    }

    /// The remainder of a value in a chunk by so many chunks.
    pub(super) fn chunk_modulo(&self, by: u64) -> Option<IndexValue> {
        let (index, size, _, [lower, max]) = self.digits()?;
        if !by.is_multiple_of(size) || index.may_wrap() && !by.is_power_of_two() {
            return None;
        }
        let rest = || IndexValue::between(lower, max.checked_add(1).map(Size::Number));
        let chunks = u32::try_from(by / size).ok()?;
        let remainder = index.modulo(chunks).map(|index| {
            let near = index.modulus == chunks && index.cycle.is_none();
            let index = Affine { wraparound: Wraparound::No, ..index };
            IndexValue { form: IndexValue::in_chunk(index, size, near, [lower, max]), ..IndexValue::below(by) }
        });
        if chunks == 1 { Some(rest()) } else { remainder }
    }

    /// `n | m`, which is a sum if `n` is the start of a chunk whose size is a power of two, and `m` less than that.
    pub(in crate::check::dsm) fn or(&self, other: &IndexValue) -> IndexValue {
        let is_sum = |start: &IndexValue, rest: &IndexValue| {
            start.digits().is_some_and(|(_, size, _, offsets)| {
                offsets == [0, 0] && size.is_power_of_two() && rest.lower.is_some() && rest.is_below(Size::Number(size))
            })
        };
        if is_sum(self, other) || is_sum(other, self) {
            return self.plus(other);
        }
        self.sum_of_bits(other).unwrap_or_else(|| {
            let literal = |value: &IndexValue| value.number().and_then(|number| u64::try_from(number).ok());
            let form = match (literal(self), literal(other)) {
                (_, Some(bits)) => self.with_lowest_bits(bits),
                (Some(bits), None) => other.with_lowest_bits(bits),
                (None, None) => Form::Unknown,
            };
            IndexValue { form, ..self.all_bits(other) }
        })
    }

    /// A value that is not less than this one, and less than the end: it is in this one's chunk if that ends no earlier.
    pub(in crate::check::dsm) fn until(&self, end: &IndexValue) -> Option<Form> {
        let chunk = self.as_chunk_start();
        match (chunk, end.as_chunk_start()) {
            (
                Form::InChunk { index, size, near, .. },
                Form::InChunk { index: next, size: other, near: true, offset: Offset::Between(0, 0) },
            ) if size == other && index.is_just_before(next) => {
                Some(Form::InChunk { index, size, near, offset: Offset::Anywhere(0) })
            }
            (
                Form::InChunk { index, size, near, .. },
                Form::InChunk { index: same, size: other, offset: Offset::Between(_, max), .. },
            ) if size == other && index == same && index.modulus == 0 && index.cycle.is_none() && !index.may_wrap() => {
                Some(Form::InChunk { index, size, near, offset: Offset::Between(0, max) })
            }
            (Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_), _) => None,
        }
    }

    /// This value plus any number of steps of this width.
    pub(in crate::check::dsm) fn in_steps_of(&self, width: u64) -> Option<Form> {
        if let Some(affine) = self.affine() {
            return affine.modulo(u32::try_from(width).ok()?).map(Form::Affine);
        }
        let (index, size, _, offsets) = self.digits()?;
        let chunks = u32::try_from(width / size).ok().filter(|chunks| *chunks > 1 && width.is_multiple_of(size))?;
        index.modulo(chunks).map(|index| IndexValue::in_chunk(index, size, false, offsets))
    }

    /// `N - n`, of a multiple of a size and the start of one of the chunks below: the start of another one.
    pub(super) fn minus_chunk_start(&self, other: &IndexValue) -> Option<Form> {
        let Form::InChunk { index, size, near: true, offset: offset @ Offset::Between(0, 0) } = other.form else {
            return None;
        };
        let times = match size {
            Size::Number(size) => {
                let number = u64::try_from(self.number()?).ok()?;
                i32::try_from(number / size).ok().filter(|_| number % size == 0)?
            }
            Size::Constant(constant) => {
                let (times, of, plus) = self.exact()?.multiple_of_constant()?;
                Some(times).filter(|_| of == constant && plus == 0)?
            }
            Size::Blocks | Size::Fixed(_) => return None,
        };
        // The other index is less than what it is known modulo.
        let is_last = u64::try_from(times).is_ok_and(|times| times + 1 == u64::from(index.modulus));
        let index = Affine::of_number(times).minus(index).filter(|_| is_last)?;
        Some(Form::InChunk { index, size, near: true, offset })
    }

    /// The form of a value that is a multiple of a constant plus a number, as a place in a chunk; of any other value, its form.
    pub(super) fn as_chunk_start(&self) -> Form {
        // A difference that goes below zero unless the constant is positive is in no chunk either.
        let exact = self.exact().filter(|exact| exact.wraparound != Wraparound::Maybe);
        let Some((times, constant, plus)) = exact.and_then(Affine::multiple_of_constant) else { return self.form };
        let (index, offset) = match u64::try_from(plus) {
            Ok(plus) => (Some(times), Offset::Between(plus, plus)),
            Err(_) => (times.checked_sub(1), Offset::Anywhere(u64::from(plus.unsigned_abs()) - 1)),
        };
        index.map_or(self.form, |index| {
            let size = Size::Constant(constant);
            Form::InChunk { index: Affine::of_number(index), size, near: true, offset }
        })
    }

    /// The chunk of this size that the value lies in, by its index, and where in the chunk.
    pub(super) fn in_chunk_of(&self, chunks: Size) -> Option<(Affine, Offset)> {
        match self.as_chunk_start() {
            Form::InChunk { index, size, offset, .. } if size == chunks => Some((index, offset)),
            Form::Unknown | Form::Affine(_) | Form::ByRank(_) if self.is_below(chunks) => {
                Some((Affine::of_number(0), Offset::Anywhere(0)))
            }
            Form::Unknown | Form::Affine(_) | Form::ByRank(_) if matches!(chunks, Size::Constant(_)) => {
                Some((Affine::of_number(0), Offset::Between(self.lower.unwrap_or(0), self.max()?)))
            }
            Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => None,
        }
    }

    /// The value in the same chunk that this number is subtracted from; unknown if it may lie before.
    pub(super) fn within_chunk_minus(&self, number: &IndexValue) -> IndexValue {
        match (self.as_chunk_start(), number.max()) {
            (
                Form::InChunk { index, size: size @ Size::Constant(_), near, offset: Offset::Anywhere(unless) },
                Some(most),
            ) if self.exact().is_some() => {
                Form::InChunk { index, size, near, offset: Offset::Anywhere(unless.saturating_add(most)) }.into()
            }
            (Form::InChunk { index, size, near, offset: Offset::Between(lower, max) }, Some(most)) if most <= lower => {
                let offset = Offset::Between(lower - most, max - number.lower.unwrap_or(0));
                Form::InChunk { index, size, near, offset }.into()
            }
            (Form::InChunk { .. } | Form::Unknown | Form::Affine(_) | Form::InHalf { .. } | Form::ByRank(_), _) => {
                IndexValue::UNKNOWN
            }
        }
    }

    pub(super) fn chunk_start(&self, index: Affine, size: Size) -> IndexValue {
        let near = match (index.modulus, index.cycle) {
            (0, None) => true,
            (modulus, None) => self.max().is_some_and(|max| max <= u64::from(modulus)),
            (modulus, Some(Cycle::Blocks)) => modulus == 0 && self.is_below(Size::Blocks),
            (modulus, Some(Cycle::Constant(constant) | Cycle::Mask(constant))) => {
                modulus == 0 && self.is_below(Size::Constant(constant))
            }
        };
        let by = |bound: Option<u64>| match size {
            Size::Number(size) => bound?.checked_mul(size),
            Size::Constant(_) | Size::Blocks | Size::Fixed(_) => None,
        };
        let upper = by(self.max()).and_then(|max| max.checked_add(1)).map(Size::Number);
        let form = Form::InChunk { index, size, near, offset: Offset::Between(0, 0) };
        IndexValue { form, lower: by(self.lower), upper }
    }
}
