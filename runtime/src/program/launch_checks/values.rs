//! Sets of integers, as intervals: what a value can be in any thread of a launch. Whatever the arithmetic of the type may lose is unknown: the
//! sum of two words, say, is known modulo 2^32 only if it does not fit a word. So no access is taken to be within bounds that is not.

use crate::program::launch_terms::{LaunchValue, Operation};
use crate::shape::{Dim3, Shape};

mod compared;

/// An integer type of at most 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Integer {
    bits: u32,
    signed: bool,
}

/// The values that a number can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Values {
    /// The type, unless it is that of a literal, or unknown.
    ty: Option<Integer>,
    known: Known,
    /// Each is a multiple of 2^zeros.
    zeros: u32,
}

/// The zeros that are told of a number, of which 0 has any.
const MOST_ZEROS: u32 = 64;

fn zeros_of(number: i128) -> u32 {
    number.trailing_zeros().min(MOST_ZEROS)
}

/// What is known of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Nothing,
    /// Each of them differs from a number from the first to the second one by a multiple of 2^bits of the type. If the first one is larger,
    /// there are none, and nothing that needs them is executed.
    Between(i128, i128),
}

use Known::{Between, Nothing};

impl Integer {
    /// `usize` of the GPU.
    pub(super) const WORD: Integer = Integer { bits: 64, signed: false };
    const U32: Integer = Integer { bits: 32, signed: false };

    /// Returns the type of a number of the launch.
    pub(super) fn of_launch(value: LaunchValue) -> Integer {
        match value {
            LaunchValue::RankInGrid
            | LaunchValue::ThreadsOfGrid
            | LaunchValue::BlockRankInGrid
            | LaunchValue::BlocksOfGrid
            | LaunchValue::ClusterRank
            | LaunchValue::ClustersOfGrid => Integer::WORD,
            LaunchValue::ThreadIndex(_)
            | LaunchValue::BlockExtent(_)
            | LaunchValue::BlockIndex(_)
            | LaunchValue::GridExtent(_)
            | LaunchValue::BlockIndexInCluster(_)
            | LaunchValue::ClusterExtent(_)
            | LaunchValue::RankInBlock
            | LaunchValue::ThreadsOfBlock
            | LaunchValue::RankInCluster
            | LaunchValue::ThreadsOfCluster
            | LaunchValue::BlockRankInCluster
            | LaunchValue::BlocksOfCluster => Integer::U32,
        }
    }

    pub(super) fn named(name: &str) -> Option<Integer> {
        let of = |bits, signed| Some(Integer { bits, signed });
        match name {
            "u8" => of(8, false),
            "u16" => of(16, false),
            "u32" => of(32, false),
            "u64" | "usize" => of(64, false),
            "i8" => of(8, true),
            "i16" => of(16, true),
            "i32" => of(32, true),
            "i64" | "isize" => of(64, true),
            _ => None,
        }
    }

    fn least(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    fn most(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }

    pub(super) fn is_narrow(self) -> bool {
        self.bits <= 32
    }

    /// Returns the number of the type that is nearest to an integer.
    pub(super) fn nearest(self, number: i128) -> i128 {
        number.clamp(self.least(), self.most())
    }

    /// Reads a value that begins with the first byte.
    pub(super) fn read(self, bytes: &[u8]) -> Option<Values> {
        let mut word = [0; 8];
        let size = self.bits as usize / 8;
        word[..size].copy_from_slice(bytes.get(..size)?);
        let unsigned = i128::from(u64::from_le_bytes(word));
        let value = if unsigned > self.most() { unsigned - (1 << self.bits) } else { unsigned };
        Some(Values::of(self, value, value))
    }
}

impl Values {
    pub(super) const UNKNOWN: Values = Values { ty: None, known: Nothing, zeros: 0 };

    pub(super) fn literal(number: i128) -> Values {
        Values { ty: None, known: Between(number, number), zeros: zeros_of(number) }
    }

    pub(super) fn of(ty: Integer, low: i128, high: i128) -> Values {
        Values { ty: Some(ty), known: Between(low, high), zeros: 0 }.with_own_zeros()
    }

    /// Returns the values with what their interval says of their zeros.
    fn with_own_zeros(self) -> Values {
        match self.known {
            Between(low, high) if low == high => Values { zeros: self.zeros.max(zeros_of(low)), ..self },
            _ => self,
        }
    }

    /// Returns all values of a type.
    pub(super) fn any(ty: Integer) -> Values {
        Values::of(ty, ty.least(), ty.most())
    }

    /// Returns the ranks below a number of threads or of tiles.
    pub(super) fn rank_below(count: u128) -> Values {
        Values::of(Integer::U32, 0, count as i128 - 1)
    }

