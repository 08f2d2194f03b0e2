//! `a.eq(b)` and `a.ne(b)` of iterators whose evaluation a second time shows nothing.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprMethodCall};

use super::syntax::strip;
use crate::span::SpanRange;

/// Returns the comparison that replaces a call, if it is one of two such iterators.
pub(super) fn equality(call: &ExprMethodCall) -> Option<TokenStream> {
    let not = match call.method.to_string().as_str() {
        "eq" => TokenStream::new(),
        "ne" => quote!(!),
        _ => return None,
    };
    let (one, other) = (&call.receiver, call.args.first().filter(|_| call.args.len() == 1)?);
    if !is_repeatable(one) || !is_repeatable(other) {
        return None;
    }
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let (left, right) = (fresh("left"), fresh("right"));
    Some(quote_spanned!(at=>
        #not (#one.count() == #other.count() && #one.zip(#other).all(|(#left, #right)| #left == #right))
    ))
}

/// Whether it is an iterator over a place or a range by names and numbers alone, with adaptors by these.
fn is_repeatable(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" => call.args.is_empty() && is_place(&call.receiver),
            "rev" | "skip" | "take" | "step_by" | "copied" | "cloned" => {
                call.args.iter().all(is_place) && is_repeatable(&call.receiver)
            }
            _ => false,
        },
        Expr::Paren(paren) => match &*paren.expr {
            Expr::Range(range) => range.start.iter().chain(&range.end).all(|end| is_place(end)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is a name, a number, or a part of a place by these.
fn is_place(expr: &Expr) -> bool {
    match strip(expr) {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => is_place(&index.expr) && is_place(&index.index),
        Expr::Range(range) => range.start.iter().chain(&range.end).all(|end| is_place(end)),
        Expr::Unary(unary) => is_place(&unary.expr),
        Expr::Reference(reference) => is_place(&reference.expr),
        _ => false,
    }
}
