//! Names that stand for something else: references to variables, and names of memory, barriers and groups that are assigned
//! anew. A write through a reference is a write to the variable that it refers to.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::region_of_kind;
use super::{Builder, NodeId, Value};
use crate::check::cfg::{Extent, Root};
use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::model::place::local_of;
use crate::model::walk::{Node, block_nodes, walk_block};
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

/// The names of global memory that stand for `&[T]` parameters, or for parts of them, whatever is assigned to them.
pub(super) fn read_only(function: &Function) -> BTreeSet<LocalId> {
    let is_global = |local: LocalId| function.kind(local) == Kind::Memory(Memory::Global);
    let mut values: BTreeMap<LocalId, Vec<Option<LocalId>>> = BTreeMap::new();
    let mut note = |local: LocalId, value: &Expr| {
        if is_global(local) {
            values.entry(local).or_default().push(memory_of(value));
        }
    };
    block_nodes(&function.body, &mut |node| match node {
        Node::Statement(statement) => {
            if let StmtKind::Let { local, init: Some(init), .. } = &statement.kind {
                note(*local, init);
            }
        }
        Node::Expr(expr) => {
            if let ExprKind::Assign(place, value) = &expr.kind
                && let ExprKind::Local(local) = place.kind
            {
                note(local, value);
            }
        }
    });
    let params = function.params.iter().map(|param| param.local).filter(|local| is_global(*local));
    let mut all: BTreeSet<LocalId> = params.chain(values.keys().copied()).collect();
    loop {
        let is_other = |(local, values): (&LocalId, &Vec<Option<LocalId>>)| {
            let is_known = |value: &Option<LocalId>| value.is_some_and(|value| all.contains(&value));
            (all.contains(local) && !values.iter().all(is_known)).then_some(*local)
        };
        match values.iter().find_map(is_other) {
            Some(other) => all.remove(&other),
            None => return all,
        };
    }
}

/// Returns the name of the memory that an expression is, or is a part of.
fn memory_of(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Borrow { target, .. } => memory_of(target),
        ExprKind::Op { op: Op::Part { form, .. }, operands, .. } if *form != Part::Array => {
            memory_of(operands.first()?)
        }
        _ => None,
    }
}
