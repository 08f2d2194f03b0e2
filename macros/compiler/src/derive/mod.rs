//! `#[derive(DeviceCopy)]` refuses types that are not plain data with a layout that C++ shares, here as far as syntax
//! shows it, in the generated checks where only rustc knows. The layout itself is checked by `phalanx`, at compile
//! time.

mod beside;
mod cases;
mod emit;
mod messages;
mod parse;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::diag::{Diags, Fault};
use crate::messages::not_parsed;
use crate::session::Session;
use crate::span::SpanRange;

/// A type that can be plain data, as far as syntax shows.
struct UserType<'i> {
    input: &'i DeriveInput,
    content: Content<'i>,
    /// `PartialEq`, if the text of the file shows that the type derives it.
    compared: Option<syn::Ident>,
    /// `PartialOrd`, likewise, of a type that is compared.
    ordered: Option<syn::Ident>,
}

enum Content<'i> {
    Fields(Vec<Field<'i>>),
    Variants { raw: syn::Ident, list: Vec<&'i syn::Ident> },
}

struct Field<'i> {
    member: syn::Member,
    ty: &'i syn::Type,
}

/// Returns the impls for an enum with fields, or its errors.
pub(crate) fn device_type(session: Session, item: TokenStream) -> TokenStream {
    let mut diags = Diags::new(session);
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => {
            diags.push(not_parsed(SpanRange::at(error.span()), &error.to_string()));
            return diags.into_tokens();
        }
    };
    let impls = cases::impls(&input, &mut diags);
    match (impls, diags.gate()) {
        (Some(impls), Ok(())) => impls,
        _ => {
            let (errors, stub) = (diags.into_tokens(), emit::stub(&input));
            quote!(#errors #stub)
        }
    }
}

/// Returns the impls for the type, or its errors.
pub(crate) fn device_copy(session: Session, item: TokenStream) -> TokenStream {
    let mut diags = Diags::new(session);
    let input = match syn::parse2::<DeriveInput>(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            diags.push(not_parsed(SpanRange::at(error.span()), &error.to_string()));
            return diags.into_tokens();
        }
    };
    let user = parse::user_type(&input, &mut diags);
    match (user, diags.gate()) {
        (Some(user), Ok(())) => emit::impls(&user),
        _ => {
            let (errors, stub) = (diags.into_tokens(), emit::stub(&input));
            quote!(#errors #stub)
        }
    }
}

/// Returns the errors of an enum with fields, as far as its text shows them.
pub(crate) fn check_device_type(session: Session, item: TokenStream) -> Vec<Fault> {
    let mut diags = Diags::new(session);
    match syn::parse2::<DeriveInput>(item) {
        Ok(input) => {
            cases::impls(&input, &mut diags);
        }
        Err(error) => diags.push(not_parsed(SpanRange::at(error.span()), &error.to_string())),
    }
    diags.into_faults()
}

/// Returns the type's errors, as far as its text shows them.
pub(crate) fn check_device_copy(session: Session, item: TokenStream) -> Vec<Fault> {
    let mut diags = Diags::new(session);
    match syn::parse2::<DeriveInput>(item) {
        Ok(input) => {
            parse::user_type(&input, &mut diags);
        }
        Err(error) => diags.push(not_parsed(SpanRange::at(error.span()), &error.to_string())),
    }
    diags.into_faults()
}
