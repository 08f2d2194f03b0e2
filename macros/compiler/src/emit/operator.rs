//! `#[device] impl Add for Vec2`: beside the `impl` for the host, the one of the trait by which bodies find the function.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::item::{Declared, declared};
use crate::model::expr::{Callee, ExprKind};
use crate::model::walk::walk_block;
use crate::model::{Function, Method, OperatorImpl};

/// Makes the `impl` of an operator for bodies. `real` is false if the method has errors.
pub(super) fn implementation(of: &OperatorImpl, method: &Method, real: bool) -> TokenStream {
    let OperatorImpl { generics, own_type, where_clause, name, host_trait, right, assigns } = of;
    let marker = &method.function.name;
    let Declared { used, .. } = declared(&method.function.generics);
    let marker = quote!(#marker::<#used>);
    let arguments = right.as_ref().map(|right| quote!(<#right>));
    // That the trait is the standard library's is confirmed by rustc here.
    let standard = quote_spanned!(name.span()=> <#own_type as ::core::ops::#name #arguments>);
    let output = (!assigns).then(|| quote!(type Output = #standard::Output;));
    let receiver = if *assigns { quote!(&mut self) } else { quote!(self) };
    let parameter = right.as_ref().map(|right| quote!(, right: #right));
    let argument = right.as_ref().map(|_| quote!(right,));
    let result = (!assigns).then(|| quote!(-> Self::Output));
    let value = match real {
        true => quote!(#marker::__phalanx_body(::phalanx::__private::Call::new((self, #argument)))),
        false => quote!(loop {}),
    };
    let confirm = assigns.then(|| {
        let method = &method.name;
        quote!(let _ = #standard::#method;)
    });
    quote! {
        #[allow(unused_variables, clippy::all, clippy::pedantic, reason = "made by an attribute")]
        impl #generics ::phalanx::__private::#host_trait #arguments for #own_type #where_clause {
            #output
            type Marker = #marker;
            #[inline(always)]
            #[track_caller]
            fn evaluate(#receiver #parameter) #result { #confirm #value }
        }
    }
}

/// Makes the checks that the methods which an operator calls name no shared memory. rustc evaluates them with the kernel.
pub(super) fn memory_checks(function: &Function) -> TokenStream {
    let mut checks = TokenStream::new();
    if function.is_operator {
        walk_block(&function.body, &mut |expr| {
            if let ExprKind::Call { callee: Callee::Method(..) | Callee::Associated(..), slot, .. } = &expr.kind {
                let (at, place) = (expr.span.lo, super::host::slot_place(*slot, expr.span));
                checks.extend(quote_spanned!(at=> ::phalanx::__private::no_memory_in_method(#place);));
            }
        });
    }
    checks
}

/// Makes the constant by which a method says whether it names shared memory.
pub(super) fn names_memory(function: &Function) -> Option<TokenStream> {
    let own = !function.shared.is_empty() || function.dynamic_shared;
    let mut callees = Vec::new();
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Call { callee: Callee::Function(path), .. } = &expr.kind {
            let protocol = super::callee::summary(path, "PROTOCOL");
            callees.push(quote!(#protocol.names_memory()));
        }
    });
    let names = own || !callees.is_empty();
    names.then(|| quote!(const NAMES_MEMORY: bool = #own #(|| #callees)*;))
}
