//! `if let Some(value) = f(..) { .. }` of a device function, and the `match` that is the same: the statements become a closure that the
//! function calls where it returns `Some`, if it can (`emit::cuda::continued`; the runtime knows when it joins the two).

use super::rest::is_repeatable;
use super::{Dest, Lower};
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::SlotId;
use crate::model::expr::{Arm, Block, Condition, Expr, ExprKind};
use crate::model::op::Variant;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::walk::{walk, walk_block};

impl Lower<'_> {
    /// Lowers `if let Some(value) = f(..) && rest { then }`, and returns whether it is one.
    pub(super) fn continued_if(&mut self, condition: &Condition, then: &Block) -> bool {
        let Some((Condition::Let { pattern, scrutinee }, rest)) = condition.parts().split_first() else { return false };
        let mut inside = Inside::default();
        rest.iter().for_each(|condition| inside.condition(condition));
        walk_block(then, &mut |expr| inside.expr(expr));
        self.continued(pattern, scrutinee, inside, |lower| match rest {
            [] => lower.block_into(then, &Dest::Discard),
            _ => {
                let ((), then) = lower.nested(|lower| lower.block_into(then, &Dest::Discard));
                lower.choose(None, rest, then, Vec::new());
            }
        })
    }

    /// Lowers `match f(..) { Some(value) => then, None => {} }`, and returns whether it is one.
    pub(super) fn continued_match(&mut self, scrutinee: &Expr, arms: &[Arm]) -> bool {
        let (Some(some), Some(none)) =
            (arms.iter().find(|arm| payload(&arm.pattern).is_some()), arms.iter().find(is_idle))
        else {
            return false;
        };
        if arms.len() != 2 || some.guard.is_some() {
            return false;
        }
        // One that matches all of it hides what follows.
        if matches!(none.pattern.kind, PatternKind::Wild) && std::ptr::eq(none, &arms[0]) {
            return false;
        }
        let mut inside = Inside::default();
        walk(&some.body, &mut |expr| inside.expr(expr));
        self.continued(&some.pattern, scrutinee, inside, |lower| lower.into(&some.body, &Dest::Discard))
    }

    fn continued(&mut self, pattern: &Pattern, scrutinee: &Expr, inside: Inside, then: impl FnOnce(&mut Self)) -> bool {
        let (ExprKind::Call { slot, .. }, Some(field), false) = (&scrutinee.kind, payload(pattern), inside.is_refused)
        else {
            return false;
        };
        let name = match field.kind {
            PatternKind::Bind { local, sub: None } => self.names.local(local).to_string(),
            _ => self.names.fresh("value"),
        };
        let value = CuExpr::name(&name);
        if self.test(field, &value).is_some() {
            return false;
        }
        let CuExpr::Call { arguments, .. } = self.value(scrutinee) else { return false };
        let ((), body) = self.nested(|lower| {
            if !matches!(field.kind, PatternKind::Bind { sub: None, .. }) {
                let bindings = lower.bindings(field, &value);
                lower.out.extend(bindings);
            }
            then(lower);
        });
        self.out.push(CuStmt::Continued { callee: *slot, arguments, inside: inside.callees, name, body });
        true
    }
}

/// The facts that decide whether statements may become a closure.
#[derive(Default)]
struct Inside {
    /// The functions that they call.
    callees: Vec<SlotId>,
    /// Whether they lead elsewhere, or threads do something together in them: they would be in the branch of the function that returns.
    is_refused: bool,
}

impl Inside {
    fn expr(&mut self, expr: &Expr) {
        self.is_refused |= !is_repeatable(expr) || matches!(expr.kind, ExprKind::CallClosure { .. });
        self.callees.extend(expr.called());
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Value(value) | Condition::Let { scrutinee: value, .. } => {
                walk(value, &mut |expr| self.expr(expr));
            }
            Condition::All(parts) => parts.iter().for_each(|part| self.condition(part)),
        }
    }
}

/// Returns the pattern of the value in `Some`.
fn payload(pattern: &Pattern) -> Option<&Pattern> {
    match &pattern.kind {
        PatternKind::Variant { variant: Variant::Some, field } => field.as_deref(),
        _ => None,
    }
}

/// Whether an arm does nothing if there is no value.
fn is_idle(arm: &&Arm) -> bool {
    let is_none = matches!(arm.pattern.kind, PatternKind::Wild | PatternKind::Variant { variant: Variant::None, .. });
    let does_nothing = match &arm.body.kind {
        ExprKind::Block(block) => block.statements.is_empty() && block.tail.is_none(),
        ExprKind::Tuple { elements, .. } => elements.is_empty(),
        _ => false,
    };
    is_none && arm.guard.is_none() && does_nothing
}
