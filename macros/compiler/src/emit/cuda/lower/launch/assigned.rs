//! All that is ever assigned to a variable that changes, for the checks that the host makes before a launch (`checks`): with `slot = (slot +
//! 1) & mask`, a slot is at most the mask wherever it is read, and two buffers that take turns have the length of either.

use std::collections::BTreeMap;

use crate::emit::cuda::lower::nest::parts;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, StmtKind};
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::place::{local_of, writes_itself};
use crate::model::walk::{Node, block_nodes, walk};
use crate::model::{Function, LocalId};

/// The most values of a variable that are looked at.
const MOST: usize = 4;

/// The values that are assigned to each variable, with the operator of `slot += 1`.
pub(super) type Assigned<'e> = BTreeMap<LocalId, Vec<(Option<BinaryOp>, &'e Expr)>>;

/// Returns the variables that change by assignments alone, with their initial values and all others, and the memory that has a name.
pub(super) fn assigned(function: &Function) -> Assigned<'_> {
    let mut found = Assigned::new();
    let mut assign = |place: &Expr, value| {
        if let ExprKind::Local(local) = place.kind {
            found.entry(local).or_default().push(value);
        }
    };
    let mut inits = Vec::new();
    block_nodes(&function.body, &mut |node| match node {
        Node::Statement(statement) => match &statement.kind {
            StmtKind::Let { local, init: Some(init), .. } => inits.push((*local, init)),
            StmtKind::LetPattern { pattern, init, .. } => inits.extend(parts(pattern, init)),
            _ => {}
        },
        Node::Expr(expr) => match &expr.kind {
            ExprKind::Assign(place, value) => assign(place, (None, &**value)),
            ExprKind::AssignOp { op, place, value, function: None, .. } => assign(place, (Some(*op), &**value)),
            _ => {}
        },
    });
    for (local, _) in inits.iter().filter(|(local, _)| matches!(function.kind(*local), Kind::Memory(_))) {
        found.entry(*local).or_default();
    }
    found.retain(|local, values| {
        let mut changes = 0;
        block_nodes(&function.body, &mut |node| {
            if let Node::Expr(expr) = node {
                changes += usize::from(is_change(expr, *local));
            }
        });
        let init = inits.iter().find(|(declared, _)| declared == local).map(|(_, init)| (None, *init));
        let is_known = changes == values.len() && init.is_some();
        values.extend(init);
        is_known && values.len() <= MOST
    });
    found
}

/// Whether an expression may change a variable.
pub(super) fn may_change(expr: &Expr, local: LocalId) -> bool {
    let mut changes = false;
    walk(expr, &mut |inner| changes |= is_change(inner, local));
    changes
}

/// Whether an expression itself, apart from its parts, may change a variable: a method may take its receiver by `&mut`.
fn is_change(expr: &Expr, local: LocalId) -> bool {
    let receiver = match &expr.kind {
        ExprKind::Call { callee: Callee::Method(..), arguments, .. } => arguments.first(),
        ExprKind::Op { op: Op::Take, operands, .. } => operands.first(),
        _ => None,
    };
    writes_itself(expr, local) || receiver.is_some_and(|receiver| local_of(receiver) == Some(local))
}
