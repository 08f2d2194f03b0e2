//! Positions of a matrix's elements: `sum.row(lane, i)` is a known function of numbers, so that indexes made of it are compared as others
//! are. Only accumulators are known here, whose elements have the same places for all types and sizes.

use super::{Builder, NodeId, Source, Value};
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind};
use crate::model::op::Op;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Whether an expression is an accumulator, which rustc confirms: it takes the constructor for one, and products and waits for them
    /// give one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other expressions, nothing says that they are one")]
    pub(super) fn is_accumulator(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Vector { is_accumulator, .. } => *is_accumulator,
            ExprKind::Op { op: Op::Warp(_, method), .. } => method.name == "mma",
            ExprKind::Op { op: Op::MmaWait { prior: None } | Op::MmaWaitExceptLast { .. }, .. } => true,
            ExprKind::Local(local) => self.shown_types.accumulators.contains(local),
            ExprKind::Block(block) => block.tail.as_ref().is_some_and(|tail| self.is_accumulator(tail)),
            _ => false,
        }
    }

    /// Builds `sum.row(lane, i)` and `sum.column(lane, i)`, if the call is one of them. The methods of a type come before those of traits, so
    /// that these are ours.
    pub(super) fn element_position(&mut self, callee: &Callee, arguments: &'f [Expr], at: SpanRange) -> Option<Value> {
        let Callee::Method(name, _) = callee else { return None };
        let is_row = *name == "row";
        let [sum, lane, number] = arguments else { return None };
        if !(is_row || *name == "column") || !self.is_accumulator(sum) {
            return None;
        }
        let values = self.values([sum, lane, number]);
        let [_, lane, number] = &values[..] else { return None };
        let (lane, number) = (lane.node, number.node);
        let position = if is_row {
            // Of each warp 16 rows: the lane's, and the one 8 rows below.
            let of_warp = self.scaled(lane, &[(BinaryOp::Div, 32), (BinaryOp::Mul, 16)], at);
            let of_lane = self.scaled(lane, &[(BinaryOp::Rem, 32), (BinaryOp::Div, 4)], at);
            let below = self.scaled(number, &[(BinaryOp::Div, 2), (BinaryOp::Rem, 2), (BinaryOp::Mul, 8)], at);
            [of_warp, of_lane, below]
        } else {
            // Two neighbours of each 8 columns.
            let of_lane = self.scaled(lane, &[(BinaryOp::Rem, 4), (BinaryOp::Mul, 2)], at);
            let neighbour = self.scaled(number, &[(BinaryOp::Rem, 2)], at);
            let further = self.scaled(number, &[(BinaryOp::Div, 4), (BinaryOp::Mul, 8)], at);
            [of_lane, neighbour, further]
        };
        let [first, second, third] = position;
        let sum = self.node(Source::Binary(BinaryOp::Add), vec![first, second], at);
        Some(Value::of(self.node(Source::Binary(BinaryOp::Add), vec![sum, third], at)))
    }

    /// Applies operators with numbers to a value, one after the other.
    fn scaled(&mut self, of: NodeId, operators: &[(BinaryOp, u64)], at: SpanRange) -> NodeId {
        operators.iter().fold(of, |value, (op, number)| {
            let number = self.node(Source::Integer(*number), Vec::new(), at);
            self.node(Source::Binary(*op), vec![value, number], at)
        })
    }
}
