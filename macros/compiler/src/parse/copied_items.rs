//! Iterators over references, with a filter: `values.iter().filter(|x| **x > 2).count()` is rewritten as one over copies,
//! `values.iter().copied().filter(|x| *x > 2).count()`, because the item of a loop has no second name in the text.

use quote::quote_spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{ExprClosure, ExprMethodCall, Ident, Pat, UnOp};

use super::syntax::strip;
use crate::span::SpanRange;

/// Returns the call over copied items, if its result is the same: the least item is a reference itself.
pub(super) fn over_copies(call: &ExprMethodCall) -> Option<ExprMethodCall> {
    let (receiver, items) = of_iterator(&call.receiver)?;
    let mut call = ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        "sum" | "product" | "count" => {}
        "any" | "all" | "for_each" | "fold" | "find_map" | "position" => take_copy(call.args.last_mut()?, items)?,
        _ if items == Items::Mapped => {}
        _ => return None,
    }
    Some(call)
}

/// What an iterator yields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// The elements of its source.
    Elements,
    /// What a closure has made of them.
    Mapped,
}

fn of_iterator(iterator: &syn::Expr) -> Option<(syn::Expr, Items)> {
    let syn::Expr::MethodCall(call) = strip(iterator) else { return None };
    let with = |receiver: syn::Expr| ExprMethodCall { receiver: Box::new(receiver), ..call.clone() };
    match call.method.to_string().as_str() {
        name @ ("filter" | "take_while" | "skip_while" | "map" | "map_while") => {
            let (receiver, items) = of_iterator(&call.receiver)?;
            let mut call = with(receiver);
            take_copy(call.args.first_mut()?, items)?;
            let items = if name.starts_with("map") { Items::Mapped } else { items };
            Some((syn::Expr::MethodCall(call), items))
        }
        _ if yields_references(call) => {
            let at = SpanRange::of(&call.method).lo;
            let copied = syn::parse2(quote_spanned!(at=> #call.copied())).ok()?;
            Some((copied, Items::Elements))
        }
        _ => None,
    }
}

/// Whether an iterator's items are references to elements, and nothing else: not pairs, and not parts of memory.
fn yields_references(call: &ExprMethodCall) -> bool {
    match call.method.to_string().as_str() {
        "iter" => true,
        "rev" | "skip" | "take" | "step_by" => {
            matches!(strip(&call.receiver), syn::Expr::MethodCall(call) if yields_references(call))
        }
        _ => false,
    }
}

/// Takes one `&` from the item that a closure takes last.
fn take_copy(function: &mut syn::Expr, items: Items) -> Option<()> {
    if items == Items::Mapped {
        return Some(());
    }
    let syn::Expr::Closure(ExprClosure { inputs, body, .. }) = function else { return None };
    let input = inputs.last_mut()?;
    match input {
        Pat::Wild(_) => Some(()),
        Pat::Reference(reference) if reference.mutability.is_none() => {
            *input = (*reference.pat).clone();
            Some(())
        }
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            let mut derefs = Derefs { name: name.ident.clone(), is_hidden: false };
            derefs.visit_expr_mut(body);
            (!derefs.is_hidden).then_some(())
        }
        _ => None,
    }
}

/// Replaces `*name` by `name`.
struct Derefs {
    name: Ident,
    /// Whether the name may mean something else inside.
    is_hidden: bool,
}

impl VisitMut for Derefs {
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Unary(unary) = expr
            && matches!(unary.op, UnOp::Deref(_))
            && matches!(strip(&unary.expr), syn::Expr::Path(path) if path.path.is_ident(&self.name))
        {
            *expr = (*unary.expr).clone();
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        self.is_hidden |= pat.ident == self.name;
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    /// A macro's arguments are not parsed here.
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {
        self.is_hidden = true;
    }
}
