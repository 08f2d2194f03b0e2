//! Asynchronous copies of the host body, each by the full path of its form.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{Host, call, generic_call, private};
use crate::model::ValueId;
use crate::model::copy::{BulkDirection, CopyOp};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::{Op, Part};
use crate::span::SpanRange;

impl Host<'_> {
    pub(super) fn copy(&self, copy: CopyOp, operands: &[Expr], at: SpanRange) -> TokenStream {
        let arguments = operands.iter().enumerate().map(|(position, operand)| match &operand.kind {
            ExprKind::Op { op: Op::Part { form: Part::Row, .. }, operands: row, .. }
                if position == 1 && matches!(copy, CopyOp::Cooperative { .. }) =>
            {
                let row = self.on_memory("row_to_fill", row, operand.span);
                quote_spanned!(operand.span.lo=> &#row)
            }
            _ => match operand.result_kind {
                Kind::Memory(_) | Kind::Barrier(_) | Kind::Group(_) => self.borrowed(operand),
                _ => self.expr(operand),
            },
        });
        let arguments = quote!(#(#arguments),*);
        let prior = |prior: ValueId| {
            let prior = &self.function.values[usize::from(prior.0)].tokens;
            quote!({ #prior })
        };
        match copy {
            CopyOp::Tensor(tensor) => {
                let map = match operands.first().map(|map| map.result_kind) {
                    Some(Kind::TensorMap { mutable: true }) => "TensorMapMut",
                    _ => "TensorMap",
                };
                call(at, &[map, tensor.name()], arguments)
            }
            CopyOp::Cooperative { group, to_barrier } => {
                let name = if to_barrier { "memcpy_async_to_barrier" } else { "memcpy_async" };
                call(at, &[group.rust_name(), name], arguments)
            }
            CopyOp::Bulk(BulkDirection::GlobalToShared) => call(at, &["bulk_copy_async"], arguments),
            CopyOp::Bulk(BulkDirection::SharedToPeer) => private(at, "bulk_copy_to_peer", arguments),
            CopyOp::Bulk(BulkDirection::SharedToGlobal) => private(at, "bulk_copy_to_global", arguments),
            CopyOp::Store => private(at, "store_async", arguments),
            CopyOp::Wait { group, prior: None } => call(at, &[group.rust_name(), copy.name()], arguments),
            CopyOp::Wait { group, prior: Some(number) } => {
                generic_call(at, &[group.rust_name(), copy.name()], prior(number), arguments)
            }
            CopyOp::BulkWait { prior: number, .. } => generic_call(at, &[copy.name()], prior(number), arguments),
        }
    }
}
