//! Slots: a variable each, whose type rustc infers, and all of them together as nested tuples of eight elements, so that there may
//! be any number of them. No expression of the body has the type of all slots, which rustc would go through each time.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, quote};

use super::{braces, internal, private};
use crate::model::barrier::BarrierForm;
use crate::model::kind::Kind;
use crate::model::ty::ParamType;
use crate::model::{Function, LocalId, SlotId, SlotUse};
use crate::span::SpanRange;

const WIDTH: usize = 8;

/// Returns a reference to a slot: `&__phalanx_slot7`.
pub(crate) fn place(slot: SlotId, at: SpanRange) -> TokenStream {
    let name = name(usize::from(slot.0), at);
    let mut reference = Punct::new('&', Spacing::Alone);
    reference.set_span(at.lo);
    quote!(#reference #name)
}

fn name(slot: usize, at: SpanRange) -> Ident {
    internal(&format!("__phalanx_slot{slot}"), at)
}

/// Makes the statements that declare all slots.
pub(crate) fn declarations(slots: &[SlotUse]) -> TokenStream {
    let at = SpanRange::at(Span::call_site());
    let declare = slots.iter().enumerate().map(|(index, slot)| {
        let name = name(index, at);
        let other = |ty: TokenStream| quote!(<::phalanx::__private::#ty as ::core::default::Default>::default());
        match slot {
            SlotUse::Type => quote!(let #name = [];),
            SlotUse::Unused => quote!(let #name: ::phalanx::__private::Tag<::phalanx::__private::Unused> = [];),
            SlotUse::Callee => {
                let empty = other(quote!(Callee<_>));
                quote!(let #name = #empty;)
            }
            SlotUse::Message => {
                let empty = other(quote!(MessageSlot<_, _>));
                quote!(let #name = #empty;)
            }
            SlotUse::Option => {
                let empty = other(quote!(OptionSlot<_>));
                quote!(let #name = #empty;)
            }
        }
    });
    declare.collect()
}

/// Makes the tuple of all slots, as an expression and as a pattern.
pub(crate) fn all(count: usize) -> TokenStream {
    let at = SpanRange::at(Span::call_site());
    let mut parts: Vec<TokenStream> = (0..count).map(|slot| name(slot, at).into_token_stream()).collect();
    while parts.len() > 1 {
        parts = parts.chunks(WIDTH).map(|chunk| quote!((#(#chunk,)*))).collect();
    }
    parts.pop().unwrap_or_else(|| quote!(()))
}

/// Makes a closure that describes the slots, each with the span where it is filled: rustc reports there what cannot
/// fill it.
pub(super) fn description(places: &[Option<SpanRange>]) -> TokenStream {
    let at = SpanRange::at(Span::call_site());
    let describe = places.iter().enumerate().map(|(index, filled)| {
        let at = filled.unwrap_or(at);
        // The braces have the user's span; a generated name would not.
        let place = braces(SpanRange::at(at.lo), name(index, at).into_token_stream());
        let out = internal("__phalanx_out", at);
        let described = private(at, "describe", quote!(#place, #out));
        quote!(#described;)
    });
    let (slots, out) = (all(places.len()), internal("__phalanx_out", at));
    quote!(|#slots, #out| { #(#describe)* })
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
