//! Names of elements of memory that are arrays, as `row` in `for row in rows.iter() { sum += row[i]; }`. Such a name refers to its element
//! instead of having a copy of it, which would lie in local memory where its elements are found by an index that is not known before the
//! launch. An element of memory is read where its name is bound: so nothing may change the memory where the name is in scope.

use std::collections::BTreeSet;

use super::computed::{arrays_of, makes_array};
use super::constant_loops::is_constant;
use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::kind::Memory;
use crate::model::place::local_of;
use crate::model::walk::{Node, each_block, nodes, statement_nodes, walk_block};
use crate::model::{Function, LocalId, Role};

/// Returns the names that refer to elements of memory.
pub(super) fn views(function: &Function) -> BTreeSet<LocalId> {
    let indexed = indexed(function);
    // A device function may get a part of shared memory.
    let is_read_only = function.role == Role::Kernel;
    let mut views = BTreeSet::new();
    each_block(&function.body, &mut |block| {
        for (index, statement) in block.statements.iter().enumerate() {
            if let StmtKind::Let { local, init: Some(init), .. } = &statement.kind
                && let ExprKind::Borrow { mutable: false, target } = &init.kind
                && indexed.contains(local)
                && function.local(*local).mutable.is_none()
                && may_refer(function, is_read_only, target, &block.statements[index + 1..], block.tail.as_deref())
            {
                views.insert(*local);
            }
        }
    });
    views
}

/// Returns the variables of which an element is found by an index that is not known before the launch. That of a loop with a constant
/// number of iterations is, once the loop is unrolled.
fn indexed(function: &Function) -> BTreeSet<LocalId> {
    let (mut known, mut indexed) = (BTreeSet::new(), BTreeSet::new());
    walk_block(&function.body, &mut |expr| match &expr.kind {
        ExprKind::For { local: Some(variable), range, .. } => {
            let ends = |bound: &Expr| is_constant(bound, &known);
            if ends(&range.start) && (ends(&range.end) || !arrays_of(&range.end).is_empty()) {
                known.insert(*variable);
            }
        }
        ExprKind::Index { index, .. } if !is_constant(index, &known) => indexed.extend(local_of(expr)),
        _ => {}
    });
    indexed
}

/// Whether a name may refer to an element, because it is the same throughout these statements.
fn may_refer(function: &Function, is_read_only: bool, element: &Expr, scope: &[Stmt], tail: Option<&Expr>) -> bool {
    let ExprKind::Index { base, .. } = &element.kind else { return false };
    match base.memory() {
        Some(Memory::Global) if is_read_only => true,
        Some(Memory::Global | Memory::GlobalMut | Memory::SharedArray | Memory::SharedSlice) => {
            let mut is_same = true;
            let mut look = |node: Node<'_>| {
                if let Node::Expr(expr) = node {
                    is_same &= !may_change(function, expr);
                }
            };
            scope.iter().for_each(|statement| statement_nodes(statement, &mut look));
            tail.iter().for_each(|tail| nodes(tail, &mut look));
            is_same
        }
        Some(Memory::RemoteArray | Memory::RemoteSlice) => false,
        None => is_of_constant(base),
    }
}

fn is_of_constant(array: &Expr) -> bool {
    match &array.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Index { base, .. } => is_of_constant(base),
        _ => false,
    }
}

/// Whether an expression, apart from its operands, may change memory, or let other threads do so.
fn may_change(function: &Function, expr: &Expr) -> bool {
    match &expr.kind {
        // A mutable reference is one to what no other name reads.
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => place.memory().is_some(),
        ExprKind::Op { op, .. } => op.facts().effect == Effect::Changes,
        // Threads may meet in a function.
        ExprKind::Call { callee, .. } => !makes_array(callee),
        ExprKind::CallClosure { .. } | ExprKind::Cuda(_) => effect(function, expr) == Effect::Changes,
        _ => false,
    }
}
