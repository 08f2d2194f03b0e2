//! Methods of Rust's own types, which the macro cannot tell from a user's: what a body imports to have those that are written in the
//! kernel language, and what it declares so that rustc refuses the others with a sentence.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::op::entry_name;
use crate::model::{Function, RefusedMethod};

/// Makes the imports and declarations of a body.
///
/// The methods that are refused take `&mut self`, which rustc tries last: another trait's method of the name comes first.
pub(crate) fn methods_of_rust(function: &Function) -> TokenStream {
    let imports = function.calls_library.then(|| {
        quote! {
            #[allow(unused_imports, reason = "the methods may be the user's own")]
            use ::phalanx::__private::unnamed::*;
        }
    });
    let (markers, methods): (Vec<_>, Vec<_>) = function.refused.values().map(refused).unzip();
    let refusals = (!methods.is_empty()).then(|| {
        quote! {
            #[allow(non_camel_case_types, non_snake_case, dead_code, unused_variables, reason = "named after methods")]
            mod __phalanx_methods {
                #(#markers)*
                pub(super) trait OfRust: ::phalanx::__private::TypeOfRust {
                    #(#methods)*
                }
                impl<T: ::phalanx::__private::TypeOfRust> OfRust for T {}
            }
            #[allow(unused_imports, reason = "the methods may be the user's own")]
            use __phalanx_methods::OfRust as _;
        }
    });
    quote!(#imports #refusals)
}

/// Makes a trait that no value has, and the method that asks for it.
fn refused(method: &RefusedMethod) -> (TokenStream, TokenStream) {
    let RefusedMethod { name, arguments, message, instead } = method;
    let (entry, supported) = (entry_name(name), format_ident!("{name}", span = Span::call_site()));
    let (types, values): (Vec<Ident>, Vec<Ident>) =
        (0..*arguments).map(|index| (format_ident!("A{index}"), format_ident!("a{index}"))).unzip();
    let marker = quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "a kernel has no such method", note = #instead)]
        pub(super) trait #supported {}
        // Without an impl, rustc would propose one.
        #[diagnostic::do_not_recommend]
        impl #supported for () {}
    };
    let method = quote! {
        fn #entry<#(#types,)* R, M>(&mut self, #(#values: #types,)* slot: &::phalanx::__private::Callee<M>) -> R
        where
            Self: #supported,
        {
            loop {}
        }
    };
    (marker, method)
}
