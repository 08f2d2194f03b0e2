//! Patterns of tuples, structs and arrays for items that are references: `for (key, x) in &pairs`. Their names are references to the fields, as
//! Rust's default binding modes have it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Member, Pat, PatIdent, PatSlice};

/// The fields that a pattern of a tuple or a struct binds to references, because the item is a reference. There, as in Rust, names are
/// neither `mut` nor `ref`, and no part is `&pattern`.
pub(super) fn fields_of(pat: &Pat) -> Option<Vec<(&Pat, Member)>> {
    let fields: Vec<(&Pat, Member)> = match pat {
        Pat::Tuple(tuple) => {
            let last = tuple.elems.len().checked_sub(1);
            let is_end = |(at, pat): &(usize, &Pat)| matches!(pat, Pat::Rest(_)) && Some(*at) == last;
            let fields = tuple.elems.iter().enumerate().filter(|field| !is_end(field));
            fields.map(|(at, pat)| (pat, Member::from(at))).collect()
        }
        Pat::Struct(of) => of.fields.iter().map(|field| (&*field.pat, field.member.clone())).collect(),
        _ => return None,
    };
    let binds = |pat: &Pat| match pat {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none(),
        pat => fields_of(pat).is_some(),
    };
    fields.iter().all(|(pat, _)| binds(pat)).then_some(fields)
}

/// The pattern of an array with new names, and the names with those that they are references to: how many elements there are, rustc knows
/// where the array is taken apart.
pub(super) fn elements_of(pat: &PatSlice) -> Option<(Pat, TokenStream)> {
    let (mut copied, mut names) = (pat.clone(), TokenStream::new());
    for element in &mut copied.elems {
        match element {
            Pat::Wild(_) | Pat::Rest(_) => {}
            Pat::Ident(PatIdent { by_ref: None, mutability: None, ident, subpat: None, .. }) => {
                let (name, copy) = (ident.clone(), hidden(ident));
                names.extend(quote!(let #name = &#copy;));
                *ident = copy;
            }
            _ => return None,
        }
    }
    Some((Pat::Slice(copied), names))
}

/// A name that the user cannot write, for the copy behind a reference of this name.
pub(super) fn hidden(name: &Ident) -> Ident {
    format_ident!("copy_of_{}", name, span = name.span().resolved_at(Span::mixed_site()))
}
