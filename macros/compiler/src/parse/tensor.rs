//! Copies between tensors in global memory and tiles in shared memory: `map.load_async([row, column], &tile, &bar)` and
//! its like.

use syn::ExprMethodCall;

use super::Parser;
use super::syntax::strip;
use crate::messages;
use crate::model::copy::{CopyOp, TensorCopy};
use crate::model::expr::Expr;
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a method of a tensor's map.
    pub(super) fn tensor_copy(&mut self, mutable: bool, map: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let name = call.method.to_string();
        let Some(copy) = TensorCopy::by_name(&name) else {
            return self.error(messages::unknown_method(SpanRange::of(&call.method), &name, map.result_kind));
        };
        if let Some(turbofish) = &call.turbofish {
            let at = SpanRange::of(turbofish);
            let diag = messages::unsupported_syntax(at, "type arguments of this method are");
            return self.error(diag.help("remove them: the tile's type is that of the map"));
        }
        if copy.writes() && !mutable {
            return self.error(messages::read_only_tensor(map.span));
        }
        if call.args.len() != copy.arguments() {
            let diag = messages::argument_count(span, &name, copy.arguments(), call.args.len());
            return self.error(diag.help(format!("write `{}`", copy.form())));
        }
        let mut operands = vec![map];
        let Some(coordinates) = self.coordinates(&call.args[0], copy) else { return Expr::error(span) };
        operands.push(coordinates);
        if let Some(tile) = call.args.get(1) {
            let Some(tile) = self.shared_argument(tile, &copy.form()) else { return Expr::error(span) };
            let Kind::Memory(Memory::SharedArray | Memory::SharedSlice) = tile.result_kind else {
                return self.error(messages::copied_tile(tile.span, tile.result_kind));
            };
            operands.push(tile);
        }
        if let Some(bar) = call.args.get(2) {
            let Some(bar) = self.completion_barrier(bar, false) else { return Expr::error(span) };
            operands.push(bar);
        }
        self.op(Op::Copy(CopyOp::Tensor(copy)), operands, span)
    }

    /// Parses the coordinates of a tile's first element, one for each dimension.
    fn coordinates(&mut self, coordinates: &syn::Expr, copy: TensorCopy) -> Option<Expr> {
        if let syn::Expr::Array(array) = strip(coordinates)
            && array.elems.len() > MAX_RANK
        {
            self.diags.push(messages::tensor_rank(SpanRange::of(array), array.elems.len(), &copy.form()));
            return None;
        }
        Some(self.value(coordinates))
    }
}

/// The most dimensions that a tensor has (PTX ISA, Tensors).
const MAX_RANK: usize = 5;
