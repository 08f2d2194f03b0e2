//! Place expressions of a thread's own data: variables, the targets of references, and their parts. A method that is
//! called on such a place gets the place itself in both texts; any other receiver is copied.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{Expr, ExprKind};
use super::inline_cuda::Direction;
use super::kind::Kind;
use super::walk::{walk, walk_block};
use super::{Function, LocalId};

/// Returns the variable that a place expression is, or is a part of; `None` for any other expression.
pub(crate) fn local_of(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Deref(base) | ExprKind::Field { base, .. } => local_of(base),
        ExprKind::Index { base, .. } if !matches!(base.result_kind, Kind::Memory(_)) => local_of(base),
        _ => None,
    }
}

/// Whether an expression is a place of any kind: a variable, a constant, an element of memory, or a part of one.
pub(crate) fn is_place(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Local(_)
            | ExprKind::Constant(_)
            | ExprKind::Deref(_)
            | ExprKind::Field { .. }
            | ExprKind::Index { .. }
            | ExprKind::UncheckedPlace { .. }
    )
}

/// Whether `expr` names the variable.
pub(crate) fn reads(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= matches!(inner.kind, ExprKind::Local(other) if other == local));
    found
}

/// Whether `expr` may write the variable: it assigns to it, or borrows it mutably.
pub(crate) fn may_write(expr: &Expr, local: LocalId) -> bool {
    writes(expr, local) > 0
}

/// Returns the number of places in `expr` that may write the variable.
pub(crate) fn writes(expr: &Expr, local: LocalId) -> usize {
    let mut count = 0;
    walk(expr, &mut |inner| count += usize::from(writes_itself(inner, local)));
    count
}

/// Whether `expr` itself, apart from its parts, may write the variable.
pub(crate) fn writes_itself(expr: &Expr, local: LocalId) -> bool {
    match &expr.kind {
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => local_of(place) == Some(local),
        ExprKind::Borrow { mutable: true, target } => local_of(target) == Some(local),
        ExprKind::Cuda(inline_cuda) => {
            let mut written = inline_cuda.operands.iter().filter(|operand| operand.direction != Direction::In);
            written.any(|operand| local_of(&operand.value) == Some(local))
        }
        _ => false,
    }
}

/// Returns the variables that are borrowed mutably for longer than a call.
pub(crate) fn borrowed(function: &Function) -> BTreeSet<LocalId> {
    let mut borrows: BTreeMap<LocalId, isize> = BTreeMap::new();
    let mut count = |expr: &Expr, by| {
        if let ExprKind::Borrow { mutable: true, target } = &expr.kind
            && let Some(local) = local_of(target)
        {
            *borrows.entry(local).or_default() += by;
        }
    };
    walk_block(&function.body, &mut |expr| {
        count(expr, 1);
        if let ExprKind::Call { arguments, .. } = &expr.kind {
            arguments.iter().for_each(|argument| count(argument, -1));
        }
    });
    borrows.into_iter().filter(|(_, count)| *count > 0).map(|(local, _)| local).collect()
}