    /// Returns the values that a number of the launch has in all of its threads.
    pub(super) fn of_launch(value: LaunchValue, shape: &Shape) -> Values {
        let Shape { grid, cluster, block, .. } = *shape;
        let axis = |of: Dim3, axis: u8| u64::from([of.x, of.y, of.z][usize::from(axis.min(2))]);
        let (threads, in_cluster, in_grid) = (block.count(), cluster.count(), grid.count());
        let clusters = in_grid / in_cluster.max(1);
        // What a rank is less than, or the number itself.
        let (is_rank, count) = match value {
            LaunchValue::ThreadIndex(of) => (true, u128::from(axis(block, of))),
            LaunchValue::BlockExtent(of) => (false, axis(block, of).into()),
            LaunchValue::BlockIndex(of) => (true, axis(grid, of).into()),
            LaunchValue::GridExtent(of) => (false, axis(grid, of).into()),
            LaunchValue::BlockIndexInCluster(of) => (true, axis(cluster, of).into()),
            LaunchValue::ClusterExtent(of) => (false, axis(cluster, of).into()),
            LaunchValue::RankInBlock => (true, threads.into()),
            LaunchValue::ThreadsOfBlock => (false, threads.into()),
            LaunchValue::RankInCluster => (true, u128::from(threads) * u128::from(in_cluster)),
            LaunchValue::ThreadsOfCluster => (false, u128::from(threads) * u128::from(in_cluster)),
            LaunchValue::BlockRankInCluster => (true, in_cluster.into()),
            LaunchValue::BlocksOfCluster => (false, in_cluster.into()),
            LaunchValue::RankInGrid => (true, u128::from(threads) * u128::from(in_grid)),
            LaunchValue::ThreadsOfGrid => (false, u128::from(threads) * u128::from(in_grid)),
            LaunchValue::BlockRankInGrid => (true, in_grid.into()),
            LaunchValue::BlocksOfGrid => (false, in_grid.into()),
            LaunchValue::ClusterRank => (true, clusters.into()),
            LaunchValue::ClustersOfGrid => (false, clusters.into()),
        };
        let (ty, count) = (Integer::of_launch(value), count as i128);
        if is_rank { Values::of(ty, 0, count - 1) } else { Values::of(ty, count, count) }
    }

    pub(super) fn ty(self) -> Option<Integer> {
        self.ty
    }

    /// Returns a number that is a literal, whose type is unknown.
    pub(super) fn untyped(self) -> Option<i128> {
        match self {
            Values { ty: None, known: Between(low, high), .. } if low == high => Some(low),
            _ => None,
        }
    }

    /// Whether the values are integers, and not only unknown.
    pub(super) fn is_integral(self) -> bool {
        self.ty.is_some() || self.known != Nothing
    }

    /// Returns the interval of the values, if it is known, and there are any.
    pub(super) fn interval(self) -> Option<(i128, i128)> {
        self.exact().filter(|(low, high)| low <= high)
    }

    /// Returns an interval that has all the values, if their type is known.
    pub(super) fn all(self) -> Option<(i128, i128)> {
        self.exact().or_else(|| self.ty.map(|ty| (ty.least(), ty.most())))
    }

    /// Returns the interval of the values themselves, if they are known: that of numbers which the type has.
    fn exact(self) -> Option<(i128, i128)> {
        let Between(low, high) = self.known else { return None };
        let fits = match self.ty {
            Some(ty) => ty.least() <= low && high <= ty.most(),
            None => true,
        };
        (fits || low > high).then_some((low, high))
    }

    /// Returns the type of an operation of both, which have one type.
    fn ty_with(self, other: Values) -> Option<Integer> {
        self.ty.or(other.ty)
    }

