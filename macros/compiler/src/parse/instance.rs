//! A generic function as an instance of it: without the constants among its parameters, whose names the caller replaces.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{GenericParam, ItemFn};

/// Removes the constants that a function is generic over; `None` if it is no function.
pub(crate) fn without_constants(item: &TokenStream) -> Option<TokenStream> {
    let mut item: ItemFn = syn::parse2(item.clone()).ok()?;
    let params = std::mem::take(&mut item.sig.generics.params);
    let is_constant = |param: &GenericParam| matches!(param, GenericParam::Const(_));
    item.sig.generics.params = params.into_iter().filter(|param| !is_constant(param)).collect();
    Some(item.into_token_stream())
}
