//! Iterators that are consumed to one value: `values.iter().sum::<f32>()`, `fold`, `reduce`, `any`, `all`, `find`, `position`,
//! `last`, `for_each`, `min_by_key`, each also after adaptors with closures. They become loops, into which the closures' bodies are inlined.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprClosure, ExprMethodCall, Pat};

use super::Parser;
use super::compared_iterators::equality;
use super::copied_items::{self, ITEM_CONSUMERS};
use super::desugared_methods::{test_of, to_reference};
use super::flattened::is_flattened;
use super::item_names::Names;
use super::item_references::gives_references;
use super::iter_steps::{ADAPTORS, Adaptor, Steps, adaptors, leaving, numbered_first};
use super::operand_order::{OperandOrder, whole};
use super::syntax::{strip, untyped};
use crate::messages;
use crate::model::expr::Expr;
use crate::model::words::words;
use crate::source;
use crate::span::SpanRange;

const CONSUMERS: [&str; 23] = [
    "sum",
    "product",
    "fold",
    "reduce",
    "any",
    "all",
    "count",
    "min",
    "max",
    "min_by_key",
    "max_by_key",
    "min_by",
    "max_by",
    "find",
    "find_map",
    "position",
    "rposition",
    "last",
    "next",
    "nth",
    "for_each",
    "try_fold",
    "try_for_each",
];
/// Methods that only iterators have, and that are not supported.
const UNSUPPORTED_CONSUMERS: [&str; 1] = ["collect"];

impl Parser<'_> {
    /// Parses the consumption of an iterator, if the call is one.
    pub(super) fn consumed(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        let name = call.method.to_string();
        if !is_iterator(&call.receiver) {
            return None;
        }
        if let Some(receiver) = numbered_first(&call.receiver).map(Box::new) {
            return self.consumed(&ExprMethodCall { receiver, ..call.clone() }, span);
        }
        if is_adapted(call) {
            return Some(self.error(messages::iterator_value(SpanRange::of(call))));
        }
        if !CONSUMERS.contains(&name.as_str()) {
            if let Some(tokens) = equality(call) {
                return Some(self.consumed_by(tokens, &name, span));
            }
            let known = UNSUPPORTED_CONSUMERS.contains(&name.as_str()) || is_sequence(&call.receiver);
            return known.then(|| self.error(messages::no_consumer(SpanRange::of(&call.method), &name)));
        }
        let (source, mut adaptors) = adaptors(&call.receiver);
        for function in call.args.last().map(strip).into_iter().chain(adaptors.iter().map(|adaptor| adaptor.function)) {
            if let Some(body) = leaving(function) {
                return Some(self.error(messages::jump_out_of_closure(body)));
            }
        }
        // What it finds is the first item that a filter keeps.
        if let ("find", Some(function), 1) = (name.as_str(), call.args.first().map(strip), call.args.len()) {
            adaptors.push(Adaptor::filter(function));
        }
        if let Some(tokens) = written(call, &name, source, &adaptors, (true, self.file())) {
            return Some(self.consumed_by(tokens, &name, span));
        }
        // A filtered item, or the least one, is itself the result: it must be a value, not a reference into memory.
        let comes_out = match adaptors.first() {
            Some(Adaptor { keeps: true, function, .. }) => match function {
                // A pattern of its fields takes a reference as it takes a value, and what only counts needs no item.
                syn::Expr::Closure(ExprClosure { inputs, .. }) => {
                    let is_destructured = matches!(inputs.first(), Some(Pat::Tuple(_) | Pat::Struct(_)));
                    !is_destructured || name != "count"
                }
                _ => true,
            },
            Some(Adaptor { keeps: false, .. }) => false,
            None => ITEM_CONSUMERS.contains(&name.as_str()),
        };
        // A part of memory is a name for it, of which a test can make another.
        let is_part_counted = name == "count" && gives_parts(source);
        if comes_out && gives_references(source) && !is_part_counted {
            if let Some(copies) = copied_items::over_copies(call).filter(|_| !adaptors.is_empty()) {
                return self.consumed(&copies, span);
            }
            return Some(self.error(messages::item_reference(SpanRange::of(&call.method), &name)));
        }
        Some(match written(call, &name, source, &adaptors, (false, self.file())) {
            Some(tokens) => self.consumed_by(tokens, &name, span),
            None => self.error(messages::consumer_form(span, &name)),
        })
    }

    /// Parses the loop that replaces a call.
    fn consumed_by(&mut self, tokens: TokenStream, name: &str, span: SpanRange) -> Expr {
        match syn::parse2::<syn::Expr>(tokens) {
            Ok(expr) => Expr { span, ..self.expr(&expr) },
            Err(_) => self.error(messages::consumer_form(span, name)),
        }
    }
}

