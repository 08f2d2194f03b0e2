//! The tests before a loop of accesses that are made under conditions. Comparisons limit the values of the variables that they compare
//! (`guards`); conditions that the loop does not change are made before it, too, so that the access is tested where they hold: those of
//! the threads at a border, as in `if x > 0 { left = a[row * width + x - 1]; }` in a loop over rows.

use super::access::{Access, Region};
use super::guards::{Limit, Limitable, limits};
use super::intervals::{Guarded, Values};
use super::loop_tests::Test;
use super::nest::Guard;
use crate::emit::cuda::ast::CuExpr;
use crate::model::SiteId;
use crate::model::expr::{BinaryOp, Expr, ExprKind, UnaryOp};

impl<'e> Values<'_, '_, 'e> {
    /// Returns the tests of an access that is made under conditions, if they are comparisons that limit the index, or that it does not
    /// depend on. Where they are not understood, a test might fail for threads that do not make the access.
    pub(super) fn guarded_tests(&mut self, access: &'e Expr, statement: usize, site: SiteId) -> Option<Vec<Test>> {
        let mut guards = Vec::new();
        self.nest.conditional.get(&site)?.iter().for_each(|guard| self.parts(*guard, &mut guards));
        self.statement = statement;
        // What comparisons of sums leave of a variable takes longer to find than a few checks.
        let is_of_sums = |limits: Vec<Limit<'_>>| limits.iter().any(|limit| !limit.terms.is_empty());
        if self.nest.is_short() && limits(&guards, self).is_some_and(is_of_sums) {
            return None;
        }
        if let Some(tests) = self.limited_tests(&guards, access, statement) {
            return Some(tests);
        }
        // A variable that counts what is kept is mostly limited by no comparison.
        if self.counts_some(access) {
            return self.tests(access, statement).map(|(_, tests)| tests);
        }
        let (fixed, others): (Vec<_>, Vec<_>) = guards.into_iter().partition(|guard| self.is_fixed_guard(guard));
        let parts: Vec<CuExpr> = fixed.iter().filter_map(|guard| self.condition(guard)).collect();
        let condition = parts.into_iter().reduce(CuExpr::and)?;
        let tests = self.limited_tests(&others, access, statement)?;
        Some(tests.into_iter().map(|test| Test { condition: Some(condition.clone()), ..test }).collect())
    }

    fn limited_tests(&mut self, guards: &[Guard<'e>], access: &'e Expr, statement: usize) -> Option<Vec<Test>> {
        self.statement = statement;
        let limits = limits(guards, self)?;
        let has_lanes = Access::of(access)?.lanes(self).is_some();
        self.guarded = Guarded { limits, has_lanes, ..Guarded::default() };
        let tests = self.tests(access, statement);
        let guarded = std::mem::take(&mut self.guarded);
        let is_limited = guarded.limits.iter().all(|limit| guarded.used.contains(&limit.variable));
        tests.filter(|_| is_limited || !guarded.depends).map(|(_, tests)| tests)
    }

    fn is_fixed_guard(&self, guard: &Guard<'e>) -> bool {
        match guard {
            Guard::Is(condition, _) | Guard::Stays(condition, _) => self.is_fixed_condition(condition),
            Guard::Unknown => false,
        }
    }

    /// Whether a condition has the same value before the loop. A float could be another one there, where it is contracted.
    fn is_fixed_condition(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Local(local) => self.keeps(*local),
            ExprKind::Unary(UnaryOp::Not, inner) => self.is_fixed_condition(inner),
            ExprKind::Binary { op, left, right, .. } if op.short_circuits() => {
                self.is_fixed_condition(left) && self.is_fixed_condition(right)
            }
            ExprKind::Binary { op, left, right, .. } if !op.is_arithmetic() => {
                let integers = &self.lower.integers;
                let is_of_integers = integers.contains(left) || integers.contains(right);
                is_of_integers && self.is_evaluable(left) && self.is_evaluable(right)
            }
            _ => false,
        }
    }

    fn condition(&mut self, guard: &Guard<'e>) -> Option<CuExpr> {
        match *guard {
            Guard::Is(condition, holds) | Guard::Stays(condition, holds) => {
                let value = self.lowered(condition);
                Some(if holds { value } else { value.not() })
            }
            Guard::Unknown => None,
        }
    }

    /// Adds the conditions that must all hold for a guard to hold.
    fn parts(&self, guard: Guard<'e>, parts: &mut Vec<Guard<'e>>) {
        let Guard::Is(condition, holds) = guard else { return parts.push(guard) };
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.parts(Guard::Is(inner, !holds), parts),
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } if holds => {
                [left, right].into_iter().for_each(|part| self.parts(Guard::Is(part, holds), parts));
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } if !holds => {
                [left, right].into_iter().for_each(|part| self.parts(Guard::Is(part, holds), parts));
            }
            ExprKind::Local(local) => match self.named(*local) {
                Some(named) => self.parts(Guard::Is(named, holds), parts),
                None => parts.push(guard),
            },
            ExprKind::CallClosure { site, .. } => match self.condition_of(*site) {
                Some(condition) => self.parts(Guard::Is(condition, holds), parts),
                None => parts.push(guard),
            },
            _ => parts.push(guard),
        }
    }
}
