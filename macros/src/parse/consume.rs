//! Iterators that come to one value: `values.iter().sum::<f32>()`, `fold`, `any`, `all`, `position`, `for_each`, each also
//! behind `map`. They are loops, with the closures' bodies in place.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprClosure, ExprMethodCall, Pat};

use super::Parser;
use super::method::strip;
use crate::messages;
use crate::model::expr::Expr;
use crate::span::SpanRange;

const CONSUMERS: [&str; 7] = ["sum", "product", "fold", "any", "all", "position", "for_each"];
/// Methods that only iterators have.
const OTHERS: [&str; 12] =
    ["collect", "count", "last", "max", "min", "max_by", "min_by", "max_by_key", "min_by_key", "reduce", "find", "nth"];

impl Parser<'_> {
    /// An iterator's value, if the call asks for one.
    pub(super) fn consumed(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        let name = call.method.to_string();
        if !is_iterator(&call.receiver) {
            return None;
        }
        if !CONSUMERS.contains(&name.as_str()) {
            let known = OTHERS.contains(&name.as_str()) || is_sequence(&call.receiver);
            return known.then(|| self.error(messages::no_consumer(SpanRange::of(&call.method), &name)));
        }
        let (source, maps) = layers(&call.receiver);
        let closures = call.args.last().map(strip).into_iter().chain(maps.iter().copied());
        for closure in closures {
            if let syn::Expr::Closure(ExprClosure { body, .. }) = closure
                && leaves(body.to_token_stream())
            {
                return Some(
                    self.error(messages::unsupported_syntax(SpanRange::of(body), "a jump out of this closure is")),
                );
            }
        }
        let Some(tokens) = written(call, &name, source, &maps) else {
            return Some(self.error(messages::consumer_form(span, &name)));
        };
        Some(match syn::parse2::<syn::Expr>(tokens) {
            Ok(expr) => Expr { span, ..self.expr(&expr) },
            Err(_) => self.error(messages::consumer_form(span, &name)),
        })
    }
}

