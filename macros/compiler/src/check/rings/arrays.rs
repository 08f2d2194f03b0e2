//! The elements of local arrays, as values: which one it is may depend on counters.

use super::value::{Evaluator, Value, binary};
use crate::check::cfg::{Formula, NodeId};
use crate::model::expr::BinaryOp;

/// The longest list of which an element is followed that depends on counters.
const LONGEST: usize = 16;

impl Evaluator<'_, '_, '_> {
    /// The element at an index of a list of values that the text shows.
    pub(super) fn of_list(
        &self,
        elements: &[NodeId],
        index: impl Fn() -> Value,
        value: impl Fn(NodeId) -> Value,
    ) -> Value {
        if elements.is_empty() {
            return Value::Unknown;
        }
        match index().known() {
            Some(index) => {
                let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
                element.map_or(Value::Unknown, |element| value(*element))
            }
            None if elements.len() <= LONGEST => Self::of_array(Formula::Pick, elements.len() + 1, |operand| {
                operand.checked_sub(1).map_or_else(&index, |element| value(elements[element]))
            }),
            None => Value::Unknown,
        }
    }

    /// The element that is picked, or an element after one has been replaced, of these operands.
    pub(super) fn of_array(formula: Formula, operands: usize, operand: impl Fn(usize) -> Value) -> Value {
        let index = operand(0);
        let is = |element: u64| match i64::try_from(element) {
            Ok(element) => binary(BinaryOp::Eq, index.clone(), Value::constant(element)),
            Err(_) => Value::Unknown,
        };
        let times = |condition: Value, value: Value| binary(BinaryOp::Mul, condition, value);
        match (formula, index.known()) {
            (Formula::Pick, Some(index)) => match usize::try_from(index) {
                Ok(index) if index + 1 < operands => operand(index + 1),
                Ok(_) | Err(_) => Value::Unknown,
            },
            (Formula::Pick, None) => {
                let parts = (0..operands - 1).map(|element| times(is(element as u64), operand(element + 1)));
                parts.reduce(|sum, part| binary(BinaryOp::Add, sum, part)).unwrap_or(Value::Unknown)
            }
            (Formula::Replaced { element }, Some(index)) => {
                operand(if u64::try_from(index) == Ok(element) { 1 } else { 2 })
            }
            (Formula::Replaced { element }, None) => {
                let is_other = binary(BinaryOp::Sub, Value::constant(1), is(element));
                binary(BinaryOp::Add, times(is(element), operand(1)), times(is_other, operand(2)))
            }
            _ => Value::Unknown,
        }
    }
}
