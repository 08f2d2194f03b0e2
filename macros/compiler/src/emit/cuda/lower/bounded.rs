//! Accesses that are within bounds by the range of their loop: `m[k]` for `k` in `0..m.len().min(n)`, as loops over `m.iter().take(n)` and
//! over `m.iter().zip(&other)` have them. Of a range that ends at the length itself, the compiler of CUDA C++ sees the same.

use std::collections::BTreeSet;

use super::induction::local;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, LocalId, SiteId};

/// Returns the accesses of a function that need no check.
pub(super) fn bounded(function: &Function) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    walk_block(&function.body, &mut |whole| {
        let ExprKind::For { local: Some(variable), range, .. } = &whole.kind else { return };
        let is_plain = range.adaptors.is_empty() && !range.inclusive && range.start.integer().is_some();
        if !is_plain || !matches!(range.end.kind, ExprKind::Method { .. }) || is_assigned(function, *variable) {
            return;
        }
        let mut memories = BTreeSet::new();
        lengths(&range.end, &mut |of| memories.extend(local(of)));
        memories.retain(|memory| !is_assigned(function, *memory));
        walk(whole, &mut |expr| {
            if let ExprKind::Index { base, index, site } = &expr.kind
                && let (ExprKind::Local(memory), ExprKind::Local(position)) = (&base.kind, &index.kind)
                && base.memory().is_some()
                && memories.contains(memory)
                && position == variable
            {
                sites.insert(*site);
            }
        });
    });
    sites
}

/// Visits the memory and the arrays whose length a number is at most.
pub(super) fn lengths(number: &Expr, visit: &mut impl FnMut(&Expr)) {
    match &number.kind {
        ExprKind::Op { op: Op::Length, operands, .. } => operands.iter().for_each(visit),
        ExprKind::Method { method, operands, .. } if method.name == "min" => {
            operands.iter().for_each(|operand| lengths(operand, visit));
        }
        _ => {}
    }
}

fn is_assigned(function: &Function, local: LocalId) -> bool {
    function.local(local).mutable.is_some()
}
