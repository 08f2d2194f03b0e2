//! `sum` and `product` without a type of their own: the `let` or the function's result states it.

use quote::quote_spanned;
use syn::ExprMethodCall;

use super::iter_consumers::is_iterator;
use super::syntax::strip;
use crate::span::SpanRange;

/// Returns a sum or a product with the type that its `let` states, if it has none of its own: `let x: u32 = items.sum();`.
pub(super) fn with_stated_type(init: &syn::Expr, ty: &syn::Type) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(call) = strip(init) else { return None };
    let is_total = call.turbofish.is_none() && (call.method == "sum" || call.method == "product");
    if !is_total || !is_iterator(&call.receiver) {
        return None;
    }
    let turbofish = syn::parse2(quote_spanned!(SpanRange::of(&call.method).lo=> ::<#ty>)).ok()?;
    Some(syn::Expr::MethodCall(ExprMethodCall { turbofish: Some(turbofish), ..call.clone() }))
}

/// Returns the body of a function with a sum or a product at its end that has the type of the function's result.
pub(super) fn with_stated_result(item: &syn::ItemFn) -> Option<syn::Block> {
    let syn::ReturnType::Type(_, ty) = &item.sig.output else { return None };
    let syn::Stmt::Expr(last, None) = item.block.stmts.last()? else { return None };
    let total = with_stated_type(last, ty)?;
    let mut body = (*item.block).clone();
    body.stmts.pop();
    body.stmts.push(syn::Stmt::Expr(total, None));
    Some(body)
}
