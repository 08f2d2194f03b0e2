//! Iterators that are consumed to one value: `values.iter().sum::<f32>()`, `fold`, `any`, `all`, `position`,
//! `for_each`, each also after `map` and `filter`. They become loops, into which the closures' bodies are inlined.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprClosure, ExprMethodCall, Pat};

use super::Parser;
use super::copied_items;
use super::desugared_methods::test_of;
use super::operand_order::{OperandOrder, whole};
use super::syntax::strip;
use crate::messages;
use crate::model::expr::Expr;
use crate::span::SpanRange;

const CONSUMERS: [&str; 10] = ["sum", "product", "fold", "any", "all", "count", "min", "max", "position", "for_each"];
/// Methods that only iterators have, and that are not supported.
const UNSUPPORTED_CONSUMERS: [&str; 9] =
    ["collect", "last", "max_by", "min_by", "max_by_key", "min_by_key", "reduce", "find", "nth"];

impl Parser<'_> {
    /// Parses the consumption of an iterator, if the call is one.
    pub(super) fn consumed(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        let name = call.method.to_string();
        if !is_iterator(&call.receiver) {
            return None;
        }
        if !CONSUMERS.contains(&name.as_str()) {
            let known = UNSUPPORTED_CONSUMERS.contains(&name.as_str()) || is_sequence(&call.receiver);
            return known.then(|| self.error(messages::no_consumer(SpanRange::of(&call.method), &name)));
        }
        let (source, adaptors) = adaptors(&call.receiver);
        let functions = adaptors.iter().map(|(Adaptor::Map(function) | Adaptor::Filter(function))| *function);
        for function in call.args.last().map(strip).into_iter().chain(functions) {
            if let syn::Expr::Closure(ExprClosure { body, .. }) = function
                && leaves(body.to_token_stream())
            {
                return Some(
                    self.error(messages::unsupported_syntax(SpanRange::of(body), "a jump out of this closure is")),
                );
            }
        }
        // A filtered item, or the least one, is itself the result: it must be a value, not a reference into memory.
        let comes_out = match adaptors.first() {
            // A pattern of its fields takes a reference as it takes a value, and what only counts needs no item.
            Some(Adaptor::Filter(syn::Expr::Closure(ExprClosure { inputs, .. }))) => {
                let is_destructured = matches!(inputs.first(), Some(Pat::Tuple(_) | Pat::Struct(_)));
                !is_destructured || name != "count"
            }
            Some(Adaptor::Filter(_)) => true,
            Some(Adaptor::Map(_)) => false,
            None => ["min", "max"].contains(&name.as_str()),
        };
        // A part of memory is a name for it, of which a test can make another.
        let is_part_counted = name == "count" && gives_parts(source);
        if comes_out && gives_references(source) && !is_part_counted {
            if let Some(copies) = copied_items::over_copies(call).filter(|_| !adaptors.is_empty()) {
                return self.consumed(&copies, span);
            }
            return Some(self.error(messages::item_reference(SpanRange::of(&call.method), &name)));
        }
        let Some(tokens) = written(call, &name, source, &adaptors) else {
            return Some(self.error(messages::consumer_form(span, &name)));
        };
        Some(match syn::parse2::<syn::Expr>(tokens) {
            Ok(expr) => Expr { span, ..self.expr(&expr) },
            Err(_) => self.error(messages::consumer_form(span, &name)),
        })
    }
}

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

