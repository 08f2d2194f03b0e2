//! Methods of numbers, of which some are known functions of their operands.

use super::{Builder, Source, Value};
use crate::check::cfg::{Formula, NodeId};
use crate::model::expr::{BinaryOp, Expr};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Builds `a.name(b)`.
    pub(super) fn method(&mut self, name: &str, operands: &'f [Expr], at: SpanRange) -> Value {
        let value = self.combine(operands, at);
        let formula = match (name, &self.nodes[value.node.0].operands[..]) {
            ("div_ceil", _) => Formula::DivCeil,
            ("rem_euclid", _) => Formula::RemEuclid,
            ("next_multiple_of", _) => Formula::NextMultiple,
            ("min", _) => Formula::Min,
            ("max", _) => Formula::Max,
            ("is_multiple_of", &[of, by]) => {
                let rest = self.node(Source::Binary(BinaryOp::Rem), vec![of, by], at);
                let nothing = self.node(Source::Integer(0), Vec::new(), at);
                return Value::of(self.node(Source::Binary(BinaryOp::Eq), vec![rest, nothing], at));
            }
            ("abs_diff", &[a, b]) => {
                let (most, least) = (self.formula(Formula::Max, [a, b], at), self.formula(Formula::Min, [a, b], at));
                return Value::of(self.node(Source::Binary(BinaryOp::Sub), vec![most, least], at));
            }
            _ => return value,
        };
        self.formulas.insert(value.node, formula);
        value
    }

    fn formula(&mut self, formula: Formula, of: [NodeId; 2], at: SpanRange) -> NodeId {
        let node = self.combined(of.to_vec(), at).node;
        self.formulas.insert(node, formula);
        node
    }
}
