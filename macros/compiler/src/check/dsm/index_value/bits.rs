//! Bit operations on index values: masks, `^`, `!` and shifts, as far as they are remainders, differences and multiples.

use super::{Form, IndexValue, Offset, Size};
use crate::check::dsm::affine::{Affine, Cycle, Wraparound};
use crate::model::ValueId;

impl IndexValue {
    /// `n & (N - 1)`, which is a remainder if the constant is a power of two.
    fn masked(&self, constant: ValueId) -> IndexValue {
        let masked = self.affine().and_then(|affine| affine.modulo_cycle(Cycle::Mask(constant)));
        let form = masked.map_or(Form::Unknown, |affine| Form::Affine(Affine { wraparound: Wraparound::No, ..affine }));
        IndexValue { form, lower: Some(0), upper: None }
    }

    /// `n & mask`, which is a remainder if the mask is one less than a power of two.
    pub(in crate::check::dsm) fn and(&self, other: &IndexValue) -> IndexValue {
        let constant = |mask: &IndexValue| match mask.exact()?.constant_and_offset()? {
            (constant, -1) => Some(constant),
            _ => None,
        };
        match (constant(self), constant(other)) {
            (_, Some(constant)) => return self.masked(constant),
            (Some(constant), None) => return other.masked(constant),
            (None, None) => {}
        }
        let modulus = |mask: &IndexValue| mask.number().and_then(|mask| u64::try_from(mask).ok()).map(|mask| mask + 1);
        let remainder = match (modulus(self), modulus(other)) {
            (_, Some(modulus)) if modulus.is_power_of_two() => self.remainder(&IndexValue::literal(modulus)),
            (Some(modulus), _) if modulus.is_power_of_two() => other.remainder(&IndexValue::literal(modulus)),
            _ => return IndexValue::UNKNOWN,
        };
        IndexValue { lower: remainder.lower.or(Some(0)), ..remainder }
    }

    /// `n ^ m`, of two literals, with a 0 or a 1, or of the same value.
    pub(in crate::check::dsm) fn xor(&self, other: &IndexValue) -> IndexValue {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => u64::try_from(a ^ b).map_or(IndexValue::UNKNOWN, IndexValue::literal),
            (_, Some(0)) => *self,
            (Some(0), _) => *other,
            (_, Some(1)) => self.flipped(),
            (Some(1), _) => other.flipped(),
            _ => match self.other_half(other).or_else(|| other.other_half(self)) {
                Some(other) => other,
                // Both are one value.
                None if self.exact().is_some() && self.exact() == other.exact() => IndexValue::literal(0),
                None => IndexValue::UNKNOWN,
            },
        }
    }

    /// `n ^ size`, of the start of one of two chunks whose size is a power of two: the start of the other one.
    fn other_half(&self, by: &IndexValue) -> Option<IndexValue> {
        let Form::InChunk { index, size: Size::Number(size), near: true, offset: Offset::Between(0, 0) } = self.form
        else {
            return None;
        };
        let by = by.number().and_then(|by| u64::try_from(by).ok())?;
        let is_one_of_two = self.is_below(Size::Number(2 * size)) || index.modulus == 2 && index.cycle.is_none();
        let next = index
            .plus(Affine::of_number(1))?
            .modulo(2)
            .filter(|_| by == size && size.is_power_of_two() && is_one_of_two)?;
        let form = Form::InChunk { index: next, size: Size::Number(size), near: true, offset: Offset::Between(0, 0) };
        Some(IndexValue { form, ..IndexValue::between(0, Some(Size::Number(2 * size))) })
    }

    /// `!n`, of a truth value or of an integer: all that both have in common is that the parity is the other one.
    pub(in crate::check::dsm) fn complement(&self) -> IndexValue {
        self.flipped().form.into()
    }

    /// `n ^ 1`, which has the other parity.
    pub(in crate::check::dsm) fn flipped(&self) -> IndexValue {
        let other = self.affine().and_then(|affine| affine.plus(Affine::of_number(1))?.modulo(2));
        let form = other.map_or(Form::Unknown, |affine| Form::Affine(Affine { wraparound: Wraparound::No, ..affine }));
        match self.is_below(Size::Number(2)) {
            true => IndexValue { form, ..IndexValue::between(0, Some(Size::Number(2))) },
            false => form.into(),
        }
    }

    pub(in crate::check::dsm) fn shifted_left(&self, by: &IndexValue) -> IndexValue {
        match by.number() {
            Some(bits @ 0..32) => self.times(&IndexValue::literal(1 << bits)),
            _ => IndexValue::UNKNOWN,
        }
    }

    pub(in crate::check::dsm) fn shifted_right(&self, by: &IndexValue) -> IndexValue {
        match by.number() {
            Some(bits @ 0..32) => self.divided(&IndexValue::literal(1 << bits)),
            _ => IndexValue::UNKNOWN,
        }
    }
}
