//! A called function in generated code: its marker type, and the constants of the marker's `Summary`.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use crate::model::expr::FunctionPath;

/// Makes an expression of a function's marker by `value`. For a function without a marker, the import finds only the
/// function, and the name still refers to `Unmarked`: rustc then reports that a marker is missing, and not an unknown
/// type. All tokens have the span of the function's name.
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

/// Returns a constant of the function's `Summary`, which its callers read.
pub(super) fn summary(function: &FunctionPath, constant: &str) -> TokenStream {
    let constant = Ident::new(constant, function.name.span());
    // The marker's type parameters have defaults.
    with_marker(
        function,
        |marker| quote_spanned!(function.name.span()=> <#marker as ::phalanx::__private::Summary>::#constant),
    )
}
