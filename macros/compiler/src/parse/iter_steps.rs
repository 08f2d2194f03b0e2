//! The adaptors of iterators that take closures, as steps of a loop's body: `.map(f)`, `.filter(f)`, `.filter_map(f)`, `.take_while(f)`,
//! `.skip_while(f)`, `.map_while(f)` and `.scan(start, f)`; and behind them those that count, `.take(n)`, `.skip(n)`, `.step_by(n)` and
//! `.enumerate()`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{ExprClosure, Pat};

use super::desugared_methods::{is_plain, test_of};
use super::flattened::Flattened;
use super::item_names::Names;
use super::operand_order::{is_constant, may_change, whole};
use super::syntax::{strip, untyped};
use crate::span::SpanRange;

pub(super) const ADAPTORS: [&str; 7] = ["map", "filter", "filter_map", "take_while", "skip_while", "map_while", "scan"];
/// Those whose items are what their closures give.
pub(super) const MAPS: [&str; 4] = ["map", "filter_map", "map_while", "scan"];

/// An adaptor with its closure or function.
pub(super) struct Adaptor<'e> {
    /// Whether the closure is given a reference to the item, which stays what it is.
    pub(super) keeps: bool,
    pub(super) function: &'e syn::Expr,
    /// What the state of a `scan` starts with.
    start: Option<&'e syn::Expr>,
    name: String,
}

impl<'e> Adaptor<'e> {
    /// `.filter(function)`.
    pub(super) fn filter(function: &'e syn::Expr) -> Adaptor<'e> {
        Adaptor { keeps: true, function, start: None, name: "filter".into() }
    }
}

/// Returns the iterator's source and its adaptors, the first one first.
pub(super) fn adaptors(expr: &syn::Expr) -> (&syn::Expr, Vec<Adaptor<'_>>) {
    let expr = strip(expr);
    let syn::Expr::MethodCall(call) = expr else { return (expr, Vec::new()) };
    let name = call.method.to_string();
    let counts = match (name.as_str(), call.args.first(), call.args.len()) {
        ("take" | "skip" | "step_by", Some(count), 1) if is_plain(count) => Some((count, true)),
        ("enumerate", None, _) => Some((expr, false)),
        _ => None,
    };
    if let Some((function, keeps)) = counts {
        let (source, mut before) = adaptors(&call.receiver);
        if !before.is_empty() {
            before.push(Adaptor { keeps, function, start: None, name });
            return (source, before);
        }
    }
    if let ("scan", [start, function]) = (name.as_str(), &call.args.iter().map(strip).collect::<Vec<_>>()[..]) {
        let (source, mut before) = adaptors(&call.receiver);
        // The state is made before the loop, in which the source is.
        if is_constant(start) || !may_change(source) && !may_change(start) {
            before.push(Adaptor { keeps: false, function, start: Some(start), name });
            return (source, before);
        }
    }
    let (Some(function), 1, true) = (call.args.first().map(strip), call.args.len(), ADAPTORS.contains(&name.as_str()))
    else {
        return (expr, Vec::new());
    };
    let (source, mut before) = adaptors(&call.receiver);
    before.push(Adaptor { keeps: !MAPS.contains(&name.as_str()), function, start: None, name });
    (source, before)
}

/// A step of the loop's body.
enum Step {
    /// The pattern that takes the item, and the value that replaces it.
    Map { pat: TokenStream, value: TokenStream },
    /// The value that replaces an item whose parts have names.
    Value(TokenStream),
    /// The item is an `Option`: what it holds replaces it, and nothing ends the loop (`ends`) or is left out.
    Held { ends: bool },
    /// The test that keeps the item.
    Filter { test: TokenStream },
    /// The test that ends the loop where it fails.
    TakeWhile { test: TokenStream },
    /// The test that leaves out items up to the first for which it fails, and the variable that says whether it still leaves them out.
    SkipWhile { skips: Ident, test: TokenStream },
    /// The number of items after which the loop ends, or that are left out, and the variable that counts them.
    Count { takes: bool, counted: Ident, number: Ident, count: TokenStream },
    /// The number of items of which one is kept, and the variable that says how many are left out before the next one.
    Every { left: Ident, by: Ident, count: TokenStream, is_positive: bool },
    /// The variable that counts the items, and the name of an item's number, which is in the item itself unless its parts have names.
    Number { counted: Ident, number: Ident, in_item: bool },
    /// The variable that is changed by the closure of the step before, and its first value.
    State { state: Ident, start: TokenStream },
}

/// The steps of a loop's body.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The name of the item, where it has one.
    item: Ident,
    /// The names of the item's parts in the loop's pattern.
    names: Names,
    /// The same of the items that the next step takes.
    current: Names,
    /// Whether the items that the next step takes have names of their parts.
    are_named: bool,
}

