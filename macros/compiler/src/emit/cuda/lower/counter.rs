//! The variable that counts the iterations of a `while` loop: `while i < end { ..; i += step; }`.

use super::induction::Induction;
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind};
use crate::model::place::writes;

/// A variable that grows by a step at the end of each iteration, as long as it is below a bound.
pub(super) struct Counter<'e> {
    pub(super) local: LocalId,
    pub(super) end: &'e Expr,
    /// Whether the bound belongs to the values.
    pub(super) inclusive: bool,
    pub(super) step: &'e Expr,
}

impl<'e> Counter<'e> {
    /// Returns the counter of a loop. Nothing else in the loop may write it.
    pub(super) fn of(whole: &'e Expr) -> Option<Counter<'e>> {
        let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
        let Condition::Value(condition) = &**condition else { return None };
        let ExprKind::Binary { op, left, right, .. } = &condition.kind else { return None };
        let (counted, end, inclusive) = match op {
            BinaryOp::Lt => (left, right, false),
            BinaryOp::Le => (left, right, true),
            BinaryOp::Gt => (right, left, false),
            BinaryOp::Ge => (right, left, true),
            _ => return None,
        };
        let ExprKind::Local(local) = counted.kind else { return None };
        let (changed, Induction { step, is_decrease, .. }) = last(body)?;
        (changed == local && !is_decrease && writes(whole, local) == 1).then_some(Counter {
            local,
            end,
            inclusive,
            step,
        })
    }
}

/// Returns the variable that the last statement of a body changes by a step, and the step.
fn last(body: &Block) -> Option<(LocalId, Induction<'_>)> {
    let number = body.statements.len().checked_sub(1)?;
    body.tail.is_none().then(|| Induction::of(&body.statements[number], number)).flatten()
}
