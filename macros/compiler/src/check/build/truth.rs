//! Conditions that literals decide: where the number of a constant stands in its place, `if STAGES > 1 { .. }` has only one arm that is
//! executed, for all checks.
//!
//! Not done here: numbers that are negative or may wrap around, and variables.

use super::{Builder, NodeId, Source};
use crate::check::constant_propagation::operate;
use crate::model::expr::BinaryOp;

/// The largest number of the smallest type. A larger result may wrap around in it.
const MOST: u64 = i8::MAX as u64;

impl Builder<'_> {
    /// Whether the value is true, if literals decide.
    pub(super) fn truth(&self, node: NodeId) -> Option<bool> {
        let of = &self.nodes[node.0];
        match (&of.source, &of.operands[..]) {
            (Source::Not, [negated]) => self.truth(*negated).map(|holds| !holds),
            (Source::Binary(op), [first, second]) if op.short_circuits() => {
                let deciding = *op == BinaryOp::Or;
                match (self.truth(*first), self.truth(*second)) {
                    (Some(holds), other) | (other, Some(holds)) if holds != deciding => other,
                    (None, None) => None,
                    _ => Some(deciding),
                }
            }
            _ => self.made_of_literals(node).filter(|number| *number < 2).map(|number| number == 1),
        }
    }

    /// The number that literals make up, as in every type.
    fn made_of_literals(&self, node: NodeId) -> Option<u64> {
        if self.cuts.contains_key(&node) || self.recast.contains_key(&node) {
            return None;
        }
        match (&self.nodes[node.0].source, &self.nodes[node.0].operands[..]) {
            (Source::Integer(number), []) => Some(*number),
            (Source::Binary(op) | Source::Round(_, op), [first, second]) => {
                let (first, second) = (self.made_of_literals(*first)?, self.made_of_literals(*second)?);
                operate(*op, first, second).filter(|number| *number <= MOST.max(first).max(second))
            }
            _ => None,
        }
    }
}
