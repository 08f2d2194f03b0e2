//! Names that stand for something else: references to variables and to elements of memory, and names of memory, barriers and
//! groups that are assigned anew. A write through a reference is a write to what it refers to.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::{Builder, NodeId, Value};
use crate::check::cfg::{AccessKind, Extent, Region};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::place::local_of;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};
use crate::span::SpanRange;

/// What a local reference refers to.
#[derive(Debug, Clone)]
pub(super) enum Referent {
    /// A variable, or a part of one.
    Variable(LocalId),
    /// Memory.
    Memory(Region),
}

impl<'f> Builder<'f> {
    /// The place that a `&` or a `&mut` refers to. Nothing is read until the reference is.
    pub(super) fn borrow(&mut self, target: &'f Expr) -> Value {
        let is_element = target.memory().is_some() && matches!(target.result_kind, Kind::Value);
        if is_element { self.variable(target) } else { self.value(target).with(None) }
    }

    /// Records what a local reference refers to.
    pub(super) fn refer(&mut self, local: LocalId, init: &Expr, region: Option<Region>) {
        let target = if let ExprKind::Borrow { target, .. } = &init.kind { target } else { init };
        let referent = local_of(target).map(Referent::Variable).or(region.map(Referent::Memory));
        if let Some(referent) = referent {
            self.referents.insert(local, referent);
        }
    }

    /// The memory that a reference refers to.
    pub(super) fn memory_behind(&self, local: LocalId) -> Option<Region> {
        match self.referents.get(&local)? {
            Referent::Variable(target) => self.memory_behind(*target),
            Referent::Memory(region) => Some(region.clone()),
        }
    }

    /// A value was written to the target of a reference, or to a part of it.
    pub(super) fn write_behind(&mut self, local: LocalId, value: NodeId, at: SpanRange) {
        match self.referents.get(&local).cloned() {
            Some(Referent::Variable(target)) => {
                self.set_node(self.variable_of(target), value, Extent::Part, at);
                self.write_behind(target, value, at);
            }
            Some(Referent::Memory(region)) => self.access(region, AccessKind::Write, at),
            None => {}
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
