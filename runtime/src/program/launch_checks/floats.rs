//! Sets of floats, as intervals: what a value can be in any thread of a launch, and whether it may be a NaN. The ends are computed in the type
//! itself, whose operations keep the order of numbers. What `fmad` and `fast_math` may round in another way is inside, too.

use std::ops::{Add, Mul, Sub};

use super::values::{Integer, Values};
use crate::program::launch_terms::{Comparison, Operation, Rounded};

/// A type of floats whose arithmetic the host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Float {
    F32,
    F64,
}

/// The values that a float can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floats {
    /// The type; of a literal, or of a value of which nothing is known, it is that of the other operand.
    ty: Option<Float>,
    /// The least and the largest number. If the first one is larger, there are none.
    low: f64,
    high: f64,
    nan: bool,
}

/// The distance to the next number of a type, and a bit more, relative to a number.
const STEP_OF_F32: f64 = 2.4e-7;
const STEP_OF_F64: f64 = 4.5e-16;
/// The same for a type of which nothing is known: `bf16` has 8 bits of a number.
const STEP_OF_ANY: f64 = 0.008;
/// How far from the quotient a division by `fast_math` may be, relative to it.
const STEP_OF_DIVISION: f64 = 1e-6;

impl Float {
    pub(super) fn named(name: &str) -> Option<Float> {
        match name {
            "f32" => Some(Float::F32),
            "f64" => Some(Float::F64),
            _ => None,
        }
    }

    /// Returns the number of the type that is nearest to a number.
    fn nearest(self, number: f64) -> f64 {
        match self {
            Float::F32 => f64::from(number as f32),
            Float::F64 => number,
        }
    }

    fn nearest_to_integer(self, number: i128) -> f64 {
        match self {
            Float::F32 => f64::from(number as f32),
            Float::F64 => number as f64,
        }
    }

    fn step(self) -> f64 {
        match self {
            Float::F32 => STEP_OF_F32,
            Float::F64 => STEP_OF_F64,
        }
    }

    /// Returns the least normal number. `fast_math` takes those below it for 0.
    fn least_normal(self) -> f64 {
        match self {
            Float::F32 => f32::MIN_POSITIVE.into(),
            Float::F64 => f64::MIN_POSITIVE,
        }
    }

    /// Reads a value that begins with the first byte.
    pub(super) fn read(self, bytes: &[u8]) -> Option<Floats> {
        let number = match self {
            Float::F32 => f32::from_le_bytes(bytes.get(..4)?.try_into().ok()?).into(),
            Float::F64 => f64::from_le_bytes(bytes.get(..8)?.try_into().ok()?),
        };
        Some(Floats::number(Some(self), number))
    }
}

