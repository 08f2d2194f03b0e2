//! `cuda!` in the host body: the closure is called with the inputs, and its result assigned to the outputs. Both calls
//! are `unsafe`, so that rustc requires the block.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::{Host, internal, private};
use crate::model::expr::ExprKind;
use crate::model::inline_cuda::{Closure, Direction, InlineCuda, Operand};
use crate::model::kind::Kind;
use crate::span::SpanRange;

impl Host<'_> {
    pub(super) fn inline_cuda(&self, inline_cuda: &InlineCuda, at: SpanRange) -> TokenStream {
        let inputs = inline_cuda.operands.iter().filter(|operand| operand.direction != Direction::Out);
        let inputs = inputs.map(|operand| self.input(operand));
        let inputs = quote!((#(#inputs,)*));
        let result = match &inline_cuda.closure {
            Some(Closure { patterns, types, body, at: place }) => {
                let closure = quote_spanned!(place.lo=> |(#(#patterns,)*): (#(#types,)*)| #body);
                private(at, "inline_cuda", quote!(#inputs, #closure))
            }
            None => private(at, "without_closure", inputs),
        };
        let outputs: Vec<&Operand> =
            inline_cuda.operands.iter().filter(|operand| operand.direction != Direction::In).collect();
        let name = |(index, operand): (usize, &&Operand)| internal(&format!("__phalanx_{index}"), operand.at);
        let names: Vec<Ident> = outputs.iter().enumerate().map(name).collect();
        let pattern = match &names[..] {
            [name] => quote!(#name),
            names => quote!((#(#names),*)),
        };
        let assigned = outputs.iter().zip(&names).map(|(operand, name)| self.output(operand, quote!(#name)));
        quote_spanned!(at.lo=> match #result { #pattern => { #(#assigned)* } })
    }

    /// Prints an input. rustc checks that it is what the macro takes it for: memory, a barrier, a tensor's map, or a value.
    fn input(&self, operand: &Operand) -> TokenStream {
        match operand.value.result_kind {
            Kind::Memory(_) | Kind::Barrier(_) => self.borrowed(&operand.value),
            Kind::TensorMap { .. } => self.expr(&operand.value),
            _ => private(operand.at, "value", self.expr(&operand.value)),
        }
    }

    fn output(&self, operand: &Operand, value: TokenStream) -> TokenStream {
        let place = self.expr(&operand.value);
        let slot = match operand.value.kind {
            ExprKind::Local(local) => self.function.local(local).slot,
            _ => None,
        };
        let value = match slot {
            Some(slot) => self.typed(slot, value, operand.at),
            None => private(operand.at, "value", value),
        };
        quote_spanned!(operand.at.lo=> #place = #value;)
    }
}
