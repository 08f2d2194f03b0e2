//! Slots, as nested tuples of eight elements, so that there may be any number of them.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{braces, internal, private};
use crate::model::barrier::BarrierForm;
use crate::model::kind::Kind;
use crate::model::ty::ParamType;
use crate::model::{Function, LocalId, SlotId, SlotUse};
use crate::span::SpanRange;

const WIDTH: usize = 8;

/// Returns the number of levels of tuples that hold `count` slots.
fn depth(count: usize) -> u32 {
    (1..).find(|depth| count <= WIDTH.pow(*depth)).unwrap_or(1)
}

/// Returns a slot's path: `&__phalanx_slots.1.7`.
pub(crate) fn place(slot: SlotId, count: usize, at: SpanRange) -> TokenStream {
    let (slots, span) = (internal("__phalanx_slots", at), at.lo);
    let fields = (0..depth(count)).rev().map(|level| {
        let mut field = Literal::usize_unsuffixed(usize::from(slot.0) / WIDTH.pow(level) % WIDTH);
        field.set_span(span);
        field
    });
    quote_spanned!(span=> &#slots #(.#fields)*)
}

/// Makes the initial value of all slots.
pub(crate) fn declaration(slots: &[SlotUse]) -> TokenStream {
    nest(slots, depth(slots.len()))
}

/// Makes a closure that describes the slots, each with the span where it is filled: rustc reports there what cannot
/// fill it.
pub(super) fn description(places: &[Option<SpanRange>]) -> TokenStream {
    let at = SpanRange::at(Span::call_site());
    let describe = places.iter().enumerate().map(|(index, filled)| {
        let at = filled.unwrap_or(at);
        // The braces have the user's span; a generated name would not.
        let place = braces(SpanRange::at(at.lo), place(SlotId(index as u16), places.len(), at));
        let out = internal("__phalanx_out", at);
        let described = private(at, "describe", quote!(#place, #out));
        quote!(#described;)
    });
    let (slots, out) = (internal("__phalanx_slots", at), internal("__phalanx_out", at));
    quote!(|#slots, #out| { #(#describe)* })
}

fn nest(slots: &[SlotUse], depth: u32) -> TokenStream {
    if depth == 0 {
        let ty = match slots.first() {
            Some(SlotUse::Callee) => quote!(Callee<_>),
            Some(SlotUse::Message) => quote!(MessageSlot<_, _>),
            Some(SlotUse::Option) => quote!(OptionSlot<_>),
            Some(SlotUse::Type) | None => quote!(Tag<_>),
            Some(SlotUse::Unused) => quote!(Tag<::phalanx::__private::Unused>),
        };
        return quote!(<::phalanx::__private::#ty as ::core::default::Default>::default());
    }
    let parts = slots.chunks(WIDTH.pow(depth - 1)).map(|chunk| nest(chunk, depth - 1));
    quote!((#(#parts,)*))
}

/// Whether a name is a reference in the host body too.
pub(super) fn is_reference(function: &Function, local: LocalId) -> bool {
    let param = function.params.iter().find(|param| param.local == local);
    match param.map(|param| &param.ty) {
        Some(ParamType::Group(_) | ParamType::Tile { .. } | ParamType::Reference { .. }) => true,
        Some(ParamType::Barrier { barrier, .. }) => barrier.form != BarrierForm::Remote,
        // Remote memory is passed by value unless it was written with `&`, a slice always.
        Some(ParamType::Memory { by_reference, memory, .. }) => *by_reference && !memory.is_slice(),
        Some(
            ParamType::Value(_)
            | ParamType::Slice { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Closure { .. },
        )
        | None => function.local(local).by_reference || matches!(function.kind(local), Kind::Reference { .. }),
    }
}
