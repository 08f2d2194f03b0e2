//! The values of an index that a closure computes, as `now[at(x - r, y, z)]` in a loop over `r`: those of the closure's body, at the
//! values of its arguments.

use super::intervals::{Value, Values};
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind};
use crate::model::facts::Effect;

impl Values<'_, '_, '_> {
    /// Returns the values of the call of a closure that only computes: it reads no variable that is ever assigned.
    pub(super) fn called(
        &mut self,
        closure: LocalId,
        arguments: &[Expr],
        statement: usize,
        left: &mut usize,
    ) -> Option<Value> {
        let called = self.lower.closures.get(&closure).filter(|called| called.effect == Effect::Pure)?;
        let (params, result) = (called.params, result(called.body)?);
        let mut values = Vec::new();
        for ((param, _), argument) in params.iter().zip(arguments) {
            values.push((*param, self.interval(argument, statement, left)?));
        }
        self.arguments.extend(values);
        let value = self.interval(result, statement, left);
        params.iter().for_each(|(param, _)| drop(self.arguments.remove(param)));
        value
    }
}

/// Returns the expression that is the result of a closure's body.
fn result(body: &Expr) -> Option<&Expr> {
    match &body.kind {
        ExprKind::Block(block) => block.tail.as_deref().filter(|_| block.statements.is_empty()),
        _ => Some(body),
    }
}
