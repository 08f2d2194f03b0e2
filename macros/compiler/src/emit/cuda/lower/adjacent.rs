//! Loops with a constant number of iterations over elements that are next to each other: `for k in 0..8 { sum += w[k] * x[i * 8 + k]; }`.
//! Once it has unrolled such a loop, the compiler of CUDA C++ joins the accesses to a few of 16 bytes, if it knows that the first is
//! aligned (arguments.cuh). It joins no loads past the coherent path, which need no order with stores: where a loop
//! stores nothing, these gain nothing either, and plain ones take their place.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::access::{Access, AccessForm, Region};
use super::intervals::Values;
use super::numbers::count;
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::Memory;
use crate::model::walk::walk_block;
use crate::model::{LocalId, SiteId, ValueId};

/// The numbers of iterations of a loop that the compiler unrolls and that have something to join.
const ROUNDS: RangeInclusive<u64> = 2..=32;

impl Values<'_, '_, '_> {
    /// Returns the accesses to global memory whose indexes the loop raises by one in each iteration, with the number of iterations if
    /// constants with names give it.
    pub(super) fn adjacent(&mut self) -> Vec<(SiteId, Option<ValueId>)> {
        let ExprKind::For { local: Some(variable), range, body, .. } = &self.nest.whole.kind else { return Vec::new() };
        let literal = range.count();
        let named = count(self.lower.function, range).filter(|_| literal.is_none());
        let is_sized = literal.map_or(named.is_some(), |count| ROUNDS.contains(&count));
        if !is_sized || !range.adaptors.is_empty() {
            return Vec::new();
        }
        let (stored, is_changed) = stores(body);
        let mut found = Vec::new();
        for (_, access) in self.nest.accesses.clone() {
            let Some(Access { site, memory, index, form: AccessForm::Element }) = Access::of(access) else { continue };
            // An element that is an array or a vector is loaded as a whole, plainly.
            let is_part = matches!(memory.kind, ExprKind::Index { .. } | ExprKind::Field { .. });
            let is_global = matches!(memory.memory(), Some(Memory::Global | Memory::GlobalMut));
            if is_global
                && !is_part
                && (!is_changed || stored.contains(&site))
                && !self.nest.conditional.contains_key(&site)
                && self.steps_by_one(index, *variable)
            {
                found.push(site);
            }
        }
        let rounds = named.filter(|_| !found.is_empty()).map(|count| self.lower.number(count));
        found.into_iter().map(|site| (site, rounds)).collect()
    }

    /// Whether an index is a variable, and what the loop does not change.
    fn steps_by_one(&mut self, index: &Expr, variable: LocalId) -> bool {
        match &index.kind {
            ExprKind::Local(local) => *local == variable,
            ExprKind::Cast(inner, _) => self.steps_by_one(inner, variable),
            ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
                let is_left = self.steps_by_one(left, variable) && self.fixed(right).is_some();
                is_left || self.steps_by_one(right, variable) && self.fixed(left).is_some()
            }
            _ => false,
        }
    }
}

/// Returns the elements of memory that a body assigns, and whether it changes any memory, or may.
fn stores(body: &Block) -> (BTreeSet<SiteId>, bool) {
    let (mut stored, mut is_changed) = (BTreeSet::new(), false);
    walk_block(body, &mut |expr| match &expr.kind {
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => {
            if let Some(access) = Access::of(place).filter(|access| access.memory.memory().is_some()) {
                is_changed = true;
                stored.insert(access.site);
            }
        }
        ExprKind::Op { op, .. } => is_changed |= op.facts().effect == Effect::Changes,
        ExprKind::Call { .. } | ExprKind::CallClosure { .. } | ExprKind::Cuda(_) => is_changed = true,
        _ => {}
    });
    (stored, is_changed)
}
