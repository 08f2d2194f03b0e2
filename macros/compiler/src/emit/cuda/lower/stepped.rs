//! The values of a variable that a statement of a loop's body changes by a step, in all iterations or in some (`induction`).

use super::access::{Access, Region};
use super::intervals::{Source, Value, Values};
use super::nest::Nest;
use crate::emit::cuda::ast::CuExpr;
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::model::op::Op;
use crate::model::place::writes;
use crate::model::walk::walk;

impl<'e> Values<'_, '_, 'e> {
    /// Returns the values that a variable takes to which a statement of the loop's body adds a step: those before the
    /// statement, or after it.
    pub(super) fn induction(&mut self, local: LocalId, statement: usize, left: &mut usize) -> Option<Value> {
        let induction = self.nest.inductions.get(&local)?;
        let (step, is_decrease, is_conditional) = (induction.step, induction.is_decrease, induction.is_conditional);
        let changed_at = induction.statement;
        let is_after = statement > induction.statement || is_conditional && statement == induction.statement;
        let is_only_write = writes(self.nest.whole, local) == 1 && !self.nest.receivers.contains(&local);
        if !is_only_write || self.nest.declared.contains(&local) || !self.lower.integers.has(local) {
            return None;
        }
        let name = CuExpr::name(self.lower.names.local(local));
        let is_truth = self.is_truth(step);
        let step = match is_truth {
            true => CuExpr::name("1"),
            false => match self.fixed(step) {
                Some(step) => step,
                None => self.any_step(step, changed_at, left)?,
            },
        };
        // It varies with the variable of the loop.
        let sources = [Some(local), self.nest.variable].into_iter().flatten();
        let sources = sources.map(|variable| Source { variable, divisions: Vec::new() }).collect();
        if is_after && (is_conditional || is_truth) {
            let callee = if is_decrease { "decreased_at_most" } else { "increased_at_most" };
            let values = CuExpr::call(callee, vec![name, step, self.steps.clone()]);
            return Some(Value::varying(values, sources));
        }
        let first = match is_after {
            true => {
                let (left, right) = (Box::new(name), Box::new(step.clone()));
                CuExpr::Infix { op: if is_decrease { "-" } else { "+" }, left, right, site: None }
            }
            false => name,
        };
        let values =
            CuExpr::call(if is_decrease { "decreased" } else { "increased" }, vec![first, step, self.steps.clone()]);
        Some(Value::varying(values, sources))
    }

    /// Whether a variable changes only by a step behind this statement of the body, so that in an iteration it has one value up to there.
    pub(super) fn steps_after(&self, local: LocalId, statement: usize) -> bool {
        self.nest.inductions.get(&local).is_some_and(|induction| statement < induction.statement)
            && writes(self.nest.whole, local) == 1
            && !self.nest.receivers.contains(&local)
            && !self.nest.declared.contains(&local)
    }

    /// Returns the values of a step that differs between iterations. What some steps add is one of so many times these values. The conditions
    /// before the access say nothing of the iterations before.
    fn any_step(&mut self, step: &Expr, statement: usize, left: &mut usize) -> Option<CuExpr> {
        let guarded = std::mem::take(&mut self.guarded);
        let values = self.interval(step, statement, left);
        self.guarded = guarded;
        Some(values?.interval())
    }

    /// Whether an access has an index that some iterations move on and others do not.
    pub(super) fn counts_some(&self, access: &Expr) -> bool {
        let mut found = false;
        let mut look = |index: &Expr| {
            walk(index, &mut |inner| {
                let ExprKind::Local(local) = inner.kind else { return };
                let induction = self.nest.inductions.get(&local);
                found |= induction.is_some_and(|step| {
                    step.is_conditional || self.is_truth(step.step) || !self.is_evaluable(step.step)
                });
            });
        };
        Access::of(access).iter().for_each(|access| look(access.index));
        found
    }

    /// Whether a value is a mask of threads of a warp, or of some of them, of which at most 32 bits are set.
    pub(super) fn is_mask(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Op { op: Op::Warp(_, method), .. } => method.name == "ballot",
            ExprKind::Local(local) => {
                let init = self.nest.lets.get(local).filter(|_| self.lower.function.local(*local).mutable.is_none());
                init.is_some_and(|(_, init)| self.is_mask(init))
            }
            ExprKind::Binary { op: BinaryOp::BitAnd, left, right, .. } => self.is_mask(left) || self.is_mask(right),
            _ => false,
        }
    }

    /// Whether a step is a truth value as a number: `kept += (x < limit) as u32;`.
    fn is_truth(&self, step: &Expr) -> bool {
        fn is_condition(expr: &Expr, nest: &Nest<'_>) -> bool {
            match &expr.kind {
                ExprKind::Binary { op, .. } => !op.is_arithmetic(),
                ExprKind::Unary(UnaryOp::Not, inner) => is_condition(inner, nest),
                ExprKind::Local(local) => nest.lets.get(local).is_some_and(|(_, init)| is_condition(init, nest)),
                _ => false,
            }
        }
        matches!(&step.kind, ExprKind::Cast(value, _) if is_condition(value, &self.nest))
    }
}
