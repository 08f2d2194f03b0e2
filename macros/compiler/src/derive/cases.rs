//! `#[derive(DeviceType)]`: enums whose variants have fields, as values of kernels. What a field may be is rustc's to check.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, GenericParam};

use super::parse::no_two_in_cpp;
use super::{beside, messages};
use crate::diag::Diags;
use crate::member::member;
use crate::same_item::same_item;
use crate::span::SpanRange;

/// Returns the impls for an enum, or `None` after an error that leaves nothing to go on with.
pub(super) fn impls(input: &DeriveInput, diags: &mut Diags) -> Option<TokenStream> {
    let (at, ident, name) = (SpanRange::of(&input.ident), &input.ident, input.ident.to_string());
    let Data::Enum(data) = &input.data else {
        diags.push(messages::no_enum(at, &name));
        return None;
    };
    if data.variants.iter().all(|variant| variant.fields.is_empty()) {
        diags.push(messages::no_fields(at, &name));
        return None;
    }
    match input.generics.params.first() {
        Some(GenericParam::Lifetime(lifetime)) => diags.push(messages::lifetime(SpanRange::of(lifetime))),
        Some(_) => diags.push(messages::generic_cases(SpanRange::of(&input.generics))),
        None => {}
    }
    no_two_in_cpp(&data.variants.iter().map(|variant| variant.ident.clone()).collect::<Vec<_>>(), diags);
    for variant in &data.variants {
        let fields: Vec<Ident> = variant.fields.iter().filter_map(|field| field.ident.clone()).collect();
        no_two_in_cpp(&fields, diags);
    }
    let (mut types, mut cases, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (number, variant) in (0_u32..).zip(&data.variants) {
        let (name, cpp) = (&variant.ident, member(&variant.ident.to_string()));
        let (mut fields, mut parts, mut bound) = (Vec::new(), Vec::new(), Vec::new());
        for (index, field) in variant.fields.iter().enumerate() {
            let (ty, at) = (&field.ty, field.ty.span());
            let rust = field.ident.as_ref().map_or_else(|| index.to_string(), Ident::to_string);
            let cpp = member(&rust);
            // By its prefix, the name is no constant's of the user.
            let (constant, part) = (format_ident!("__PHALANX_FIELD_{number}_{index}"), format_ident!("part_{index}"));
            types.push(quote_spanned! {at=>
                const #constant: ::phalanx::__private::CaseField<#ty> = ::phalanx::__private::case_field::<#ty>();
            });
            fields.push(quote_spanned!(at=> Self::#constant.named(#cpp)));
            parts.push(quote_spanned!(at=> Self::#constant.value(#part)));
            let member = syn::Member::from(index);
            let member = field.ident.as_ref().map_or_else(|| member.to_token_stream(), ToTokens::to_token_stream);
            bound.push(quote!(#member: #part));
        }
        cases.push(quote!(::phalanx::__private::case(#cpp, ::std::vec![#(#fields),*])));
        values.push(quote! {
            Self::#name { #(#bound),* } => ::phalanx::__private::Value::Case(#cpp, #number, ::std::vec![#(#parts),*])
        });
    }
    let is_compared = beside::shows_derive(ident, "PartialEq");
    let equality = is_compared.then(|| equality(ident, data.variants.iter().map(|variant| &variant.fields)));
    let pattern = (!is_compared).then(|| {
        quote! {
            #[automatically_derived]
            impl ::phalanx::__private::PatternConstant for #ident {}
        }
    });
    Some(quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #ident {
            #(#types)*
        }

        #[automatically_derived]
        impl ::phalanx::DeviceType for #ident {
            fn info() -> ::phalanx::__private::TypeInfo {
                ::phalanx::__private::enum_info::<Self>(#name, ::core::module_path!(), ::std::vec![#(#cases),*])
            }
        }

        #[automatically_derived]
        impl ::phalanx::DeviceConstant for #ident {
            fn value(&self) -> ::phalanx::__private::Value {
                match self { #(#values,)* }
            }
        }

        #[automatically_derived]
        impl ::phalanx::__private::DeviceEnum for #ident {
            const IS_COMPARED: bool = #is_compared;
        }

        #equality
        #pattern
    })
}

/// Makes the promise that `==` compares the enum by its variant and then field by field on both sides, and has rustc confirm that the
/// derive is Rust's own.
fn equality<'i>(ident: &Ident, fields: impl Iterator<Item = &'i Fields>) -> TokenStream {
    let types = fields.flat_map(|fields| fields.iter().map(|field| &field.ty));
    let clauses = types.map(|ty| quote!(#ty: for<'__phalanx> ::phalanx::__private::FieldEq<'__phalanx>));
    let derived = Ident::new("PartialEq", ident.span());
    let same = same_item(&derived, derived.span(), &format_ident!("items"), &derived);
    quote! {
        #[automatically_derived]
        impl ::phalanx::DeviceEq for #ident where #(#clauses),* {}

        const _: () = #same;
    }
}
