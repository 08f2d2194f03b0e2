//! `for` loops that count their rounds beside what they iterate over: `for (k, x) in items.enumerate()` where the items have no positions, as
//! after a `filter`, and `for (x, k) in items.zip(1..)`, whose range has no end. A variable counts, and a `continue` in the body skips no count.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{ExprForLoop, Pat};

use super::iter_sources::is_range;
use super::iter_steps::{ADAPTORS, is_positive};
use super::operand_order::OperandOrder;
use super::syntax::strip;
use crate::span::SpanRange;

/// Rewrites a loop that counts its rounds, if it is one.
pub(super) fn counted(repeat: &ExprForLoop) -> Option<TokenStream> {
    if let Some(open) = Open::of(&repeat.expr) {
        return Some(without_end(repeat, &open));
    }
    let mut counts = Counts { before: TokenStream::new(), inside: TokenStream::new(), number: 0 };
    let (pat, items) = counts.without(&repeat.pat, &repeat.expr)?;
    let Counts { before, inside, .. } = counts;
    let ExprForLoop { attrs, label, body, .. } = repeat;
    let (at, statements) = (SpanRange::of(&repeat.expr).lo, &body.stmts);
    let repeat = quote_spanned!(at=> #(#attrs)* #label for #pat in #items {
        #inside
        #(#statements)*
    });
    Some(if before.is_empty() { repeat } else { quote_spanned!(at=> { #before #repeat }) })
}

/// Rewrites `for i in start..`, which only a jump leaves. A `continue` in the body skips no number.
fn without_end(repeat: &ExprForLoop, Open { start, step, at }: &Open<'_>) -> TokenStream {
    let ExprForLoop { attrs, label, pat, body, .. } = repeat;
    let (next, statements) = (Ident::new("next", at.resolved_at(Span::mixed_site())), &body.stmts);
    quote_spanned!(*at=> {
        let mut #next = #start;
        #(#attrs)* #label loop {
            let #pat = #next;
            #next += #step;
            #(#statements)*
        }
    })
}

/// The variables that count.
struct Counts {
    /// What is evaluated before the loop.
    before: TokenStream,
    /// The beginning of the body.
    inside: TokenStream,
    number: usize,
}

impl Counts {
    /// Returns the pattern and the iterator without what is counted; `None` if nothing is.
    fn without(&mut self, pat: &Pat, items: &syn::Expr) -> Option<(TokenStream, TokenStream)> {
        let syn::Expr::MethodCall(call) = strip(items) else { return None };
        let (pair, count) = (pair(pat), call.args.len());
        let method = &call.method;
        match (method.to_string().as_str(), count) {
            ("enumerate", 0) if is_range(&call.receiver) || has_no_positions(&call.receiver) => {
                let (counted, rest) = pair?;
                self.count(counted, quote!(0usize), quote!(1), method.span());
                Some(self.further(rest, &call.receiver, None))
            }
            ("zip", 1) => {
                let (first, second) = pair?;
                let other = call.args.first()?;
                if let Some(open) = Open::of(other) {
                    let items = self.open(second, &open, &call.receiver, false)?;
                    return Some(self.further(first, &call.receiver, items));
                }
                if let Some(open) = Open::of(&call.receiver) {
                    let items = self.open(first, &open, other, true)?;
                    return Some(self.further(second, other, items));
                }
                let (before, inside, number) = (self.before.clone(), self.inside.clone(), self.number);
                if let Some((pat, items)) = self.without(first, &call.receiver) {
                    return Some((quote!((#pat, #second)), quote!(#items.#method(#other))));
                }
                (self.before, self.inside, self.number) = (before, inside, number);
                let (pat, items) = self.without(second, other)?;
                let receiver = &call.receiver;
                Some((quote!((#first, #pat)), quote!(#receiver.#method(#items))))
            }
            ("take", 1) => {
                let (pat, items) = self.without(pat, &call.receiver)?;
                let number = call.args.first()?;
                Some((pat, quote!(#items.#method(#number))))
            }
            _ => None,
        }
    }

    /// What remains of an iterator may count, too.
    fn further(&mut self, pat: &Pat, items: &syn::Expr, bound: Option<TokenStream>) -> (TokenStream, TokenStream) {
        let written = bound.unwrap_or_else(|| items.to_token_stream());
        let bound = syn::parse2(written.clone()).ok();
        let rest = bound.and_then(|items: syn::Expr| self.without(pat, &items));
        rest.unwrap_or_else(|| (pat.to_token_stream(), written))
    }

    /// Counts from the start of a range, beside items. Returns the items, evaluated in Rust's order.
    fn open(&mut self, pat: &Pat, open: &Open<'_>, items: &syn::Expr, is_first: bool) -> Option<Option<TokenStream>> {
        let fresh = open.at.resolved_at(Span::mixed_site());
        let operands = if is_first { [open.start, items] } else { [items, open.start] };
        let mut order = OperandOrder::of(&operands, fresh);
        let (start, source) = match is_first {
            true => (order.value(open.start), order.source(items)),
            false => {
                let source = order.source(items);
                (order.value(open.start), source)
            }
        };
        self.before.extend(order.bindings());
        self.count(pat, start, open.step.clone(), open.at);
        Some(Some(source))
    }

    fn count(&mut self, pat: &Pat, start: TokenStream, step: TokenStream, at: Span) {
        if let Pat::Wild(_) = pat {
            return;
        }
        let fresh = at.resolved_at(Span::mixed_site());
        let next = match self.number {
            0 => Ident::new("next", fresh),
            number => format_ident!("next_{number}", span = fresh),
        };
        self.number += 1;
        self.before.extend(quote_spanned!(at=> let mut #next = #start;));
        self.inside.extend(quote_spanned!(at=> let #pat = #next; #next += #step;));
    }
}

/// A range without an end, `start..`, or some of its numbers, `(start..).step_by(2)`.
struct Open<'e> {
    start: &'e syn::Expr,
    step: TokenStream,
    at: Span,
}

impl<'e> Open<'e> {
    fn of(expr: &'e syn::Expr) -> Option<Open<'e>> {
        match strip(expr) {
            syn::Expr::Range(syn::ExprRange { start: Some(start), end: None, .. }) => {
                Some(Open { start, step: quote!(1), at: SpanRange::of(expr).lo })
            }
            syn::Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
                let step = call.args.first().filter(|step| is_positive(step))?;
                Some(Open { step: step.to_token_stream(), ..Open::of(&call.receiver)? })
            }
            _ => None,
        }
    }
}

fn pair(pat: &Pat) -> Option<(&Pat, &Pat)> {
    match pat {
        Pat::Paren(paren) => pair(&paren.pat),
        Pat::Tuple(tuple) if tuple.elems.len() == 2 => Some((&tuple.elems[0], &tuple.elems[1])),
        _ => None,
    }
}

/// Whether the items of an iterator have no positions that syntax shows.
fn has_no_positions(items: &syn::Expr) -> bool {
    let syn::Expr::MethodCall(call) = strip(items) else { return false };
    let name = call.method.to_string();
    match name.as_str() {
        "flatten" | "flat_map" | "scan" => true,
        "zip" => {
            Open::of(&call.receiver).is_some()
                || call.args.first().is_some_and(|other| Open::of(other).is_some() || has_no_positions(other))
                || has_no_positions(&call.receiver)
        }
        "rev" | "enumerate" | "copied" | "cloned" | "skip" | "take" | "step_by" => has_no_positions(&call.receiver),
        _ => ADAPTORS.contains(&name.as_str()),
    }
}
