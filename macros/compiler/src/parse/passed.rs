//! Types of arguments and results by their spelling: what a body that is read in place of a call can be given.

use syn::{GenericArgument, PathArguments, Type, TypePath};

/// Whether a type is plain data by its syntax: no reference, and no type with arguments but an `Option` of plain data.
pub(super) fn is_value(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.get_ident().is_some() || held(path).is_some_and(is_value),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_value),
        Type::Array(array) => is_value(&array.elem),
        Type::Paren(paren) => is_value(&paren.elem),
        _ => false,
    }
}

/// The type of what an `Option` holds.
fn held(path: &TypePath) -> Option<&Type> {
    let mut segments = path.path.segments.iter();
    let (only, None) = (segments.next()?, segments.next()) else { return None };
    let PathArguments::AngleBracketed(arguments) = &only.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(held)) if only.ident == "Option" && arguments.args.len() == 1 => Some(held),
        Some(_) | None => None,
    }
}

/// Whether a type is one of what a place can stand for: plain data, or a type with arguments, as `Pipeline<3>` is.
pub(super) fn has_place(ty: &Type) -> bool {
    is_value(ty) || matches!(ty, Type::Path(_)) && !is_handle(ty)
}

/// Whether a type is, by its spelling, one of ours whose values are handed on as they are.
pub(super) fn is_handle(ty: &Type) -> bool {
    const HANDLES: [&str; 4] = ["ArrivalToken", "RemoteArray", "RemoteBarrier", "RemoteSlice"];
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| HANDLES.iter().any(|handle| last.ident == handle))
}
