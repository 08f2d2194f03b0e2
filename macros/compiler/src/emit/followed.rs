//! What rustc confirms of functions whose bodies the checks have read in the file: that the calls are of these functions. The identity of
//! a function's text, with the module that it stands in, is a constant of its `Summary`; the caller stands in the same module, so that
//! the names in both mean the same, or says where the module is.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use super::item::{Declared, declared, unlinted};
use super::{callee, constant};
use crate::model::expr::FunctionPath;
use crate::model::followed::{Followed, FollowedMethod, Place, Selected, text_marker};
use crate::model::{Function, Role};

/// Makes the constant of a function's `Summary` by which callers know its text.
pub(super) fn constant(function: &Function) -> Option<TokenStream> {
    let identity = identity(function.text, function.name.span());
    match function.role {
        Role::Device | Role::Method => Some(quote_spanned!(function.name.span()=> const TEXT: u64 = #identity;)),
        Role::Kernel => None,
    }
}

/// Makes what other modules know the text of a function by that they may not name: they may read it where its own module's bodies call it.
pub(super) fn hidden(function: &Function) -> TokenStream {
    if function.role != Role::Device || function.vis.to_string() == "pub" {
        return TokenStream::new();
    }
    let span = function.name.span();
    let (marker, unlinted) = (Ident::new(&text_marker(&function.name), span), unlinted());
    let text = constant(function);
    quote_spanned! {span=>
        #[doc(hidden)]
        #unlinted
        #[allow(non_camel_case_types, dead_code, unreachable_pub, reason = "named after the function, and nobody's value")]
        pub struct #marker;
        #unlinted
        impl ::phalanx::__private::Summary for #marker { #text }
    }
}

/// Makes the condition that the calls are of these functions.
pub(crate) fn condition(followed: &[Followed]) -> TokenStream {
    let each = followed.iter().map(|function| {
        let (marker, span) = (function.marker(), function.name.span());
        let path = path(function);
        let identity = match &function.elsewhere {
            None => identity(function.text, span),
            Some((_, place)) => identity_elsewhere(function.text, place, span),
        };
        let text = callee::summary(&FunctionPath { path, name: marker, turbofish: TokenStream::new() }, "TEXT");
        quote_spanned!(span=> (#text == #identity))
    });
    quote!(#(#each)&&*)
}

/// The path of a function's marker.
fn path(function: &Followed) -> TokenStream {
    let (marker, span) = (function.marker(), function.name.span());
    match (&function.elsewhere, &function.method) {
        (None, _) => quote_spanned!(span=> #marker),
        (Some((path, _)), None) => path.clone(),
        (Some((module, _)), Some(_)) => quote_spanned!(span=> #module::#marker),
    }
}

/// Makes a function that nobody calls, in which rustc selects the methods, or reports that it selects others. It has the generics of the
/// caller, which the methods' types may name.
pub(crate) fn selections(caller: &Function, followed: &[Followed]) -> TokenStream {
    let each = followed.iter().filter_map(|function| {
        let FollowedMethod { ty, constants, arguments, selected, .. } = function.method.as_ref()?;
        let (marker, span) = (path(function), function.name.span());
        let entry = format_ident!("{}__on_device", function.name, span = span);
        let arguments = std::iter::repeat_n(quote_spanned!(span=> loop {}), *arguments);
        let slot = |own: &[TokenTree]| {
            quote_spanned!(span=> &<::phalanx::__private::Callee<#marker::<#(#constants,)* #(#own),*>> as ::core::default::Default>::default())
        };
        Some(match selected {
            Selected::ByType => {
                let slot = slot(&[]);
                quote_spanned!(span=> { #ty::#entry(#(#arguments,)* #slot); })
            }
            Selected::ByReceiver(own) => {
                let slot = slot(own);
                let turbofish = (!own.is_empty()).then(|| quote_spanned!(span=> ::<#(#own),*>));
                quote_spanned!(span=> { let mut value: #ty = loop {}; value.#entry #turbofish(#(#arguments,)* #slot); })
            }
        })
    });
    let each: Vec<TokenStream> = each.collect();
    if each.is_empty() {
        return TokenStream::new();
    }
    let Declared { declared, where_clause, .. } = declared(&caller.generics);
    quote! {
        const _: () = {
            #[allow(
                unreachable_code, unused_variables, unused_mut, unused_must_use, dead_code, clippy::all, clippy::pedantic,
                reason = "it is only compiled"
            )]
            fn __phalanx_selected<#declared>() #where_clause { #(#each)* }
        };
    }
}

fn identity_elsewhere(text: u64, Place { up, down }: &Place, span: Span) -> TokenStream {
    let identity = constant::path("protocol", "identity_elsewhere");
    let (high, low) = halves(text);
    quote_spanned!(span=> #identity(::core::module_path!(), #up, &[#(#down),*], (#high, #low)))
}

fn identity(text: u64, span: Span) -> TokenStream {
    let identity = constant::path("protocol", "identity");
    let (high, low) = halves(text);
    quote_spanned!(span=> #identity(::core::module_path!(), "", (#high, #low), ""))
}

fn halves(text: u64) -> (u32, u32) {
    ((text >> 32) as u32, text as u32)
}
