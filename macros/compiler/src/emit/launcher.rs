//! The function that launches a kernel: `kernel(&input, &mut output)`.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::item::{Declared, declared, name, unsafety};
use crate::model::Function;
use crate::model::ty::ParamType;

/// Makes the part that the launcher and its stub share.
fn signature(function: &Function) -> TokenStream {
    let Function { name: kernel, vis, attrs, .. } = function;
    let Declared { declared, where_clause, .. } = declared(&function.generics);
    let unsafety = unsafety(function);
    let params = function.params.iter().map(|param| {
        let name = name(function, param);
        let ty = match &param.ty {
            ParamType::Slice { mutable, element } => {
                let (mutable, element) = (mutable.then(|| quote!(mut)), &element.tokens);
                quote!(&'__phalanx #mutable ::phalanx::Buffer<#element>)
            }
            ParamType::OptionalSlice { mutable, element } => {
                let (mutable, element) = (mutable.then(|| quote!(mut)), &element.tokens);
                quote!(::core::option::Option<&'__phalanx #mutable ::phalanx::Buffer<#element>>)
            }
            ParamType::TensorMap { mutable, tile } => {
                let (at, tile) = (name.span(), &tile.tokens);
                match mutable {
                    true => quote_spanned!(at=> &'__phalanx mut ::phalanx::__private::TensorMutOf<'_, #tile>),
                    false => quote_spanned!(at=> &'__phalanx ::phalanx::__private::TensorOf<'_, #tile>),
                }
            }
            ParamType::Value(value) | ParamType::Reference { target: value, .. } => value.tokens.clone(),
            ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => quote!(()),
        };
        quote!(#name: #ty)
    });
    quote! {
        #attrs
        #[allow(clippy::too_many_arguments, clippy::pedantic, reason = "as many as the kernel has")]
        #vis #unsafety fn #kernel<'__phalanx, #declared>(#(#params),*) -> ::phalanx::Launch<'__phalanx> #where_clause
    }
}

pub(super) fn launcher(function: &Function) -> TokenStream {
    let signature = signature(function);
    let marker = &function.name;
    let Declared { used, .. } = declared(&function.generics);
    let arguments = function.params.iter().map(|param| {
        let name = name(function, param);
        match &param.ty {
            ParamType::Slice { mutable: true, .. } => quote!(.slice_mut(#name)),
            ParamType::Slice { mutable: false, .. } => quote!(.slice(#name)),
            ParamType::OptionalSlice { mutable: false, .. } => quote!(.optional_slice(#name.as_deref())),
            ParamType::OptionalSlice { mutable: true, .. } => quote!(.optional_slice_mut(#name.as_deref())),
            ParamType::TensorMap { mutable: false, tile } => {
                let tile = &tile.tokens;
                quote!(.tensor::<#tile>(#name))
            }
            ParamType::TensorMap { mutable: true, tile } => {
                let tile = &tile.tokens;
                quote!(.tensor_mut::<#tile>(#name))
            }
            ParamType::Value(_) if param.ty.is_known_of_a_launch() => quote!(.integer(#name)),
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => quote!(.scalar(#name)),
        }
    });
    let views = function.params.iter().map(|param| {
        let name = name(function, param);
        match &param.ty {
            ParamType::Slice { mutable: true, .. } => quote!(::phalanx::__private::global_mut(#name)),
            ParamType::Slice { mutable: false, .. } => quote!(::phalanx::__private::global(#name)),
            ParamType::OptionalSlice { mutable: true, .. } => {
                quote!(#name.map(::phalanx::__private::global_mut))
            }
            ParamType::OptionalSlice { mutable: false, .. } => {
                quote!(#name.map(::phalanx::__private::global))
            }
            ParamType::TensorMap { mutable: false, .. } => quote!(::phalanx::__private::tensor_map(#name)),
            ParamType::TensorMap { mutable: true, .. } => quote!(::phalanx::__private::tensor_map_mut(#name)),
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => quote!(#name),
        }
    });
    // rustc evaluates these at once; a generic kernel's with each instance, where the arguments are made.
    let tiles = function.params.iter().filter(|_| function.generics.params.is_empty()).filter_map(|param| {
        let ParamType::TensorMap { tile, .. } = &param.ty else { return None };
        let (at, tile) = (name(function, param).span(), &tile.tokens);
        Some(quote_spanned!(at=> const _: () = ::phalanx::__private::tensor_tile::<#tile>();))
    });
    quote! {
        #(#tiles)*
        #signature {
            let __phalanx_arguments = ::phalanx::__private::Arguments::new() #(#arguments)*;
            let __phalanx_threads = #marker::<#used>::__phalanx_body(::phalanx::__private::Threads((#(#views,)*)));
            ::phalanx::Launch::new::<#marker<#used>>(__phalanx_arguments, __phalanx_threads)
        }
    }
}

/// Makes the launcher of a kernel with errors.
pub(super) fn stub(function: &Function) -> TokenStream {
    let signature = signature(function);
    quote!(#[allow(unused_variables, reason = "a stub")] #signature { loop {} })
}
