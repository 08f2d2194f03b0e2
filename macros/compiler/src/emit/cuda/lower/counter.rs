//! The variable that counts the iterations of a `while` loop: `while i < end { ..; i += step; }`, and
//! `while i < end && text[i] == pattern[i] { i += 1; }`, which other conditions end earlier.

use std::collections::BTreeSet;

use super::induction::Induction;
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind};
use crate::model::place::writes;
use crate::model::walk::{walk, walk_block};
use crate::model::{LocalId, SiteId};

/// A variable that grows by a step at the end of each iteration, as long as it is below a bound.
pub(super) struct Counter<'e> {
    pub(super) local: LocalId,
    pub(super) end: &'e Expr,
    /// Whether the bound belongs to the values.
    pub(super) inclusive: bool,
    pub(super) step: &'e Expr,
    /// The whole condition, and its parts: those before the bound, which make no access, and those after it, in which the variable is below the bound.
    condition: &'e Expr,
    pub(super) before: Vec<&'e Expr>,
    pub(super) after: Vec<&'e Expr>,
}

impl<'e> Counter<'e> {
    /// Returns the counter of a loop. Nothing else in the loop may write it.
    pub(super) fn of(whole: &'e Expr) -> Option<Counter<'e>> {
        let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
        let Condition::Value(condition) = &**condition else { return None };
        let (changed, Induction { step, is_decrease, .. }) = last(body)?;
        if is_decrease || writes(whole, changed) != 1 {
            return None;
        }
        let mut before = Vec::new();
        conjuncts(condition, &mut before);
        let bounds = |part: &&Expr| bound(part).is_some_and(|(counted, ..)| counted == changed);
        let number = before.iter().position(bounds)?;
        let after = before.split_off(number + 1);
        let (local, end, inclusive) = bound(before.pop()?)?;
        let is_plain = !before.iter().any(|part| has_site(part));
        is_plain.then_some(Counter { local, end, inclusive, step, condition, before, after })
    }

    /// Whether an expression is a `&&` between the parts of the condition.
    pub(super) fn joins(&self, expr: &Expr) -> bool {
        let mut and = vec![self.condition];
        while let Some(part) = and.pop() {
            if let ExprKind::Binary { op: BinaryOp::And, left, right, .. } = &part.kind {
                if std::ptr::eq(part, expr) {
                    return true;
                }
                and.extend([&**left, right]);
            }
        }
        false
    }

    /// Whether the loop is left by its bound alone.
    pub(super) fn is_only_condition(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// A counter that a loop around its own declares, and nothing else in that loop writes.
pub(super) struct InnerCounter<'e> {
    pub(super) counter: Counter<'e>,
    /// The number of the statement of the outer loop's body that it is in.
    pub(super) statement: usize,
    /// The counter's initial value, with the number of the statement in which it is declared.
    pub(super) init: (usize, &'e Expr),
    /// The accesses that are made where it is below its bound.
    pub(super) sites: BTreeSet<SiteId>,
}

impl<'e> InnerCounter<'e> {
    pub(super) fn new(
        counter: Counter<'e>,
        statement: usize,
        init: (usize, &'e Expr),
        body: &'e Block,
    ) -> InnerCounter<'e> {
        let mut sites = BTreeSet::new();
        let mut add = |expr: &Expr| sites.extend(site(expr));
        counter.after.iter().for_each(|part| walk(part, &mut add));
        walk_block(body, &mut add);
        InnerCounter { counter, statement, init, sites }
    }
}

/// Adds the conditions that must all hold for a condition to hold, in the order of their evaluation.
fn conjuncts<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    if let ExprKind::Binary { op: BinaryOp::And, left, right, .. } = &condition.kind {
        conjuncts(left, parts);
        conjuncts(right, parts);
    } else {
        parts.push(condition);
    }
}

/// Returns the variable that a comparison bounds from above, the bound, and whether it belongs to the values.
fn bound(comparison: &Expr) -> Option<(LocalId, &Expr, bool)> {
    let ExprKind::Binary { op, left, right, .. } = &comparison.kind else { return None };
    let (counted, end, inclusive) = match op {
        BinaryOp::Lt => (left, right, false),
        BinaryOp::Le => (left, right, true),
        BinaryOp::Gt => (right, left, false),
        BinaryOp::Ge => (right, left, true),
        _ => return None,
    };
    let ExprKind::Local(local) = counted.kind else { return None };
    Some((local, end, inclusive))
}

fn has_site(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= site(inner).is_some());
    found
}

/// Returns the site of an access to memory.
pub(super) fn site(access: &Expr) -> Option<SiteId> {
    if let ExprKind::Index { site, .. } = &access.kind {
        return Some(*site);
    }
    if let ExprKind::Op { site, .. } = &access.kind { *site } else { None }
}

/// Returns the variable that the last statement of a body changes by a step, and the step.
fn last(body: &Block) -> Option<(LocalId, Induction<'_>)> {
    let number = body.statements.len().checked_sub(1)?;
    body.tail.is_none().then(|| Induction::of(&body.statements[number], number)).flatten()
}
