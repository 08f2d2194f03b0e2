//! The syntax of a type: its representation, its fields or variants.

use proc_macro2::Ident;
use quote::format_ident;
use syn::{Data, DeriveInput, Fields, GenericParam, Index, Member};

use super::{Content, Field, UserType, beside, messages};
use crate::diag::Diags;
use crate::member::member;
use crate::messages::not_parsed;
use crate::span::SpanRange;

/// The integers that can represent an enum.
const INTEGERS: [&str; 10] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize"];

/// Parses a type; returns `None` after an error that leaves nothing to go on with.
pub(super) fn user_type<'i>(input: &'i DeriveInput, diags: &mut Diags) -> Option<UserType<'i>> {
    let at = SpanRange::of(&input.ident);
    let name = input.ident.to_string();
    for param in &input.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            diags.push(messages::lifetime(SpanRange::of(lifetime)));
        }
    }
    let repr = repr(input, diags);
    let has = |wanted: &str| repr.iter().any(|word| word == wanted);
    if let Some(packed) = repr.iter().find(|word| *word == "packed") {
        diags.push(messages::packed(SpanRange::of(packed)));
    }
    let content = match &input.data {
        Data::Struct(data) => {
            if !has("C") && !has("transparent") {
                diags.push(messages::struct_repr(at, &name));
            }
            if data.fields.is_empty() {
                diags.push(messages::empty(at, &name, "fields"));
            }
            Content::Fields(fields(&data.fields))
        }
        Data::Enum(data) => {
            if data.variants.is_empty() {
                diags.push(messages::empty(at, &name, "variants"));
                return None;
            }
            for variant in data.variants.iter().filter(|variant| !matches!(variant.fields, Fields::Unit)) {
                diags.push(messages::enum_fields(SpanRange::of(variant), &variant.ident.to_string()));
            }
            if !input.generics.params.is_empty() {
                diags.push(messages::generic_enum(SpanRange::of(&input.generics)));
            }
            let raw = INTEGERS.into_iter().find(|integer| has(integer));
            if raw.is_none() {
                diags.push(messages::enum_repr(at, &name));
            }
            let list = data.variants.iter().map(|variant| &variant.ident).collect();
            Content::Variants { raw: format_ident!("{}", raw?), list }
        }
        Data::Union(_) => {
            diags.push(messages::union(at, &name));
            return None;
        }
    };
    one_name_each(&content, diags);
    let is_compared = beside::shows_derive(&input.ident, "PartialEq");
    let compared = is_compared.then(|| Ident::new("PartialEq", input.ident.span()));
    let is_ordered = is_compared && beside::shows_derive(&input.ident, "PartialOrd");
    let ordered = is_ordered.then(|| Ident::new("PartialOrd", input.ident.span()));
    Some(UserType { input, content, compared, ordered })
}

/// Returns the words in `#[repr(...)]`.
fn repr(input: &DeriveInput, diags: &mut Diags) -> Vec<Ident> {
    let mut words = Vec::new();
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let parsed = attr.parse_nested_meta(|meta| {
            words.extend(meta.path.get_ident().cloned());
            // The word has arguments: `align(16)`, `packed(2)`.
            if meta.input.peek(syn::token::Paren) {
                let inside;
                syn::parenthesized!(inside in meta.input);
                inside.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        });
        if let Err(error) = parsed {
            diags.push(not_parsed(SpanRange::at(error.span()), &error.to_string()));
        }
    }
    words
}

fn fields(fields: &Fields) -> Vec<Field<'_>> {
    let member = |(index, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(index)),
    };
    fields.iter().enumerate().map(|field| Field { member: member(field), ty: &field.1.ty }).collect()
}

/// Reports fields whose C++ names are the same, because C++ reserves the name of one.
fn one_name_each(content: &Content<'_>, diags: &mut Diags) {
    let names: Vec<Ident> = match content {
        Content::Fields(fields) => fields
            .iter()
            .filter_map(|field| match &field.member {
                Member::Named(name) => Some(name.clone()),
                Member::Unnamed(_) => None,
            })
            .collect(),
        Content::Variants { list, .. } => list.iter().map(|name| (*name).clone()).collect(),
    };
    no_two_in_cpp(&names, diags);
}

/// Reports names that are the same in C++, because C++ reserves the name of one.
pub(super) fn no_two_in_cpp(names: &[Ident], diags: &mut Diags) {
    for (index, name) in names.iter().enumerate() {
        let cpp = member(&name.to_string());
        if let Some(other) = names[..index].iter().find(|other| member(&other.to_string()) == cpp) {
            diags.push(messages::names(SpanRange::of(name), &name.to_string(), &other.to_string()));
        }
    }
}
