//! How far a loop is unrolled: as its attribute says, or without one, as its text asks for (`constant_loops`, `geometric`).

use std::collections::BTreeSet;

use super::constant_loops::is_unrolled;
use super::{Lower, geometric};
use crate::model::expr::{Expr, ExprKind};
use crate::model::{LocalId, LoopId, Unroll};

/// The variables of the loops around that are unrolled, which are constants.
#[derive(Default)]
pub(super) struct Unrolled {
    /// Those of loops over ranges, which have been found small enough with the loops inside.
    counted: BTreeSet<LocalId>,
    /// Those of `while` loops that scale them.
    scaled: BTreeSet<LocalId>,
}

impl Lower<'_> {
    /// Returns what the attribute says.
    pub(super) fn unroll(&self, id: LoopId) -> Option<Unroll> {
        self.function.unrolled.get(&id).copied()
    }

    /// Lowers a loop over a range.
    pub(super) fn unrolled_for<R>(
        &mut self,
        id: LoopId,
        whole: &Expr,
        lower: impl FnOnce(&mut Self, Option<Unroll>) -> R,
    ) -> R {
        let is_small = is_unrolled(whole, &self.unrolled.counted);
        let unroll = self.unroll(id).or_else(|| is_small.then_some(Unroll::Fully));
        let ExprKind::For { local: Some(local), .. } = whole.kind else { return lower(self, unroll) };
        if is_small && unroll == Some(Unroll::Fully) {
            self.unrolled.counted.insert(local);
        }
        let lowered = lower(self, unroll);
        self.unrolled.counted.remove(&local);
        lowered
    }

    /// Lowers a `while` loop that does not count.
    pub(super) fn unrolled_while<R>(
        &mut self,
        id: LoopId,
        whole: &Expr,
        lower: impl FnOnce(&mut Self, Option<Unroll>) -> R,
    ) -> R {
        let outer = self.unrolled.counted.union(&self.unrolled.scaled).copied().collect();
        let scaled = geometric::unrolled(self.function, whole, &outer);
        let unroll = self.unroll(id).or_else(|| scaled.map(|_| Unroll::Fully));
        self.unrolled.scaled.extend(scaled);
        let lowered = lower(self, unroll);
        if let Some(local) = scaled {
            self.unrolled.scaled.remove(&local);
        }
        lowered
    }
}
