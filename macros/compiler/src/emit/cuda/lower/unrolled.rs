//! How far a loop is unrolled: as its attribute says, or without one, as its text asks for (`constant_loops`, `geometric`).

use std::collections::{BTreeMap, BTreeSet};

use super::{Lower, geometric};
use crate::emit::cuda::ast::{Unrolling, Within};
use crate::model::expr::{Expr, ExprKind};
use crate::model::{LocalId, LoopId, Unroll};

/// The variables of the loops around that are unrolled, which are constants.
#[derive(Default)]
pub(super) struct Unrolled {
    /// The variables of unrolled loops over ranges, with the condition under which the runtime unrolls a loop if the text does not decide it.
    counted: BTreeMap<LocalId, Option<Within>>,
    /// Those of `while` loops that scale them.
    scaled: BTreeSet<LocalId>,
}

impl Lower<'_> {
    /// Returns what the attribute says.
    pub(super) fn unroll(&self, id: LoopId) -> Option<Unrolling> {
        self.function.unrolled.get(&id).copied().map(Unrolling::from)
    }

    /// Lowers a loop over a range.
    pub(super) fn unrolled_for<R>(
        &mut self,
        id: LoopId,
        whole: &Expr,
        lower: impl FnOnce(&mut Self, Option<Unrolling>) -> R,
    ) -> R {
        let asked = self.unroll(id);
        let counted = std::mem::take(&mut self.unrolled.counted);
        let small = self.unrolled_fully(whole, &counted);
        self.unrolled.counted = counted;
        let unrolling = asked.or(small);
        let ExprKind::For { local: Some(local), .. } = whole.kind else { return lower(self, unrolling) };
        if let Some(Unrolling { only_if, .. }) = small
            && unrolling.is_some_and(|unrolling| unrolling.unroll == Unroll::Fully)
        {
            self.unrolled.counted.insert(local, only_if);
        }
        let lowered = lower(self, unrolling);
        self.unrolled.counted.remove(&local);
        lowered
    }

    /// Lowers a `while` loop that does not count.
    pub(super) fn unrolled_while<R>(
        &mut self,
        id: LoopId,
        whole: &Expr,
        lower: impl FnOnce(&mut Self, Option<Unrolling>) -> R,
    ) -> R {
        let outer = self.unrolled.counted.keys().chain(&self.unrolled.scaled).copied().collect();
        let scaled = geometric::unrolled(self.function, whole, &outer);
        let unrolling = self.unroll(id).or_else(|| scaled.map(|_| Unroll::Fully.into()));
        self.unrolled.scaled.extend(scaled);
        let lowered = lower(self, unrolling);
        if let Some(local) = scaled {
            self.unrolled.scaled.remove(&local);
        }
        lowered
    }
}
