//! Loops that only compute: they end after a number of iterations that the text gives, and nothing in them fails, waits, is seen by other
//! threads or the host, or leads out of them. So they are part of a run of statements (`straight`), whose accesses after such a loop are
//! tested before it, and no exit keeps the loads before the loop from being issued early:
//!
//! ```text
//! let bytes = text.load_vec::<16>(i);
//! for k in 0..16 { if bytes[k] == b'"' { quotes |= 1 << k; } }
//! out[i] = quotes;
//! ```
//!
//! Elements of local arrays and of vectors may be used where the loop's variable, or a literal, is within a length that the text gives. A
//! constant that has a name is the same number at both places.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use super::access::Region;
use super::bounded::lengths;
use super::constant_loops::is_constant;
use super::straight::Scan;
use crate::model::array_functions::maps_array;
use crate::model::effect::effect;
use crate::model::expr::{Callee, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::ty::TypeShape;
use crate::model::walk::walk;
use crate::model::{Function, LocalId};

/// A number that the text gives.
#[derive(Debug, PartialEq)]
pub(super) enum Number {
    Literal(u64),
    /// That of a constant, by its tokens.
    Named(String),
    /// At most the lengths of these local arrays.
    AtMost(BTreeSet<LocalId>),
}

impl Number {
    /// Whether all numbers below this one are below another.
    pub(super) fn is_at_most(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Literal(number), Number::Literal(other)) => number <= other,
            (Number::Named(name), Number::Named(other)) => name == other,
            (Number::Literal(_) | Number::Named(_) | Number::AtMost(_), _) => false,
        }
    }
}

