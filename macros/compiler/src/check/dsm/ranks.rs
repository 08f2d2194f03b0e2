//! `rank_out_of_range`: ranks of peers that are literals. rustc checks constants, and a launch checks all others.

use std::collections::BTreeSet;

use crate::diag::Diags;
use crate::messages;
use crate::model::copy::{CopyOp, TensorCopy};
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::walk_block;
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

/// Whether only rustc can check the rank: it is a constant, or the size of the kernel's clusters is one.
fn is_left_to_rustc(function: &Function, rank: &Expr) -> bool {
    let constant = matches!(rank.kind, ExprKind::Constant(_));
    let of_literals = rank.integer().is_some() && blocks_of_cluster(function).is_none();
    function.role == Role::Kernel && function.options.cluster.is_some() && (constant || of_literals)
}

/// Returns the sites of the mappings whose ranks are left to rustc, of those at such places.
pub(in crate::check) fn left_to_rustc(function: &Function, at: impl Fn(SpanRange) -> bool) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    ranks(function, |rank, site| {
        if at(rank.span) && is_left_to_rustc(function, rank) {
            sites.extend(site);
        }
    });
    sites
}

/// Whether a rank at this place is left to rustc.
pub(in crate::check) fn is_left_at(function: &Function, at: SpanRange) -> bool {
    let position = |at: SpanRange| (at.line(), at.column());
    let mut is_left = false;
    ranks(function, |rank, _| {
        is_left |= position(rank.span) == position(at) && is_left_to_rustc(function, rank);
    });
    is_left
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
