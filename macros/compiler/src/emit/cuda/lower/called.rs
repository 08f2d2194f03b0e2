//! The values of an index that a closure computes, as `now[at(x - r, y, z)]` in a loop over `r`: those of the closure's body, at the
//! values of its arguments.

use super::access::Region;
use super::closures::Closures;
use super::intervals::{Value, Values};
use crate::model::LocalId;
use crate::model::expr::Expr;
use crate::model::facts::Effect;
use crate::model::ty::ValueType;

/// The parameters of a closure, and the expression that is its result.
type Computed<'f> = (&'f [(LocalId, Option<ValueType>)], &'f Expr);

/// Returns what a closure computes, if it does nothing else: it reads no variable that is ever assigned.
pub(super) fn computed_by<'f>(closures: &Closures<'f>, closure: LocalId) -> Option<Computed<'f>> {
    let called = closures.get(&closure).filter(|called| called.effect == Effect::Pure)?;
    Some((called.params, called.result()?))
}

impl Values<'_, '_, '_> {
    /// Returns the values of the call of a closure that only computes.
    pub(super) fn called(
        &mut self,
        closure: LocalId,
        arguments: &[Expr],
        statement: usize,
        left: &mut usize,
    ) -> Option<Value> {
        let (params, result) = computed_by(self.lower.closures, closure).filter(|_| self.keeps(closure))?;
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
