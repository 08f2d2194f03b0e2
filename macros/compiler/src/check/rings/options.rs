//! What `Option`s hold and whether they hold anything, as values; and methods of numbers that are no formulas.

use super::value::{Evaluator, Value, binary, computed};
use crate::check::cfg::{Computed, Formula, NodeId};
use crate::model::expr::BinaryOp;

/// The stand-in for 2^64, which is no `i64`: a large number with the same remainders by all numbers up to 32 and by powers of two up to 2^15. By a larger
/// prime, a difference below zero has another one, as of a ring of 37 stages.
const AROUND: i64 = 1146043208633122816;

impl Evaluator<'_, '_, '_> {
    /// The value of a node that is computed of these operands.
    pub(super) fn of_option(&self, node: NodeId, operand: impl Fn(usize) -> Value) -> Value {
        let not = |value: Value| binary(BinaryOp::Sub, Value::constant(1), value);
        match self.kernel.cfg.computed.get(&node) {
            Some(Computed::Number(number)) => i64::try_from(*number).map_or(Value::Unknown, Value::constant),
            Some(Computed::Is { some: true } | Computed::Held) => operand(0),
            Some(Computed::Is { some: false }) => not(operand(0)),
            Some(Computed::HeldOr) => match operand(2).known() {
                Some(0) => operand(1),
                Some(_) => operand(0),
                None => {
                    let held = binary(BinaryOp::Mul, operand(2), operand(0));
                    let other = binary(BinaryOp::Mul, not(operand(2)), operand(1));
                    binary(BinaryOp::Add, held, other)
                }
            },
            Some(Computed::Method { name: "saturating_sub", .. }) => {
                let most = computed(Formula::Max, operand(0), operand(1));
                binary(BinaryOp::Sub, most, operand(1))
            }
            Some(Computed::Method { name: "wrapping_sub", bits }) => self.difference(operand(0), operand(1), *bits),
            Some(Computed::Method { name: "count_ones", .. }) => self.counted_votes(node),
            Some(Computed::Method { name, .. }) => match operator(name) {
                Some(operator) => binary(operator, operand(0), operand(1)),
                None => Value::Unknown,
            },
            Some(Computed::Fits { .. }) | None => Value::Unknown,
        }
    }

    /// The result of an operator.
    pub(super) fn operated(&self, node: NodeId, op: BinaryOp, operand: impl Fn(usize) -> Value) -> Value {
        match self.kernel.cfg.differences.get(&node) {
            Some(bits) if op == BinaryOp::Sub => self.difference(operand(0), operand(1), *bits),
            Some(bits) if op == BinaryOp::Add && self.arguments.is_some() => {
                let sum = binary(op, operand(0), operand(1));
                let is_around = binary(BinaryOp::Ge, sum.clone(), Value::constant(around(*bits)));
                binary(BinaryOp::Sub, sum, binary(BinaryOp::Mul, is_around, Value::constant(around(*bits))))
            }
            Some(_) | None => binary(op, operand(0), operand(1)),
        }
    }

    /// The difference of two numbers of so many bits, which wraps around below zero. That is followed for certain arguments, and where it depends on
    /// a round or on the block's rank: a number of rounds that wraps around is no launch that anybody means.
    fn difference(&self, left: Value, right: Value, bits: u32) -> Value {
        if self.arguments.is_none() || left.known().is_some() && right.known().is_some() {
            return binary(BinaryOp::Sub, left, right);
        }
        let is_less = binary(BinaryOp::Lt, left.clone(), right.clone());
        let around = binary(BinaryOp::Mul, is_less, Value::constant(around(bits)));
        binary(BinaryOp::Sub, binary(BinaryOp::Add, left, around), right)
    }
}

/// How many numbers of so many bits there are.
fn around(bits: u32) -> i64 {
    if bits < 64 { 1 << bits } else { AROUND }
}

/// The operator of a method. A difference below zero has no value, and what wraps around beyond the largest number is not counted to.
fn operator(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "wrapping_add" | "saturating_add" => BinaryOp::Add,
        "wrapping_sub" => BinaryOp::Sub,
        "wrapping_mul" | "saturating_mul" => BinaryOp::Mul,
        "div_euclid" => BinaryOp::Div,
        _ => return None,
    })
}
