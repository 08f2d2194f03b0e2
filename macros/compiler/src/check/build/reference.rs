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

impl<'f> Builder<'f> {
    /// Records what a local stands for, if it is a group, memory or a closure.
    pub(super) fn name(&mut self, local: LocalId, init: &'f Expr, value: Value) {
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
    pub(super) fn refer(&mut self, local: LocalId, init: &'f Expr) {
        let target = if let ExprKind::Borrow { target, .. } = &init.kind { target } else { init };
        if let Some(variable) = local_of(target) {
            self.referents.insert(local, variable);
            if let ExprKind::Local(_) = target.kind {
                self.referred_wholes.insert(local);
            }
            // What computes an index once must not be taken to do so twice.
            let index = if let ExprKind::Index { base, index, .. } = &target.kind
                && is_computed_alike(index)
            {
                self.index_of_element(base, index)
            } else {
                None
            };
            match index {
                Some(index) => drop(self.referred_elements.insert(local, index)),
                None => drop(self.referred_elements.remove(&local)),
            }
        }
    }

    /// The local that a reference refers to as a whole, or the local itself.
    pub(super) fn whole_behind(&self, mut local: LocalId) -> LocalId {
        while let Some(target) = self.referents.get(&local).filter(|_| self.referred_wholes.contains(&local)) {
            local = *target;
        }
        local
    }

    /// Whether a reference refers to an element of an array whose elements are variables.
    pub(super) fn refers_to_element(&self, local: LocalId) -> bool {
        self.referred_elements.contains_key(&local)
    }

    /// A value was written to the target of a reference, or to a part of it.
    pub(super) fn write_behind(&mut self, mut local: LocalId, value: NodeId, at: SpanRange) {
        while let Some(target) = self.referents.get(&local).copied() {
            if let Some(index) = self.referred_elements.get(&local).copied()
                && self.replace_element(self.whole_behind(target), index, value, at)
            {
                // The references in between stand for the whole of it.
                let mut between = target;
                while between != self.whole_behind(target) {
                    self.set_node(self.variable_of(between), value, Extent::Part, at);
                    between = self.referents[&between];
                }
                return;
            }
            self.set_node(self.variable_of(target), value, Extent::Part, at);
            local = target;
        }
    }
}

/// Whether an expression does nothing but compute a value from locals and numbers.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else may do more")]
fn is_computed_alike(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_) | ExprKind::Int { .. } => true,
        ExprKind::Binary { op, left, right, .. } => {
            !op.short_circuits() && is_computed_alike(left) && is_computed_alike(right)
        }
        ExprKind::Cast(inner, _) => is_computed_alike(inner),
        _ => false,
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
    if let ExprKind::Local(local) = expr.kind {
        return Some(local);
    }
    if let ExprKind::Borrow { target, .. } = &expr.kind {
        return memory_of(target);
    }
    let ExprKind::Op { op: Op::Part { form, .. }, operands, .. } = &expr.kind else { return None };
    memory_of(operands.first().filter(|_| *form != Part::Array)?)
}
