//! `rank_out_of_range`: ranks of peers that are literals. rustc checks constants, and a launch checks all others.

use std::collections::BTreeSet;

use crate::diag::Diags;
use crate::messages;
use crate::model::copy::{CopyOp, TensorCopy};
use crate::model::expr::{BinaryOp, Condition, Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, Role, SiteId};
use crate::span::SpanRange;

/// The number of blocks in a cluster, if it is a literal.
pub(in crate::check) fn blocks_of_cluster(function: &Function) -> Option<u64> {
    function.options.cluster.as_ref().and_then(|extents| extents.count())
}

/// `rank_out_of_range`: a literal rank is less than the number of blocks in a cluster.
///
/// ```text
/// #[cluster_kernel(cluster = 2)] ... cluster.map_shared_rank(&array, 2)
/// ```
pub(super) fn check(function: &Function, diags: &mut Diags) {
    let Some(blocks) = blocks_of_cluster(function) else { return };
    ranks(function, |rank, _| {
        if let Some(number) = rank.integer()
            && number >= blocks
        {
            diags.push(messages::rank_out_of_range(rank.span, number, blocks));
        }
    });
    walk_block(&function.body, &mut |expr| {
        for rank in receivers(expr) {
            if let Some(number) = rank.integer()
                && number >= blocks
            {
                diags.push(messages::rank_out_of_range(rank.span, number, blocks));
            }
        }
    });
}

/// The ranks of the blocks that receive a multicast.
fn receivers(expr: &Expr) -> &[Expr] {
    let ExprKind::Op { op: Op::Copy(CopyOp::Tensor(TensorCopy::Multicast)), operands, .. } = &expr.kind else {
        return &[];
    };
    match operands.get(4).map(|ranks| &ranks.kind) {
        Some(ExprKind::Array { elements, .. }) => elements,
        Some(_) | None => &[],
    }
}

/// Whether only rustc can check the rank: it is made of constants, or the size of the kernel's clusters is one.
fn is_left_to_rustc(function: &Function, rank: &Expr) -> bool {
    let constant = is_of_constants(rank) && rank.integer().is_none();
    let of_literals = rank.integer().is_some() && blocks_of_cluster(function).is_none();
    function.role == Role::Kernel && function.options.cluster.is_some() && (constant || of_literals)
}

/// Whether a value is made of literals and constants by what gives the same number in a constant: sums, products and casts.
fn is_of_constants(value: &Expr) -> bool {
    let mut inner = value;
    while let ExprKind::Cast(of, _) = &inner.kind {
        inner = of;
    }
    if let ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right, .. } = &inner.kind {
        return is_of_constants(left) && is_of_constants(right);
    }
    matches!(inner.kind, ExprKind::Constant(_)) || inner.integer().is_some()
}

/// Returns the sites of the mappings whose ranks are left to rustc, of those at such places.
pub(in crate::check) fn left_to_rustc(function: &Function, at: impl Fn(SpanRange) -> bool) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    ranks(function, |rank, site| {
        if at(rank.span) && is_left_to_rustc(function, rank) {
            sites.extend(site);
        }
    });
    &sites - &decided_by_constants(function)
}

/// Returns the sites on arms of an `if` about which a constant decides, as about `if BLOCKS > 1 { .. }`: they need not be executed with its value.
fn decided_by_constants(function: &Function) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    walk_block(&function.body, &mut |expr| {
        let ExprKind::If { condition, then, otherwise, .. } = &expr.kind else { return };
        if !names_constant(condition) {
            return;
        }
        let mut note = |inner: &Expr| {
            if let ExprKind::Op { op: Op::MapSharedRank(_) | Op::MapBarrier(_), site, .. } = &inner.kind {
                sites.extend(*site);
            }
        };
        walk_block(then, &mut note);
        otherwise.iter().for_each(|otherwise| walk(otherwise, &mut note));
    });
    sites
}

fn names_constant(condition: &Condition) -> bool {
    match condition {
        Condition::Value(of) | Condition::Let { scrutinee: of, .. } => {
            let mut found = false;
            walk(of, &mut |expr| found |= matches!(expr.kind, ExprKind::Constant(_)));
            found
        }
        Condition::All(parts) => parts.iter().any(names_constant),
    }
}

/// Whether a rank at this place is left to rustc.
pub(in crate::check) fn is_left_at(function: &Function, at: SpanRange) -> bool {
    let position = |at: SpanRange| (at.line(), at.column());
    !left_to_rustc(function, |rank| position(rank) == position(at)).is_empty()
}

/// Calls `each` with the rank and the site of each mapping of a peer's memory or barrier.
fn ranks(function: &Function, mut each: impl FnMut(&Expr, Option<SiteId>)) {
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Op { op: Op::MapSharedRank(_) | Op::MapBarrier(_), operands, site, .. } = &expr.kind
            && let Some(rank) = operands.get(2)
        {
            each(rank, *site);
        }
    });
}
