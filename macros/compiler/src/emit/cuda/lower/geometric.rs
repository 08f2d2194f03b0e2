//! `while` loops whose variable is multiplied or divided by a constant in each iteration, as the stages of a sorting network, a transform or a
//! scan are: `while half < 1024 { ..; half *= 2; }`. The compiler of CUDA C++ unrolls only small ones. They have few iterations, in each of
//! which the variable is a constant, once they are unrolled: a division by it is a shift, and most indexes are known to be within bounds.

use std::collections::BTreeSet;

use super::constant_loops::{is_constant, size_by};
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind, StmtKind};
use crate::model::place::writes;
use crate::model::walk::{Node, block_nodes};
use crate::model::{Function, LocalId};

/// The number of iterations that such a loop is taken to have: the values of 10 bits and one more.
const ITERATIONS: u64 = 11;

/// How often the text of the assembler has the body of another loop inside whose length is not known.
const ROUNDS: u64 = 4;

/// The most expressions that the iterations of such a loop have together, with those of the loops inside.
const LARGEST: u64 = 6000;

/// Returns the variable of a loop that is to be unrolled. `outer` has the variables of unrolled loops around it.
pub(super) fn unrolled(function: &Function, whole: &Expr, outer: &BTreeSet<LocalId>) -> Option<LocalId> {
    let ExprKind::While { body, .. } = &whole.kind else { return None };
    let local = variable(whole, outer)?;
    let begins_constant = init(function, local).is_some_and(|init| is_constant(init, outer));
    (begins_constant && size(body)?.saturating_mul(ITERATIONS) <= LARGEST).then_some(local)
}

/// Returns the variable of a loop whose condition compares it with a constant, and whose last statement alone changes it.
fn variable(whole: &Expr, outer: &BTreeSet<LocalId>) -> Option<LocalId> {
    let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
    let Condition::Value(Expr { kind: ExprKind::Binary { op, left, right, .. }, .. }) = &**condition else {
        return None;
    };
    let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Ne);
    let (ExprKind::Local(local), true) = (&left.kind, compares && is_constant(right, outer)) else { return None };
    (scaled(body) == Some(*local) && writes(whole, *local) == 1).then_some(*local)
}

/// Returns the variable that the last statement of a body multiplies or divides by a constant: `x *= 2`, `x = x >> 1`.
fn scaled(body: &Block) -> Option<LocalId> {
    let StmtKind::Expr(last) = &body.statements.last().filter(|_| body.tail.is_none())?.kind else { return None };
    let (place, op, factor) = match &last.kind {
        ExprKind::AssignOp { op, place, value, .. } => (place, op, value),
        ExprKind::Assign(place, value) => match &value.kind {
            ExprKind::Binary { op, left, right, .. } if local(left).is_some() && local(left) == local(place) => {
                (place, op, right)
            }
            _ => return None,
        },
        _ => return None,
    };
    let scales = matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr);
    (scales && is_constant(factor, &BTreeSet::new())).then(|| local(place)).flatten()
}

/// Returns the value with which a variable is declared.
fn init(function: &Function, local: LocalId) -> Option<&Expr> {
    let mut found = None;
    block_nodes(&function.body, &mut |node| {
        if let Node::Statement(statement) = node
            && let StmtKind::Let { local: declared, init: Some(init), .. } = &statement.kind
            && *declared == local
        {
            found = Some(init);
        }
    });
    found
}

/// The number of expressions of a body with its loops unrolled. `None` if it calls a function, whose size is not known.
fn size(body: &Block) -> Option<u64> {
    size_by(body, |expr| match &expr.kind {
        ExprKind::For { range, .. } => Some(range.count().unwrap_or(ROUNDS)),
        ExprKind::While { body, .. } if scaled(body).is_some() => Some(ITERATIONS),
        ExprKind::While { .. } | ExprKind::Loop { .. } => Some(ROUNDS),
        ExprKind::Call { .. } => None,
        _ => Some(1),
    })
}

fn local(expr: &Expr) -> Option<LocalId> {
    if let ExprKind::Local(local) = expr.kind { Some(local) } else { None }
}
