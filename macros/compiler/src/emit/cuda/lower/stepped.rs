//! The values of a variable that a statement of a loop's body changes by a step, in all iterations or in some (`induction`).

use super::access::{Access, Region};
use super::intervals::{Source, Value, Values};
use super::nest::Nest;
use crate::emit::cuda::ast::CuExpr;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind, UnaryOp};
use crate::model::place::writes;
use crate::model::walk::walk;

impl<'e> Values<'_, '_, 'e> {
    /// Returns the values that a variable takes to which a statement of the loop's body adds a step: those before the
    /// statement, or after it.
    pub(super) fn induction(&mut self, local: LocalId, statement: usize) -> Option<Value> {
        let induction = self.nest.inductions.get(&local)?;
        let (step, is_decrease, is_conditional) = (induction.step, induction.is_decrease, induction.is_conditional);
        let is_after = statement > induction.statement || is_conditional && statement == induction.statement;
        let is_only_write = writes(self.nest.whole, local) == 1 && !self.nest.receivers.contains(&local);
        if !is_only_write || self.nest.declared.contains(&local) || !self.lower.integers.has(local) {
            return None;
        }
        let name = CuExpr::name(self.lower.names.local(local));
        let is_truth = self.is_truth(step);
        let step = if is_truth { CuExpr::name("1") } else { self.fixed(step)? };
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

    /// Whether an access has an index that some iterations move on and others do not.
    pub(super) fn counts_some(&self, access: &Expr) -> bool {
        let mut found = false;
        let mut look = |index: &Expr| {
            walk(index, &mut |inner| {
                let ExprKind::Local(local) = inner.kind else { return };
                let induction = self.nest.inductions.get(&local);
                found |= induction.is_some_and(|step| step.is_conditional || self.is_truth(step.step));
            });
        };
        Access::of(access).iter().for_each(|access| look(access.index));
        found
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
