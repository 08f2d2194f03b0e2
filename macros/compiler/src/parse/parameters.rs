//! Parameters that are patterns, of functions and of closures: each becomes a name, which is destructured at the start
//! of the body. `pattern` decides which patterns are supported.

use proc_macro2::{Ident, Span};
use quote::{format_ident, quote_spanned};
use syn::parse::Parser as _;
use syn::{FnArg, ItemFn, Pat, Stmt};

use crate::span::SpanRange;

/// Rewrites `fn f((a, b): (f32, f32)) { .. }` as `fn f(parameter: (f32, f32)) { let (a, b) = parameter; .. }`.
pub(super) fn named(mut item: ItemFn) -> ItemFn {
    let mut bindings = Vec::new();
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(input) = input {
            bindings.extend(named_one(&mut input.pat, bindings.len()));
        }
    }
    item.block.stmts.splice(0..0, bindings);
    item
}

/// Rewrites the parameters of a closure in the same way.
pub(super) fn of_closure(closure: &syn::ExprClosure) -> syn::ExprClosure {
    let mut closure = closure.clone();
    let mut bindings = Vec::new();
    for input in &mut closure.inputs {
        let pat = match input {
            Pat::Type(typed) => &mut *typed.pat,
            pat => pat,
        };
        bindings.extend(named_one(pat, bindings.len()));
    }
    if !bindings.is_empty() {
        let (body, at) = (&closure.body, SpanRange::of(&closure.body).lo);
        if let Ok(body) = syn::parse2(quote_spanned!(at=> { #(#bindings)* #body })) {
            *closure.body = body;
        }
    }
    closure
}

/// Replaces a pattern that is not a name by one. Returns the statement that destructures it.
fn named_one(pat: &mut Pat, number: usize) -> Option<Stmt> {
    if !matches!(pat, Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Slice(_) | Pat::Wild(_)) {
        return None;
    }
    let at = SpanRange::of(&*pat).lo;
    let name: Ident = format_ident!("parameter_{number}", span = at.resolved_at(Span::mixed_site()));
    let binding = syn::parse2(quote_spanned!(at=> let #pat = #name;)).ok()?;
    *pat = Pat::parse_single.parse2(quote_spanned!(at=> #name)).ok()?;
    Some(binding)
}