impl Floats {
    const ANYTHING: Floats = Floats { ty: None, low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// Returns one number, which is a literal if it has no type.
    pub(super) fn number(ty: Option<Float>, number: f64) -> Floats {
        match number.is_nan() {
            true => Floats { ty, low: 1.0, high: 0.0, nan: true },
            false => Floats { ty, low: number, high: number, nan: false }.typed(ty),
        }
    }

    /// Returns the floats beside an operand that is one.
    pub(super) fn of(values: Values) -> Floats {
        match values.untyped() {
            Some(number) => Floats::number(None, number as f64),
            None => Floats::ANYTHING,
        }
    }

    /// Returns the floats that integers become.
    pub(super) fn of_integers(ty: Float, values: Values) -> Floats {
        match values.all() {
            Some((low, high)) if low > high => Floats { ty: Some(ty), low: 1.0, high: 0.0, nan: false },
            Some((low, high)) => {
                let [low, high] = [low, high].map(|number| ty.nearest_to_integer(number));
                Floats { ty: Some(ty), low, high, nan: false }
            }
            None => Floats { ty: Some(ty), nan: false, ..Floats::ANYTHING },
        }
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Returns the same values in a type. A literal becomes the nearest number of it, or one close by if the type is unknown.
    fn typed(self, ty: Option<Float>) -> Floats {
        if self.is_empty() {
            return Floats { ty, ..self };
        }
        let Some(ty) = ty else { return self };
        let [low, high] = [self.low, self.high].map(|number| ty.nearest(number));
        let tiny = ty.least_normal();
        let low = if 0.0 < low && low < tiny { 0.0 } else { low };
        let high = if -tiny < high && high < 0.0 { 0.0 } else { high };
        Floats { ty: Some(ty), low, high, nan: self.nan }
    }

    /// Returns a set that has each number that rounds to one of these.
    fn wider(self, step: f64) -> Floats {
        if self.is_empty() {
            return self;
        }
        let less = |number: f64| number - number.abs() * step;
        let more = |number: f64| number + number.abs() * step;
        let end = |end: f64, moved: f64| if moved.is_nan() { end } else { moved };
        Floats { low: end(self.low, less(self.low)), high: end(self.high, more(self.high)), ..self }
    }

    fn with_type_of(self, other: Floats) -> (Floats, Floats) {
        match self.ty.or(other.ty) {
            Some(ty) => (self.typed(Some(ty)), other.typed(Some(ty))),
            None => (self.of_any_type(), other.of_any_type()),
        }
    }

    /// Returns what a literal may be in a type of which nothing is known. Every type has the small integers.
    fn of_any_type(self) -> Floats {
        let is_small = |number: f64| number.is_infinite() || number.fract() == 0.0 && number.abs() <= 256.0;
        if is_small(self.low) && is_small(self.high) { self } else { self.wider(STEP_OF_ANY) }
    }

    pub(super) fn operation(self, operation: Operation, other: Floats) -> Floats {
        let (first, second) = self.with_type_of(other);
        match operation {
            Operation::Min => first.chosen(second, f64::min),
            Operation::Max => first.chosen(second, f64::max),
            Operation::Either => first.joined(second),
            Operation::Add | Operation::Sub | Operation::Mul | Operation::Div => {
                let Some(ty) = first.ty else { return Floats::ANYTHING };
                first.arithmetic(ty, operation, second)
            }
            // The other ones are those of integers.
            _ => Floats { ty: first.ty, ..Floats::ANYTHING },
        }
    }

    fn joined(self, other: Floats) -> Floats {
        let nan = self.nan || other.nan;
        match (self.is_empty(), other.is_empty()) {
            (true, _) => Floats { nan, ..other },
            (_, true) => Floats { nan, ..self },
            _ => Floats { low: self.low.min(other.low), high: self.high.max(other.high), nan, ..self },
        }
    }

    /// Returns the smaller or the larger one of both. A NaN is neither.
    fn chosen(self, other: Floats, of: fn(f64, f64) -> f64) -> Floats {
        let nothing = Floats { low: 1.0, high: 0.0, nan: self.nan && other.nan, ty: self.ty };
        let both = match self.is_empty() || other.is_empty() {
            true => nothing,
            false => Floats { low: of(self.low, other.low), high: of(self.high, other.high), ..nothing },
        };
        let beside = |nan: bool, of: Floats| if nan { Floats { nan: false, ..of } } else { nothing };
        both.joined(beside(self.nan, other)).joined(beside(other.nan, self))
    }

    fn arithmetic(self, ty: Float, operation: Operation, other: Floats) -> Floats {
        let anything = Floats { ty: Some(ty), ..Floats::ANYTHING };
        let nan = self.nan || other.nan;
        if self.is_empty() || other.is_empty() {
            return Floats { ty: Some(ty), low: 1.0, high: 0.0, nan };
        }
        let (low, high, from, to) = (self.low, self.high, other.low, other.high);
        let ends = match operation {
            Operation::Add => [(low, from), (high, to)].map(|(one, other)| ty.sum(one, other)).to_vec(),
            Operation::Sub => [(low, to), (high, from)].map(|(one, other)| ty.difference(one, other)).to_vec(),
            Operation::Div if from <= 0.0 && 0.0 <= to => return anything,
            _ => {
                let of = |one, other| if operation == Operation::Mul { ty.product(one, other) } else { one / other };
                vec![of(low, from), of(low, to), of(high, from), of(high, to)]
            }
        };
        if ends.iter().any(|end| end.is_nan()) {
            return anything;
        }
        // Differences of infinities, and products of 0 and them, are none.
        let infinite = [self, other].iter().any(|of| of.low.is_infinite() || of.high.is_infinite());
        let (low, high) =
            ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(*end), high.max(*end)));
        let exact = Floats { ty: Some(ty), low, high, nan: nan || infinite };
        let is_exact = operation != Operation::Div && ends.iter().all(|end| end.abs() < 4e6 && end.fract() == 0.0);
        let all = match operation {
            Operation::Div => exact.wider(STEP_OF_DIVISION),
            // A product that is added to something need not be rounded before.
            Operation::Mul if !is_exact || !self.is_integral() || !other.is_integral() => exact.wider(ty.step()),
            _ => exact,
        };
        all.typed(Some(ty))
    }

