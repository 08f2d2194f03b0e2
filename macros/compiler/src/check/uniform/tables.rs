//! Tables of which the threads of a warp read different elements at once. Constant memory answers them one after the other (CUDA C++
//! Programming Guide, Device Memory Accesses), so that such a table lies in global memory, as the runtime decides.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::values::Values;
use crate::check::cfg::{Cfg, Node, NodeId, Source};
use crate::model::expr::{Expr, ExprKind};
use crate::model::walk::walk_block;
use crate::model::{Function, ValueId};

/// Returns the constants that have an index which may differ between the threads of a warp.
pub(crate) fn scattered(function: &Function, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeSet<ValueId> {
    let mut scattered = BTreeSet::new();
    walk_block(&function.body, &mut |expr| {
        let ExprKind::Index { base, .. } = &expr.kind else { return };
        let Some(table) = table(base) else { return };
        let is_read = |(_, node): &(usize, &Node<'_>)| matches!(node.source, Source::Operands) && node.at.is(expr.span);
        let mut reads = cfg.nodes.iter().enumerate().filter(is_read);
        if reads.any(|(node, _)| !values.level(NodeId(node)).is_uniform(Uniformity::Warp)) {
            scattered.insert(table);
        }
    });
    scattered
}

/// Returns the constant of which an expression is a part.
fn table(expr: &Expr) -> Option<ValueId> {
    if let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &expr.kind {
        return table(base);
    }
    if let ExprKind::Constant(table) = expr.kind { Some(table) } else { None }
}
