//! Lowers messages: the text passes the values, and the site by which the host finds the format string.

use super::Lower;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::effect::effect;
use crate::model::facts::Effect;
use crate::model::message::{Message, Test};

impl Lower<'_> {
    pub(super) fn assert(&mut self, test: &Test, message: &Message) {
        let (condition, sides) = match test {
            Test::Value(condition) => (self.branch_condition(condition), Vec::new()),
            Test::Compare(op, left, right) => {
                // The operands are compared and shown: they are evaluated once, before the message's values, which may
                // change them.
                let changes = message.values.iter().any(|value| effect(self.function, value) == Effect::Changes);
                let sides = self.operands(&[left, right]).into_iter().map(|side| match side {
                    CuExpr::Atom(_) if !changes => side,
                    side => self.spill(side),
                });
                let sides: Vec<CuExpr> = sides.collect();
                let [left, right] = [0, 1].map(|side| Box::new(sides[side].clone()));
                (CuExpr::Infix { op: op.symbol(), left, right, site: None }, sides)
            }
        };
        let ((), then) = self.nested(|lower| lower.message("assertion_failed", sides, message));
        self.out.push(CuStmt::If { condition: condition.not(), then, otherwise: Vec::new() });
    }

    /// Lowers a message to `callee(here(), sides, values);`.
    pub(super) fn message(&mut self, callee: &str, sides: Vec<CuExpr>, message: &Message) {
        let place = CuExpr::Call { callee: vec!["here".into()], arguments: Vec::new(), site: Some(message.site) };
        let values = self.operands(&message.values.iter().collect::<Vec<_>>());
        let arguments = [place].into_iter().chain(sides).chain(values).collect();
        self.out.push(CuStmt::Expr(CuExpr::call(callee, arguments)));
    }
}
