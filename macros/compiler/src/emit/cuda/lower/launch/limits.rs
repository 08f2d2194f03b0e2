//! The comparisons that the conditions around an expression show to hold of its parts in all threads (`terms`): behind `if x < width`, `x` is less than `width`.
//! A condition of variables that change holds until one of them may have changed.

use std::collections::BTreeSet;

use crate::emit::cuda::at_launch::Comparison;
use crate::emit::cuda::lower::closures::Conditions;
use crate::model::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::ty::TypeShape;
use crate::model::walk::walk;
use crate::model::{Function, LocalId, Role};

/// A comparison that holds.
pub(super) struct Limit<'e> {
    pub(super) subject: &'e Expr,
    pub(super) comparison: Comparison,
    pub(super) bound: &'e Expr,
    /// The variables in it that may change.
    pub(super) changing: BTreeSet<LocalId>,
}

/// Returns what a condition says if it has this value. `named` returns the value of a name that never changes.
pub(super) fn limits<'e>(
    condition: &'e Expr,
    holds: bool,
    function: &Function,
    conditions: &'e Conditions,
    named: &impl Fn(LocalId) -> Option<&'e Expr>,
) -> Vec<Limit<'e>> {
    let of = |condition, holds| limits(condition, holds, function, conditions, named);
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => of(inner, !holds),
        ExprKind::Local(local) => named(*local).map_or_else(Vec::new, |value| of(value, holds)),
        ExprKind::CallClosure { site, .. } => {
            conditions.get(site).map_or_else(Vec::new, |condition| of(condition, holds))
        }
        ExprKind::Typed(inner, _) => of(inner, holds),
        ExprKind::Binary { op: BinaryOp::And, left, right, .. } if holds => {
            of(left, holds).into_iter().chain(of(right, holds)).collect()
        }
        ExprKind::Binary { op: BinaryOp::Or, left, right, .. } if !holds => {
            of(left, holds).into_iter().chain(of(right, holds)).collect()
        }
        ExprKind::Binary { op, left, right, .. } => {
            comparison(*op, holds).map_or_else(Vec::new, |comparison| between(left, comparison, right, function))
        }
        _ => Vec::new(),
    }
}

/// Returns what a comparison says of either side.
pub(super) fn between<'e>(
    left: &'e Expr,
    comparison: Comparison,
    right: &'e Expr,
    function: &Function,
) -> Vec<Limit<'e>> {
    let mut changing = BTreeSet::new();
    for side in [left, right] {
        if !is_repeatable(side, function) {
            return Vec::new();
        }
        walk(side, &mut |inner| {
            if let ExprKind::Local(local) = inner.kind {
                changing.extend(function.local(local).mutable.map(|_| local));
            }
        });
    }
    let one = Limit { subject: left, comparison, bound: right, changing: changing.clone() };
    let other = Limit { subject: right, comparison: comparison.mirrored(), bound: left, changing };
    [one, other].into_iter().filter(|limit| !is_number(limit.subject, function)).collect()
}

/// Returns the comparison that an operator of this value says.
pub(super) fn comparison(op: BinaryOp, holds: bool) -> Option<Comparison> {
    match (op, holds) {
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => Some(Comparison::Less),
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => Some(Comparison::LessOrEqual),
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => Some(Comparison::Greater),
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => Some(Comparison::GreaterOrEqual),
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => Some(Comparison::Equal),
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => Some(Comparison::NotEqual),
        _ => None,
    }
}

/// Whether an expression is one number in each launch, of which nothing has to be said: a literal, a constant, a parameter of a kernel, or a length.
pub(super) fn is_number(expr: &Expr, function: &Function) -> bool {
    match &expr.kind {
        ExprKind::Typed(inner, _) | ExprKind::Cast(inner, _) => is_number(inner, function),
        ExprKind::Local(local) => {
            function.role == Role::Kernel && function.params.iter().any(|param| param.local == *local)
        }
        ExprKind::Binary { left, right, .. } => is_number(left, function) && is_number(right, function),
        ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Constant(_) | ExprKind::Op { op: Op::Length, .. } => {
            true
        }
        _ => false,
    }
}

/// Whether an expression has the same value wherever its variables have theirs.
fn is_repeatable(expr: &Expr, function: &Function) -> bool {
    let mut is_repeatable = true;
    walk(expr, &mut |inner| {
        is_repeatable &= match inner.kind {
            ExprKind::Local(local) => !matches!(function.kind(local), Kind::Reference { mutable: true }),
            _ => is_arithmetic(inner),
        };
    });
    is_repeatable
}

/// Whether an expression depends on nothing but its operands and the launch, apart from them.
fn is_arithmetic(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Constant(_)
            | ExprKind::Deref(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary { .. }
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Axis(..)
            | ExprKind::Field { .. }
            | ExprKind::Method { .. }
            | ExprKind::Op { op: Op::Query(..) | Op::Length, .. }
    )
}

/// Whether two expressions that are repeatable are the same.
pub(super) fn is_same(one: &Expr, other: &Expr) -> bool {
    let all = |one: &[Expr], other: &[Expr]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
    };
    match (&one.kind, &other.kind) {
        (ExprKind::Typed(one, _), _) => is_same(one, other),
        (_, ExprKind::Typed(other, _)) => is_same(one, other),
        (ExprKind::Int { digits: one, .. }, ExprKind::Int { digits: other, .. })
        | (ExprKind::Float { digits: one, .. }, ExprKind::Float { digits: other, .. }) => one == other,
        (ExprKind::Deref(one), ExprKind::Deref(other)) => is_same(one, other),
        (ExprKind::Local(one), ExprKind::Local(other)) => one == other,
        (ExprKind::Constant(one), ExprKind::Constant(other)) => one == other,
        (ExprKind::Unary(op, one), ExprKind::Unary(other_op, other)) => op == other_op && is_same(one, other),
        (
            ExprKind::Binary { op, left, right, .. },
            ExprKind::Binary { op: other_op, left: other_left, right: other_right, .. },
        ) => op == other_op && is_same(left, other_left) && is_same(right, other_right),
        (ExprKind::Cast(one, ty), ExprKind::Cast(other, other_ty)) => {
            let names =
                [ty, other_ty].map(|ty| if let TypeShape::Scalar(name, _) = ty.shape { Some(name) } else { None });
            names[0].is_some() && names[0] == names[1] && is_same(one, other)
        }
        (ExprKind::Axis(one, axis), ExprKind::Axis(other, other_axis)) => axis == other_axis && is_same(one, other),
        (ExprKind::Field { base: one, member }, ExprKind::Field { base: other, member: other_member }) => {
            member == other_member && is_same(one, other)
        }
        (
            ExprKind::Method { method, operands, .. },
            ExprKind::Method { method: other_method, operands: other_operands, .. },
        ) => method.name == other_method.name && all(operands, other_operands),
        (ExprKind::Op { op: Op::Length, operands, .. }, ExprKind::Op { op: Op::Length, operands: others, .. }) => {
            all(operands, others)
        }
        (
            ExprKind::Op { op: Op::Query(group, query), operands, .. },
            ExprKind::Op { op: Op::Query(other_group, other_query), operands: others, .. },
        ) => group == other_group && query == other_query && all(operands, others),
        _ => false,
    }
}
