//! What `Option`s hold and whether they hold anything, as values; and methods of numbers that are no formulas.

use super::value::{Evaluator, Value, binary, computed};
use crate::check::cfg::{BelowZero, Computed, Formula, NodeId};
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
            Some(BelowZero::Wraps(bits)) if op == BinaryOp::Sub => self.difference(operand(0), operand(1), *bits),
            // A proof is about numbers of which none is negative.
            Some(BelowZero::IsNegative) if self.arguments.is_some() => {
                let (left, right) = (operand(0), operand(1));
                if op == BinaryOp::Sub { plus(left, times(right, -1)) } else { to_zero(op, left, right) }
            }
            Some(BelowZero::Wraps(bits)) if op == BinaryOp::Add && self.arguments.is_some() => {
                let sum = binary(op, operand(0), operand(1));
                let is_around = binary(BinaryOp::Ge, sum.clone(), Value::constant(around(*bits)));
                binary(BinaryOp::Sub, sum, binary(BinaryOp::Mul, is_around, Value::constant(around(*bits))))
            }
            Some(_) | None => binary(op, operand(0), operand(1)),
        }
    }

    /// The result of a cast that keeps only the lower bits. For certain arguments, it is followed to `i32`: a larger number is negative.
    pub(super) fn cast(&self, node: NodeId, value: Value) -> Value {
        match self.kernel.cfg.cuts.get(&node) {
            Some(32) if self.arguments.is_some() => {
                let is_negative = binary(BinaryOp::Ge, value.clone(), Value::constant(1 << 31));
                plus(value, times(is_negative, -(1 << 32)))
            }
            Some(_) | None => self.uncut(node, value),
        }
    }

    /// The remainder that is not below zero, of numbers that may be for certain arguments.
    pub(super) fn euclidean(&self, left: Value, right: Value) -> Value {
        match self.arguments {
            Some(_) => binary(BinaryOp::Rem, plus(to_zero(BinaryOp::Rem, left, right.clone()), right.clone()), right),
            None => computed(Formula::RemEuclid, left, right),
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

/// The sum of two numbers, which may be negative.
fn plus(left: Value, right: Value) -> Value {
    binary(BinaryOp::Add, left, right)
}

fn times(value: Value, by: i64) -> Value {
    binary(BinaryOp::Mul, value, Value::constant(by))
}

/// A quotient that is rounded towards zero, by a number above zero, or its remainder, which has the sign of the dividend.
fn to_zero(op: BinaryOp, left: Value, right: Value) -> Value {
    let sign = plus(Value::constant(1), times(binary(BinaryOp::Lt, left.clone(), Value::constant(0)), -2));
    let without_sign = binary(op, binary(BinaryOp::Mul, left, sign.clone()), right);
    binary(BinaryOp::Mul, without_sign, sign)
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
