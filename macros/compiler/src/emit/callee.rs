//! A called function in generated code: its marker type, and the constants of the marker's `Summary`.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use crate::model::expr::FunctionPath;

/// What `value` makes of a function's marker. Where it has none, the import finds but a function, and the name is still
/// `Unmarked`'s: rustc says that a marker is missing, and not that it knows no such type. All is placed at the function's
/// name.
pub(super) fn with_marker(function: &FunctionPath, value: impl FnOnce(&Ident) -> TokenStream) -> TokenStream {
    let FunctionPath { path, name, .. } = function;
    let callee = Ident::new("__phalanx_callee", name.span());
    let value = value(&callee);
    let allow =
        quote_spanned!(name.span()=> #[allow(unused_imports, clippy::all, reason = "one of both has the marker")]);
    quote_spanned! {name.span()=>
        { #allow use ::phalanx::__private::Unmarked as #callee; { #allow use #path as #callee; #value } }
    }
}

/// A constant of what its callers know of a function.
pub(super) fn summary(function: &FunctionPath, constant: &str) -> TokenStream {
    let constant = Ident::new(constant, function.name.span());
    // The marker's parameters have defaults.
    with_marker(
        function,
        |marker| quote_spanned!(function.name.span()=> <#marker as ::phalanx::__private::Summary>::#constant),
    )
}
