//! Names of elements of memory that are arrays, as `row` in `for row in rows.iter() { sum += row[i]; }`. Such a name refers to its element
//! instead of having a copy of it, which would lie in local memory where its elements are found by an index that is not known before the
//! launch. An element of memory is read where its name is bound: so nothing may change the memory where the name is in scope.

use std::collections::{BTreeMap, BTreeSet};

use super::computed::arrays_of;
use super::constant_loops::is_constant;
use crate::model::array_functions::makes_array;
use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::kind::Memory;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::walk::{Node, block_nodes, each_block, nodes, statement_nodes, walk_block};
use crate::model::{Function, LocalId, Role};

/// Returns the names that refer to elements of memory.
pub(super) fn views(function: &Function) -> BTreeSet<LocalId> {
    let (indexed, shared) = (indexed(function), shared_arrays(function));
    let mut views = BTreeSet::new();
    each_block(&function.body, &mut |block| {
        for (index, statement) in block.statements.iter().enumerate() {
            if let StmtKind::Let { local, init: Some(init), .. } = &statement.kind
                && let ExprKind::Borrow { mutable: false, target } = &init.kind
                && indexed.contains(local)
                && function.local(*local).mutable.is_none()
                && may_refer(function, &shared, target, (&block.statements[index + 1..], block.tail.as_deref()))
            {
                views.insert(*local);
            }
        }
    });
    views
}

/// Returns the variables of which an element is found by an index that is not known before the launch. That of a loop with a constant
/// number of iterations is, once the loop is unrolled.
fn indexed(function: &Function) -> BTreeSet<LocalId> {
    let (mut known, mut indexed) = (BTreeSet::new(), BTreeSet::new());
    walk_block(&function.body, &mut |expr| match &expr.kind {
        ExprKind::For { local: Some(variable), range, .. } => {
            let ends = |bound: &Expr| is_constant(bound, &known);
            if ends(&range.start) && (ends(&range.end) || !arrays_of(&range.end).is_empty()) {
                known.insert(*variable);
            }
        }
        ExprKind::Index { index, .. } if !is_constant(index, &known) => indexed.extend(local_of(expr)),
        _ => {}
    });
    indexed
}

/// Whether a name may refer to an element, because it is the same throughout these statements.
fn may_refer(
    function: &Function,
    shared: &BTreeMap<LocalId, LocalId>,
    element: &Expr,
    (scope, tail): (&[Stmt], Option<&Expr>),
) -> bool {
    let ExprKind::Index { base, .. } = &element.kind else { return false };
    // A device function may get a part of shared memory as a slice.
    let is_kernel = function.role == Role::Kernel;
    match base.memory() {
        Some(Memory::Global) if is_kernel => true,
        Some(memory @ (Memory::Global | Memory::GlobalMut | Memory::SharedArray | Memory::SharedSlice)) => {
            let array_of = |place: &Expr| name_of_memory(place).and_then(|name| shared.get(&name));
            let is_other = |place: &Expr| {
                let is_other_kind = memory_of(place).is_some_and(|other| is_shared(other) != is_shared(memory));
                let is_other_array =
                    || array_of(base).zip(array_of(place)).is_some_and(|(array, other)| array != other);
                is_kernel && is_other_kind || is_other_array()
            };
            let mut is_same = true;
            let mut look = |node: Node<'_>| {
                if let Node::Expr(expr) = node {
                    is_same &= !may_change(function, expr, is_other);
                }
            };
            scope.iter().for_each(|statement| statement_nodes(statement, &mut look));
            tail.iter().for_each(|tail| nodes(tail, &mut look));
            is_same
        }
        Some(Memory::RemoteArray | Memory::RemoteSlice) => false,
        None => is_of_constant(base),
    }
}

fn is_of_constant(array: &Expr) -> bool {
    match &array.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Index { base, .. } => is_of_constant(base),
        _ => false,
    }
}

fn is_shared(memory: Memory) -> bool {
    match memory {
        Memory::SharedArray | Memory::SharedSlice | Memory::RemoteArray | Memory::RemoteSlice => true,
        Memory::Global | Memory::GlobalMut => false,
    }
}

/// Returns the memory that an expression is, or that has the place.
fn memory_of(expr: &Expr) -> Option<Memory> {
    match &expr.kind {
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } | ExprKind::UncheckedPlace { base, .. } => {
            memory_of(base)
        }
        _ => expr.memory(),
    }
}

/// Returns the name of the memory that an expression is, or that has the place.
fn name_of_memory(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(name) if expr.memory().is_some() => Some(*name),
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } | ExprKind::UncheckedPlace { base, .. } => {
            name_of_memory(base)
        }
        _ => None,
    }
}

/// Returns the variables that name shared arrays of the function, each with the array's own variable.
fn shared_arrays(function: &Function) -> BTreeMap<LocalId, LocalId> {
    let mut arrays = BTreeMap::new();
    block_nodes(&function.body, &mut |node| {
        let Node::Statement(Stmt { kind: StmtKind::Let { local, init: Some(init), .. }, .. }) = node else { return };
        let named = match &init.kind {
            ExprKind::Op { op: Op::SharedArray(_), .. } => {
                arrays.insert(*local, *local);
                return;
            }
            ExprKind::Borrow { target, .. } => target,
            _ => init,
        };
        let array = match named.kind {
            ExprKind::Local(named) if function.local(*local).mutable.is_none() => arrays.get(&named).copied(),
            _ => None,
        };
        arrays.extend(array.map(|array| (*local, array)));
    });
    arrays
}

/// Whether an expression, apart from its operands, may change memory, or let other threads do so. `is_other` says what memory does not matter.
fn may_change(function: &Function, expr: &Expr, is_other: impl Fn(&Expr) -> bool) -> bool {
    match &expr.kind {
        // A mutable reference is one to what no other name reads.
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => memory_of(place).is_some() && !is_other(place),
        ExprKind::Op { op: Op::StoreVec, operands, .. } => !operands.first().is_some_and(is_other),
        ExprKind::Op { op, .. } => op.facts().effect == Effect::Changes,
        // Threads may meet in a function.
        ExprKind::Call { callee, .. } => !makes_array(callee),
        ExprKind::CallClosure { .. } | ExprKind::Cuda(_) => effect(function, expr) == Effect::Changes,
        _ => false,
    }
}
