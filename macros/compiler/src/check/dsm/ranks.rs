//! `rank_out_of_range`: the ranks of peers that the text shows.

use super::blocks_of_cluster;
use crate::diag::Diags;
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::walk_block;
use crate::model::{Function, Role};

/// `rank_out_of_range`, of literals. rustc is asked about constants, and what only the run knows fails there.
///
/// ```text
/// #[cluster_kernel(cluster = 2)] ... cluster.map_shared_rank(&array, 2)
/// ```
pub(super) fn check(function: &Function, diags: &mut Diags) {
    let Some(blocks) = blocks_of_cluster(function) else { return };
    ranks(function, |rank| {
        if let Some(number) = rank.integer()
            && number >= blocks
        {
            diags.push(messages::rank_out_of_range(rank.span, number, blocks));
        }
    });
}

/// A constant rank of a kernel whose attribute says how large its clusters are: rustc knows both.
pub(crate) fn is_rustc_s(function: &Function, rank: &Expr) -> bool {
    let constant = matches!(rank.kind, ExprKind::Constant(_));
    let of_literals = rank.integer().is_some() && blocks_of_cluster(function).is_none();
    function.role == Role::Kernel && function.options.cluster.is_some() && (constant || of_literals)
}

/// Whether there is such a rank: only rustc knows whether it is one of the cluster's.
pub(in crate::check) fn asks_rustc(function: &Function) -> bool {
    let mut asks = false;
    ranks(function, |rank| asks |= is_rustc_s(function, rank));
    asks
}

fn ranks(function: &Function, mut each: impl FnMut(&Expr)) {
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Op { op: Op::MapSharedRank(_) | Op::MapBarrier(_), operands, .. } = &expr.kind
            && let Some(rank) = operands.get(2)
        {
            each(rank);
        }
    });
}
