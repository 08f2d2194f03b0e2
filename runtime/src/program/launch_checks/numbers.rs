//! What is known of a number in all threads of a launch: an integer or a float.

use super::floats::{Float, Floats};
use super::values::{Integer, Values};
use crate::program::launch_terms::{Comparison, Operation, Rounded};
use crate::program::type_info::{TypeInfo, TypeName};

/// The values that a number can have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Numbers {
    /// Integers, or values of which not even this is known.
    Integers(Values),
    Floats(Floats),
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NumberType {
    Integer(Integer),
    Float(Float),
}

use Numbers::{Floats as AsFloats, Integers as AsIntegers};

impl NumberType {
    pub(super) fn of(ty: &TypeInfo) -> Option<NumberType> {
        let TypeName::Prelude(name) = ty.name else { return None };
        let integer = Integer::named(name).map(NumberType::Integer);
        integer.or_else(|| Float::named(name).map(NumberType::Float))
    }

    /// Reads a value that begins with the first byte.
    pub(super) fn read(self, bytes: &[u8]) -> Option<Numbers> {
        match self {
            NumberType::Integer(ty) => ty.read(bytes).map(AsIntegers),
            NumberType::Float(ty) => ty.read(bytes).map(AsFloats),
        }
    }
}

impl Numbers {
    fn floats(self) -> Floats {
        match self {
            AsFloats(floats) => floats,
            AsIntegers(values) => Floats::of(values),
        }
    }

    pub(super) fn operation(self, operation: Operation, other: Numbers) -> Numbers {
        match (self, other) {
            (AsIntegers(first), AsIntegers(second)) => AsIntegers(first.operation(operation, second)),
            _ => AsFloats(self.floats().operation(operation, other.floats())),
        }
    }

    /// Returns what `as` makes of the values.
    pub(super) fn cast(self, ty: NumberType) -> Numbers {
        match (self, ty) {
            (AsIntegers(values), NumberType::Integer(ty)) => AsIntegers(values.cast(ty)),
            (AsFloats(floats), NumberType::Integer(ty)) => AsIntegers(floats.to_integers(ty)),
            (AsFloats(floats), NumberType::Float(ty)) => AsFloats(floats.cast(ty)),
            (AsIntegers(values), NumberType::Float(ty)) if values.is_integral() => {
                AsFloats(Floats::of_integers(ty, values))
            }
            (AsIntegers(values), NumberType::Float(ty)) => AsFloats(Floats::of(values).cast(ty)),
        }
    }

    pub(super) fn clamp(self, least: Numbers, most: Numbers) -> Numbers {
        match (self, least, most) {
            (AsIntegers(value), AsIntegers(least), AsIntegers(most)) => AsIntegers(value.clamp(least, most)),
            _ => AsFloats(self.floats().clamp(least.floats(), most.floats())),
        }
    }

    pub(super) fn rounded(self, by: Rounded) -> Numbers {
        match self {
            // Of an integer, or of a value that may be one.
            AsIntegers(values) if by == Rounded::Abs => AsIntegers(values.without_sign()),
            _ => AsFloats(self.floats().rounded(by)),
        }
    }

    /// Returns those of the values whose sum with another one compares so with a bound.
    pub(super) fn limited(self, term: Numbers, comparison: Comparison, bound: Numbers) -> Numbers {
        match (self, term, bound) {
            (AsIntegers(value), AsIntegers(term), AsIntegers(bound)) => {
                AsIntegers(value.limited(term, comparison, bound))
            }
            (_, AsIntegers(term), _) if term.untyped() == Some(0) => {
                AsFloats(self.floats().limited(comparison, bound.floats()))
            }
            _ => self,
        }
    }

    /// Returns the natural number that it always is.
    pub(super) fn literal(self) -> Option<u64> {
        match self {
            AsIntegers(values) => values.single(),
            AsFloats(_) => None,
        }
    }

    /// Whether each is an integer that is a multiple of a power of two.
    pub(super) fn is_multiple(self, power: u64) -> bool {
        matches!(self, AsIntegers(values) if values.is_multiple(power))
    }

    /// Whether each of the values is an index of memory of each of these lengths, or also the length itself.
    pub(super) fn is_below(self, length: Numbers, or_equal: bool) -> bool {
        match (self, length) {
            (AsIntegers(index), AsIntegers(length)) => index.is_below(length, or_equal),
            _ => false,
        }
    }
}