/// Returns the loop that replaces a call.
fn written(call: &ExprMethodCall, name: &str, source: &syn::Expr, adaptors: &[Adaptor<'_>]) -> Option<TokenStream> {
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let (total, item, found, index) = (fresh("total"), fresh("item"), fresh("found"), fresh("index"));
    let mut steps = adaptors.iter().map(|adaptor| Step::of_adaptor(adaptor, &item)).collect::<Option<Vec<_>>>()?;
    let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
    steps.push(match (name, &arguments[..]) {
        ("sum" | "product" | "min" | "max", []) => Step::Map { pat: quote!(#item), value: quote!(#item) },
        ("count", []) => Step::Map { pat: quote!(_), value: TokenStream::new() },
        ("fold", [_, function]) => Step::of(function, &item, Some(&total))?,
        ("any" | "all" | "for_each", [function]) => Step::of(function, &item, None)?,
        ("position", [function]) if adaptors.is_empty() => Step::of(function, &item, None)?,
        _ => return None,
    });
    let over = |last: &dyn Fn(&TokenStream) -> TokenStream| repeat(&source.to_token_stream(), &steps, &item, last, at);
    Some(match (name, &arguments[..]) {
        ("sum" | "product", _) => {
            let ty = call.turbofish.as_ref()?.args.first()?.to_token_stream();
            let start = match (ty.to_string().as_str(), name) {
                // The sum starts where std's does.
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
        ("count", _) => {
            let repeat = over(&|_| quote!(#total += 1;));
            quote_spanned!(at=> { let mut #total = 0usize; #repeat #total })
        }
        // `|` makes sure that the values are ordered: integers have it, floats do not.
        ("min" | "max", _) => {
            let method = &call.method;
            let repeat = over(
                &|value| quote_spanned!(at=> #found = Some(match #found { Some(#total) => #value.#method(#total | #total), None => #value });),
            );
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("fold", [start, _]) => {
            // The source is evaluated before the start.
            let mut order = OperandOrder::of(&[source, *start], fresh("operand").span());
            let source = order.source(source);
            let bindings = order.bindings();
            let repeat = repeat(&source, &steps, &item, &|value| quote!(#total = #value;), at);
            quote_spanned!(at=> { #bindings let mut #total = #start; #repeat #total })
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
            let Some(Step::Map { pat, value }) = steps.first() else { return None };
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

/// An adaptor: `.map(function)` or `.filter(function)`.
enum Adaptor<'e> {
    Map(&'e syn::Expr),
    Filter(&'e syn::Expr),
}

/// A step of the loop's body: the pattern that takes the item, and the value that replaces it or the test that keeps
/// it.
enum Step {
    Map { pat: TokenStream, value: TokenStream },
    Filter { test: TokenStream },
}

impl Step {
    fn of_adaptor(adaptor: &Adaptor<'_>, item: &Ident) -> Option<Step> {
        match adaptor {
            Adaptor::Map(function) => Step::of(function, item, None),
            Adaptor::Filter(function) => Some(Step::Filter { test: test_of(function, item)? }),
        }
    }

    /// Makes a step of a closure or a function of an item, or of the accumulator and an item.
    fn of(function: &syn::Expr, item: &Ident, total: Option<&Ident>) -> Option<Step> {
        match function {
            syn::Expr::Path(path) => {
                let total = total.into_iter();
                Some(Step::Map { pat: quote!(#item), value: quote!(#path(#(#total,)* #item)) })
            }
            syn::Expr::Closure(closure) => {
                let (inputs, body) = (closure.inputs.iter().collect::<Vec<_>>(), whole(&closure.body));
                let (before, input) = match (total, &inputs[..]) {
                    (None, [input]) => (None, *input),
                    (Some(total), [so_far, input]) => (Some(quote!(let #so_far = #total;)), *input),
                    _ => return None,
                };
                let pat = match input {
                    Pat::Type(typed) => &*typed.pat,
                    pat => pat,
                };
                Some(Step::Map { pat: quote!(#pat), value: quote!({ #before #body }) })
            }
            _ => None,
        }
    }
}

/// Makes `for item in source { let item = first(item); ... last(item) }`.
fn repeat(
    source: &TokenStream,
    steps: &[Step],
    item: &Ident,
    last: &dyn Fn(&TokenStream) -> TokenStream,
    at: Span,
) -> TokenStream {
    // The pattern of the loop itself may dereference.
    let (pat, body) = match steps.split_first() {
        Some((Step::Map { pat, value }, rest)) => (pat.clone(), nested(rest, value, item, last, at)),
        _ => (item.to_token_stream(), nested(steps, &item.to_token_stream(), item, last, at)),
    };
    quote_spanned!(at=> for #pat in #source { #body })
}

/// Nests the steps, from `input` on.
fn nested(
    steps: &[Step],
    input: &TokenStream,
    item: &Ident,
    last: &dyn Fn(&TokenStream) -> TokenStream,
    at: Span,
) -> TokenStream {
    match steps.split_first() {
        None => last(input),
        Some((Step::Map { pat, value }, rest)) => {
            let rest = nested(rest, value, item, last, at);
            quote_spanned!(at=> let #pat = #input; #rest)
        }
        Some((Step::Filter { test }, rest)) => {
            let rest = nested(rest, &item.to_token_stream(), item, last, at);
            // The item of the loop may be a reference, which no second name can hold.
            let named = (*item != input.to_string()).then(|| quote_spanned!(at=> let #item = #input;));
            quote_spanned!(at=> #named if #test { #rest })
        }
    }
}

/// Returns the iterator's source and its adaptors, the first one first.
fn adaptors(expr: &syn::Expr) -> (&syn::Expr, Vec<Adaptor<'_>>) {
    let expr = strip(expr);
    let syn::Expr::MethodCall(call) = expr else { return (expr, Vec::new()) };
    let adaptor = match (call.method.to_string().as_str(), call.args.first().map(strip), call.args.len()) {
        ("map", Some(function), 1) => Adaptor::Map(function),
        ("filter", Some(function), 1) => Adaptor::Filter(function),
        _ => return (expr, Vec::new()),
    };
    let (source, mut before) = adaptors(&call.receiver);
    before.push(adaptor);
    (source, before)
}

/// Whether the items are references, as far as syntax shows.
fn gives_references(source: &syn::Expr) -> bool {
    match strip(source) {
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "iter_mut" | "windows" | "chunks" | "chunks_exact" => true,
            "copied" | "cloned" | "into_iter" => false,
            _ => gives_references(&call.receiver) || call.args.iter().any(gives_references),
        },
        syn::Expr::Reference(_) => true,
        _ => false,
    }
}

/// Whether the items are parts of memory, as far as syntax shows.
fn gives_parts(source: &syn::Expr) -> bool {
    let syn::Expr::MethodCall(call) = strip(source) else { return false };
    match call.method.to_string().as_str() {
        "windows" | "chunks" | "chunks_exact" => true,
        "rev" | "step_by" | "skip" | "take" => gives_parts(&call.receiver),
        _ => false,
    }
}

/// Whether an expression is written as an iterator: `.iter()` or a range, with adaptors.
fn is_iterator(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Range(_) => true,
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "into_iter" | "iter_mut" | "windows" | "chunks" | "chunks_exact" => true,
            "rev" | "enumerate" | "zip" | "step_by" | "skip" | "take" | "copied" | "cloned" | "map" | "filter" => {
                is_iterator(&call.receiver)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is more than a range, whose other methods are reported where ranges are parsed.
fn is_sequence(expr: &syn::Expr) -> bool {
    matches!(strip(expr), syn::Expr::MethodCall(_))
}

/// Whether a closure's body contains a jump, which would have another target once it is inlined.
fn leaves(stream: TokenStream) -> bool {
    stream.into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => ["return", "break", "continue"].iter().any(|jump| word == jump),
        TokenTree::Punct(punct) => punct.as_char() == '?',
        TokenTree::Group(group) => leaves(group.stream()),
        TokenTree::Literal(_) => false,
    })
}
