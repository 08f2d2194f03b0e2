//! Names that stand for something else: references to variables, and names of memory, barriers and groups that are assigned
//! anew. A write through a reference is a write to the variable that it refers to.

use std::collections::BTreeSet;

use super::{Builder, NodeId};
use crate::check::cfg::Extent;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::place::local_of;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};
use crate::span::SpanRange;

impl Builder<'_> {
    /// Records the variable that a local reference refers to. What is in memory is read where the reference is bound.
    pub(super) fn refer(&mut self, local: LocalId, init: &Expr) {
        let target = if let ExprKind::Borrow { target, .. } = &init.kind { target } else { init };
        if let Some(variable) = local_of(target) {
            self.referents.insert(local, variable);
        }
    }

    /// A value was written to the target of a reference, or to a part of it.
    pub(super) fn write_behind(&mut self, mut local: LocalId, value: NodeId, at: SpanRange) {
        while let Some(target) = self.referents.get(&local).copied() {
            self.set_node(self.variable_of(target), value, Extent::Part, at);
            local = target;
        }
    }
}

/// The names of memory, barriers and groups that do not always stand for the same.
pub(super) fn reassigned(function: &Function) -> BTreeSet<LocalId> {
    let mut reassigned = BTreeSet::new();
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Assign(place, _) = &expr.kind
            && let ExprKind::Local(local) = place.kind
            && let Kind::Memory(_) | Kind::Barrier(_) | Kind::Group(_) | Kind::OptionalMemory(_) = function.kind(local)
        {
            reassigned.insert(local);
        }
    });
    reassigned
}
