//! The variables that a statement of a loop's body changes by one step in each iteration, `x += step;`, or in some of them: in
//! `if keeps { kept[x] = value; x += 1; }`.

use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind, Stmt, StmtKind};

/// The step of a variable.
pub(super) struct Induction<'e> {
    /// The number of the statement in the loop's body.
    pub(super) statement: usize,
    pub(super) step: &'e Expr,
    /// Whether the step is subtracted.
    pub(super) is_decrease: bool,
    /// Whether it is made under a condition.
    pub(super) is_conditional: bool,
}

impl<'e> Induction<'e> {
    /// Returns the variables that a statement changes by a step, and the steps.
    pub(super) fn all_of(statement: &'e Stmt, number: usize) -> Vec<(LocalId, Induction<'e>)> {
        let mut found: Vec<_> = Induction::of(statement, number).into_iter().collect();
        if let StmtKind::Expr(expr) = &statement.kind {
            found.extend(Induction::under_conditions(expr, number));
        }
        found
    }

    /// Returns those of the arms of an `if`, but not those of loops in it.
    pub(super) fn under_conditions(expr: &'e Expr, number: usize) -> Vec<(LocalId, Induction<'e>)> {
        let of_arm = |arm: &'e Block| {
            let all = arm.statements.iter().flat_map(|statement| Induction::all_of(statement, number));
            let all = all.map(|(local, step)| (local, Induction { is_conditional: true, ..step }));
            let of_tail = arm.tail.iter().flat_map(|tail| Induction::under_conditions(tail, number));
            all.chain(of_tail).collect::<Vec<_>>()
        };
        if let ExprKind::If { then, otherwise, .. } = &expr.kind {
            let others = otherwise.iter().flat_map(|otherwise| Induction::under_conditions(otherwise, number));
            return of_arm(then).into_iter().chain(others).collect();
        }
        if let ExprKind::Block(block) = &expr.kind { of_arm(block) } else { Vec::new() }
    }

    /// Returns the variable that a statement changes by a step in each iteration, and the step.
    pub(super) fn of(statement: &'e Stmt, number: usize) -> Option<(LocalId, Induction<'e>)> {
        let StmtKind::Expr(expr) = &statement.kind else { return None };
        let (place, op, step) = match &expr.kind {
            ExprKind::AssignOp { op, place, value, function: None, .. } => (place, *op, &**value),
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
        Some((local(place)?, Induction { statement: number, step, is_decrease, is_conditional: false }))
    }
}

/// Returns the variable that an expression is.
pub(super) fn local(expr: &Expr) -> Option<LocalId> {
    match expr.kind {
        ExprKind::Local(local) => Some(local),
        _ => None,
    }
}
