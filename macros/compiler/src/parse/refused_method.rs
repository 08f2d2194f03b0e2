//! What a function in an `impl` that has the attribute itself needs beside it: it is refused, and rustc is not to miss it at its calls, too.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, ItemFn, Pat, Signature, parse_quote};

/// Makes the method that bodies call in place of this one.
pub(crate) fn called_in_bodies(item: &ItemFn) -> TokenStream {
    let mut signature = Signature { ident: format_ident!("{}__on_device", item.sig.ident), ..item.sig.clone() };
    let is_generic = !signature.generics.params.is_empty();
    for (number, input) in signature.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(typed) = input {
            *typed.pat = Pat::Verbatim(format_ident!("_argument_{number}").into_token_stream());
            // Bodies have views of memory and groups in place of what the signature says.
            if !is_generic {
                typed.ty = parse_quote!(impl ::core::marker::Sized);
            }
        }
    }
    signature.inputs.push(parse_quote!(_slot: &::phalanx::__private::Callee<::phalanx::__private::RefusedFunction>));
    let vis = &item.vis;
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_mut, non_snake_case, clippy::pedantic, reason = "a stub")]
        #vis #signature { loop {} }
    }
}
