//! Methods that are rewritten as control flow: `option.map(|x| ..)` becomes a `match`, `range.contains(&x)` two
//! comparisons. The bodies of closures are inlined.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser as _;
use syn::{Block, ExprCall, ExprMethodCall, Pat, RangeLimits};

use super::Parser;
use super::operand_order::{OperandOrder, whole};
use super::operand_types::TypeHint;
use super::referenced_fields::{elements_of, fields_of};
use super::syntax::{const_argument, strip, type_argument, untyped};
use crate::messages;
use crate::model::expr::{self, Callee, Expr, ExprKind, FunctionPath, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::name::{Meaning, Space};
use crate::span::SpanRange;

/// The methods of `Option` and `bool` that take closures, with the number of their arguments.
const OF_CHOICE: [(&str, usize); 9] = [
    ("map", 1),
    ("filter", 1),
    ("and_then", 1),
    ("is_some_and", 1),
    ("is_none_or", 1),
    ("unwrap_or_else", 1),
    ("or_else", 1),
    ("map_or", 2),
    ("then", 1),
];

impl Parser<'_> {
    /// Whether a call is one of `OF_CHOICE`: a user's own method of that name takes a value there, and no closure or function.
    pub(super) fn is_choice(&self, call: &ExprMethodCall) -> bool {
        let known = OF_CHOICE.iter().any(|(name, count)| call.method == name && call.args.len() == *count);
        let is_function = |argument: &syn::Expr| match strip(argument) {
            syn::Expr::Closure(_) => true,
            syn::Expr::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(variable) => self.function.kind(variable) == Kind::Closure,
                None => true,
            },
            _ => false,
        };
        known && call.args.last().is_some_and(is_function)
    }

    pub(super) fn choice(&mut self, receiver: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let at = SpanRange::of(&call.method).lo;
        let value = Ident::new("value", at.resolved_at(Span::mixed_site()));
        let Some(function) = call.args.last().map(strip) else { return Expr::error(span) };
        if let syn::Expr::Closure(closure) = function
            && let Some(token) = self.captured_token(closure)
        {
            let kind = crate::model::expr::ExprKind::Local(token);
            return self.escape(Expr { kind, result_kind: Kind::Unknown, span }, "a closure");
        }
        if call.method == "filter" {
            return self.kept(receiver, function, &value, span);
        }
        let Some((pattern, body)) = applied(function, &value) else {
            return self.error(messages::unsupported_syntax(SpanRange::of(function), "a closure of this form is"));
        };
        let some = quote_spanned!(at=> Some(#pattern));
        let mut bindings = TokenStream::new();
        let arms = match call.method.to_string().as_str() {
            "map" => quote_spanned!(at=> { #some => Some(#body), None => None }),
            "and_then" => quote_spanned!(at=> { #some => #body, None => None }),
            "is_some_and" => quote_spanned!(at=> { #some => #body, None => false }),
            "is_none_or" => quote_spanned!(at=> { #some => #body, None => true }),
            "unwrap_or_else" => quote_spanned!(at=> { Some(#value) => #value, None => #body }),
            "or_else" => quote_spanned!(at=> { Some(#value) => Some(#value), None => #body }),
            "then" => quote_spanned!(at=> { true => Some(#body), false => None }),
            // `map_or`, whose first argument is always evaluated, after the option.
            _ => {
                let mut order = OperandOrder::of(&call.args.iter().collect::<Vec<_>>()[..1], value.span());
                let other = order.value(&call.args[0]);
                bindings = order.bindings();
                quote_spanned!(at=> { #some => #body, None => #other })
            }
        };
        match syn::parse2::<syn::ExprMatch>(quote_spanned!(at=> match () #arms)) {
            Ok(choice) if bindings.is_empty() => {
                self.in_closure(|parser| parser.match_arms(receiver, &choice.arms, span))
            }
            Ok(choice) => self.after(receiver, bindings, value.span(), |parser, receiver| {
                parser.in_closure(|parser| parser.match_arms(receiver, &choice.arms, span))
            }),
            Err(_) => self.error(messages::unsupported_syntax(span, "a closure of this form is")),
        }
    }

    /// Evaluates the receiver, then what the statements bind, then what `last` makes of both.
    pub(super) fn after(
        &mut self,
        receiver: Expr,
        bindings: TokenStream,
        fresh: Span,
        last: impl FnOnce(&mut Self, Expr) -> Expr,
    ) -> Expr {
        let span = receiver.span;
        let ((statements, tail), declared) = self.scoped(|parser| {
            let name = Ident::new("receiver", fresh);
            let hint = parser.hint(&receiver);
            let local = parser.declare(&name, None, receiver.result_kind, None);
            parser.hints.insert(local, hint);
            let held = Expr { kind: ExprKind::Local(local), result_kind: receiver.result_kind, span };
            let mut statements = vec![Stmt { kind: StmtKind::Let { local, ty: None, init: Some(receiver) }, span }];
            let bindings = Block::parse_within.parse2(bindings).unwrap_or_default();
            statements.extend(parser.statements(&bindings).0);
            (statements, last(parser, held))
        });
        let result_kind = tail.result_kind;
        let block = expr::Block { statements, tail: Some(Box::new(tail)), span, declared };
        Expr { kind: ExprKind::Block(block), result_kind, span }
    }

    /// Rewrites `option.unwrap()` and `option.expect(message)` of a token.
    pub(super) fn unwrapped(&mut self, receiver: Expr, message: &str, span: SpanRange) -> Expr {
        let at = span.lo;
        let message = message.replace('{', "{{").replace('}', "}}");
        let value = Ident::new("value", at.resolved_at(Span::mixed_site()));
        let arms = quote_spanned!(at=> match () { Some(#value) => #value, None => panic!(#message) });
        match syn::parse2::<syn::ExprMatch>(arms) {
            Ok(choice) => self.match_arms(receiver, &choice.arms, span),
            Err(_) => self.error(messages::unsupported_syntax(span, "this expression is")),
        }
    }

    /// Rewrites `option.filter(|&x| ..)` and `option.filter(|x| ..)`.
    fn kept(&mut self, receiver: Expr, function: &syn::Expr, value: &Ident, span: SpanRange) -> Expr {
        let at = value.span();
        let Some(test) = test_of(function, value) else {
            return self.error(messages::filter_form(SpanRange::of(function)));
        };
        let choice = quote_spanned!(at=> match () {
            Some(#value) => if #test { Some(#value) } else { None },
            None => None,
        });
        match syn::parse2::<syn::ExprMatch>(choice) {
            Ok(choice) => self.in_closure(|parser| parser.match_arms(receiver, &choice.arms, span)),
            Err(_) => self.error(messages::filter_form(SpanRange::of(function))),
        }
    }

    /// Rewrites `(low..high).contains(&x)`, `array.get(i).copied()`, `flag.then_some(x)` and the methods of arrays, if the call is one of
    /// them.
    pub(super) fn shorthand(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        if self.is_own_method(&call.receiver, &call.method.to_string()) {
            return None;
        }
        if let Some(tokens) = self.array_method(call) {
            return Some(self.in_place(tokens, span));
        }
        let at = SpanRange::of(&call.method).lo;
        let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
        let receiver = strip(&call.receiver);
        let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
        let tokens = match (call.method.to_string().as_str(), receiver, &arguments[..]) {
            ("contains", syn::Expr::Range(range), [syn::Expr::Reference(value)]) => {
                let operands: Vec<&syn::Expr> = range.start.iter().chain(&range.end).map(|bound| &**bound).collect();
                let mut order = OperandOrder::of(&[&operands[..], &[&*value.expr]].concat(), fresh("operand").span());
                let low = range.start.as_ref().map(|low| order.value(low));
                let high = range.end.as_ref().map(|high| order.value(high));
                let (name, value, bindings) = (fresh("value"), &value.expr, order.bindings());
                let low = low.map(|low| quote!(#low <= #name));
                let high = high.map(|high| match range.limits {
                    RangeLimits::HalfOpen(_) => quote!(#name < #high),
                    RangeLimits::Closed(_) => quote!(#name <= #high),
                });
                let tests = low.into_iter().chain(high);
                quote_spanned!(at=> { #bindings let #name = #value; true #(&& #tests)* })
            }
            // A field of a variable is set by itself.
            ("take", place @ syn::Expr::Field(_), []) if is_field_of_variable(place) => {
                let held = fresh("held");
                quote_spanned!(at=> { let #held = #place; #place = None; #held })
            }
            ("replace", place, [value]) if self.is_option(place) => {
                let (new, held) = (fresh("new"), fresh("held"));
                quote_spanned!(at=> { let #new = #value; let #held = #place; #place = Some(#new); #held })
            }
            ("map", place, [function])
                if self.is_elements(place)
                    || self.is_of_memory(place)
                    || is_named_field(place)
                    || makes_array(place)
                    || matches!(place, syn::Expr::Array(_) | syn::Expr::Repeat(_)) =>
            {
                let function = as_closure(function, &fresh("value"));
                quote_spanned!(at=> ::phalanx::__private::mapped(#place, #function))
            }
            ("copied" | "cloned", syn::Expr::MethodCall(element), []) if is_element(element) => {
                let argument = element.args.first();
                let operands: Vec<&syn::Expr> = [&*element.receiver].into_iter().chain(argument).collect();
                let mut order = OperandOrder::of(&operands, fresh("operand").span());
                let (place, i) = (order.place(&element.receiver)?, fresh("i"));
                let bindings = order.bindings();
                let index = match argument {
                    Some(index) => quote!(#index),
                    None if element.method == "first" => quote!(0),
                    // The index of an empty array's last element wraps, and is above every length.
                    None => quote!(#place.len() - 1),
                };
                quote_spanned!(at=> {
                    #bindings
                    let #i = #index;
                    // As the condition has it, by which the host knows before a launch that the element is there.
                    if (#i as ::core::primitive::usize) < #place.len() { Some(#place[#i as ::core::primitive::usize]) } else { None }
                })
            }
            ("then_with", _, [syn::Expr::Closure(other)]) if other.inputs.is_empty() => {
                let (order, other) = (fresh("order"), whole(&other.body));
                quote_spanned!(at=> {
                    let #order: ::core::cmp::Ordering = #receiver;
                    if #order.is_eq() { #other } else { #order }
                })
            }
            // The value is always evaluated.
            ("then_some", _, [value]) => {
                let (holds, some) = (fresh("holds"), fresh("some"));
                quote_spanned!(at=> {
                    let #holds: ::core::primitive::bool = #receiver;
                    let #some = #value;
                    if #holds { Some(#some) } else { None }
                })
            }
            _ => return None,
        };
        Some(self.in_place(tokens, span))
    }

    /// Makes `array.map(f)` of a value that is an array.
    pub(super) fn mapped(&mut self, array: Expr, element: TypeHint, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let at = SpanRange::of(&call.method).lo;
        let Some(function) = call.args.first() else { return Expr::error(span) };
        let function = as_closure(function, &Ident::new("value", at.resolved_at(Span::mixed_site())));
        self.closure_hint = Some(element);
        let function = self.in_place(function, span);
        self.closure_hint = None;
        let path = quote_spanned!(at=> ::phalanx::__private::mapped);
        let callee = FunctionPath { path, name: Ident::new("mapped", at), turbofish: TokenStream::new() };
        self.device_callee(Callee::Function(callee), vec![array, function], span)
    }

    /// Rewrites `std::mem::swap(&mut a, &mut b)`, `std::mem::replace(&mut a, x)` or `std::array::from_fn(f)`, if the call is one of them.
    pub(super) fn exchange(&mut self, call: &ExprCall, span: SpanRange) -> Option<Expr> {
        let syn::Expr::Path(path) = strip(&call.func) else { return None };
        let names: Vec<String> = path.path.segments.iter().rev().map(|segment| segment.ident.to_string()).collect();
        // The whole path is compared, because a module of the user's may be called `mem`.
        match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [function, "mem", "std" | "core"] => self.exchange_of(function, &path.path, call, span),
            ["from_fn", "array", "std" | "core"] => self.exchange_of("from_fn", &path.path, call, span),
            _ => None,
        }
    }

    /// Rewrites the call of a function of `std::mem` or `std::array`, by a path that names it.
    pub(super) fn exchange_of(
        &mut self,
        function: &str,
        path: &syn::Path,
        call: &ExprCall,
        span: SpanRange,
    ) -> Option<Expr> {
        let at = SpanRange::of(path).lo;
        let fresh = |name: &str| Ident::new(name, at.resolved_at(Span::mixed_site()));
        if path.segments.last().is_some_and(|last| last.ident == function) {
            self.known(path, Space::Exchange)?;
        } else {
            let name = Ident::new(function, at);
            self.claim(path, Meaning::Item { name, space: Space::Exchange, in_path: true });
        }
        let arguments: Vec<&syn::Expr> = call.args.iter().map(strip).collect();
        let mut order = OperandOrder::of(&arguments, fresh("operand").span());
        let tokens = match (function, &arguments[..]) {
            ("swap", [first, second]) => {
                let (first, second) = (lent(first, &mut order)?, lent(second, &mut order)?);
                let (bindings, held) = (order.bindings(), fresh("held"));
                quote_spanned!(at=> { #bindings let #held = #first; #first = #second; #second = #held; })
            }
            ("from_fn", [_]) => {
                let (function, made) = (as_closure(call.args.first()?, &fresh("i")), fresh("made"));
                // `from_fn::<f32, 4, _>(..)`: the types of the array.
                match path.segments.last().and_then(|last| made_array(&last.arguments)) {
                    Some(ty) => quote_spanned!(at=> {
                        let #made: #ty = ::phalanx::__private::array_of(#function);
                        #made
                    }),
                    None => quote_spanned!(at=> ::phalanx::__private::array_of(#function)),
                }
            }
            ("take", [place]) => {
                let (place, bindings, held) = (lent(place, &mut order)?, order.bindings(), fresh("held"));
                let default = quote_spanned!(at=> ::core::default::Default::default());
                quote_spanned!(at=> { #bindings let #held = #place; #place = #default; #held })
            }
            ("replace", [place, value]) => {
                let place = lent(place, &mut order)?;
                let (bindings, new, held) = (order.bindings(), fresh("new"), fresh("held"));
                quote_spanned!(at=> { #bindings let #new = #value; let #held = #place; #place = #new; #held })
            }
            _ => return None,
        };
        Some(match function {
            "from_fn" => self.in_filling(|parser| parser.in_place(tokens, span)),
            _ => self.in_place(tokens, span),
        })
    }

    /// Whether the place is a variable that is an `Option`, as its declaration shows.
    fn is_option(&self, place: &syn::Expr) -> bool {
        self.named_local(place).is_some_and(|local| self.optional.contains(&local))
    }

    /// Whether the place is memory, or an array as far as syntax shows: another type may have such a method of its own.
    pub(super) fn is_elements(&self, place: &syn::Expr) -> bool {
        let local = self.named_local(place).map(|local| self.function.local(local));
        local.is_some_and(|local| local.is_array || matches!(local.kind, Kind::Memory(_))) || self.is_row(place)
    }

    /// Whether the place is an element of a variable that is an array of arrays, as far as its type is shown, and may be evaluated several times.
    fn is_row(&self, place: &syn::Expr) -> bool {
        let syn::Expr::Index(row) = strip(place) else { return false };
        let hint = self.named_local(&row.expr).filter(|_| is_plain(&row.index)).map(|local| self.hint_of_local(local));
        matches!(hint, Some(TypeHint::Array(element)) if matches!(*element, TypeHint::Array(_)))
            && self.is_own_variable(&row.expr)
    }

    /// Whether an expression is an element of memory, which holds no options.
    fn is_of_memory(&self, place: &syn::Expr) -> bool {
        let syn::Expr::Index(index) = strip(place) else { return false };
        self.names_memory(&index.expr) || self.is_of_memory(&index.expr)
    }

    pub(super) fn in_place(&mut self, tokens: TokenStream, span: SpanRange) -> Expr {
        match syn::parse2::<syn::Expr>(tokens) {
            Ok(expr) => Expr { span, ..self.expr(&expr) },
            Err(_) => self.error(messages::unsupported_syntax(span, "this call is")),
        }
    }
}

/// Applies the closure of a `filter`, `|&x| test` or `|x| test`, to a reference to `value`.
pub(super) fn test_of(function: &syn::Expr, value: &Ident) -> Option<TokenStream> {
    let syn::Expr::Closure(closure) = function else {
        return matches!(function, syn::Expr::Path(_)).then(|| quote!(#function(&#value)));
    };
    let test = whole(&closure.body);
    match (closure.inputs.first(), closure.inputs.len()) {
        (Some(Pat::Wild(_)), 1) => Some(quote!(#test)),
        (Some(pat), 1) => {
            let names = to_reference(untyped(pat), value)?;
            Some(quote!({ #names #test }))
        }
        _ => None,
    }
}

/// Binds a pattern to a reference to a value.
pub(super) fn to_reference(pat: &Pat, value: &Ident) -> Option<TokenStream> {
    match pat {
        Pat::Reference(reference) if reference.mutability.is_none() => {
            let pattern = &reference.pat;
            Some(quote!(let #pattern = #value;))
        }
        name @ Pat::Ident(_) => Some(quote!(let #name = &#value;)),
        Pat::Wild(_) => Some(TokenStream::new()),
        Pat::Slice(array) => {
            let (copied, names) = elements_of(array)?;
            Some(quote!(let #copied = #value; #names))
        }
        pat @ (Pat::Tuple(_) | Pat::Struct(_)) => {
            let fields = fields_of(pat)?.into_iter().filter(|(pat, _)| !matches!(pat, Pat::Wild(_)));
            let names =
                fields.map(|(pat, member)| matches!(pat, Pat::Ident(_)).then(|| quote!(let #pat = &#value.#member;)));
            names.collect()
        }
        _ => None,
    }
}

/// Applies a closure or a function to `value`: returns the pattern that takes it, and the result.
pub(super) fn applied(function: &syn::Expr, value: &Ident) -> Option<(TokenStream, TokenStream)> {
    match function {
        syn::Expr::Path(path) => Some((quote!(#value), quote!(#path(#value)))),
        syn::Expr::Closure(closure) => {
            let body = whole(&closure.body);
            match (closure.inputs.first(), closure.inputs.len()) {
                (None, _) => Some((quote!(#value), quote!(#body))),
                (Some(Pat::Type(typed)), 1) => Some((quote!(#value), quote!({ let #typed = #value; #body }))),
                (Some(pat), 1) => Some((quote!(#pat), quote!(#body))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the type of the array that `from_fn` with these arguments makes.
fn made_array(arguments: &syn::PathArguments) -> Option<syn::Type> {
    let (element, length) = (type_argument(arguments, 0)?, const_argument(arguments, 1)?);
    let is_shown = !matches!(element, syn::Type::Infer(_)) && length.to_string() != "_";
    is_shown.then(|| syn::parse2(quote!([#element; #length])).ok())?
}

/// A function as the closure that a device function takes.
fn as_closure(function: &syn::Expr, value: &Ident) -> TokenStream {
    match strip(function) {
        path @ syn::Expr::Path(_) => quote!(|#value| #path(#value)),
        function => function.to_token_stream(),
    }
}

/// Whether it is `get(i)`, `first()` or `last()`.
fn is_element(call: &ExprMethodCall) -> bool {
    match call.method.to_string().as_str() {
        "get" => call.args.len() == 1,
        "first" | "last" => call.args.is_empty(),
        _ => false,
    }
}

/// Returns the place that `&mut place` lends; for a parameter that is a reference, its target.
fn lent(argument: &syn::Expr, order: &mut OperandOrder) -> Option<TokenStream> {
    match argument {
        syn::Expr::Reference(reference) if reference.mutability.is_some() => order.place(&reference.expr),
        syn::Expr::Path(path) => Some(quote!(*#path)),
        _ => None,
    }
}

/// Whether it is a field, or an element of one, of a variable: its type is known to rustc alone, and methods of elements are taken for
/// those of arrays. A user's own method of that name is called by its path.
pub(super) fn is_part(place: &syn::Expr) -> bool {
    let is_place = |base: &syn::Expr| matches!(strip(base), syn::Expr::Path(_)) || is_part(base);
    match strip(place) {
        syn::Expr::Field(field) => is_place(&field.base),
        syn::Expr::Index(element) => is_part(&element.expr) && is_plain(&element.index),
        _ => false,
    }
}

/// Whether it is a field with a name, whose struct is in memory, where no options are. A tuple's part may be one.
fn is_named_field(place: &syn::Expr) -> bool {
    is_part(place) && matches!(strip(place), syn::Expr::Field(syn::ExprField { member: syn::Member::Named(_), .. }))
}

/// Whether a call gives the bytes of a number, or an array made of them.
fn makes_array(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::MethodCall(call) => match (call.method.to_string().as_str(), call.args.len()) {
            ("to_le_bytes" | "to_be_bytes", 0) => true,
            ("map", 1) => makes_array(&call.receiver),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression may be evaluated several times: names, numbers and arithmetic on them.
pub(super) fn is_plain(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Path(_) | syn::Expr::Lit(_) => true,
        syn::Expr::Cast(cast) => is_plain(&cast.expr),
        syn::Expr::Binary(binary) => {
            use syn::BinOp::{Add, BitAnd, BitOr, Div, Mul, Rem, Shl, Shr, Sub};
            let is_arithmetic = matches!(
                binary.op,
                Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_) | BitAnd(_) | BitOr(_) | Shl(_) | Shr(_)
            );
            is_arithmetic && is_plain(&binary.left) && is_plain(&binary.right)
        }
        _ => false,
    }
}

/// Whether a place is a field of a variable, perhaps of a field of it.
fn is_field_of_variable(place: &syn::Expr) -> bool {
    match strip(place) {
        syn::Expr::Field(field) => {
            matches!(strip(&field.base), syn::Expr::Path(_)) || is_field_of_variable(&field.base)
        }
        _ => false,
    }
}
