//! Methods of numbers, of which some are known functions of their operands, and operators that are functions.

use super::{Builder, Call, CallId, Source, StepKind, Value};
use crate::check::cfg::{Computed, Formula, NodeId};
use crate::model::SlotId;
use crate::model::expr::{BinaryOp, Callee, Expr};
use crate::model::method::ValueMethod;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Builds `a.name(b)`.
    pub(super) fn method(&mut self, method: &'static ValueMethod, operands: &'f [Expr], at: SpanRange) -> Value {
        let value = self.combine(operands, at);
        let formula = match (method.name, &self.nodes[value.node.0].operands[..]) {
            ("div_ceil", _) => Formula::DivCeil,
            ("rem_euclid", _) => Formula::RemEuclid,
            ("next_multiple_of", _) => Formula::NextMultiple,
            ("min", _) => Formula::Min,
            ("max", _) => Formula::Max,
            ("clamp", &[of, least, most]) => {
                let of = self.formula(Formula::Max, [of, least], at);
                return Value::of(self.formula(Formula::Min, [of, most], at));
            }
            ("is_multiple_of", &[of, by]) => {
                let rest = self.node(Source::Binary(BinaryOp::Rem), vec![of, by], at);
                let nothing = self.node(Source::Integer(0), Vec::new(), at);
                return Value::of(self.node(Source::Binary(BinaryOp::Eq), vec![rest, nothing], at));
            }
            ("abs_diff", &[a, b]) => {
                let (most, least) = (self.formula(Formula::Max, [a, b], at), self.formula(Formula::Min, [a, b], at));
                return Value::of(self.node(Source::Binary(BinaryOp::Sub), vec![most, least], at));
            }
            (name, _) => {
                let Some(bits) = operands.iter().find_map(|operand| self.width(operand)) else { return value };
                return self.of_unsigned(value, name, bits, at);
            }
        };
        self.formulas.insert(value.node, formula);
        value
    }

    /// The result of a method of unsigned integers of so many bits.
    fn of_unsigned(&mut self, value: Value, name: &'static str, bits: u32, at: SpanRange) -> Value {
        self.computed.insert(value.node, Computed::Method { name, bits });
        if !name.starts_with("checked_") {
            return value;
        }
        let operands = self.nodes[value.node.0].operands.clone();
        let fits = self.combined(operands, at);
        self.computed.insert(fits.node, Computed::Fits { name, bits });
        self.in_known_variant(value, fits)
    }

    /// Builds the call of an operator that assigns, whose operands are values.
    pub(super) fn call_of_values(
        &mut self,
        callee: &'f Callee,
        slot: SlotId,
        operands: Vec<NodeId>,
        at: SpanRange,
    ) -> NodeId {
        let count = operands.len();
        let node = self.node(Source::Call { slot, callee }, operands, at);
        self.calls.push(Call {
            slot,
            callee,
            node,
            teams: vec![None; count],
            regions: vec![None; count],
            barriers: Vec::new(),
            given_tokens: Vec::new(),
            returned_token: None,
            in_closure: self.closure_depth > 0,
            given_to: self.given_to,
            passes_closure: false,
            always_returns: false,
            at,
        });
        self.step(StepKind::Call(CallId(self.calls.len() - 1)), at);
        node
    }

    fn formula(&mut self, formula: Formula, of: [NodeId; 2], at: SpanRange) -> NodeId {
        let node = self.combined(of.to_vec(), at).node;
        self.formulas.insert(node, formula);
        node
    }
}