/// Returns the loop that replaces a call, whose closures take items by the names of their parts (`by_names`) or as values.
fn written(
    call: &ExprMethodCall,
    name: &str,
    source: &syn::Expr,
    adaptors: &[Adaptor<'_>],
    (by_names, file): (bool, Option<&str>),
) -> Option<TokenStream> {
    let at = SpanRange::of(&call.method).lo;
    let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
    let (total, item, found, index) = (fresh("total"), fresh("item"), fresh("found"), fresh("index"));
    let names = match by_names {
        true if adaptors.first()?.keeps => Some(Names::of(source, item.span())).filter(Names::is_pair),
        true => None,
        false => Some(Names::One(item.clone())),
    }?;
    let mut steps = Steps::of(names, by_names, item.clone(), adaptors)?;
    let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
    match (name, &arguments[..]) {
        ("sum" | "product" | "min" | "max", []) => steps.require_value()?,
        ("count", []) => steps.ignore(),
        ("fold" | "try_fold", [_, function]) => steps.apply(function, Some(total.to_token_stream()))?,
        ("any" | "all" | "for_each" | "try_for_each" | "find_map" | "position" | "rposition", [function]) => {
            steps.apply(function, None)?
        }
        ("min_by_key" | "max_by_key" | "min_by" | "max_by" | "find" | "reduce" | "nth", [_])
        | ("last" | "next", []) => steps.require_value()?,
        _ => return None,
    }
    let over = |last: &dyn Fn(&TokenStream) -> TokenStream| steps.repeat(&source.to_token_stream(), last, at);
    Some(match (name, &arguments[..]) {
        ("sum" | "product", _) => {
            let ty = call.turbofish.as_ref().and_then(|of| of.args.first()).map(ToTokens::to_token_stream);
            let ty = ty.filter(|ty| ty.to_string() != "_");
            // The sum starts where std's does.
            let start = match (ty.as_ref().map(ToString::to_string).as_deref(), name) {
                (None, "sum") => quote_spanned!(at=> ::phalanx::__private::start_of_sum()),
                (None, _) => quote_spanned!(at=> ::phalanx::__private::start_of_product()),
                (Some("f32" | "f64"), "sum") => quote!(-0.0),
                (Some("f32" | "f64"), _) => quote!(1.0),
                (_, "sum") => quote!(0),
                _ => quote!(1),
            };
            let ty = ty.map(|ty| quote!(: #ty));
            let repeat = match name {
                "sum" => over(&|value| quote!(#total += #value;)),
                _ => over(&|value| quote!(#total *= #value;)),
            };
            quote_spanned!(at=> { let mut #total #ty = #start; #repeat #total })
        }
        ("count", _) => {
            let repeat = over(&|_| quote!(#total += 1;));
            quote_spanned!(at=> { let mut #total = 0usize; #repeat #total })
        }
        ("min" | "max", _) if has_parts_last(source, adaptors) => {
            let function = Ident::new(if name == "min" { "least" } else { "greatest" }, at);
            let repeat = over(
                &|value| quote_spanned!(at=> #found = Some(match #found { Some(#total) => ::phalanx::__private::#function(#total, #value), None => #value });),
            );
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("min" | "max", _) => {
            // Of equal ones, the first is the least, and the last is the greatest.
            let function = &call.method;
            let repeat = over(
                &|value| quote_spanned!(at=> #found = Some(match #found { Some(#total) => ::core::cmp::#function(#total, #value), None => #value });),
            );
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        // The first of several least items, and the last of several greatest ones.
        ("min_by_key" | "max_by_key", [function]) => {
            let (key, best, of_best) = (fresh("key"), fresh("best"), fresh("of_best"));
            let of_item = test_of(function, &item)?;
            let has_parts = matches!(function, syn::Expr::Closure(closure) if has_parts(&closure.body));
            let stays = match (name, has_parts) {
                ("min_by_key", true) => quote!(!::phalanx::__private::is_less(#key, #of_best)),
                (_, true) => quote!(::phalanx::__private::is_less(#key, #of_best)),
                ("min_by_key", false) => quote!(#of_best <= (#key | #key)),
                (_, false) => quote!(#of_best > (#key | #key)),
            };
            let repeat = over(&|_| {
                quote_spanned!(at=>
                    let #key = #of_item;
                    #found = Some(match #found {
                        Some((#of_best, #best)) => if #stays { (#of_best, #best) } else { (#key, #item) },
                        None => (#key, #item),
                    });
                )
            });
            quote_spanned!(at=> {
                let mut #found = None;
                #repeat
                match #found { Some((_, #best)) => Some(#best), None => None }
            })
        }
        ("fold", [start, _]) => {
            // The source is evaluated before the start.
            let mut order = OperandOrder::of(&[source, *start], fresh("operand").span());
            let source = order.source(source);
            let bindings = order.bindings();
            let repeat = steps.repeat(&source, &|value| quote!(#total = #value;), at);
            quote_spanned!(at=> { #bindings let mut #total = #start; #repeat #total })
        }
        // The loop ends with the first `None` or `Err`, which is then the value.
        ("try_fold", [start, function]) => {
            let mut order = OperandOrder::of(&[source, *start], fresh("operand").span());
            let source = order.source(source);
            let bindings = order.bindings();
            let (next, going, ends, value) = match stops_with(function, file)? {
                Stop::None => (
                    quote!(Some),
                    quote!(false),
                    quote!(None => { #found = true; break; }),
                    quote!(true => None, false => Some(#total)),
                ),
                Stop::Error => (
                    quote!(Ok),
                    quote!(None),
                    quote!(Err(#item) => { #found = Some(#item); break; }),
                    quote!(Some(#item) => Err(#item), None => Ok(#total)),
                ),
            };
            let last = |of: &TokenStream| quote_spanned!(at=> match #of { #next(#index) => #total = #index, #ends });
            let repeat = steps.repeat(&source, &last, at);
            quote_spanned!(at=> { #bindings let mut #total = #start; let mut #found = #going; #repeat match #found { #value } })
        }
        ("try_for_each", [function]) if matches!(stops_with(function, file), Some(Stop::Error)) => {
            let repeat = over(
                &|value| quote_spanned!(at=> match #value { Ok(_) => {}, Err(#total) => { #found = Some(#total); break; } }),
            );
            quote_spanned!(at=> { let mut #found = None; #repeat match #found { Some(#total) => Err(#total), None => Ok(()) } })
        }
        ("try_for_each", _) => return None,
        ("any", _) => {
            let repeat = over(&|value| quote!(if #value { #found = true; break; }));
            quote_spanned!(at=> { let mut #found = false; #repeat #found })
        }
        ("all", _) => {
            let repeat = over(&|value| quote!(if !#value { #found = false; break; }));
            quote_spanned!(at=> { let mut #found = true; #repeat #found })
        }
        // The first of several least items, and the last of several greatest ones. Items are compared in their order.
        ("min_by" | "max_by", [function]) => {
            let best = fresh("best");
            let order = of_references(function, &best, &item)?;
            let goes = if name == "min_by" { quote!(is_gt) } else { quote!(is_le) };
            // rustc knows the type of the best one from the first.
            let repeat = over(&|_| {
                quote_spanned!(at=>
                    match #found {
                        None => #found = Some(#item),
                        Some(#best) => if #order.#goes() { #found = Some(#item); },
                    }
                )
            });
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("nth", [number]) => {
            let mut order = OperandOrder::of(&[source, *number], fresh("operand").span());
            let source = order.source(source);
            let bindings = order.bindings();
            let repeat = steps.repeat(
                &source,
                &|value| quote!(if #index == 0 { #found = Some(#value); break; } #index -= 1;),
                at,
            );
            quote_spanned!(at=> {
                #bindings
                let mut #index: ::core::primitive::usize = #number;
                let mut #found = None;
                #repeat
                #found
            })
        }
        ("find" | "next", _) => {
            let repeat = over(&|value| quote!(#found = Some(#value); break;));
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("find_map", _) => {
            let repeat = over(&|value| quote!(#found = #value; if #found.is_some() { break; }));
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("last", _) => {
            let repeat = over(&|value| quote!(#found = Some(#value);));
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("reduce", [function]) => {
            let both = of_two(function, &total, &item)?;
            let repeat = over(
                &|value| quote_spanned!(at=> #found = Some(match #found { Some(#total) => #both, None => #value });),
            );
            quote_spanned!(at=> { let mut #found = None; #repeat #found })
        }
        ("rposition", _) if !adaptors.is_empty() || is_flattened(source) => return None,
        ("position" | "rposition", _) if adaptors.is_empty() && !is_flattened(source) => {
            let (pat, value) = steps.first_map()?;
            let source = if let syn::Expr::Range(_) = source { quote!((#source)) } else { quote!(#source) };
            let backwards = (name == "rposition").then(|| quote_spanned!(at=> .rev()));
            quote_spanned!(at=> {
                let mut #found = None;
                for (#index, #pat) in #source.enumerate() #backwards { if #value { #found = Some(#index); break; } }
                #found
            })
        }
        // The items that adaptors let through are counted.
        ("position", _) => {
            let repeat = over(&|value| quote!(if #value { #found = Some(#index); break; } #index += 1;));
            quote_spanned!(at=> { let mut #found = None; let mut #index = 0usize; #repeat #found })
        }
        _ => {
            let repeat = over(&|value| quote!(#value;));
            quote_spanned!(at=> { #repeat })
        }
    })
}

/// Whether a value is a tuple or a struct, as it is written. They have no `|`.
fn has_parts(value: &syn::Expr) -> bool {
    match strip(value) {
        syn::Expr::Tuple(_) | syn::Expr::Struct(_) => true,
        // `Reverse(x)`
        syn::Expr::Call(call) => is_constructor(&call.func),
        syn::Expr::Block(block) => {
            matches!(block.block.stmts.last(), Some(syn::Stmt::Expr(value, None)) if has_parts(value))
        }
        syn::Expr::If(choice) => {
            matches!(choice.then_branch.stmts.last(), Some(syn::Stmt::Expr(value, None)) if has_parts(value))
        }
        _ => false,
    }
}

/// Whether a function is that of a tuple struct: `Reverse`.
fn is_constructor(function: &syn::Expr) -> bool {
    let last = if let syn::Expr::Path(path) = strip(function) { path.path.segments.last() } else { None };
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// The value by which a closure of `try_fold` ends the fold early.
enum Stop {
    None,
    Error,
}

/// Returns the name of the function that is passed by its path, or that a closure calls for its value.
fn last_called(function: &syn::Expr) -> Option<String> {
    match strip(function) {
        syn::Expr::Closure(closure) => called_for_value(&closure.body),
        passed => last_segment(passed),
    }
}

fn called_for_value(body: &syn::Expr) -> Option<String> {
    match strip(body) {
        syn::Expr::Call(call) => last_segment(strip(&call.func)),
        syn::Expr::Block(block) => match block.block.stmts.last()? {
            syn::Stmt::Expr(last, None) => called_for_value(last),
            _ => None,
        },
        _ => None,
    }
}

fn last_segment(path: &syn::Expr) -> Option<String> {
    let syn::Expr::Path(path) = path else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// Returns what ends a fold of this function, as far as its text shows, or that of a function of the file which gives its value.
fn stops_with(function: &syn::Expr, file: Option<&str>) -> Option<Stop> {
    if let Some(syn::Type::Path(result)) = last_called(function).and_then(|name| source::result_of(file?, &name)) {
        match result.path.segments.last()?.ident.to_string().as_str() {
            "Option" => return Some(Stop::None),
            "Result" => return Some(Stop::Error),
            _ => {}
        }
    }
    let names: Vec<String> = words(&function.to_token_stream()).map(|word| word.to_string()).collect();
    let has = |all: &[&str]| names.iter().any(|name| all.contains(&name.as_str()));
    if has(&["Ok", "Err", "ok_or", "ok_or_else"]) {
        return Some(Stop::Error);
    }
    let is_option =
        has(&["Some", "None", "then", "then_some", "get"]) || names.iter().any(|name| name.starts_with("checked_"));
    is_option.then_some(Stop::None)
}

/// Whether the items of an iterator are tuples, as they are written.
fn has_parts_last(source: &syn::Expr, adaptors: &[Adaptor<'_>]) -> bool {
    match adaptors.iter().rev().find(|adaptor| !adaptor.keeps) {
        Some(Adaptor { function: syn::Expr::Closure(closure), .. }) => has_parts(&closure.body),
        Some(Adaptor { function, .. }) => is_constructor(function),
        None => Names::of(source, Span::call_site()).is_pair(),
    }
}

/// Applies a closure or a function of two values.
fn of_two(function: &syn::Expr, first: &Ident, second: &Ident) -> Option<TokenStream> {
    match function {
        syn::Expr::Path(path) => Some(quote!(#path(#first, #second))),
        syn::Expr::Closure(closure) => {
            let [one, other] = closure.inputs.iter().map(untyped).collect::<Vec<_>>()[..] else { return None };
            let body = whole(&closure.body);
            Some(quote!({ let #one = #first; let #other = #second; #body }))
        }
        _ => None,
    }
}

/// Applies a closure or a function to references to two values.
pub(super) fn of_references(function: &syn::Expr, first: &Ident, second: &Ident) -> Option<TokenStream> {
    let syn::Expr::Closure(closure) = function else {
        return matches!(function, syn::Expr::Path(_)).then(|| quote!(#function(&#first, &#second)));
    };
    let [one, other] = closure.inputs.iter().map(untyped).collect::<Vec<_>>()[..] else { return None };
    let (one, other) = (to_reference(one, first)?, to_reference(other, second)?);
    let body = whole(&closure.body);
    Some(quote!({ #one #other #body }))
}

/// Whether a call gives an item of an iterator.
pub(super) fn gives_item(call: &ExprMethodCall) -> bool {
    ITEM_CONSUMERS.iter().any(|name| call.method == name) && is_iterator(&call.receiver)
}

/// Whether the items are parts of memory, as far as syntax shows.
fn gives_parts(source: &syn::Expr) -> bool {
    let syn::Expr::MethodCall(call) = strip(source) else { return false };
    match call.method.to_string().as_str() {
        "windows" | "chunks" | "chunks_exact" | "chunks_mut" | "chunks_exact_mut" | "rchunks" => true,
        "rev" | "step_by" | "skip" | "take" => gives_parts(&call.receiver),
        _ => false,
    }
}

/// Whether an expression is written as an iterator: `.iter()` or a range, with adaptors.
pub(super) fn is_iterator(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Range(_) => true,
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "into_iter" | "iter_mut" | "windows" | "chunks" | "chunks_exact" | "chunks_mut"
            | "chunks_exact_mut" | "rchunks" => true,
            "rev" | "enumerate" | "zip" | "chain" | "step_by" | "skip" | "take" | "copied" | "cloned" | "flatten"
            | "flat_map" => is_iterator(&call.receiver),
            name if ADAPTORS.contains(&name) => is_iterator(&call.receiver),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a call makes another iterator of one.
fn is_adapted(call: &ExprMethodCall) -> bool {
    const OTHERS: [&str; 9] = ["rev", "enumerate", "zip", "chain", "skip", "take", "step_by", "flatten", "flat_map"];
    let name = call.method.to_string();
    (ADAPTORS.contains(&name.as_str()) || OTHERS.contains(&name.as_str())) && is_sequence(&call.receiver)
}

/// Whether it is more than a range, whose other methods are reported where ranges are parsed.
fn is_sequence(expr: &syn::Expr) -> bool {
    matches!(strip(expr), syn::Expr::MethodCall(_))
}
