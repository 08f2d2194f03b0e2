//! The fences of a function's arrivals that other blocks wait for, as constants: rustc adds the effects of the device functions that are
//! called, and chooses (`phalanx_contract::fence`).

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::fence::MemoryEffects;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{callee, constant};
use crate::check::Checked;
use crate::check::fences::{Barrier, EffectOf, Effects, Fences};
use crate::model::Role;
use crate::span::SpanRange;

fn path(name: &str) -> TokenStream {
    constant::path("fence", name)
}

/// Makes the constants of the function's `Summary`, or nothing where the trait's defaults are right.
pub(super) fn constants(checked: &Checked<'_>, items: &[TokenStream]) -> TokenStream {
    let (function, fences) = (checked.function(), checked.fences());
    let span = function.name.span();
    let memory = (function.role == Role::Device).then(|| {
        let (ty, effects) = (path("MemoryEffects"), union(fences, &fences.effects));
        quote_spanned!(span=> const MEMORY: #ty = { #(#items)* #effects };)
    });
    let barriers = has_constant(checked).then(|| {
        let ty = path("ChosenFence");
        let barriers = fences.barriers.iter().map(|barrier| self::barrier(fences, barrier));
        quote_spanned!(span=> const BARRIERS: &'static [#ty] = {
            #(#items)*
            use ::phalanx::__private::contract::fence as __phalanx_fence;
            &[#(#barriers),*]
        };)
    });
    quote!(#memory #barriers)
}

/// Makes the expression by which a template names the barriers.
pub(super) fn barriers(checked: &Checked<'_>) -> TokenStream {
    let marker = &checked.function().name;
    match has_constant(checked) {
        true => quote!(<#marker as ::phalanx::__private::Summary>::BARRIERS),
        false => quote!(&[]),
    }
}

/// Makes the expression of an inferred fence.
pub(super) fn fence(checked: &Checked<'_>, index: usize, at: SpanRange) -> TokenStream {
    let marker = &checked.function().name;
    quote_spanned!(at.lo=> const { <#marker as ::phalanx::__private::Summary>::BARRIERS[#index].fence })
}

/// Whether the function has barriers of the cluster. A method has none.
fn has_constant(checked: &Checked<'_>) -> bool {
    checked.function().role != Role::Method && !checked.fences().barriers.is_empty()
}

/// Makes an element of `BARRIERS`, by the short name of the contract's module that is in scope there.
fn barrier(fences: &Fences<'_>, Barrier { at, operation, needs }: &Barrier) -> TokenStream {
    let (name, waits) = (operation.name(), operation.waits());
    let (line, column) = (at.line(), at.column());
    let (before, between) = (causes(fences, &needs.before), causes(fences, &needs.between));
    let after = union(fences, &needs.after);
    quote!(__phalanx_fence::ChosenFence::inferred((#line, #column), #name, #waits, (&[#(#before),*], &[#(#between),*], #after)))
}

/// The effects as a list of causes, in the order of the source.
fn causes(fences: &Fences<'_>, effects: &Effects) -> Vec<TokenStream> {
    let mut effects: Vec<_> = effects.iter().collect();
    effects.sort_by_key(|(_, at)| (at.line(), at.column()));
    let cause = |(effect, at): (EffectOf, SpanRange)| {
        let line = at.line();
        let what = match effect {
            EffectOf::Own(what, _) => what.to_string(),
            EffectOf::Call(slot) => {
                let name = fences.callee(slot).map(|callee| callee.name.to_string()).unwrap_or_default();
                format!("calls `{name}`, which accesses memory")
            }
        };
        let effects = match effect {
            EffectOf::Own(_, bits) => quote!(__phalanx_fence::MemoryEffects::from_bits_truncate(#bits)),
            EffectOf::Call(_) => of(fences, effect),
        };
        quote!(__phalanx_fence::Cause { effects: #effects, line: #line, what: #what })
    };
    effects.into_iter().map(cause).collect()
}

/// The union of effects, which rustc evaluates.
fn union(fences: &Fences<'_>, effects: &Effects) -> TokenStream {
    let mut own = MemoryEffects::empty();
    let mut called = Vec::new();
    for (effect, _) in effects.iter() {
        match effect {
            EffectOf::Own(_, bits) => own |= MemoryEffects::from_bits_truncate(bits),
            EffectOf::Call(_) => called.push(of(fences, effect)),
        }
    }
    let own = constant::memory_effects(own);
    quote!(#own #(.union(#called))*)
}

fn of(fences: &Fences<'_>, effect: EffectOf) -> TokenStream {
    match effect {
        EffectOf::Own(_, bits) => constant::memory_effects(MemoryEffects::from_bits_truncate(bits)),
        EffectOf::Call(slot) => match fences.callee(slot) {
            Some(callee) => callee::summary(callee, "MEMORY"),
            None => constant::memory_effects(MemoryEffects::all()),
        },
    }
}
