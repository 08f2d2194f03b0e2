//! Accesses whose index no test before a loop knows, because it comes from memory: `x[columns[e]]`. An exit at each of them
//! keeps the loads of a loop one behind the other. Where it cannot be observed, the loop goes on with another element in place
//! of the one that is out of bounds, and notes it; after the loop, the loop with checks runs again, and reports the access.
//!
//! It cannot be observed, and the second run finds the same access, if the loop only loads, computes and stores, if nothing else
//! in it fails, and if its indexes and the conditions before accesses depend on nothing that the loop writes (`is_repeatable`).
//! Stores are made only while all accesses were within bounds, and not again in the second run.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::Lower;
use super::access::{Access, AccessForm, Region, may_fail, row};
use super::constant_loops::is_constant;
use super::counter::Counter;
use super::nest::{Form, Nest};
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::expr::{Condition, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::Memory;
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};
use crate::model::{LocalId, SiteId};

/// The accesses of a loop that are reported after it.
pub(super) struct Deferred<'e> {
    pub(super) accesses: Vec<Access<'e>>,
    /// Whether the loop writes memory.
    pub(super) stores: bool,
}

/// The variables of a loop that reports accesses after its end.
pub(super) struct Reported {
    /// Whether an access was out of bounds.
    pub(super) outside: String,
    /// Whether the loop without checks ran, if it stores to memory.
    pub(super) tested: Option<String>,
}

impl Lower<'_> {
    /// Lowers accesses as those of a loop that reports them after its end, from here on.
    pub(super) fn defer(&mut self, deferred: &Deferred<'_>, test: CuExpr) -> Reported {
        let tested = deferred.stores.then(|| self.names.fresh("tested"));
        let test = match &tested {
            Some(tested) => {
                let ty = vec!["const bool".into()];
                self.out.push(CuStmt::Declare { ty, name: tested.clone(), init: Some(test) });
                CuExpr::name(tested)
            }
            None => test,
        };
        let outside = self.names.fresh("outside");
        self.out.push(CuStmt::Declare { ty: vec!["unsigned".into()], name: outside.clone(), init: Some(test.not()) });
        self.store_guard = Some(CuExpr::name(&outside).not());
        let accesses = deferred.accesses.iter().map(|access| access.site);
        self.deferred = accesses.map(|site| (site, outside.clone())).collect();
        Reported { outside, tested }
    }

    /// Lowers from here on the loop that reports them. What ran before has made its stores.
    pub(super) fn end_deferral(&mut self, reported: &Reported) {
        self.deferred.clear();
        self.store_guard = reported.tested.as_ref().map(|tested| CuExpr::name(tested).not());
    }
}

/// Returns the accesses that the loop reports after its end, which are those that neither the test before it nor the compiler
/// of CUDA C++ knows to be within bounds; or nothing, if the loop has none, or if that could be observed.
pub(super) fn deferred<'e>(
    region: &impl Region,
    nest: &Nest<'e>,
    is_known: impl Fn(&'e Expr, SiteId) -> bool,
) -> Option<Deferred<'e>> {
    if nest.form != Form::Twice || !nest.callees.is_empty() {
        return None;
    }
    let (body, counter) = if let ExprKind::For { body, .. } = &nest.whole.kind {
        (body, nest.variable.filter(|local| region.lower().function.local(*local).mutable.is_none()))
    } else if let ExprKind::While { body, .. } = &nest.whole.kind {
        // The second run begins with the counter's first value.
        (body, Some(counter(nest.whole)?))
    } else {
        return None;
    };
    let mut scan = Scan { region, nest, counter, stores: false, is_deferrable: true };
    walk_block(body, &mut |expr| scan.expr(expr));
    let mut accesses = Vec::new();
    for (_, expr) in &nest.accesses {
        let access = Access::of(expr)?;
        if !scan.is_repeatable(access.index) {
            return None;
        }
        if is_known(expr, access.site) {
            continue;
        }
        // What keeps its check would fail before an access that is reported later.
        let is_named = matches!(access.memory.kind, ExprKind::Local(_));
        let is_whole = is_named && row(access.memory).is_none() && region.memory(access.memory).is_some();
        if !is_whole || !matches!(access.form, AccessForm::Element | AccessForm::LoadVec(_)) {
            return None;
        }
        accesses.push(access);
    }
    // A branch stands before the others anyway.
    let is_worthwhile = accesses.iter().any(|access| !nest.conditional.contains_key(&access.site));
    (scan.is_deferrable && is_worthwhile).then_some(Deferred { accesses, stores: scan.stores })
}

