//! Values in the block of one rank, and values that are another small number in each block: what a quotient of the rank or an
//! exclusive or with it is, which no affine value says.

use super::{Form, IndexValue, Size};
use crate::check::dsm::affine::{Affine, Base, Cycle};
use crate::model::expr::BinaryOp;

/// The most blocks of a cluster.
const BLOCKS: usize = 16;
/// The largest number, which a cast to any integer leaves as it is.
const LARGEST: u64 = 127;

/// The number that a value is in the block of each rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check::dsm) struct ByRank([u8; BLOCKS]);

impl IndexValue {
    /// The value in the block of this rank, in a cluster of this many blocks.
    pub(in crate::check::dsm) fn at_rank(&self, rank: u32, blocks: u32) -> IndexValue {
        let at = |affine: Affine| affine.at_number(rank, blocks);
        let form = match self.form {
            Form::ByRank(ByRank(numbers)) => {
                return numbers.get(rank as usize).map_or(*self, |number| IndexValue::literal(u64::from(*number)));
            }
            Form::Unknown => Some(Form::Unknown),
            Form::Affine(affine) => at(affine).map(Form::Affine),
            Form::InChunk { index, size, near, offset } => {
                at(index).map(|index| Form::InChunk { index, size, near, offset })
            }
            Form::InHalf { mid, second } => at(mid).map(|mid| Form::InHalf { mid, second }),
        };
        let upper = self.upper.map(|upper| if upper == Size::Blocks { Size::Number(blocks.into()) } else { upper });
        IndexValue { form: form.unwrap_or_default(), lower: self.lower, upper }.exactly()
    }

    /// The value where the base is this remainder plus a multiple of the modulus.
    pub(in crate::check::dsm) fn at_residue(&self, base: Base, modulus: i32, remainder: i32) -> IndexValue {
        let Form::Affine(affine) = self.form else { return *self };
        let form = affine.at_residue(base, modulus, remainder).map_or(Form::Unknown, Form::Affine);
        IndexValue { form, ..*self }.exactly()
    }

    /// The result of an operator on values that need not be known in each block; in detail, quotients are bounded, too.
    pub(in crate::check::dsm) fn of_operator(
        op: BinaryOp,
        a: &IndexValue,
        b: &IndexValue,
        in_detail: bool,
    ) -> IndexValue {
        match op {
            BinaryOp::Add => a.plus(b),
            BinaryOp::Sub => a.minus(b),
            BinaryOp::Mul => a.times(b),
            BinaryOp::Rem => a.remainder(b),
            BinaryOp::BitAnd => a.and(b),
            BinaryOp::BitOr => a.or(b),
            BinaryOp::BitXor => a.xor(b),
            BinaryOp::Shl => a.shifted_left(b),
            BinaryOp::Div if in_detail => a.divided(b),
            BinaryOp::Shr if in_detail => a.shifted_right(b),
            BinaryOp::Div
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => IndexValue::UNKNOWN,
        }
    }

    /// A number that is known modulo as much as its bounds leave is known.
    fn exactly(self) -> IndexValue {
        let plain = self.affine().filter(|affine| !affine.may_wrap()).and_then(Affine::number);
        if let Some(number) = plain.and_then(|number| u64::try_from(number).ok()) {
            return IndexValue::literal(number);
        }
        let number = || {
            let (lower, end) = (self.lower.unwrap_or(0), self.max()?.checked_add(1)?);
            let remainder = u64::from(self.affine()?.remainder_by(u32::try_from(end.checked_sub(lower)?).ok()?)?);
            let modulus = u64::from(self.affine()?.modulus);
            let number = lower + (remainder + modulus - lower % modulus) % modulus;
            (number < end).then_some(number)
        };
        number().map_or(self, IndexValue::literal)
    }

    /// The result of an operator, if the operands are other small numbers in each block of a cluster of known size.
    pub(in crate::check::dsm) fn by_rank(
        op: BinaryOp,
        a: &IndexValue,
        b: &IndexValue,
        blocks: u64,
    ) -> Option<IndexValue> {
        let blocks = u32::try_from(blocks).ok().filter(|blocks| *blocks as usize <= BLOCKS)?;
        let mut numbers = [0; BLOCKS];
        for (rank, number) in (0..blocks).zip(&mut numbers) {
            let [a, b] = [a, b].map(|value| u64::try_from(value.at_rank(rank, blocks).number()?).ok());
            let (a, b) = (a.filter(|a| *a <= LARGEST)?, b.filter(|b| *b <= LARGEST)?);
            let result = match op {
                BinaryOp::Add => Some(a + b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => Some(a * b),
                BinaryOp::Div => a.checked_div(b),
                BinaryOp::Rem => a.checked_rem(b),
                BinaryOp::BitAnd => Some(a & b),
                BinaryOp::BitOr => Some(a | b),
                BinaryOp::BitXor => Some(a ^ b),
                BinaryOp::Shl => (b < 8).then(|| a << b),
                BinaryOp::Shr => (b < 8).then(|| a >> b),
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or => None,
            };
            *number = u8::try_from(result.filter(|result| *result <= LARGEST)?).ok()?;
        }
        let used = numbers.get(..blocks as usize)?;
        let (least, most) = (used.iter().min()?, used.iter().max()?);
        let bounds = IndexValue::between(u64::from(*least), Some(Size::Number(u64::from(*most) + 1)));
        Some(IndexValue { form: Form::ByRank(ByRank(numbers)), ..bounds })
    }
}

impl Affine {
    /// The value in the block of this rank, in a cluster of this many blocks.
    fn at_number(self, rank: u32, blocks: u32) -> Option<Affine> {
        let known = Affine { rank: 0, blocks: 0, offset: i32::try_from(self.rest(blocks)).ok()?, ..self };
        let known = known.plus(Affine::of_number(i32::try_from(rank).ok()?.checked_mul(self.rank)?))?;
        match self.cycle {
            Some(Cycle::Blocks) => Affine { cycle: None, ..known }.modulo(blocks),
            Some(Cycle::Constant(_) | Cycle::Mask(_)) | None => Some(known),
        }
    }

    /// The value if the base is this remainder plus a multiple of the modulus, which is the base from then on.
    fn at_residue(self, base: Base, modulus: i32, remainder: i32) -> Option<Affine> {
        if self.base != base || base == Base::Zero {
            return Some(self);
        }
        let known = Affine {
            factor: self.factor.checked_mul(modulus)?,
            offset: self.offset.checked_add(self.factor.checked_mul(remainder)?)?,
            ..self
        };
        // A multiple of what the value is known modulo is no part of it.
        let is_whole = i32::try_from(known.modulus).is_ok_and(|of| of > 0 && known.factor % of == 0);
        let known = if is_whole { Affine { base: Base::Zero, factor: 0, ..known } } else { known };
        known.modulo(0)
    }

    /// The remainder of the value by what it is known modulo, if that is at least this, and nothing else is part of it.
    fn remainder_by(self, least: u32) -> Option<u32> {
        let same = Affine { modulus: self.modulus, wraparound: self.wraparound, ..Affine::of_number(self.offset) };
        let modulus = i32::try_from(self.modulus).ok().filter(|_| self == same && self.modulus >= least.max(1))?;
        u32::try_from(self.offset.rem_euclid(modulus)).ok()
    }
}