    pub(super) fn operation(self, operation: Operation, other: Values) -> Values {
        let ty = match operation {
            // The amount has a type of its own.
            Operation::Shl | Operation::Shr => self.ty,
            _ => self.ty_with(other),
        };
        // A literal has the type of the other operand. Without one, the arithmetic is of an unknown type.
        if ty.is_none() {
            return Values::UNKNOWN;
        }
        let typed = |of: Values| Values { ty, ..of };
        let (first, second) = match operation {
            Operation::Shl | Operation::Shr => (self, other),
            _ => (typed(self), typed(other)),
        };
        let known = match operation {
            Operation::Add | Operation::Sub | Operation::Mul | Operation::Shl => first.modular(operation, second),
            // A length of a signed type may be negative, and then the end is before the start.
            Operation::End => {
                let is_natural = |of: Values| of.exact().is_some_and(|(low, _)| 0 <= low);
                (is_natural(first) && is_natural(second)).then(|| first.modular(Operation::Add, second)).flatten()
            }
            Operation::Range | Operation::RangeInclusive => {
                // An empty range has no value, and its end need not be one behind its start.
                let last = i128::from(operation == Operation::Range);
                first.exact().zip(second.exact()).map(|((low, _), (_, high))| Between(low, high - last))
            }
            Operation::Either => {
                let both = first.exact().zip(second.exact());
                both.map(|((low, high), (other_low, other_high))| match (low > high, other_low > other_high) {
                    (true, _) => Between(other_low, other_high),
                    (_, true) => Between(low, high),
                    _ => Between(low.min(other_low), high.max(other_high)),
                })
            }
            Operation::Div | Operation::Rem | Operation::RemEuclid | Operation::Shr | Operation::And => {
                first.divided(operation, second)
            }
            Operation::Or | Operation::Xor => first.joined(operation, second),
            Operation::Min | Operation::Max | Operation::SaturatingSub => first.bounded(operation, second),
            // Of signed integers, it has another type.
            Operation::AbsDiff if ty.is_some_and(|ty| ty.signed) => return Values::UNKNOWN,
            Operation::AbsDiff => first.distance(second),
            Operation::Stepped => Some(first.known),
        };
        Values { ty, known: known.unwrap_or(Nothing), zeros: first.zeros_after(operation, second) }.with_own_zeros()
    }

    /// Returns of which power of two the results of an operation are multiples.
    fn zeros_after(self, operation: Operation, other: Values) -> u32 {
        let both = self.zeros.min(other.zeros);
        // A difference that saturates is the largest number of a signed type, which is odd.
        let is_signed = self.ty.is_none_or(|ty| ty.signed);
        let amount = other.exact().filter(|(from, to)| from == to).map(|(amount, _)| amount);
        match operation {
            Operation::Mul => (self.zeros + other.zeros).min(MOST_ZEROS),
            Operation::And | Operation::Stepped => self.zeros.max(other.zeros),
            Operation::Range | Operation::RangeInclusive => 0,
            Operation::SaturatingSub | Operation::AbsDiff if is_signed => 0,
            Operation::Shl => {
                let amount = amount.zip(self.ty).filter(|(amount, ty)| (0..i128::from(ty.bits)).contains(amount));
                (self.zeros + amount.map_or(0, |(amount, _)| amount as u32)).min(MOST_ZEROS)
            }
            Operation::Shr => {
                let amount = amount.and_then(|amount| u32::try_from(amount).ok());
                amount.map_or(0, |amount| self.zeros.saturating_sub(amount))
            }
            Operation::Div => {
                let power = amount.filter(|by| *by > 0 && by & (by - 1) == 0);
                power.map_or(0, |by| self.zeros.saturating_sub(zeros_of(by)))
            }
            Operation::Add
            | Operation::Sub
            | Operation::Rem
            | Operation::RemEuclid
            | Operation::Or
            | Operation::Xor
            | Operation::Min
            | Operation::Max
            | Operation::SaturatingSub
            | Operation::AbsDiff
            | Operation::Either
            | Operation::End => both,
        }
    }

    /// Returns the natural number that all of them are.
    pub(super) fn single(self) -> Option<u64> {
        self.exact().filter(|(low, high)| low == high).and_then(|(number, _)| number.try_into().ok())
    }

    /// Whether each is a multiple of a power of two.
    pub(super) fn is_multiple(self, power: u64) -> bool {
        power.is_power_of_two() && power.trailing_zeros() <= self.zeros
    }

    /// Returns sums, differences and products, which are those of numbers modulo 2^bits.
    fn modular(self, operation: Operation, other: Values) -> Option<Known> {
        let (Between(low, high), Between(from, to)) = (self.known, other.known) else { return None };
        if low > high || from > to {
            return Some(Between(1, 0));
        }
        let (low, high) = match operation {
            Operation::Add => (low.checked_add(from)?, high.checked_add(to)?),
            Operation::Sub => (low.checked_sub(to)?, high.checked_sub(from)?),
            Operation::Mul => {
                let products =
                    [low.checked_mul(from)?, low.checked_mul(to)?, high.checked_mul(from)?, high.checked_mul(to)?];
                (products.into_iter().min()?, products.into_iter().max()?)
            }
            _ => {
                // Rust masks the amount.
                let bits = self.ty?.bits;
                let (from, to) = other.exact()?;
                (0 <= from && to < i128::from(bits) && 0 <= low).then_some(())?;
                (low.checked_mul(1 << from)?, high.checked_mul(1 << to)?)
            }
        };
        // So large numbers are no index, and leave room for what is added.
        (low.abs() < 1 << 100 && high.abs() < 1 << 100).then_some(Between(low, high))
    }