/// Returns the variable that counts the iterations of a `while` loop, which nothing else ends.
pub(super) fn counter(whole: &Expr) -> Option<LocalId> {
    Counter::of(whole).filter(Counter::is_only_condition).map(|counter| counter.local)
}

struct Scan<'r, 'n, 'e, R> {
    region: &'r R,
    nest: &'n Nest<'e>,
    /// The variable that has its values again in the second run.
    counter: Option<LocalId>,
    stores: bool,
    is_deferrable: bool,
}

impl<'e, R: Region> Scan<'_, '_, 'e, R> {
    /// Looks at an expression, apart from its operands.
    fn expr(&mut self, expr: &'e Expr) {
        self.is_deferrable &= match &expr.kind {
            // The place is found before it is known whether to store.
            ExprKind::Assign(place, _) => {
                self.stores |= place.memory().is_some();
                true
            }
            ExprKind::AssignOp { op, place, value, function, .. } => {
                self.stores |= place.memory().is_some();
                function.is_none() && !self.region.lower().may_fail(*op, place, value)
            }
            ExprKind::Binary { op, left, right, .. } => {
                let guards = op.short_circuits() && has_access(right);
                !self.region.lower().may_fail(*op, left, right) && (!guards || self.is_repeatable(left))
            }
            // A local array has no other check than the compiler's of a constant.
            ExprKind::Index { base, index, .. } => base.memory().is_some() || self.is_counted(index),
            // What it indexes has a known length, and is no memory.
            ExprKind::For { range, body, .. } => {
                let mut accesses = false;
                walk_block(body, &mut |inner| accesses |= is_access(inner));
                !accesses
                    && range.adaptors.is_empty()
                    && is_constant(&range.start, &BTreeSet::new())
                    && is_constant(&range.end, &BTreeSet::new())
            }
            ExprKind::Op { op, .. } => match Access::of(expr) {
                // It keeps its check.
                Some(Access { form: AccessForm::From, .. }) => false,
                Some(access) => {
                    self.stores |= matches!(access.form, AccessForm::StoreVec(_));
                    true
                }
                None => !op.facts().fails && op.facts().effect != Effect::Changes && !matches!(op, Op::LoadUnchecked),
            },
            ExprKind::If { condition, then, otherwise, .. } => {
                let mut guards = otherwise.as_ref().is_some_and(|otherwise| has_access(otherwise));
                walk_block(then, &mut |inner| guards |= is_access(inner));
                !guards || self.is_repeatable_condition(condition)
            }
            ExprKind::Match { scrutinee, arms, .. } => {
                let guards = arms.iter().any(|arm| has_access(&arm.body) || arm.guard.is_some());
                !guards || (self.is_repeatable(scrutinee) && arms.iter().all(|arm| arm.guard.is_none()))
            }
            ExprKind::Method { method, .. } => method.fails.is_none(),
            ExprKind::ScalarCall { site, .. } => site.is_none(),
            ExprKind::Intrinsic { function, .. } => function.is_pure(),
            ExprKind::CallClosure { closure, .. } => self.region.lower().is_pure(*closure),
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Axis(..)
            | ExprKind::Field { .. }
            | ExprKind::Array { .. }
            | ExprKind::Repeat { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Tuple { .. }
            | ExprKind::Some(_)
            | ExprKind::None(_)
            | ExprKind::Vector { .. }
            | ExprKind::Operator(..)
            | ExprKind::Block(_) => true,
            ExprKind::Error
            | ExprKind::UncheckedPlace { .. }
            | ExprKind::Deref(_)
            | ExprKind::Borrow { .. }
            | ExprKind::Call { .. }
            | ExprKind::Closure { .. }
            | ExprKind::Unsafe(_)
            | ExprKind::Labelled { .. }
            | ExprKind::Loop { .. }
            | ExprKind::While { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { .. }
            | ExprKind::Cuda(_)
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_) => false,
        };
    }

    /// Whether an index is a literal, or the variable of a loop from a literal to a literal.
    fn is_counted(&self, index: &Expr) -> bool {
        if let ExprKind::Local(local) = index.kind {
            return self.nest.loops.contains_key(&local);
        }
        index.integer().is_some()
    }

    fn is_repeatable_condition(&self, condition: &Condition) -> bool {
        condition.parts().iter().all(|part| match part {
            Condition::Value(value) => self.is_repeatable(value),
            Condition::Let { .. } | Condition::All(_) => false,
        })
    }

    /// Whether an expression has the same value when the iteration runs again: it is computed of what the loop does not
    /// change, of its variable, and of memory that no thread writes.
    fn is_repeatable(&self, expr: &Expr) -> bool {
        let mut repeats = true;
        walk(expr, &mut |inner| repeats &= self.repeats(inner));
        repeats
    }

    fn repeats(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(local) => {
                let is_assigned = self.region.lower().function.local(*local).mutable.is_some();
                let init = self.nest.lets.get(local).map(|(_, init)| *init);
                self.region.keeps(*local)
                    || Some(*local) == self.counter
                    || !is_assigned && init.is_some_and(|init| self.is_repeatable(init))
            }
            ExprKind::Index { base, index, .. } => match base.memory() {
                Some(memory) => is_readonly(memory) && matches!(base.kind, ExprKind::Local(_)),
                None => index.integer().is_some(),
            },
            ExprKind::Op { op: Op::LoadVec(_), operands, .. } => {
                operands.first().is_some_and(|memory| matches!(memory.kind, ExprKind::Local(_)))
                    && operands.first().and_then(Expr::memory).is_some_and(is_readonly)
            }
            ExprKind::Op { op, .. } => op.facts().effect == Effect::Pure && !op.facts().fails,
            ExprKind::Binary { op, right, .. } => !may_fail(*op, right),
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Axis(..)
            | ExprKind::Field { .. } => true,
            ExprKind::Method { method, .. } => method.fails.is_none(),
            ExprKind::Error
            | ExprKind::UncheckedPlace { .. }
            | ExprKind::Deref(_)
            | ExprKind::Borrow { .. }
            | ExprKind::Array { .. }
            | ExprKind::Repeat { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Tuple { .. }
            | ExprKind::Some(_)
            | ExprKind::None(_)
            | ExprKind::Vector { .. }
            | ExprKind::ScalarCall { .. }
            | ExprKind::Intrinsic { .. }
            | ExprKind::Operator(..)
            | ExprKind::Call { .. }
            | ExprKind::CallClosure { .. }
            | ExprKind::Closure { .. }
            | ExprKind::Block(_)
            | ExprKind::Unsafe(_)
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Labelled { .. }
            | ExprKind::Loop { .. }
            | ExprKind::While { .. }
            | ExprKind::For { .. }
            | ExprKind::Assign(..)
            | ExprKind::AssignOp { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { .. }
            | ExprKind::Cuda(_)
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_) => false,
        }
    }
}

/// Whether no thread writes the memory while a kernel runs.
fn is_readonly(memory: Memory) -> bool {
    match memory {
        Memory::Global => true,
        Memory::GlobalMut | Memory::SharedArray | Memory::SharedSlice | Memory::RemoteArray | Memory::RemoteSlice => {
            false
        }
    }
}

fn has_access(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= is_access(inner));
    found
}

fn is_access(expr: &Expr) -> bool {
    Access::of(expr).is_some_and(|access| access.memory.memory().is_some())
}