impl Scan<'_, '_, '_> {
    /// Whether a loop only computes.
    pub(super) fn only_computes(&self, whole: &Expr) -> bool {
        let (mut computes, mut ends) = (true, Vec::new());
        walk(whole, &mut |expr| {
            computes &= self.computes(expr, &ends);
            ends.extend(self.end(expr));
        });
        computes
    }

    /// Whether a call makes an array of another one, by a closure that has no effect and cannot fail.
    pub(super) fn only_maps(&self, callee: &Callee, arguments: &[Expr]) -> bool {
        let lower = &self.values.lower;
        let is_pure = |argument: &Expr| match argument.kind {
            ExprKind::Local(local) => lower.is_pure(local),
            _ => is_pure_closure(lower.function, argument),
        };
        maps_array(callee) && arguments.last().is_some_and(is_pure)
    }

    /// Whether an expression of the loop does, apart from its operands. `ends` are those of the variables of the loops around it.
    fn computes(&self, expr: &Expr, ends: &[(LocalId, Number)]) -> bool {
        let lower = &self.values.lower;
        let end_of = |local: LocalId| ends.iter().find(|(variable, _)| *variable == local).map(|(_, end)| end);
        let is_variable = |place: &Expr| local_of(place).and_then(end_of).is_some();
        match &expr.kind {
            ExprKind::For { local, range, .. } => {
                let is_constant = is_constant(&range.end, &BTreeSet::new());
                let is_counted = range.adaptors.is_empty() && range.start.integer().is_some();
                is_counted && (is_constant && local.is_none() || self.end(expr).is_some())
            }
            ExprKind::Op { op: Op::Length, operands, .. } => operands.first().and_then(array_of).is_some(),
            ExprKind::Index { base, index, .. } => {
                let length = local_of(base).and_then(|local| self.length(local));
                let is_below = |end: &Number| match end {
                    Number::AtMost(arrays) => array_of(base).is_some_and(|array| arrays.contains(&array)),
                    Number::Literal(_) | Number::Named(_) => {
                        length.as_ref().is_some_and(|length| end.is_at_most(length))
                    }
                };
                let is_within = match &index.kind {
                    ExprKind::Local(local) => end_of(*local).is_some_and(is_below),
                    _ => index.integer().is_some_and(|index| is_below(&Number::Literal(index.saturating_add(1)))),
                };
                base.memory().is_none() && is_within
            }
            ExprKind::Binary { op, left, right, .. } => !lower.may_fail(*op, left, right),
            ExprKind::AssignOp { op, place, value, function, .. } => {
                function.is_none() && !is_variable(place) && !lower.may_fail(*op, place, value)
            }
            ExprKind::Op { op, .. } => !op.facts().fails && op.facts().effect == Effect::Pure,
            ExprKind::Method { method, .. } => method.fails.is_none(),
            ExprKind::ScalarCall { site, .. } => site.is_none(),
            ExprKind::Intrinsic { function, .. } => function.is_pure(),
            ExprKind::CallClosure { closure, .. } => lower.is_pure(*closure),
            ExprKind::Assign(place, _) => !is_variable(place),
            ExprKind::Borrow { target, .. } => !is_variable(target),
            ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Deref(_)
            | ExprKind::Field { .. }
            | ExprKind::Axis(..)
            | ExprKind::Array { .. }
            | ExprKind::Tuple { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Vector { .. }
            | ExprKind::Some(_)
            | ExprKind::None(_)
            | ExprKind::Block(_)
            | ExprKind::Unsafe(_)
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_) => true,
            _ => false,
        }
    }

    /// Returns the number of elements of an array or a vector, if its declaration gives it, or the initial value that it gets in the run.
    pub(super) fn length(&self, local: LocalId) -> Option<Number> {
        let function = self.values.lower.function;
        match function.local(local).ty.as_ref().map(|ty| &ty.shape) {
            Some(TypeShape::Array(_, length)) => Some(of_tokens(&function.values[usize::from(length.0)].tokens)),
            _ => self.length_of(self.values.init(local)?),
        }
    }

    fn length_of(&self, value: &Expr) -> Option<Number> {
        match &value.kind {
            ExprKind::Local(local) => self.length(*local),
            ExprKind::Call { callee, arguments, .. } if maps_array(callee) => self.length_of(arguments.first()?),
            ExprKind::Array { elements, .. } => u64::try_from(elements.len()).ok().map(Number::Literal),
            ExprKind::Repeat { length, .. } => Some(of_tokens(length)),
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => {
                Some(of_tokens(&self.values.lower.function.values[usize::from(lanes.0)].tokens))
            }
            _ => None,
        }
    }

    /// Returns the variable of a loop over numbers of the text, and their end.
    fn end(&self, expr: &Expr) -> Option<(LocalId, Number)> {
        let ExprKind::For { local: Some(local), range, .. } = &expr.kind else { return None };
        let end = match range.end.kind {
            ExprKind::Constant(value) if !range.inclusive => {
                Number::Named(self.values.lower.function.values[usize::from(value.0)].tokens.to_string())
            }
            _ => match range.end.integer() {
                Some(end) => Number::Literal(end.checked_add(u64::from(range.inclusive))?),
                None if range.inclusive => return None,
                None => {
                    let arrays = arrays_of(&range.end);
                    (!arrays.is_empty()).then_some(Number::AtMost(arrays))?
                }
            },
        };
        Some((*local, end))
    }
}

fn of_tokens(tokens: &TokenStream) -> Number {
    let tokens = tokens.to_string();
    tokens.parse().map_or(Number::Named(tokens), Number::Literal)
}

/// Returns the local arrays whose length a number is at most.
pub(super) fn arrays_of(number: &Expr) -> BTreeSet<LocalId> {
    let mut arrays = BTreeSet::new();
    lengths(number, &mut |of| arrays.extend(array_of(of)));
    arrays
}

/// Returns the local array that an expression is, maybe by a reference.
fn array_of(expr: &Expr) -> Option<LocalId> {
    let array = match &expr.kind {
        ExprKind::Deref(reference) => reference,
        _ => expr,
    };
    match array.kind {
        ExprKind::Local(local) if expr.memory().is_none() => Some(local),
        _ => None,
    }
}

/// Whether an expression is a closure that has no effect and cannot fail.
pub(super) fn is_pure_closure(function: &Function, closure: &Expr) -> bool {
    matches!(&closure.kind, ExprKind::Closure { body, .. } if effect(function, body) == Effect::Pure)
}
