//! Operations on memory in the host body: parts, vectors and atomics, each one call of the private API. `place` has
//! elements and their parts.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{Host, call, generic_call, private};
use crate::model::ValueId;
use crate::model::atomic::{AtomicUse, MemoryOrder, MemoryScope};
use crate::model::expr::Expr;
use crate::model::op::Part;
use crate::span::SpanRange;

impl Host<'_> {
    /// Calls a function of the private API with memory, its indexes, and the other operands.
    pub(super) fn on_memory(&self, name: &str, operands: &[Expr], at: SpanRange) -> TokenStream {
        let arguments = self.memory_arguments(operands);
        private(at, name, arguments)
    }

    fn memory_arguments(&self, operands: &[Expr]) -> TokenStream {
        let memory = operands.first().map(|memory| self.borrowed(memory));
        let rest = operands.iter().skip(1).map(|operand| self.expr(operand));
        quote!(#memory #(, #rest)*)
    }

    pub(super) fn part(&self, form: Part, mutable: bool, operands: &[Expr], at: SpanRange) -> TokenStream {
        let name = match (form, mutable) {
            (Part::Range, false) => "subslice",
            (Part::Range, true) => "subslice_mut",
            (Part::Inclusive, false) => "subslice_inclusive",
            (Part::Inclusive, true) => "subslice_inclusive_mut",
            (Part::From, false) => "subslice_from",
            (Part::From, true) => "subslice_from_mut",
            (Part::Row, false) => "row",
            (Part::Row, true) => "row_mut",
            (Part::Chunk | Part::ExactChunk, false) => "chunk",
            (Part::Chunk | Part::ExactChunk, true) => "chunk_mut",
            (Part::Array, true) => {
                let arguments = operands.iter().map(|array| self.expr(array));
                return private(at, "slice_of_mut", quote!(#(#arguments),*));
            }
            (Part::Array, false) => "slice_of",
        };
        self.on_memory(name, operands, at)
    }

    /// `&memory[index]` as an argument: an array as a slice, and anything else as a reference to its value.
    pub(super) fn lent(&self, operands: &[Expr], at: SpanRange) -> TokenStream {
        let lent = self.on_memory("lent", operands, at);
        quote_spanned!(at.lo=> #lent.held().given())
    }

    pub(super) fn load_vec(&self, lanes: ValueId, operands: &[Expr], at: SpanRange) -> TokenStream {
        let lanes = &self.function.values[usize::from(lanes.0)].tokens;
        let arguments = self.memory_arguments(operands);
        generic_call(at, &["__private", "load_vec"], quote!(_, { #lanes }), arguments)
    }

    pub(super) fn atomic(&self, atomic: AtomicUse, operands: &[Expr], at: SpanRange) -> TokenStream {
        let (place, values) = operands.split_at(operands.len().min(2));
        let place = self.on_memory("atomic", place, at);
        let scope = atomic.scope.map(|scope| {
            let scope = scope_path(scope);
            quote_spanned!(at.lo=> .scope(#scope))
        });
        let values = values.iter().map(|value| self.expr(value));
        let orders = atomic.orders.into_iter().flatten().map(order_path);
        let arguments = values.chain(orders);
        let name = proc_macro2::Ident::new(atomic.method.name, at.lo);
        quote_spanned!(at.lo=> #place #scope.#name(#(#arguments),*))
    }

    pub(super) fn vector(&self, path: &TokenStream, kind: &str, argument: &Expr, at: SpanRange) -> TokenStream {
        let argument = self.expr(argument);
        private(at, kind, quote_spanned!(at.lo=> #path(#argument)))
    }
}

pub(super) fn fence(order: MemoryOrder, scope: MemoryScope, at: SpanRange) -> TokenStream {
    let (order, scope) = (order_path(order), scope_path(scope));
    call(at, &["fence"], quote!(#order, #scope))
}

fn order_path(order: MemoryOrder) -> TokenStream {
    let order = quote::format_ident!("{}", order.rust_name());
    quote!(::core::sync::atomic::Ordering::#order)
}

fn scope_path(scope: MemoryScope) -> TokenStream {
    let scope = quote::format_ident!("{}", scope.rust_name());
    quote!(::phalanx::Scope::#scope)
}
