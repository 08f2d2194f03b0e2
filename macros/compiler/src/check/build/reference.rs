//! Names that stand for something else: references to variables, and names of memory, barriers and groups that are assigned
//! anew. A write through a reference is a write to the variable that it refers to.

use std::collections::BTreeSet;

use super::memory::region_of_kind;
use super::{Builder, NodeId, Value};
use crate::check::cfg::{Extent, Root};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::place::local_of;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};
use crate::span::SpanRange;

impl Builder<'_> {
    /// Records what a local stands for, if it is a group, memory or a closure.
    pub(super) fn name(&mut self, local: LocalId, init: &Expr, value: Value) {
        if self.is_thread_index(init) && self.function.local(local).mutable.is_none() {
            self.thread_indexes.insert(local);
        }
        if let Kind::Group(_) = init.result_kind {
            let team = self.team(init);
            self.teams.insert(local, team);
        }
        if let Kind::Memory(_) | Kind::Barrier(_) = init.result_kind {
            let region = value.region.unwrap_or_else(|| region_of_kind(init.result_kind));
            if let Root::Shared(shared) = region.root {
                self.names.entry(shared).or_insert(local);
            }
            self.stand_for(local, region, init.span);
        } else if let Kind::Reference { .. } = init.result_kind {
            self.refer(local, init);
        }
        if let Some(closure) = value.closure {
            self.named_closures.insert(local, closure);
        }
    }

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
