//! The generated impls: the type's description for the text, its promise with the check of it, its constants as data.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericParam, parse_quote};

use super::{Content, Field, UserType};
use crate::member::member;
use crate::same_item::same_item;

pub(super) fn impls(user: &UserType<'_>) -> TokenStream {
    match &user.content {
        Content::Fields(fields) => structure(user, fields),
        Content::Variants { raw, list } => enumeration(user, raw, list),
    }
}

/// Returns the type's generics, with the bound that each type parameter is plain data too.
fn generics(input: &DeriveInput) -> syn::Generics {
    let mut generics = input.generics.clone();
    let types: Vec<_> = input.generics.type_params().map(|param| param.ident.clone()).collect();
    let clause = generics.make_where_clause();
    clause
        .predicates
        .extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: ::phalanx::DeviceCopy) }));
    generics
}

fn structure(user: &UserType<'_>, fields: &[Field<'_>]) -> TokenStream {
    let UserType { input, compared, ordered, .. } = user;
    let (ident, name) = (&input.ident, input.ident.to_string());
    let generics = generics(input);
    let (declared, used, clause) = generics.split_for_impl();
    let arguments = input.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => {
            let ty = &param.ident;
            Some(quote!(::phalanx::__private::TypeArgument::Type(<#ty as ::phalanx::DeviceType>::info())))
        }
        GenericParam::Const(param) => {
            let value = &param.ident;
            Some(quote!(::phalanx::__private::TypeArgument::Value(::phalanx::DeviceScalar::scalar(#value))))
        }
        GenericParam::Lifetime(_) => None,
    });
    let (is_compared, is_ordered) = (compared.is_some(), ordered.is_some());
    let promised = |derived: &Option<Ident>, on: [&str; 2]| derived.as_ref().map(|it| promise(input, fields, it, on));
    let (equality, order) = (promised(compared, ["DeviceEq", "FieldEq"]), promised(ordered, ["DeviceOrd", "FieldOrd"]));
    // rustc refuses a field that is called `_`, which no expression can name.
    let named = fields.iter().filter(|field| field.member.to_token_stream().to_string() != "_");
    // The assertion has the span of the field's type, where rustc reports an error of it.
    let fields = named.map(|Field { member, ty }| {
        let rust = member.to_token_stream().to_string();
        let cpp = self::member(&rust);
        let field = quote_spanned!(ty.span()=> ::phalanx::__private::field_of::<Self, #ty>);
        let value = quote_spanned!(ty.span()=> ::phalanx::__private::field_value::<#ty>);
        let offset = quote!(::core::mem::offset_of!(Self, #member));
        quote!(#field([#rust, #cpp], #offset, |this| #value(&this.#member)))
    });
    // A generic type is checked at the use of each instance.
    let check = input.generics.params.is_empty().then(|| {
        quote! {
            const _: () = <#ident as ::phalanx::DeviceCopy>::LAYOUT;
        }
    });
    quote! {
        #[automatically_derived]
        impl #declared ::phalanx::__private::DeviceStruct for #ident #used #clause {
            const FIELDS: &'static [::phalanx::__private::FieldOf<Self>] = &[#(#fields),*];
            const IS_COMPARED: bool = #is_compared;
            const IS_ORDERED: bool = #is_ordered;
        }

        #[automatically_derived]
        impl #declared ::phalanx::DeviceType for #ident #used #clause {
            fn info() -> ::phalanx::__private::TypeInfo {
                ::phalanx::__private::struct_info::<Self>(#name, ::core::module_path!(), ::std::vec![#(#arguments),*])
            }
        }

        #[automatically_derived]
        impl #declared ::phalanx::DeviceConstant for #ident #used #clause {
            fn value(&self) -> ::phalanx::__private::Value {
                ::phalanx::__private::struct_value(self)
            }
        }

        #[automatically_derived]
        impl #declared ::phalanx::__private::NotDeref for #ident #used #clause {}

        // SAFETY: `LAYOUT` refuses padding, each field keeps the promise itself, and no more is promised.
        #[automatically_derived]
        unsafe impl #declared ::phalanx::DeviceCopy for #ident #used #clause {
            const LAYOUT: () = ::phalanx::__private::check_struct::<Self>(#name);
        }

        #equality
        #order
        #check
    }
}

/// Makes the promise that `==`, or `<`, compares a struct field by field on both sides, and has rustc confirm that the derive is Rust's own.
fn promise(input: &DeriveInput, fields: &[Field<'_>], derived: &Ident, on: [&str; 2]) -> TokenStream {
    let [of_type, of_field] = on.map(|name| format_ident!("{name}"));
    let mut generics = generics(input);
    let clause = generics.make_where_clause();
    clause.predicates.extend(fields.iter().map(|Field { ty, .. }| -> syn::WherePredicate {
        parse_quote!(#ty: for<'__phalanx> ::phalanx::__private::#of_field<'__phalanx>)
    }));
    let ident = &input.ident;
    let (declared, used, clause) = generics.split_for_impl();
    let same = same_item(derived, derived.span(), &format_ident!("items"), derived);
    quote! {
        #[automatically_derived]
        impl #declared ::phalanx::#of_type for #ident #used #clause {}

        const _: () = #same;
    }
}

fn enumeration(user: &UserType<'_>, raw: &syn::Ident, list: &[&syn::Ident]) -> TokenStream {
    let UserType { input, ordered, .. } = user;
    let (ident, name) = (&input.ident, input.ident.to_string());
    let names: Vec<String> = list.iter().map(|variant| member(&variant.to_string())).collect();
    let first = list.first();
    // A constant can be a pattern only if its type derives `PartialEq`, which compares as C++ does.
    let compared = quote_spanned! {ident.span()=>
        const _: fn(#ident) -> bool = |value| {
            const FIRST: #ident = #ident::#first;
            ::core::matches!(value, FIRST)
        };
    };
    let order = ordered.as_ref().map(|derived| {
        let same = same_item(derived, derived.span(), &format_ident!("items"), derived);
        quote! {
            // Both sides order the variants' values.
            #[automatically_derived]
            impl ::phalanx::DeviceOrd for #ident {}

            const _: () = #same;
        }
    });
    quote! {
        #[automatically_derived]
        impl ::phalanx::DeviceType for #ident {
            fn info() -> ::phalanx::__private::TypeInfo {
                let raw = <#raw as ::phalanx::DeviceType>::info();
                let list = ::std::vec![#((#names, Self::#list as #raw as i128)),*];
                let content = ::phalanx::__private::Content::Variants { raw, list };
                ::phalanx::__private::TypeInfo::user::<Self>(#name, ::core::module_path!(), ::std::vec![], content)
            }
        }

        #[automatically_derived]
        impl ::phalanx::DeviceConstant for #ident {
            fn value(&self) -> ::phalanx::__private::Value {
                ::phalanx::__private::Value::Variant(match self { #(Self::#list => #names),* })
            }
        }

        // SAFETY: the type is an integer of which the device writes only the variants' values, 0 among them.
        #[automatically_derived]
        unsafe impl ::phalanx::DeviceCopy for #ident {
            const LAYOUT: () =
                ::phalanx::__private::check_enum::<Self, #raw>(#name, #(Self::#list as #raw == 0)||*);
        }

        #[automatically_derived]
        impl ::phalanx::DeviceEq for #ident {}

        #compared
        #order

        const _: () = <#ident as ::phalanx::DeviceCopy>::LAYOUT;
    }
}

/// Makes impls that do nothing, so that a type with an error is not reported again wherever it is used.
pub(super) fn stub(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    // A type with a lifetime cannot have them.
    if input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let generics = generics(input);
    let (declared, used, clause) = generics.split_for_impl();
    let of_enum = matches!(input.data, syn::Data::Enum(_)).then(|| {
        quote! {
            impl #declared ::phalanx::__private::DeviceEnum for #ident #used #clause {
                const IS_COMPARED: bool = true;
            }
        }
    });
    quote! {
        #of_enum
        impl #declared ::phalanx::DeviceType for #ident #used #clause {
            fn info() -> ::phalanx::__private::TypeInfo { loop {} }
        }
        impl #declared ::phalanx::DeviceConstant for #ident #used #clause {
            fn value(&self) -> ::phalanx::__private::Value { loop {} }
        }
        impl #declared ::phalanx::DeviceEq for #ident #used #clause {}
        unsafe impl #declared ::phalanx::DeviceCopy for #ident #used #clause {}
    }
}
