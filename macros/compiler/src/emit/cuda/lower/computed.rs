//! Loops that only compute: they end after a number of iterations that the text gives, and nothing in them fails, waits, is seen by other
//! threads or the host, or leads out of them. So they are part of a run of statements (`straight`), whose accesses after such a loop are
//! tested before it, and no exit keeps the loads before the loop from being issued early:
//!
//! ```text
//! let bytes = text.load_vec::<16>(i);
//! for k in 0..16 { if bytes[k] == b'"' { quotes |= 1 << k; } }
//! out[i] = quotes;
//! ```
//!
//! Elements of local arrays and of vectors may be used where the loop's variable, or a literal, is within a length that the text gives.

use super::access::Region;
use super::straight::Scan;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::walk::walk;

impl Scan<'_, '_, '_> {
    /// Whether a loop only computes.
    pub(super) fn only_computes(&self, whole: &Expr) -> bool {
        let (mut computes, mut ends) = (true, Vec::new());
        walk(whole, &mut |expr| {
            computes &= self.computes(expr, &ends);
            ends.extend(end(expr));
        });
        computes
    }

    /// Whether an expression of the loop does, apart from its operands. `ends` are those of the variables of the loops around it.
    fn computes(&self, expr: &Expr, ends: &[(LocalId, u64)]) -> bool {
        let lower = &self.values.lower;
        let end_of = |local: LocalId| ends.iter().find(|(variable, _)| *variable == local).map(|(_, end)| *end);
        let is_variable = |place: &Expr| local_of(place).and_then(end_of).is_some();
        match &expr.kind {
            ExprKind::For { local, range, .. } => {
                let is_counted =
                    range.adaptors.is_empty() && range.start.integer().is_some() && range.end.integer().is_some();
                is_counted && (local.is_none() || end(expr).is_some())
            }
            ExprKind::Index { base, index, .. } => {
                let largest = match &index.kind {
                    ExprKind::Local(local) => end_of(*local).map(|end| end - 1),
                    _ => index.integer(),
                };
                let length = local_of(base).and_then(|local| self.length(local));
                base.memory().is_none() && largest.zip(length).is_some_and(|(largest, length)| largest < length)
            }
            ExprKind::Binary { op, left, right, .. } => !lower.may_fail(*op, left, right),
            ExprKind::AssignOp { op, place, value, .. } => !is_variable(place) && !lower.may_fail(*op, place, value),
            ExprKind::Op { op, .. } => !op.facts().fails && op.facts().effect == Effect::Pure,
            ExprKind::Method { method, .. } => method.fails.is_none(),
            ExprKind::ScalarCall { site, .. } => site.is_none(),
            ExprKind::Intrinsic { function, .. } => function.is_pure(),
            ExprKind::CallClosure { closure, .. } => lower.is_pure(*closure),
            ExprKind::Assign(place, _) => !is_variable(place),
            ExprKind::Borrow { target, .. } => !is_variable(target),
            ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Deref(_)
            | ExprKind::Field { .. }
            | ExprKind::Axis(..)
            | ExprKind::Array { .. }
            | ExprKind::Tuple { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Vector { .. }
            | ExprKind::Some(_)
            | ExprKind::None(_)
            | ExprKind::Block(_)
            | ExprKind::Unsafe(_)
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_) => true,
            _ => false,
        }
    }

    /// Returns the number of elements of an array or a vector that the run declares, if the text gives it.
    fn length(&self, local: LocalId) -> Option<u64> {
        match &self.values.init(local)?.kind {
            ExprKind::Array { elements, .. } => u64::try_from(elements.len()).ok(),
            ExprKind::Repeat { length, .. } => length.to_string().parse().ok(),
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => {
                self.values.lower.function.values[usize::from(lanes.0)].literal
            }
            _ => None,
        }
    }
}

/// Returns the variable of a loop over numbers of the text, and their end.
fn end(expr: &Expr) -> Option<(LocalId, u64)> {
    let ExprKind::For { local: Some(local), range, .. } = &expr.kind else { return None };
    let end = range.end.integer()?.checked_add(u64::from(range.inclusive))?;
    range.is_never_empty().then_some((*local, end))
}
