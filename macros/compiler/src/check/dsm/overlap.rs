//! Whether two indexes may be equal, as far as the text of one function shows it. The answer may depend on the value of a
//! constant, which only rustc knows.

use std::collections::BTreeSet;

use crate::model::ValueId;

/// Whether two values may be equal. The order is that of precision: of two answers to the same question, the lesser one says
/// more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Overlap {
    /// They are never equal.
    Never,
    /// They may be equal, but only if a constant has one of these values.
    If(ConstantIs),
    /// They may be equal.
    Possible,
}

/// A condition on a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConstantIs {
    pub(crate) constant: ValueId,
    pub(crate) one_of: BTreeSet<i64>,
    /// The condition holds for every value below this, too. Constants that are sizes are not negative.
    pub(crate) below: u64,
    /// The condition holds for every value that is no power of two, too.
    pub(crate) or_no_power_of_two: bool,
}

impl Overlap {
    /// The answer for values that may be equal only if the constant has one of these values, or is no power of two.
    pub(super) fn if_one_of(
        constant: ValueId,
        one_of: impl IntoIterator<Item = i64>,
        or_no_power_of_two: bool,
    ) -> Overlap {
        let one_of: BTreeSet<i64> = one_of.into_iter().collect();
        if one_of.is_empty() && !or_no_power_of_two {
            return Overlap::Never;
        }
        Overlap::If(ConstantIs { constant, one_of, below: 0, or_no_power_of_two })
    }

    /// The answer for values that may be equal only if the constant, which is a size, is below a bound.
    pub(super) fn if_below(constant: ValueId, below: u64) -> Overlap {
        Overlap::If(ConstantIs { constant, one_of: BTreeSet::new(), below, or_no_power_of_two: false })
    }

    /// The answer for values that may be equal in either of two cases.
    pub(super) fn or(self, other: Overlap) -> Overlap {
        match (self, other) {
            (Overlap::Never, other) | (other, Overlap::Never) => other,
            (Overlap::If(mut one), Overlap::If(other)) if one.constant == other.constant => {
                one.one_of.extend(other.one_of);
                one.or_no_power_of_two |= other.or_no_power_of_two;
                one.below = one.below.max(other.below);
                Overlap::If(one)
            }
            (Overlap::If(_) | Overlap::Possible, _) => Overlap::Possible,
        }
    }

    /// The more precise of two answers to the same question.
    pub(super) fn and(self, other: Overlap) -> Overlap {
        match (self, other) {
            (Overlap::Possible, other) | (other, Overlap::Possible) => other,
            (Overlap::Never, _) | (_, Overlap::Never) => Overlap::Never,
            (Overlap::If(one), Overlap::If(_)) => Overlap::If(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_without_values_never_holds() {
        assert_eq!(Overlap::if_one_of(ValueId(0), [], false), Overlap::Never);
        assert_ne!(Overlap::if_one_of(ValueId(0), [], true), Overlap::Never);
    }

    #[test]
    fn two_answers_are_one() {
        let is = |constant, value| Overlap::if_one_of(ValueId(constant), [value], false);
        assert_eq!(is(0, 1).or(is(0, 2)), Overlap::if_one_of(ValueId(0), [1, 2], false));
        assert_eq!(is(0, 1).or(is(1, 2)), Overlap::Possible);
        assert_eq!(is(0, 1).or(Overlap::Never), is(0, 1));
        assert_eq!(is(0, 1).and(is(1, 2)), is(0, 1));
        assert_eq!(is(0, 1).and(Overlap::Possible), is(0, 1));
        assert_eq!(is(0, 1).and(Overlap::Never), Overlap::Never);
    }
}