impl Steps {
    /// The steps of adaptors; `by_names` says whether closures take items by the names of their parts.
    pub(super) fn of(names: Names, by_names: bool, item: Ident, adaptors: &[Adaptor<'_>]) -> Option<Steps> {
        let mut steps = Steps { steps: Vec::new(), item, current: names.clone(), names, are_named: by_names };
        for (number, adaptor) in adaptors.iter().enumerate() {
            steps.adapt(adaptor, number)?;
        }
        // A pair of a number and a reference is no value.
        let is_numbered = matches!(steps.steps.last(), Some(Step::Number { in_item: false, .. }));
        (!is_numbered || !steps.are_named).then_some(steps)
    }

    fn adapt(&mut self, adaptor: &Adaptor<'_>, number: usize) -> Option<()> {
        let name = |what: &str| format_ident!("{what}_{number}", span = self.item.span());
        if adaptor.name == "enumerate" {
            let (counted, number, in_item) = (name("counted"), name("number"), !self.are_named);
            if self.are_named {
                let rest = Box::new(self.current.clone());
                self.current = Names::Pair(Box::new(Names::One(number.clone())), rest);
            }
            self.steps.push(Step::Number { counted, number, in_item });
            return Some(());
        }
        if adaptor.name == "step_by" {
            let (left, by, count) = (name("left"), name("by"), adaptor.function.to_token_stream());
            let is_positive = is_positive(adaptor.function);
            self.steps.push(Step::Every { left, by, count, is_positive });
            return Some(());
        }
        if !adaptor.keeps {
            let state = name("state");
            self.apply(adaptor.function, adaptor.start.map(|_| quote!(&mut #state)))?;
            if let Some(start) = adaptor.start {
                self.steps.push(Step::State { state, start: start.to_token_stream() });
            }
            if adaptor.name != "map" {
                self.steps.push(Step::Held { ends: adaptor.name != "filter_map" });
            }
            return Some(());
        }
        if let "take" | "skip" = adaptor.name.as_str() {
            let (counted, limit) = (name("counted"), name("number"));
            let count = adaptor.function.to_token_stream();
            self.steps.push(Step::Count { takes: adaptor.name == "take", counted, number: limit, count });
            return Some(());
        }
        let test = match self.are_named {
            true => self.current.applied(adaptor.function, true)?,
            false => test_of(adaptor.function, &self.item)?,
        };
        self.steps.push(match adaptor.name.as_str() {
            "take_while" => Step::TakeWhile { test },
            "skip_while" => Step::SkipWhile { skips: format_ident!("skips_{number}", span = self.item.span()), test },
            _ => Step::Filter { test },
        });
        Some(())
    }

    /// The items have to be values, and not pairs whose parts have names.
    pub(super) fn require_value(&mut self) -> Option<()> {
        let item = &self.item;
        let step = Step::Map { pat: quote!(#item), value: quote!(#item) };
        (!self.are_named).then(|| self.steps.push(step))
    }

    /// The items need no name.
    pub(super) fn ignore(&mut self) {
        if !self.are_named {
            self.steps.push(Step::Map { pat: quote!(_), value: TokenStream::new() });
        }
    }

    /// Adds a closure or a function of an item, or of the accumulator and an item.
    pub(super) fn apply(&mut self, function: &syn::Expr, total: Option<TokenStream>) -> Option<()> {
        let item = &self.item;
        let step = match function {
            syn::Expr::Path(path) if !self.are_named => {
                let total = total.into_iter();
                Step::Map { pat: quote!(#item), value: quote!(#path(#(#total,)* #item)) }
            }
            syn::Expr::Closure(closure) => {
                let inputs: Vec<&Pat> = closure.inputs.iter().collect();
                let (before, input) = match (total, &inputs[..]) {
                    (None, [input]) => (None, *input),
                    (Some(total), [so_far, input]) => (Some(quote!(let #so_far = #total;)), *input),
                    _ => return None,
                };
                let body = whole(&closure.body);
                if self.are_named {
                    let mut body = syn::parse2(body).ok()?;
                    self.current.replace(input, false, &mut body)?;
                    Step::Value(quote!({ #before #body }))
                } else {
                    let pat = untyped(input);
                    Step::Map { pat: quote!(#pat), value: quote!({ #before #body }) }
                }
            }
            _ => return None,
        };
        self.steps.push(step);
        self.are_named = false;
        Some(())
    }

    /// The pattern and the value of the first step, if it replaces the item.
    pub(super) fn first_map(&self) -> Option<(&TokenStream, &TokenStream)> {
        match self.steps.first() {
            Some(Step::Map { pat, value }) => Some((pat, value)),
            _ => None,
        }
    }

    /// Makes `for item in source { let item = first(item); ... last(item) }`.
    pub(super) fn repeat(
        &self,
        source: &TokenStream,
        last: &dyn Fn(&TokenStream) -> TokenStream,
        at: Span,
    ) -> TokenStream {
        self.repeat_with(&TokenStream::new(), source, last, at)
    }

    /// The same, with attributes or a label before the loop.
    pub(super) fn repeat_with(
        &self,
        before: &TokenStream,
        source: &TokenStream,
        last: &dyn Fn(&TokenStream) -> TokenStream,
        at: Span,
    ) -> TokenStream {
        // The pattern of the loop itself may dereference.
        let (pat, body) = match self.steps.split_first() {
            Some((Step::Map { pat, value }, rest)) => (pat.clone(), self.nested(rest, value, last, at)),
            _ => {
                let pattern = self.names.pattern();
                let body = self.nested(&self.steps, &pattern, last, at);
                (pattern, body)
            }
        };
        let skips = self.steps.iter().filter_map(|step| match step {
            Step::SkipWhile { skips, .. } => Some(quote_spanned!(at=> let mut #skips = true;)),
            Step::Count { counted, number, count, .. } => Some(quote_spanned!(at=>
                let mut #counted: ::core::primitive::usize = 0;
                let #number: ::core::primitive::usize = #count;
            )),
            Step::Every { left, by, count, is_positive } => {
                let test =
                    (!is_positive).then(|| quote_spanned!(at=> assert!(#by != 0, "assertion failed: step != 0");));
                Some(quote_spanned!(at=>
                    let mut #left: ::core::primitive::usize = 0;
                    let #by: ::core::primitive::usize = #count;
                    #test
                ))
            }
            Step::Number { counted, .. } => Some(quote_spanned!(at=> let mut #counted: ::core::primitive::usize = 0;)),
            Step::State { state, start } => Some(quote_spanned!(at=> let mut #state = #start;)),
            _ => None,
        });
        // What comes after the last item that is taken is not even computed.
        let ends = self.steps.iter().filter_map(|step| match step {
            Step::Count { takes: true, counted, number, .. } => {
                Some(quote_spanned!(at=> if #counted >= #number { break; }))
            }
            _ => None,
        });
        let body = quote!(#(#ends)* #body);
        let nested = syn::parse2(source.clone()).ok().and_then(|source| Flattened::of(&source));
        if let Some(nested) = nested.and_then(|nested| nested.repeat(before, &pat, &body)) {
            return quote_spanned!(at=> #(#skips)* #nested);
        }
        quote_spanned!(at=> #(#skips)* #before for #pat in #source { #body })
    }

    /// Nests the steps, from `input` on.
    fn nested(
        &self,
        steps: &[Step],
        input: &TokenStream,
        last: &dyn Fn(&TokenStream) -> TokenStream,
        at: Span,
    ) -> TokenStream {
        let item = &self.item;
        let Some((step, rest)) = steps.split_first() else { return last(input) };
        // What the loop's pattern binds may be a reference, which no second name can hold.
        let is_named = input.to_string() == self.names.pattern().to_string() || *item == input.to_string();
        let named = (!is_named).then(|| quote_spanned!(at=> let #item = #input;));
        let kept = if is_named { input.clone() } else { item.to_token_stream() };
        match step {
            Step::Map { pat, value } => {
                let rest = self.nested(rest, value, last, at);
                quote_spanned!(at=> let #pat = #input; #rest)
            }
            Step::Value(value) => self.nested(rest, value, last, at),
            Step::Held { ends } => {
                let rest = self.nested(rest, &item.to_token_stream(), last, at);
                let otherwise = if *ends { quote!(break) } else { quote!({}) };
                quote_spanned!(at=> match #input { Some(#item) => { #rest } None => #otherwise })
            }
            Step::Filter { test } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named if #test { #rest })
            }
            Step::TakeWhile { test } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named if !(#test) { break; } #rest)
            }
            Step::Count { takes: true, counted, .. } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named #counted += 1; #rest)
            }
            Step::Count { takes: false, counted, number, .. } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named if #counted < #number { #counted += 1; } else { #rest })
            }
            Step::Every { left, by, .. } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named if #left == 0 { #left = #by - 1; #rest } else { #left -= 1; })
            }
            Step::Number { counted, number, in_item } => {
                let next = if *in_item { quote!((#number, #input)) } else { input.clone() };
                let rest = self.nested(rest, &next, last, at);
                quote_spanned!(at=> let #number = #counted; #counted += 1; #rest)
            }
            Step::State { .. } => self.nested(rest, input, last, at),
            Step::SkipWhile { skips, test } => {
                let rest = self.nested(rest, &kept, last, at);
                quote_spanned!(at=> #named if !(#skips && #test) { #skips = false; #rest })
            }
        }
    }
}

/// Returns the body of a closure that has a jump, which would have another target once it is inlined.
pub(super) fn leaving(function: &syn::Expr) -> Option<SpanRange> {
    let syn::Expr::Closure(ExprClosure { body, .. }) = function else { return None };
    leaves(body.to_token_stream()).then(|| SpanRange::of(body))
}

fn leaves(stream: TokenStream) -> bool {
    stream.into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => ["return", "break", "continue"].iter().any(|jump| word == jump),
        TokenTree::Punct(punct) => punct.as_char() == '?',
        TokenTree::Group(group) => leaves(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

/// Whether it is a number that is written, and not zero.
pub(super) fn is_positive(value: &syn::Expr) -> bool {
    matches!(value, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(digits), .. })
        if digits.base10_parse::<u64>().is_ok_and(|digits| digits > 0))
}

/// Returns an iterator whose items are numbered before they are mapped, which is the same: `.enumerate().map(|(k, x)| (k, f(x)))` for
/// `.map(|x| f(x)).enumerate()`; and turned around before a closure is called for each, which then is called in the same order.
pub(super) fn numbered_first(iterator: &syn::Expr) -> Option<syn::Expr> {
    let syn::Expr::MethodCall(call) = strip(iterator) else { return None };
    let inner = numbered_first(&call.receiver);
    let receiver = inner.as_ref().unwrap_or(&call.receiver);
    if call.method == "rev"
        && call.args.is_empty()
        && let syn::Expr::MethodCall(adapted) = strip(receiver)
        && ["map", "filter", "filter_map"].iter().any(|name| adapted.method == name)
    {
        let receiver =
            Box::new(syn::Expr::MethodCall(syn::ExprMethodCall { receiver: adapted.receiver.clone(), ..call.clone() }));
        return Some(syn::Expr::MethodCall(syn::ExprMethodCall { receiver, ..adapted.clone() }));
    }
    if call.method == "enumerate"
        && call.args.is_empty()
        && let syn::Expr::MethodCall(map) = strip(receiver)
        && map.method == "map"
        && let Some(function) = map.args.first().map(strip)
    {
        let at = SpanRange::of(&call.method).lo;
        let number = Ident::new("number", at.resolved_at(Span::mixed_site()));
        let (pat, value) = match function {
            syn::Expr::Closure(closure) => {
                let (pat, body) = (untyped(closure.inputs.first()?), &closure.body);
                (quote!(#pat), quote!(#body))
            }
            function @ syn::Expr::Path(_) => {
                let item = Ident::new("item", at.resolved_at(Span::mixed_site()));
                (quote!(#item), quote!(#function(#item)))
            }
            _ => return None,
        };
        let items = &map.receiver;
        return syn::parse2(quote_spanned!(at=> #items.enumerate().map(|(#number, #pat)| (#number, #value)))).ok();
    }
    let receiver = Box::new(inner?);
    Some(syn::Expr::MethodCall(syn::ExprMethodCall { receiver, ..call.clone() }))
}
