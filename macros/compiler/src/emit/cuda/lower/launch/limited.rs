//! The terms that the conditions around an expression (`limits`) add to its own: that it is less than `width`, say, or that a sum with it is; or the condition itself,
//! if it is one of what is computed of the expression: `i % width != 0`, or `column != 0` where `column` is `2 * x + odd`.

use super::limits::{Limit, is_number, is_same};
use super::scope::{Origin, Scope};
use crate::emit::cuda::at_launch::{Comparison, Term, Terms};
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::walk;

/// The most expressions that are read for the sides of a condition, the most terms of a value with conditions, and the most conditions of one.
const MOST_READ_FOR_CONDITION: usize = 100;
const MOST_TERMS_WITH_CONDITIONS: usize = 150;
const MOST_CONDITIONS: usize = 6;

/// How deep names are followed to what a condition is computed of.
const DEEPEST_CONDITION: usize = 4;

impl<'e> Scope<'e> {
    /// Returns the limits of an expression, and what is added to it in a sum that is limited.
    pub(super) fn limits_of(&self, expr: &'e Expr) -> Vec<(usize, Option<&'e Expr>)> {
        if matches!(expr.kind, ExprKind::Int { .. } | ExprKind::Constant(_)) {
            return Vec::new();
        }
        let of = |(index, limit): (usize, &Option<Limit<'e>>)| {
            let subject = limit.as_ref()?.subject;
            let term = sum_with(subject, expr);
            (!self.busy.contains(&index) && (term.is_some() || is_same(subject, expr))).then_some((index, term))
        };
        self.limits.iter().enumerate().filter_map(of).collect()
    }

    /// Adds what limits say of an expression.
    pub(super) fn limited(&mut self, limits: Vec<(usize, Option<&'e Expr>)>, mut terms: Terms) -> Terms {
        for (index, term) in limits {
            let Some(Limit { comparison, bound, .. }) = self.limits[index] else { continue };
            let outer = self.begin_limit(index);
            if let Some(term) = term {
                terms.extend(self.terms(term));
            }
            terms.extend(self.terms(bound));
            terms.push(if term.is_some() { Term::LimitOfSum(comparison) } else { Term::Limit(comparison) });
            self.busy.truncate(outer);
        }
        terms
    }

    /// Returns the conditions of what is computed of a variable, or of a number of the launch. A condition that limits an expression around it
    /// is not among them.
    pub(super) fn conditions_of(&self, expr: &'e Expr) -> Vec<usize> {
        let is_named = matches!(
            expr.kind,
            ExprKind::Local(_) | ExprKind::Axis(..) | ExprKind::Field { .. } | ExprKind::Op { op: Op::Query(..), .. }
        );
        if !is_named || self.conditioned.is_some() || is_number(expr, self.function) {
            return Vec::new();
        }
        let says_more = |index: &usize| {
            let Some(Limit { subject, comparison, bound, .. }) = self.limits[*index] else { return false };
            let is_known = |index: usize| self.busy.contains(&index) || self.around.contains(&index);
            let sides = [subject, bound];
            // What is less than a number together with other variables says little of each.
            let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            !is_known(*index)
                && !sides.iter().any(|side| is_same(side, expr) || sum_with(side, expr).is_some())
                && sides.iter().any(|side| self.is_computed_of(side, expr, 0))
                && (is_equality || sides.iter().all(|side| self.is_computed_of_one(side, expr, 0)))
                // The mirrored comparison says the same.
                && !self.mirrored(*index).is_some_and(|other| other < *index || is_known(other))
        };
        // The innermost ones say most.
        let mut conditions: Vec<usize> = (0..self.limits.len()).rev().filter(says_more).take(MOST_CONDITIONS).collect();
        conditions.reverse();
        conditions
    }

    /// Adds conditions of what is computed of an expression.
    pub(super) fn limited_by_conditions(&mut self, expr: &'e Expr, conditions: Vec<usize>, mut terms: Terms) -> Terms {
        for index in conditions {
            let Some(Limit { subject, comparison, bound, .. }) = self.limits[index] else { continue };
            let (outer, left) = (self.begin_limit(index), std::mem::replace(&mut self.left, MOST_READ_FOR_CONDITION));
            self.conditioned = Some(expr);
            let sides = [subject, bound].map(|side| self.terms(side)).concat();
            self.conditioned = None;
            self.left = left;
            self.busy.truncate(outer);
            if terms.len() + sides.len() <= MOST_TERMS_WITH_CONDITIONS && sides.contains(&Term::Conditioned) {
                terms.push(Term::Condition);
                terms.extend(sides);
                terms.push(Term::LimitByCondition(comparison));
            }
        }
        terms
    }

    /// Notes that the sides of a limit are being read. Returns how many were before.
    fn begin_limit(&mut self, index: usize) -> usize {
        let outer = self.busy.len();
        let mirrored = self.mirrored(index);
        self.busy.extend([index].into_iter().chain(mirrored));
        outer
    }

    /// Returns the limit that says of its bound what this one says of its subject.
    fn mirrored(&self, index: usize) -> Option<usize> {
        let Limit { subject, bound, .. } = self.limits[index].as_ref()?;
        let is_mirrored =
            |other: &Limit<'e>| std::ptr::eq(other.subject, *bound) && std::ptr::eq(other.bound, *subject);
        self.limits.iter().position(|other| other.as_ref().is_some_and(is_mirrored))
    }

    /// Whether an expression is computed of another one and of numbers that are the same in all threads.
    fn is_computed_of_one(&self, expr: &'e Expr, part: &Expr, depth: usize) -> bool {
        if is_same(expr, part) || is_number(expr, self.function) {
            return true;
        }
        match &expr.kind {
            ExprKind::Local(local) => match self.origin(*local) {
                Some(Origin::Value(init, _)) if depth < DEEPEST_CONDITION => {
                    self.is_computed_of_one(init, part, depth + 1)
                }
                _ => false,
            },
            ExprKind::Typed(inner, _) | ExprKind::Cast(inner, _) => self.is_computed_of_one(inner, part, depth),
            ExprKind::Binary { left, right, .. } => {
                [left, right].iter().all(|side| self.is_computed_of_one(side, part, depth))
            }
            _ => false,
        }
    }

    /// Whether an expression is computed of another one, also by names of values.
    fn is_computed_of(&self, expr: &'e Expr, part: &Expr, depth: usize) -> bool {
        let mut found = false;
        walk(expr, &mut |inner| {
            found |= is_same(inner, part);
            if let ExprKind::Local(local) = inner.kind
                && depth < DEEPEST_CONDITION
                && !found
                && let Some(Origin::Value(init, _)) = self.origin(local)
            {
                found = self.is_computed_of(init, part, depth + 1);
            }
        });
        found
    }
}

/// Returns what a sum has beside a part of it.
fn sum_with<'e>(sum: &'e Expr, part: &Expr) -> Option<&'e Expr> {
    match &sum.kind {
        ExprKind::Typed(inner, _) => sum_with(inner, part),
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => match (is_same(left, part), is_same(right, part)) {
            (true, _) => Some(right),
            (_, true) => Some(left),
            _ => None,
        },
        _ => None,
    }
}