    /// Returns what is less than one of the operands.
    fn divided(self, operation: Operation, other: Values) -> Option<Known> {
        let (from, to) = other.exact()?;
        let natural = self.exact().filter(|(low, _)| 0 <= *low);
        if natural.is_some_and(|(low, high)| low > high) || from > to {
            return Some(Between(1, 0));
        }
        match operation {
            Operation::Div => {
                let (low, high) = natural.filter(|_| 1 <= from)?;
                Some(Between(low / to, high / from))
            }
            Operation::Rem | Operation::RemEuclid => {
                (1 <= from).then_some(())?;
                let ty = self.ty?;
                Some(match natural {
                    Some((low, high)) if high < from => Between(low, high),
                    // Without a multiple between them, they stay in order.
                    Some((low, high)) if from == to && low / to == high / to => Between(low % to, high % to),
                    Some((_, high)) => Between(0, high.min(to - 1)),
                    // The remainder has the sign of the dividend.
                    None if ty.signed && operation == Operation::Rem => Between(1 - to, to - 1),
                    None => Between(0, to - 1),
                })
            }
            Operation::Shr => {
                let (low, high) = self.exact()?;
                let is_amount = 0 <= from && to < i128::from(self.ty?.bits);
                is_amount.then(|| Between((low >> from).min(low >> to), (high >> from).max(high >> to)))
            }
            _ => {
                if let Some((number, _)) = natural.filter(|(low, high)| low == high && from == to && 0 <= from) {
                    return Some(Between(number & from, number & from));
                }
                let mask = (0 <= from).then_some(to);
                let least = natural.map(|(_, high)| high).into_iter().chain(mask).min()?;
                Some(Between(0, least))
            }
        }
    }

    /// Returns what has bits of both, which are natural.
    fn joined(self, operation: Operation, other: Values) -> Option<Known> {
        let ((low, high), (from, to)) = (self.exact()?, other.exact()?);
        if low > high || from > to {
            return Some(Between(1, 0));
        }
        (0 <= low && 0 <= from).then_some(())?;
        let bits = i128::BITS - high.max(to).leading_zeros();
        let least = if operation == Operation::Or { low.max(from) } else { 0 };
        Some(Between(least, (1 << bits) - 1))
    }

    fn distance(self, other: Values) -> Option<Known> {
        let ((low, high), (from, to)) = (self.exact()?, other.exact()?);
        if low > high || from > to {
            return Some(Between(1, 0));
        }
        Some(Between((low - to).max(from - high).max(0), (high - from).max(to - low)))
    }

    /// Returns the values without their signs.
    pub(super) fn without_sign(self) -> Values {
        // The least number of a type has none of it without a sign.
        let of = |(low, high): (i128, i128)| {
            let has_least = self.ty.is_some_and(|ty| low == ty.least() && ty.signed);
            let least = if low <= 0 && 0 <= high { 0 } else { low.abs().min(high.abs()) };
            (low <= high && !has_least).then(|| Between(least, low.abs().max(high.abs())))
        };
        match (self.ty, self.exact().and_then(of)) {
            (Some(_), Some(known)) => Values { known, ..self },
            _ => Values::UNKNOWN,
        }
    }

    /// Returns the smaller or the larger one of both. One of them is enough for one side.
    fn bounded(self, operation: Operation, other: Values) -> Option<Known> {
        let ((low, high), (from, to)) = (self.all()?, other.all()?);
        if low > high || from > to {
            return Some(Between(1, 0));
        }
        Some(match operation {
            Operation::Min => Between(low.min(from), high.min(to)),
            Operation::Max => Between(low.max(from), high.max(to)),
            _ => {
                let ty = self.ty?;
                Between(ty.nearest(low - to), ty.nearest(high - from))
            }
        })
    }

    pub(super) fn cast(self, ty: Integer) -> Values {
        let known = match self.known {
            // A type of fewer bits has what the numbers are modulo fewer bits.
            Between(low, high) if self.ty.is_some_and(|from| ty.bits <= from.bits) => Between(low, high),
            _ => self.exact().map_or(Nothing, |(low, high)| Between(low, high)),
        };
        Values { ty: Some(ty), known, zeros: self.zeros }
    }

    /// Returns the values that `clamp` makes of these. It fails if the bounds are not in order.
    pub(super) fn clamp(self, least: Values, most: Values) -> Values {
        self.operation(Operation::Max, least).operation(Operation::Min, most)
    }
}

#[cfg(test)]
mod tests;
