//! The variables that a statement of a loop's body changes by one step in each iteration: `x += step;`.

use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};

/// The step of a variable.
pub(super) struct Induction<'e> {
    /// The number of the statement in the loop's body.
    pub(super) statement: usize,
    pub(super) step: &'e Expr,
    /// Whether the step is subtracted.
    pub(super) is_decrease: bool,
}

impl<'e> Induction<'e> {
    /// Returns the variable that a statement changes by a step, and the step.
    pub(super) fn of(statement: &'e Stmt, number: usize) -> Option<(LocalId, Induction<'e>)> {
        let StmtKind::Expr(expr) = &statement.kind else { return None };
        let (place, op, step) = match &expr.kind {
            ExprKind::AssignOp { op, place, value, .. } => (place, *op, &**value),
            ExprKind::Assign(place, value) => {
                let ExprKind::Binary { op, left, right, .. } = &value.kind else { return None };
                let is_place = |side: &Expr| local(side).is_some() && local(side) == local(place);
                match (is_place(left), is_place(right), op) {
                    (true, false, BinaryOp::Add | BinaryOp::Sub) => (place, *op, &**right),
                    (false, true, BinaryOp::Add) => (place, *op, &**left),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let is_decrease = match op {
            BinaryOp::Add => false,
            BinaryOp::Sub => true,
            _ => return None,
        };
        Some((local(place)?, Induction { statement: number, step, is_decrease }))
    }
}

fn local(expr: &Expr) -> Option<LocalId> {
    match expr.kind {
        ExprKind::Local(local) => Some(local),
        _ => None,
    }
}
