//! Values that tell threads of a block apart: ranks and indexes, and the digits that divisions and remainders make of them.
//! Data, no analysis.

use crate::model::ValueId;
use crate::model::group::Group;

/// A number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Granule {
    /// A literal.
    Number(u64),
    /// A constant, which rustc knows.
    Constant(ValueId),
}

/// A coordinate of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coordinate {
    /// The thread's rank in its block.
    Rank,
    /// An axis of its index in the block, 0 to 2, if the text does not show how that relates to the rank.
    Axis(u8),
    /// The argument for the parameter of a device function, by position: the caller knows what it says of the thread.
    Param(usize),
}

/// A digit of a coordinate: `coordinate % modulus / divisor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digit {
    pub(crate) of: Coordinate,
    pub(crate) modulus: Option<Granule>,
    pub(crate) divisor: Granule,
}

/// The number that a value adds to a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offset {
    Zero,
    /// A multiple of this number that all threads of the block share.
    Multiple(u64),
}

/// A value that differs between two threads of a block if and only if a digit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) digit: Digit,
    pub(crate) offset: Offset,
    /// The group of blocks among whose threads the value is a rank: the other blocks have other values.
    pub(crate) rank_in: Option<Group>,
}

impl Digit {
    /// The whole coordinate.
    pub(crate) fn whole(of: Coordinate) -> Digit {
        Digit { of, modulus: None, divisor: Granule::Number(1) }
    }

    /// The digit of a thread of this rank, if its parts are literals.
    pub(crate) fn of_rank(self, rank: u64) -> Option<u64> {
        let number = |granule: Granule| match granule {
            Granule::Number(number) => Some(number).filter(|number| *number > 0),
            Granule::Constant(_) => None,
        };
        let rest = match self.modulus {
            Some(modulus) => rank % number(modulus)?,
            None => rank,
        };
        (self.of == Coordinate::Rank).then_some(rest / number(self.divisor)?)
    }
}

impl Position {
    /// The digit itself.
    pub(crate) fn exactly(digit: Digit) -> Position {
        Position { digit, offset: Offset::Zero, rank_in: None }
    }

    /// The value plus, minus or times something that all threads of the block share.
    pub(crate) fn displaced(self) -> Position {
        Position { offset: Offset::Multiple(1), ..self }
    }

    /// The value plus a number.
    pub(crate) fn plus(self, number: u64) -> Position {
        let of = match self.offset {
            Offset::Zero => number,
            Offset::Multiple(of) => gcd(of, number),
        };
        Position { offset: if of == 0 { Offset::Zero } else { Offset::Multiple(of) }, ..self }
    }

    /// The value divided by a number of threads.
    pub(crate) fn over(self, by: Granule) -> Option<Position> {
        let Digit { of, modulus, divisor } = self.digit;
        let (divisor, offset) = match (divisor, by, self.offset) {
            (Granule::Number(1), by @ Granule::Constant(_), Offset::Zero) => (by, Offset::Zero),
            (Granule::Number(a), Granule::Number(b), Offset::Zero) if b > 0 => {
                (Granule::Number(a.saturating_mul(b)), Offset::Zero)
            }
            (Granule::Number(a), Granule::Number(b), Offset::Multiple(of)) if b > 0 && of % b == 0 => {
                (Granule::Number(a.saturating_mul(b)), Offset::Multiple(of / b))
            }
            (Granule::Number(_) | Granule::Constant(_), _, _) => return None,
        };
        Some(Position { digit: Digit { of, modulus, divisor }, offset, ..self })
    }

    /// The remainder of the value divided by a number of threads.
    pub(crate) fn modulo(self, by: Granule) -> Option<Position> {
        let Digit { of, modulus, divisor } = self.digit;
        let is_aligned = match (self.offset, by) {
            (Offset::Zero, _) => true,
            (Offset::Multiple(of), Granule::Number(by)) => by > 0 && of % by == 0,
            (Offset::Multiple(_), Granule::Constant(_)) => false,
        };
        let modulus = match (modulus, divisor, by) {
            _ if !is_aligned => return None,
            (None, Granule::Number(1), by) => by,
            (None, Granule::Number(a), Granule::Number(b)) => Granule::Number(a.saturating_mul(b)),
            (Some(Granule::Number(known)), Granule::Number(a), Granule::Number(b)) => {
                let all = a.saturating_mul(b);
                if all == 0 || known % all != 0 {
                    return None;
                }
                Granule::Number(all)
            }
            (None | Some(_), Granule::Number(_) | Granule::Constant(_), _) => return None,
        };
        Some(Position::exactly(Digit { of, modulus: Some(modulus), divisor }))
    }

    /// The value in the lower bits of a type. No block has more than 2^10 threads.
    pub(crate) fn cut(self, bits: u32) -> Option<Position> {
        let Digit { of, modulus, divisor } = self.digit;
        let fits = bits >= 10
            || matches!((modulus, divisor), (Some(Granule::Number(modulus)), Granule::Number(1)) if modulus >> bits == 0);
        match self.offset {
            _ if matches!(of, Coordinate::Param(_)) => None,
            Offset::Zero if fits => Some(self),
            Offset::Multiple(_) if fits => Some(self.displaced()),
            Offset::Zero => Some(self.modulo(Granule::Number(1 << bits))?.displaced()),
            Offset::Multiple(_) => None,
        }
    }
}

/// The greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
