//! Methods of Rust's own types, which the macro cannot tell from a user's: what a body imports to have those that are written in the
//! kernel language, and what it declares so that rustc refuses the others with a sentence.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::op::entry_name;
use crate::messages;
use crate::model::Function;
use crate::model::expr::{Callee, ExprKind};
use crate::model::walk::walk_block;

/// Makes the imports and declarations of a body.
///
/// The methods that are refused take `&mut self`, which rustc tries last: another trait's method of the name comes first.
pub(crate) fn methods_of_rust(function: &Function) -> TokenStream {
    let mut is_asked = false;
    let mut refused: BTreeMap<String, (Ident, usize, String)> = BTreeMap::new();
    walk_block(&function.body, &mut |expr| {
        let ExprKind::Call { callee, arguments, .. } = &expr.kind else { return };
        is_asked |= !matches!(callee, Callee::Function(_));
        let Callee::Method(name, _) = callee else { return };
        if let Some(instead) = messages::instead_of_method(&name.to_string()) {
            let count = arguments.len().saturating_sub(1);
            refused.entry(name.to_string()).or_insert_with(|| (name.clone(), count, instead));
        }
    });
    let imports = is_asked.then(|| {
        quote! {
            #[allow(unused_imports, reason = "the methods may be the user's own")]
            use ::phalanx::__private::unnamed::*;
        }
    });
    let declared = refused.values().map(|(name, count, instead)| {
        let (entry, message) = (entry_name(name), messages::method_of_rust(&name.to_string()));
        let (types, values): (Vec<Ident>, Vec<Ident>) =
            (0..*count).map(|index| (format_ident!("A{index}"), format_ident!("a{index}"))).unzip();
        let supported = format_ident!("{name}", span = proc_macro2::Span::call_site());
        let marker = quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "a kernel has no such method", note = #instead)]
            pub(super) trait #supported {}
            // rustc would propose one.
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
    });
    let (markers, methods): (Vec<_>, Vec<_>) = declared.unzip();
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
