//! Whether an iterator yields references.

use super::syntax::strip;

/// Whether the items are references, as far as syntax shows.
pub(super) fn gives_references(source: &syn::Expr) -> bool {
    match strip(source) {
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "iter_mut" | "windows" | "chunks" | "chunks_exact" | "chunks_mut" | "chunks_exact_mut" => true,
            "copied" | "cloned" | "into_iter" | "map" | "filter_map" | "map_while" => false,
            "flat_map" => match call.args.first() {
                Some(syn::Expr::Closure(closure)) => gives_references(&closure.body),
                _ => false,
            },
            _ => gives_references(&call.receiver) || call.args.iter().any(gives_references),
        },
        syn::Expr::Reference(_) => true,
        _ => false,
    }
}
