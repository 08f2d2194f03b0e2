//! Patterns of tuples and structs for items that are references: `for (key, x) in &pairs`. Their names are references to the fields, as
//! Rust's default binding modes have it.

use syn::{Member, Pat};

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
