//! `#[device] impl From<A> for B`: beside the `impl` for the host, those of the traits by which bodies find the function, as `B::from(a)` and as
//! `a.into()`.

use proc_macro2::TokenStream;
use quote::quote;

use super::item::{Declared, declared};
use crate::model::{ConversionImpl, Method};

/// Makes the `impl`s for bodies. `real` is false if the method has errors.
pub(super) fn implementation(of: &ConversionImpl, method: &Method, real: bool) -> TokenStream {
    let ConversionImpl { generics, own_type, where_clause, source, has_into } = of;
    let marker = &method.function.name;
    let Declared { used, .. } = declared(&method.function.generics);
    let marker = quote!(#marker::<#used>);
    let value = |given: TokenStream| match real {
        true => quote!(#marker::__phalanx_body(::phalanx::__private::Call::new((#given,)))),
        false => quote!(loop {}),
    };
    let (of_value, of_receiver) = (value(quote!(value)), value(quote!(self)));
    let allowed = quote!(#[allow(
        unused_variables, non_camel_case_types, non_snake_case, clippy::all, clippy::pedantic,
        reason = "made by an attribute"
    )]);
    let into = has_into.then(|| {
        quote! {
            #allowed
            impl #generics ::phalanx::__private::IntoNumber<#own_type> for #source #where_clause {
                type into__marker = #marker;
                #[inline(always)]
                fn into(self) -> #own_type { <#own_type as ::core::convert::From<#source>>::from(self) }
                #[inline(always)]
                #[track_caller]
                fn into__on_device(self, _slot: &::phalanx::__private::Callee<#marker>) -> #own_type { #of_receiver }
            }
        }
    });
    quote! {
        #allowed
        impl #generics ::phalanx::__private::DeviceFrom<#source> for #own_type #where_clause {
            type Marker = #marker;
            #[inline(always)]
            #[track_caller]
            fn from__on_device(value: #source, _slot: &::phalanx::__private::Callee<#marker>) -> Self { #of_value }
        }
        #into
    }
}
