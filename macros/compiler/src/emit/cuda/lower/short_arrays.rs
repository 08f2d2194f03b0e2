//! Loops over a part of a shared array, as `for w in 0..warp { sum += sums[w]; }` over what each warp has left. Its loads wait for the test
//! of the range, each in its turn. Where the array is short, the loop is made over all of its elements, with the body under the test whether
//! the range has them: the compiler of CUDA C++ unrolls it, and loads what it may not need by few wide loads (short_array.cuh).

use std::collections::BTreeSet;

use super::Lower;
use super::access::may_fail;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::expr::{Block, Condition, Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::range::Range;
use crate::model::walk::{walk, walk_block};
use crate::model::{LocalId, SiteId};

/// The largest body that is evaluated for each element of the array, in expressions as they are written.
const LARGEST_BODY: usize = 24;

impl Lower<'_> {
    /// Returns the shared array of which a loop reads the elements of its range. `is_within` says of an access whether it is known to be within
    /// bounds.
    pub(super) fn array_of_range(&self, whole: &Expr, is_within: impl Fn(SiteId) -> bool) -> Option<LocalId> {
        let ExprKind::For { local: Some(variable), range, body, .. } = &whole.kind else { return None };
        let Range { start, end, adaptors, inclusive } = &**range;
        let is_known = |bound: &Expr| matches!(bound.kind, ExprKind::Int { .. } | ExprKind::Constant(_));
        if is_known(start) && is_known(end) || *inclusive || !adaptors.is_empty() || !self.only_computes(body) {
            return None;
        }
        let conditional = conditional(body);
        let mut arrays = BTreeSet::new();
        walk_block(body, &mut |expr| {
            if let ExprKind::Index { base, index, site } = &expr.kind
                && let ExprKind::Local(array) = base.kind
                && matches!(self.function.kind(array), Kind::Memory(Memory::SharedArray))
                && is_variable(index, *variable)
                && is_within(*site)
                && !conditional.contains(site)
            {
                arrays.insert(array);
            }
        });
        arrays.pop_first()
    }

    /// Lowers a loop over the elements of an array that are in a range.
    pub(super) fn loop_over_array(&self, array: LocalId, steps: &str, name: String, body: Vec<CuStmt>) -> CuStmt {
        let steps = CuExpr::name(steps);
        let range = CuExpr::call("positions_of", vec![CuExpr::name(self.names.local(array)), steps.clone()]);
        let condition = CuExpr::call("is_in", vec![CuExpr::name(&name), steps]);
        let body = vec![CuStmt::If { condition, then: body, otherwise: Vec::new() }];
        CuStmt::For { unroll: None, name, used: true, range, body }
    }

    /// Whether a body is little, and changes nothing but variables.
    fn only_computes(&self, body: &Block) -> bool {
        let (mut size, mut is_plain) = (0, true);
        walk_block(body, &mut |expr| {
            size += 1;
            is_plain &= match &expr.kind {
                ExprKind::Int { .. }
                | ExprKind::Float { .. }
                | ExprKind::Bool(_)
                | ExprKind::Constant(_)
                | ExprKind::Local(_)
                | ExprKind::Unary(..)
                | ExprKind::Cast(..)
                | ExprKind::Typed(..)
                | ExprKind::Index { .. }
                | ExprKind::Field { .. }
                | ExprKind::Borrow { mutable: false, .. }
                | ExprKind::Deref(_)
                | ExprKind::Tuple { .. }
                | ExprKind::Block(_)
                | ExprKind::Call { .. }
                | ExprKind::CallClosure { .. } => true,
                ExprKind::Binary { op, right, .. } => !may_fail(*op, right),
                ExprKind::Method { method, .. } => method.fails.is_none(),
                ExprKind::If { condition, .. } => matches!(**condition, Condition::Value(_)),
                ExprKind::Assign(place, _) => matches!(place.kind, ExprKind::Local(_)),
                ExprKind::AssignOp { place, op, value, function: None, .. } => {
                    matches!(place.kind, ExprKind::Local(_)) && !may_fail(*op, value)
                }
                _ => false,
            };
        });
        is_plain && size <= LARGEST_BODY
    }
}

/// The accesses that need not happen in each iteration, so that the range may go beyond their memory.
pub(super) fn conditional(body: &Block) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    walk_block(body, &mut |expr| match &expr.kind {
        ExprKind::If { condition, .. } => {
            let first = match condition.parts().first() {
                Some(Condition::Value(value)) => Some(value),
                Some(Condition::Let { scrutinee, .. }) => Some(scrutinee),
                // The parser flattens nested conditions.
                Some(Condition::All(_)) | None => None,
            };
            sites.extend(beside(expr, first));
        }
        ExprKind::Match { scrutinee, .. } => sites.extend(beside(expr, Some(scrutinee))),
        ExprKind::Binary { op, left, .. } if op.short_circuits() => sites.extend(beside(expr, Some(left))),
        _ => {}
    });
    sites
}

/// The accesses of an expression beside those of its first part.
fn beside(expr: &Expr, first: Option<&Expr>) -> BTreeSet<SiteId> {
    let mut all = sites(expr);
    first.into_iter().flat_map(sites).for_each(|site| {
        all.remove(&site);
    });
    all
}

fn sites(expr: &Expr) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    walk(expr, &mut |inner| {
        if let ExprKind::Index { site, .. } = inner.kind {
            sites.insert(site);
        }
    });
    sites
}

fn is_variable(index: &Expr, variable: LocalId) -> bool {
    match &index.kind {
        ExprKind::Local(local) => *local == variable,
        ExprKind::Cast(inner, _) => is_variable(inner, variable),
        _ => false,
    }
}
