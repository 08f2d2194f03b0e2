//! How far a loop is unrolled: as its attribute says, or without one, as its text asks for (`constant_loops`, `geometric`).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use super::numbers::count;
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

impl Unrolled {
    fn outer(&self) -> BTreeSet<LocalId> {
        self.counted.keys().chain(&self.scaled).copied().collect()
    }
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
        let scaling = if small.is_none() { self.scaling_for(whole) } else { None };
        let small = small.or(scaling.map(|(unrolling, _)| unrolling));
        let unrolling = asked.or(small);
        let ExprKind::For { local, .. } = whole.kind else { return lower(self, unrolling) };
        let constants = small.filter(|_| unrolling.is_some_and(|unrolling| unrolling.unroll == Unroll::Fully));
        let constants = constants.into_iter().flat_map(|Unrolling { only_if, .. }| {
            let scaled = scaling.and_then(|(_, scaled)| scaled);
            [local, scaled].into_iter().flatten().map(move |local| (local, only_if))
        });
        let constants: Vec<_> = constants.collect();
        self.unrolled.counted.extend(constants.iter().copied());
        let lowered = lower(self, unrolling);
        for (local, _) in constants {
            self.unrolled.counted.remove(&local);
        }
        lowered
    }

    /// How far a loop over a range is unrolled in which a variable is scaled, and which.
    fn scaling_for(&mut self, whole: &Expr) -> Option<(Unrolling, Option<LocalId>)> {
        let ExprKind::For { range, .. } = &whole.kind else { return None };
        let (most, scaled) = geometric::most_iterations(self.function, whole, &self.unrolled.outer())?;
        let function = self.function;
        Some((self.unrolled_if_few(range.count(), || count(function, range), most)?, scaled))
    }

    /// Unrolls a loop that has from 2 to `most` rounds, as the text shows, or the runtime finds.
    pub(super) fn unrolled_if_few(
        &mut self,
        shown: Option<u64>,
        named: impl FnOnce() -> Option<TokenStream>,
        most: u64,
    ) -> Option<Unrolling> {
        if let Some(rounds) = shown {
            return (2..=most).contains(&rounds).then(|| Unroll::Fully.into());
        }
        let rounds = named().filter(|_| most >= 2)?;
        Some(Unrolling { unroll: Unroll::Fully, only_if: Some(self.number_within(rounds, [2, most])) })
    }

    /// Lowers a `while` loop that does not count.
    pub(super) fn unrolled_while<R>(
        &mut self,
        id: LoopId,
        whole: &Expr,
        lower: impl FnOnce(&mut Self, Option<Unrolling>) -> R,
    ) -> R {
        let scaled = geometric::unrolled(self.function, whole, &self.unrolled.outer());
        let unrolling = self.unroll(id).or_else(|| scaled.map(|_| Unroll::Fully.into()));
        self.unrolled.scaled.extend(scaled);
        let lowered = lower(self, unrolling);
        if let Some(local) = scaled {
            self.unrolled.scaled.remove(&local);
        }
        lowered
    }
}
