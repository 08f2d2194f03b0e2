//! The ranges of numbers that a `for` loop iterates over.

#![warn(clippy::wildcard_enum_match_arm)]

use super::SiteId;
use super::expr::Expr;

#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) start: Expr,
    pub(crate) end: Expr,
    pub(crate) inclusive: bool,
    /// The adaptors in source order, each at most once.
    pub(crate) adaptors: Vec<Adaptor>,
}

impl Range {
    /// Returns the number of iterations, at most: a step skips some. `None` if the text does not give it.
    pub(crate) fn count(&self) -> Option<u64> {
        let (start, end) = self.start.signed_integer().zip(self.end.signed_integer())?;
        let count = end.checked_sub(start)?.checked_add(i64::from(self.inclusive))?;
        Some(count.max(0) as u64)
    }

    /// Whether the text shows that the range yields at least one number.
    pub(crate) fn is_never_empty(&self) -> bool {
        let ends = self.start.integer().zip(self.end.integer());
        ends.is_some_and(|(start, end)| start < end || start == end && self.inclusive)
    }

    /// Returns the difference between consecutive numbers, if the text shows it.
    pub(crate) fn stride(&self) -> Option<i64> {
        self.adaptors.iter().try_fold(1, |stride: i64, adaptor| match adaptor {
            Adaptor::Rev => Some(-stride),
            Adaptor::StepBy(step, _) => step.integer().and_then(|step| stride.checked_mul(i64::try_from(step).ok()?)),
        })
    }
}

#[derive(Debug)]
pub(crate) enum Adaptor {
    /// `.rev()`
    Rev,
    /// `.step_by(n)`
    StepBy(Expr, SiteId),
}

impl Adaptor {
    pub(crate) fn step(&self) -> Option<&Expr> {
        match self {
            Adaptor::Rev => None,
            Adaptor::StepBy(step, _) => Some(step),
        }
    }
}
