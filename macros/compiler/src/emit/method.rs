//! `#[device] impl` and `#[device] trait`. Each method has a marker beside the `impl`, as a device function has, and
//! inside it a second method, `name__on_device`, which takes the slot for the marker: this way rustc finds, by the
//! receiver's type, the function that the text calls.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::device::{call_generics, entry_param};
use super::item::{Declared, declared, host_type, name, result};
use crate::model::ty::ParamType;
use crate::model::{Function, Method, Param};

/// Makes the members of an `impl` for a method: the plain method if host code can call it, and the one that bodies
/// call.
pub(super) fn members(method: &Method, real: bool) -> TokenStream {
    let Function { name: marker, .. } = &method.function;
    let Declared { used, .. } = declared(&method.function.generics);
    let marker = quote!(#marker::<#used>);
    let (plain, entry) = (plain_member(method, real), entry_of(method, &marker, &method.vis, real));
    let associated = method.of_trait.then(|| {
        let name = format_ident!("{}__marker", method.name);
        quote!(#[doc(hidden)] type #name = #marker;)
    });
    quote! {
        #plain
        #associated
        #entry
    }
}

/// Makes the member alone that bodies call, of a type's own `impl` beside that of a trait of the standard library.
pub(super) fn entry_member(method: &Method, real: bool) -> TokenStream {
    let Function { name: marker, .. } = &method.function;
    let Declared { used, .. } = declared(&method.function.generics);
    entry_of(method, &quote!(#marker::<#used>), &quote!(pub), real)
}

fn entry_of(method: &Method, marker: &TokenStream, vis: &TokenStream, real: bool) -> TokenStream {
    let (entry, body) = (entry(method, marker), value(method, real, true));
    quote! {
        #[doc(hidden)]
        #[allow(
            dead_code, unused_variables, non_snake_case, clippy::too_many_arguments, clippy::pedantic,
            reason = "kernels may be its only callers"
        )]
        #[inline(always)]
        #[track_caller]
        #vis #entry #body
    }
}

/// Makes the user's own method with its body, if host code can call it.
pub(super) fn plain_member(method: &Method, real: bool) -> TokenStream {
    let Method { function, vis, attrs, .. } = method;
    let body = value(method, real, false);
    let lints = quote!(#[allow(dead_code, unused_variables, reason = "kernels may be its only callers")]);
    let plain = plain(method, vis).map(|signature| match &function.constant {
        // rustc evaluates in a constant what the user wrote.
        Some(written) => quote!(#attrs #lints #vis #written),
        None => quote!(#lints #signature #body),
    });
    quote!(#plain)
}

/// Makes the body of a member, which calls the function.
fn value(method: &Method, real: bool, entry: bool) -> TokenStream {
    let function = &method.function;
    let (marker, Declared { used, .. }) = (&function.name, declared(&function.generics));
    let arguments = function.params.iter().map(|param| argument(method, param, entry));
    match real {
        true => quote!({ #marker::<#used>::__phalanx_body(::phalanx::__private::Call::new((#(#arguments,)*))) }),
        false => quote!({ loop {} }),
    }
}

/// Makes the declaration of a method in a trait.
pub(super) fn declaration(method: &Method) -> TokenStream {
    let marker = format_ident!("{}__marker", method.name);
    let plain = plain(method, &TokenStream::new()).map(|signature| quote!(#signature;));
    let entry = entry(method, &quote!(Self::#marker));
    quote! {
        #plain
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "named after the function")]
        type #marker: ::phalanx::__private::Function + ::phalanx::__private::Summary;
        #[doc(hidden)]
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::pedantic, reason = "named after the function")]
        #[track_caller]
        #entry;
    }
}

fn is_receiver(method: &Method, param: &Param) -> bool {
    method.has_receiver && method.function.params.first().is_some_and(|first| first.local == param.local)
}

fn argument(method: &Method, param: &Param, entry: bool) -> TokenStream {
    if is_receiver(method, param) {
        return quote!(self);
    }
    match entry {
        true => entry_param(&method.function, param).1,
        false => {
            let name = name(&method.function, param);
            quote!(#name)
        }
    }
}

fn receiver(param: &Param) -> TokenStream {
    match &param.ty {
        ParamType::Reference { mutable: true, .. } => quote!(&'__phalanx mut self),
        ParamType::Reference { mutable: false, .. } => quote!(&'__phalanx self),
        ParamType::Value(_)
        | ParamType::Slice { .. }
        | ParamType::OptionalSlice { .. }
        | ParamType::Group(_)
        | ParamType::Tile { .. }
        | ParamType::Memory { .. }
        | ParamType::TensorMap { .. }
        | ParamType::Barrier { .. }
        | ParamType::Closure { .. } => quote!(self),
    }
}

/// Makes the user's own method, if all of its parameters are values.
fn plain(method: &Method, vis: &TokenStream) -> Option<TokenStream> {
    let function = &method.function;
    if !function.takes_values() {
        return None;
    }
    let Method { name: method_name, own, attrs, .. } = method;
    let generics = call_generics(function, &own.declared);
    let where_clause = &own.where_clause;
    let params = function.params.iter().map(|param| {
        if is_receiver(method, param) {
            return receiver(param);
        }
        let (name, ty) = (name(function, param), host_type(function, param));
        quote!(#name: #ty)
    });
    let ret = result(function);
    Some(quote!(#attrs #vis fn #method_name<#generics>(#(#params),*) #ret #where_clause))
}

fn entry(method: &Method, marker: &TokenStream) -> TokenStream {
    let Method { function, name: method_name, own, .. } = method;
    let entry_name = format_ident!("{}__on_device", method_name);
    let generics = call_generics(function, &own.declared);
    let where_clause = &own.where_clause;
    let params = function.params.iter().map(|param| match is_receiver(method, param) {
        true => receiver(param),
        false => entry_param(function, param).0,
    });
    let ret = result(function);
    // The span is the method's name, where rustc says "method defined here".
    quote_spanned! {method_name.span()=>
        fn #entry_name<#generics>(#(#params,)* __phalanx_slot: &::phalanx::__private::Callee<#marker>) #ret #where_clause
    }
}