/// The loop that a call stands for.
fn written(call: &ExprMethodCall, name: &str, source: &syn::Expr, maps: &[&syn::Expr]) -> Option<TokenStream> {
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let (total, item, found, index) = (fresh("total"), fresh("item"), fresh("found"), fresh("index"));
    let mut steps = maps.iter().map(|map| Step::of(strip(map), &item, None)).collect::<Option<Vec<_>>>()?;
    let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
    steps.push(match (name, &arguments[..]) {
        ("sum" | "product", []) => Step { pat: quote!(#item), value: quote!(#item) },
        ("fold", [_, function]) => Step::of(function, &item, Some(&total))?,
        ("any" | "all" | "for_each", [function]) => Step::of(function, &item, None)?,
        ("position", [function]) if maps.is_empty() => Step::of(function, &item, None)?,
        _ => return None,
    });
    let over = |last: &dyn Fn(&TokenStream) -> TokenStream| repeat(source, &steps, last, at);
    Some(match (name, &arguments[..]) {
        ("sum" | "product", _) => {
            let ty = call.turbofish.as_ref()?.args.first()?.to_token_stream();
            let start = match (ty.to_string().as_str(), name) {
                // As std's own.
                ("f32" | "f64", "sum") => quote!(-0.0),
                ("f32" | "f64", _) => quote!(1.0),
                (_, "sum") => quote!(0),
                _ => quote!(1),
            };
            let repeat = match name {
                "sum" => over(&|value| quote!(#total += #value;)),
                _ => over(&|value| quote!(#total *= #value;)),
            };
            quote_spanned!(at=> { let mut #total: #ty = #start; #repeat #total })
        }
        ("fold", [start, _]) => {
            let repeat = over(&|value| quote!(#total = #value;));
            quote_spanned!(at=> { let mut #total = #start; #repeat #total })
        }
        ("any", _) => {
            let repeat = over(&|value| quote!(if #value { #found = true; break; }));
            quote_spanned!(at=> { let mut #found = false; #repeat #found })
        }
        ("all", _) => {
            let repeat = over(&|value| quote!(if !#value { #found = false; break; }));
            quote_spanned!(at=> { let mut #found = true; #repeat #found })
        }
        ("position", _) => {
            let Step { pat, value } = steps.first()?;
            quote_spanned!(at=> {
                let mut #found = None;
                for (#index, #pat) in #source.enumerate() { if #value { #found = Some(#index); break; } }
                #found
            })
        }
        _ => {
            let repeat = over(&|value| quote!(#value;));
            quote_spanned!(at=> { #repeat })
        }
    })
}

/// What is done with an item: what takes it, and what comes of it.
struct Step {
    pat: TokenStream,
    value: TokenStream,
}

impl Step {
    /// Of a closure or a function, of an item, or of what was folded so far and an item.
    fn of(function: &syn::Expr, item: &Ident, total: Option<&Ident>) -> Option<Step> {
        match function {
            syn::Expr::Path(path) => {
                let total = total.into_iter();
                Some(Step { pat: quote!(#item), value: quote!(#path(#(#total,)* #item)) })
            }
            syn::Expr::Closure(closure) => {
                let (inputs, body) = (closure.inputs.iter().collect::<Vec<_>>(), &closure.body);
                let (before, input) = match (total, &inputs[..]) {
                    (None, [input]) => (None, *input),
                    (Some(total), [so_far, input]) => (Some(quote!(let #so_far = #total;)), *input),
                    _ => return None,
                };
                let pat = match input {
                    Pat::Type(typed) => &*typed.pat,
                    pat => pat,
                };
                Some(Step { pat: quote!(#pat), value: quote!({ #before #body }) })
            }
            _ => None,
        }
    }
}

/// `for item in source { let item = first(item); ... last(item) }`
fn repeat(source: &syn::Expr, steps: &[Step], last: &dyn Fn(&TokenStream) -> TokenStream, at: Span) -> TokenStream {
    let Some((first, rest)) = steps.split_first() else { return TokenStream::new() };
    let mut value = &first.value;
    let mut bindings = Vec::new();
    for step in rest {
        let pat = &step.pat;
        bindings.push(quote_spanned!(at=> let #pat = #value;));
        value = &step.value;
    }
    let (pat, last) = (&first.pat, last(value));
    quote_spanned!(at=> for #pat in #source { #(#bindings)* #last })
}

/// What the iterator goes over, and the closures that `map` is called with, the first first.
fn layers(expr: &syn::Expr) -> (&syn::Expr, Vec<&syn::Expr>) {
    match strip(expr) {
        syn::Expr::MethodCall(call) if call.method == "map" && call.args.len() == 1 => {
            let (source, mut maps) = layers(&call.receiver);
            maps.extend(call.args.first());
            (source, maps)
        }
        expr => (expr, Vec::new()),
    }
}

/// Whether an expression is written as an iterator: `.iter()` or a range, with adaptors.
fn is_iterator(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Range(_) => true,
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "into_iter" | "iter_mut" | "windows" | "chunks_exact" => true,
            "chunks" | "rev" | "enumerate" | "zip" | "step_by" | "skip" | "take" | "copied" | "cloned" | "map"
            | "filter" => is_iterator(&call.receiver),
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is no range by itself, whose other methods are reported where ranges are.
fn is_sequence(expr: &syn::Expr) -> bool {
    matches!(strip(expr), syn::Expr::MethodCall(_))
}

/// Whether a closure's body has a jump in it: in place, it would lead elsewhere.
fn leaves(stream: TokenStream) -> bool {
    stream.into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => ["return", "break", "continue"].iter().any(|jump| word == jump),
        TokenTree::Punct(punct) => punct.as_char() == '?',
        TokenTree::Group(group) => leaves(group.stream()),
        TokenTree::Literal(_) => false,
    })
}
