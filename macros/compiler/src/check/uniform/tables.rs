//! Tables of which the threads of a warp read different elements at once. Constant memory answers them one after the other (CUDA C++
//! Programming Guide, Device Memory Accesses), so that such a table lies in global memory, or a copy of it in shared memory, as the
//! runtime decides.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::values::Values;
use crate::check::cfg::{Cfg, Node, NodeId, Source};
use crate::model::expr::{Expr, ExprKind};
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, Role, ValueId};

/// How often a thread reads an element of such a table, as far as the syntax shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scattered {
    /// Once at each place.
    Once,
    /// In a loop, or in a closure or a device function, which a loop may call.
    Often,
}

/// Returns the constants that have an index which may differ between the threads of a warp.
pub(crate) fn scattered(function: &Function, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> BTreeMap<ValueId, Scattered> {
    let mut found = BTreeMap::new();
    let mut add = |expr: &Expr, how_often: Scattered| {
        let Some(table) = table_read(expr) else { return };
        if found.get(&table) < Some(&how_often) && differs(expr, cfg, values) {
            found.insert(table, how_often);
        }
    };
    let of_function = if function.role == Role::Kernel { Scattered::Once } else { Scattered::Often };
    walk_block(&function.body, &mut |expr| {
        add(expr, of_function);
        match &expr.kind {
            ExprKind::Loop { body, .. } | ExprKind::While { body, .. } | ExprKind::For { body, .. } => {
                walk_block(body, &mut |inner| add(inner, Scattered::Often));
            }
            ExprKind::Closure { body, .. } => walk(body, &mut |inner| add(inner, Scattered::Often)),
            _ => {}
        }
    });
    found
}

/// Whether the index of an element may differ between the threads of a warp.
fn differs(expr: &Expr, cfg: &Cfg<'_>, values: &Values<'_, '_>) -> bool {
    let is_read = |(_, node): &(usize, &Node<'_>)| matches!(node.source, Source::Operands) && node.at.is(expr.span);
    let mut reads = cfg.nodes.iter().enumerate().filter(is_read);
    reads.any(|(node, _)| !values.level(NodeId(node)).is_uniform(Uniformity::Warp))
}

/// Returns the constant of which an expression is an element.
fn table_read(expr: &Expr) -> Option<ValueId> {
    match &expr.kind {
        ExprKind::Index { base, .. } => table(base),
        _ => None,
    }
}

/// Returns the constant of which an expression is a part.
fn table(expr: &Expr) -> Option<ValueId> {
    if let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &expr.kind {
        return table(base);
    }
    if let ExprKind::Constant(table) = expr.kind { Some(table) } else { None }
}
