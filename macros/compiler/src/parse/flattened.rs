//! Iterators over what the items of an iterator consist of: `rows.iter().flatten()` and `(0..n).flat_map(|i| ..)`. They become a loop inside
//! of a loop.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{ExprBreak, ExprContinue, ExprForLoop, Lifetime};

use super::item_references::gives_references;
use super::syntax::{strip, untyped};
use crate::span::SpanRange;

/// The iterator that is taken apart, and what is done with its items.
pub(super) struct Flattened {
    outer: TokenStream,
    pat: TokenStream,
    inner: TokenStream,
    /// What makes an iterator of the inner one, if it is a row.
    iterated: Option<TokenStream>,
    at: Span,
}

impl Flattened {
    /// Takes `.flatten()` or `.flat_map(|x| ..)` apart; `copied()` behind it belongs to the inner iterator.
    pub(super) fn of(source: &syn::Expr) -> Option<Flattened> {
        let syn::Expr::MethodCall(call) = strip(source) else { return None };
        let at = SpanRange::of(&call.method).lo;
        let outer = call.receiver.to_token_stream();
        let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
        Some(match (call.method.to_string().as_str(), &arguments[..]) {
            ("flatten", []) => {
                let row = Ident::new("row", at.resolved_at(Span::mixed_site())).into_token_stream();
                let iterated = match gives_references(&call.receiver) {
                    true => quote_spanned!(at=> .iter()),
                    false => quote_spanned!(at=> .into_iter()),
                };
                Flattened { outer, inner: row.clone(), pat: row, iterated: Some(iterated), at }
            }
            ("flat_map", [syn::Expr::Closure(closure)]) if closure.inputs.len() == 1 => {
                let inner = value_of(&closure.body)?;
                let pat = untyped(closure.inputs.first()?).to_token_stream();
                Flattened { outer, pat, inner, iterated: None, at }
            }
            ("copied" | "cloned", []) => {
                let flattened = Flattened::of(&call.receiver)?;
                let (inner, iterated, method) = (&flattened.inner, &flattened.iterated, &call.method);
                Flattened { inner: quote!(#inner #iterated.#method()), iterated: None, ..flattened }
            }
            _ => return None,
        })
    }

    /// Makes both loops; `before` are the outer one's attributes. A `break` in the body leaves the outer one.
    pub(super) fn repeat(&self, before: &TokenStream, item: &TokenStream, body: &TokenStream) -> Option<TokenStream> {
        let Flattened { outer, pat, inner, at, .. } = self;
        let mixed = at.resolved_at(Span::mixed_site());
        let mut repeat: ExprForLoop = syn::parse2(quote_spanned!(*at=> for #item in #inner { #body })).ok()?;
        let mut jumps = Jumps { whole: Lifetime::new("'whole", mixed), depth: 0, any: false };
        jumps.visit_block_mut(&mut repeat.body);
        let label = jumps.any.then(|| {
            let whole = &jumps.whole;
            quote!(#whole:)
        });
        Some(quote_spanned!(*at=> #before #label for #pat in #outer { #repeat }))
    }

    /// The same for a loop that the user wrote, of which `continue` with its label is one of the inner loop.
    pub(super) fn written(repeat: &ExprForLoop) -> Option<TokenStream> {
        let Flattened { outer, pat, inner, at, .. } = Flattened::with_adaptors(&repeat.expr)?;
        let mixed = at.resolved_at(Span::mixed_site());
        let (mut body, whole) = (repeat.body.clone(), Lifetime::new("'whole", mixed));
        let (attrs, item) = (&repeat.attrs, &repeat.pat);
        let mut jumps = Jumps { whole: whole.clone(), depth: 0, any: false };
        jumps.visit_block_mut(&mut body);
        let part = repeat.label.as_ref().map(|label| {
            let part = Lifetime::new("'part", mixed);
            let mut labelled = Labelled { label: &label.name, whole: &whole, part: &part };
            labelled.visit_block_mut(&mut body);
            quote!(#part:)
        });
        let label = (jumps.any || part.is_some()).then(|| quote!(#whole:));
        Some(quote_spanned!(at=> #label for #pat in #outer { #(#attrs)* #part for #item in #inner #body }))
    }

    /// Takes an iterator apart behind which there are `map` and `filter`, which belong to the inner one.
    fn with_adaptors(source: &syn::Expr) -> Option<Flattened> {
        let syn::Expr::MethodCall(call) = strip(source) else { return None };
        if call.method != "map" && call.method != "filter" {
            return Flattened::of(source);
        }
        let flattened = Flattened::with_adaptors(&call.receiver)?;
        let (inner, iterated, method, arguments) = (&flattened.inner, &flattened.iterated, &call.method, &call.args);
        Some(Flattened { inner: quote!(#inner #iterated.#method(#arguments)), iterated: None, ..flattened })
    }
}

/// The value of a closure's body, if it is nothing else.
fn value_of(body: &syn::Expr) -> Option<TokenStream> {
    match strip(body) {
        syn::Expr::Block(block) => match &block.block.stmts[..] {
            [syn::Stmt::Expr(value, None)] => value_of(value),
            _ => None,
        },
        value => Some(value.to_token_stream()),
    }
}

/// Whether an iterator is one of these.
pub(super) fn is_flattened(source: &syn::Expr) -> bool {
    Flattened::of(source).is_some()
}

/// Has each `break` without a label leave the outer loop.
struct Jumps {
    whole: Lifetime,
    depth: usize,
    any: bool,
}

impl Jumps {
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl VisitMut for Jumps {
    fn visit_expr_break_mut(&mut self, jump: &mut ExprBreak) {
        if self.depth == 0 && jump.label.is_none() {
            jump.label = Some(self.whole.clone());
            self.any = true;
        }
        visit_mut::visit_expr_break_mut(self, jump);
    }

    fn visit_expr_for_loop_mut(&mut self, inner: &mut ExprForLoop) {
        self.visit_expr_mut(&mut inner.expr);
        self.inside(|jumps| jumps.visit_block_mut(&mut inner.body));
    }

    fn visit_expr_while_mut(&mut self, inner: &mut syn::ExprWhile) {
        self.inside(|jumps| visit_mut::visit_expr_while_mut(jumps, inner));
    }

    fn visit_expr_loop_mut(&mut self, inner: &mut syn::ExprLoop) {
        self.inside(|jumps| visit_mut::visit_expr_loop_mut(jumps, inner));
    }

    /// A jump in a closure stays in it.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
}

/// Has the jumps with a loop's label be those of its two loops.
struct Labelled<'l> {
    label: &'l Lifetime,
    whole: &'l Lifetime,
    part: &'l Lifetime,
}

impl VisitMut for Labelled<'_> {
    fn visit_expr_break_mut(&mut self, jump: &mut ExprBreak) {
        if jump.label.as_ref() == Some(self.label) {
            jump.label = Some(self.whole.clone());
        }
        visit_mut::visit_expr_break_mut(self, jump);
    }

    fn visit_expr_continue_mut(&mut self, jump: &mut ExprContinue) {
        if jump.label.as_ref() == Some(self.label) {
            jump.label = Some(self.part.clone());
        }
    }
}
