//! What comparisons say of integers: those of the values for which one holds, and whether it may hold at all.

use super::Known::{Between, Nothing};
use super::{Integer, Values};
use crate::program::launch_terms::Comparison;

impl Values {
    /// Returns those of the values whose sum with another one compares so with a bound.
    pub(in crate::program::launch_checks) fn limited(
        self,
        term: Values,
        comparison: Comparison,
        bound: Values,
    ) -> Values {
        let ty = self.ty_with(bound);
        let of_type = Values { ty, ..self };
        self.allowed(ty, term, comparison, bound).map_or(self, |(from, to)| match of_type.exact() {
            Some((low, high)) => Values { ty, known: Between(low.max(from), high.min(to)), ..self },
            None => match ty {
                Some(ty) => Values { zeros: self.zeros, ..Values::of(ty, from.max(ty.least()), to.min(ty.most())) },
                None => self,
            },
        })
    }

    /// Returns the least and the largest number of a type that a comparison of its sum with another one allows.
    fn allowed(self, ty: Option<Integer>, term: Values, comparison: Comparison, bound: Values) -> Option<(i128, i128)> {
        let ty = ty?;
        let ((from, to), (low, high)) =
            (Values { ty: Some(ty), ..term }.exact()?, Values { ty: Some(ty), ..bound }.exact()?);
        if from > to || low > high {
            return None;
        }
        // A sum that wraps says nothing.
        if (from, to) != (0, 0) {
            let (least, most) = Values { ty: Some(ty), ..self }.exact()?;
            (ty.least() <= least.checked_add(from)? && most.checked_add(to)? <= ty.most()).then_some(())?;
        }
        let (least, most) = (ty.least() - to.max(0), ty.most() - from.min(0));
        Some(match comparison {
            Comparison::Less => (least, high - 1 - from),
            Comparison::LessOrEqual => (least, high - from),
            Comparison::Greater => (low + 1 - to, most),
            Comparison::GreaterOrEqual => (low - to, most),
            Comparison::Equal => (low - to, high - from),
            // One number is left out, if it is the first or the last one.
            Comparison::NotEqual => {
                let number = (from == to && low == high).then(|| low - from)?;
                let (first, last) = match self.known {
                    Nothing => (ty.least(), ty.most()),
                    Between(..) => Values { ty: Some(ty), ..self }.exact()?,
                };
                (first + i128::from(first == number), last - i128::from(last == number))
            }
        })
    }

    /// Returns whether a number of one of the values, and one of the other, may compare so.
    pub(in crate::program::launch_checks) fn may_compare(self, comparison: Comparison, other: Values) -> bool {
        let ty = self.ty_with(other);
        let typed = |of: Values| Values { ty, ..of };
        let (Some((low, high)), Some((from, to))) = (typed(self).exact(), typed(other).exact()) else { return true };
        let is_empty = low > high || from > to;
        !is_empty
            && match comparison {
                Comparison::Less => low < to,
                Comparison::LessOrEqual => low <= to,
                Comparison::Greater => high > from,
                Comparison::GreaterOrEqual => high >= from,
                Comparison::Equal => low <= to && from <= high,
                Comparison::NotEqual => !(low == high && from == to && low == from),
            }
    }

    /// Returns those of the values that lie between two numbers.
    pub(in crate::program::launch_checks) fn between(self, low: i128, high: i128) -> Values {
        Values { known: Between(low, high), ..self }.with_own_zeros()
    }

    /// Whether each of the values is an index of memory of each of these lengths, or also the length itself.
    pub(in crate::program::launch_checks) fn is_below(self, length: Values, or_equal: bool) -> bool {
        let Some((shortest, _)) = length.exact() else { return false };
        match self.exact() {
            Some((low, high)) => low > high || 0 <= low && high < shortest + i128::from(or_equal),
            None => false,
        }
    }
}