    /// Whether the ends are integers, whose products are exact unless they are large.
    fn is_integral(self) -> bool {
        self.low.fract() == 0.0 && self.high.fract() == 0.0
    }

    pub(super) fn rounded(self, by: Rounded) -> Floats {
        if self.is_empty() {
            return self;
        }
        let of = match by {
            Rounded::Floor => f64::floor,
            Rounded::Ceil => f64::ceil,
            Rounded::Trunc => f64::trunc,
            Rounded::Round => f64::round,
            Rounded::Abs => {
                let most = self.low.abs().max(self.high.abs());
                let least = if self.low <= 0.0 && 0.0 <= self.high { 0.0 } else { self.low.abs().min(self.high.abs()) };
                return Floats { low: least, high: most, ..self };
            }
        };
        let of_any = if self.ty.is_some() { self } else { self.of_any_type() };
        Floats { low: of(of_any.low), high: of(of_any.high), ..self }
    }

    pub(super) fn cast(self, ty: Float) -> Floats {
        let of_any = if self.ty.is_some() { self } else { self.of_any_type() };
        of_any.typed(Some(ty))
    }

    /// Returns the integers that `as` makes of them: those of the type that are nearest to 0, and 0 of a NaN.
    pub(super) fn to_integers(self, ty: Integer) -> Values {
        let of_any = if self.ty.is_some() { self } else { self.of_any_type() };
        let integer = |number: f64| ty.nearest(number as i128);
        match (self.is_empty(), self.nan) {
            (true, true) => Values::of(ty, 0, 0),
            (true, false) => Values::of(ty, 1, 0),
            (false, true) => Values::of(ty, integer(of_any.low).min(0), integer(of_any.high).max(0)),
            (false, false) => Values::of(ty, integer(of_any.low), integer(of_any.high)),
        }
    }

    /// Returns those of the values that compare so with a bound. A NaN stays: the comparison may be the opposite of one that does not hold.
    pub(super) fn limited(self, comparison: Comparison, bound: Floats) -> Floats {
        let (value, bound) = self.with_type_of(bound);
        if bound.is_empty() || bound.nan {
            return value;
        }
        let (below, above) = match value.ty {
            Some(Float::F32) => (f64::from((bound.high as f32).next_down()), f64::from((bound.low as f32).next_up())),
            Some(Float::F64) => (bound.high.next_down(), bound.low.next_up()),
            None => (bound.high, bound.low),
        };
        match comparison {
            Comparison::Less => Floats { high: value.high.min(below), ..value },
            Comparison::LessOrEqual => Floats { high: value.high.min(bound.high), ..value },
            Comparison::Greater => Floats { low: value.low.max(above), ..value },
            Comparison::GreaterOrEqual => Floats { low: value.low.max(bound.low), ..value },
            Comparison::NotEqual => value,
            Comparison::Equal => Floats { low: value.low.max(bound.low), high: value.high.min(bound.high), ..value },
        }
    }

    pub(super) fn clamp(self, least: Floats, most: Floats) -> Floats {
        let (value, least) = self.with_type_of(least);
        let (value, most) = value.with_type_of(most);
        // A bound that is a NaN fails, and a value that is one stays so.
        let nan = value.nan;
        let known = Floats { nan: false, ..value };
        let [least, most] = [least, most].map(|bound| Floats { nan: false, ..bound });
        let limited = known.chosen(least, f64::max).chosen(most, f64::min);
        Floats { nan, ..limited }
    }
}

impl Float {
    fn sum(self, one: f64, other: f64) -> f64 {
        self.computed(one, other, Add::add, Add::add)
    }

    fn difference(self, one: f64, other: f64) -> f64 {
        self.computed(one, other, Sub::sub, Sub::sub)
    }

    fn product(self, one: f64, other: f64) -> f64 {
        self.computed(one, other, Mul::mul, Mul::mul)
    }

    fn computed(self, one: f64, other: f64, narrow: fn(f32, f32) -> f32, wide: fn(f64, f64) -> f64) -> f64 {
        match self {
            Float::F32 => narrow(one as f32, other as f32).into(),
            Float::F64 => wide(one, other),
        }
    }
}

#[cfg(test)]
mod tests;
