//! Lowers `cuda!`: the user's text becomes the body of a lambda that captures nothing, so that it sees its operands
//! under their names, whatever they are called around it, and so that no `return` or `break` in it leaves the kernel.

use super::Lower;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::inline_cuda::{Direction, InlineCuda, Operand};
use crate::model::kind::Kind;

impl Lower<'_> {
    pub(super) fn inline_cuda(&mut self, inline_cuda: &InlineCuda) {
        // The operands have no side effects, so their order does not matter.
        let arguments: Vec<CuExpr> = inline_cuda.operands.iter().map(|operand| self.value(&operand.value)).collect();
        let parameters = inline_cuda.operands.iter().map(parameter).collect();
        self.out.push(CuStmt::Line(inline_cuda.line));
        self.out.push(CuStmt::InlineCuda { parameters, text: inline_cuda.text.clone(), arguments });
    }
}

fn parameter(operand: &Operand) -> String {
    let name = operand.name.to_string();
    let ty = match (operand.direction, operand.value.result_kind) {
        // Memory is passed by reference.
        (Direction::In, Kind::Memory(_)) | (Direction::Out | Direction::InOut, _) => "auto&",
        // What these are is their address.
        (Direction::In, Kind::Barrier(_) | Kind::TensorMap { .. }) => "const auto&",
        (Direction::In, _) => "const auto",
    };
    format!("{ty} {}", name.strip_prefix("r#").unwrap_or(&name))
}
