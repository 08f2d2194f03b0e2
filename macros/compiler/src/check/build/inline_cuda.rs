//! Inline CUDA, of which nothing is known but its operands.

use phalanx_contract::uniformity::Uniformity;

use super::memory::region_of_kind;
use super::{Builder, Source, Value};
use crate::check::cfg::{AccessKind, Extent, Region};
use crate::model::expr::Expr;
use crate::model::inline_cuda::{Direction, InlineCuda};
use crate::model::kind::Kind;
use crate::model::place::local_of;

impl<'f> Builder<'f> {
    /// Builds inline CUDA, whose effect on its operands is unknown.
    pub(super) fn inline_cuda(&mut self, inline_cuda: &'f InlineCuda, expr: &'f Expr) -> Value {
        let at = expr.span;
        let values: Vec<_> = inline_cuda.operands.iter().map(|operand| self.value(&operand.value)).collect();
        let nodes = values.iter().map(|value| value.node).collect();
        let node = self.node(Source::Known { uniformity: Uniformity::Divergent, what: "cuda!" }, nodes, at);
        for (operand, value) in inline_cuda.operands.iter().zip(values) {
            if let (Direction::Out | Direction::InOut, Some(local)) = (operand.direction, local_of(&operand.value)) {
                self.set_node(self.variable_of(local), node, Extent::Part, at);
            }
            let is_shared = operand.value.memory().is_some() || matches!(operand.value.result_kind, Kind::Barrier(_));
            if let Some(region) = value.region.filter(|_| is_shared) {
                self.access(region, AccessKind::Opaque, at);
            } else if let Kind::TensorMap { .. } = operand.value.result_kind {
                let param = self.parameter_of_map(&operand.value);
                self.access(Region { param, ..region_of_kind(operand.value.result_kind) }, AccessKind::Opaque, at);
            }
        }
        Value::of(node)
    }
}
