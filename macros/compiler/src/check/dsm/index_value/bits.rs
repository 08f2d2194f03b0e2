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
            _ => return self.common_bits(other),
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
                None => self.sum_of_bits(other).unwrap_or_else(|| self.all_bits(other)),
            },
        }
    }

    /// `n | m` and `n ^ m`, if the two have no bit in common, which the text shows of a literal: their sum.
    pub(super) fn sum_of_bits(&self, other: &IndexValue) -> Option<IndexValue> {
        let literal = |value: &IndexValue| value.number().and_then(|number| u64::try_from(number).ok());
        let is_apart = |value: &IndexValue, bits: u64| {
            let above = bits.checked_add(1).and_then(u64::checked_next_power_of_two);
            let is_multiple = |above| {
                value.remainder(&IndexValue::literal(above)).number() == Some(0) || value.is_congruent_to_zero(above)
            };
            let below = value.bits().is_some_and(|end| bits.is_multiple_of(end));
            below || above.is_some_and(is_multiple)
        };
        let (of, bits) = match (literal(self), literal(other)) {
            (_, Some(bits)) => (self, bits),
            (Some(bits), None) => (other, bits),
            (None, None) => return None,
        };
        is_apart(of, bits).then(|| of.plus(&IndexValue::literal(bits)))
    }

    /// Whether the value is a multiple of a number, of which nothing else is known.
    fn is_congruent_to_zero(&self, modulus: u64) -> bool {
        let modulus = u32::try_from(modulus).ok();
        let remainder = self.affine().zip(modulus).and_then(|(affine, modulus)| affine.modulo(modulus));
        remainder.is_some_and(|affine| {
            affine.is_only_congruent()
                && Some(affine.modulus) == modulus
                && affine.offset == 0
                && affine.cycle.is_none()
        })
    }

    /// `n | bits` of any number, if the lowest bits of the literal are set: they are set in the result.
    pub(super) fn with_lowest_bits(&self, bits: u64) -> Form {
        let modulus = 1_u32.checked_shl(bits.trailing_ones()).filter(|modulus| *modulus > 1 && *modulus < 1 << 16);
        modulus.map_or(Form::Unknown, |modulus| {
            let offset = i32::try_from(modulus).map_or(0, |modulus| modulus - 1);
            Form::Affine(Affine { modulus, ..Affine::of_number(offset) })
        })
    }

    /// The power of two below which the value is, which is not negative.
    fn bits(&self) -> Option<u64> {
        match (self.lower, self.upper) {
            (Some(_), Some(Size::Number(end))) => end.checked_next_power_of_two(),
            _ => None,
        }
    }

    /// `n ^ m`, or `n | m`: none of them has a bit that neither has.
    pub(super) fn all_bits(&self, other: &IndexValue) -> IndexValue {
        match (self.bits(), other.bits()) {
            (Some(one), Some(other)) => IndexValue::between(0, Some(Size::Number(one.max(other)))),
            _ => IndexValue::UNKNOWN,
        }
    }

    /// `n & m`, which is neither larger than the one nor than the other.
    fn common_bits(&self, other: &IndexValue) -> IndexValue {
        match (self.lower, self.upper, other.lower, other.upper) {
            (Some(_), Some(Size::Number(one)), Some(_), Some(Size::Number(other))) => {
                IndexValue::between(0, Some(Size::Number(one.min(other))))
            }
            // What is even in one of them is even in the result: `n & !1`.
            _ if self.is_congruent_to_zero(2) || other.is_congruent_to_zero(2) => {
                Form::Affine(Affine { modulus: 2, ..Affine::of_number(0) }).into()
            }
            _ => IndexValue::UNKNOWN,
        }
    }

    /// `n.min(m)`, of numbers that are not negative.
    pub(in crate::check::dsm) fn smaller(&self, other: &IndexValue) -> IndexValue {
        let (Some(one), Some(two)) = (self.lower, other.lower) else { return IndexValue::UNKNOWN };
        let upper = match (self.upper, other.upper) {
            (Some(Size::Number(one)), Some(Size::Number(two))) => Some(Size::Number(one.min(two))),
            (upper, None) | (None, upper) => upper,
            (number @ Some(Size::Number(_)), _) | (_, number) => number,
        };
        IndexValue::between(one.min(two), upper)
    }

    /// `n.max(m)`, of numbers one of which is not negative.
    pub(in crate::check::dsm) fn larger(&self, other: &IndexValue) -> IndexValue {
        let Some(lower) = self.lower.max(other.lower) else { return IndexValue::UNKNOWN };
        let upper = match (self.upper, other.upper) {
            (Some(Size::Number(one)), Some(Size::Number(two))) => Some(Size::Number(one.max(two))),
            _ => None,
        };
        IndexValue::between(lower, upper)
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
