//! `cuda!`: the user's text as the body of a lambda that captures nothing, so that it sees its operands under their
//! names, whatever those are called around it, and that no `return` or `break` of it leaves the kernel.

use super::Lower;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::by_hand::{ByHand, Direction, Operand};
use crate::model::kind::Kind;

impl Lower<'_> {
    pub(super) fn by_hand(&mut self, by_hand: &ByHand) {
        // No operand changes anything: they are evaluated in any order.
        let arguments: Vec<CuExpr> = by_hand.operands.iter().map(|operand| self.value(&operand.value)).collect();
        let parameters = by_hand.operands.iter().map(parameter).collect();
        self.out.push(CuStmt::Line(by_hand.line));
        self.out.push(CuStmt::ByHand { parameters, text: by_hand.text.clone(), arguments });
    }
}

fn parameter(operand: &Operand) -> String {
    let name = operand.name.to_string();
    let ty = match (operand.direction, operand.value.result_kind) {
        // Memory is used in place.
        (Direction::In, Kind::Memory(_)) | (Direction::Out | Direction::InOut, _) => "auto&",
        (Direction::In, _) => "const auto",
    };
    format!("{ty} {}", name.strip_prefix("r#").unwrap_or(&name))
}
