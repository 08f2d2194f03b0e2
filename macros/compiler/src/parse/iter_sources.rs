//! The sources of `for` besides ranges: the elements of arrays and of memory, through Rust's iterators and their
//! adaptors. All of them have a known length, so that a loop over elements becomes a loop over positions, whose body
//! begins with the element.

use std::borrow::Cow;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::parse::Parser as _;
use syn::{ExprForLoop, Pat};

use super::Parser;
use super::expr::dereferenced;
use super::iter_steps::is_positive;
use super::local_parts::Elements;
use super::loop_items::Item;
use super::named_places;
use super::operand_types::TypeHint;
use super::referenced_fields::{elements_of, fields_of, hidden};
use super::syntax::strip;
use crate::messages;
use crate::model::expr::{Block, Expr, ExprKind, LiteralType, Stmt, StmtKind};
use crate::model::kind::{Kind, Memory};
use crate::model::place::local_of;
use crate::model::range::Range;
use crate::span::SpanRange;

/// The adaptors that a loop cannot have, because they have no known length or call closures.
const UNSUPPORTED_ADAPTORS: [&str; 13] = [
    "map",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "cycle",
    "peekable",
    "take_while",
    "skip_while",
    "map_while",
    "scan",
    "inspect",
    "split",
];

/// The items of a loop as a function of the position, and the number of positions.
pub(super) struct Sequence {
    pub(super) at: Item,
    pub(super) length: TokenStream,
}

/// Statements before the loop, with names that the user cannot write.
pub(super) struct Prologue {
    pub(super) statements: Vec<Stmt>,
    names: Vec<&'static str>,
    fresh: Span,
}

impl Prologue {
    pub(super) fn name(&mut self, what: &'static str) -> Ident {
        self.names.push(what);
        match self.names.iter().filter(|known| **known == what).count() {
            1 => Ident::new(what, self.fresh),
            number => format_ident!("{what}_{number}", span = self.fresh),
        }
    }
}

/// Whether elements are copied or borrowed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ElementAccess {
    ByValue,
    ByReference { mutable: bool },
}

impl Parser<'_> {
    pub(super) fn elements_loop(&mut self, repeat: &ExprForLoop, span: SpanRange) -> Expr {
        let fresh = SpanRange::of(&repeat.expr).lo.resolved_at(Span::mixed_site());
        // The counter of `enumerate` is the counter of the loop.
        let counter = counter(repeat).unwrap_or_else(|| Ident::new("position", fresh));
        let (parts, declared) = self.scoped(|parser| {
            let mut prologue = Prologue { statements: Vec::new(), names: Vec::new(), fresh };
            let items = parser.items(&repeat.expr, counter.to_token_stream(), &mut prologue)?;
            let end = parser.written(items.length)?;
            let repeat = parser.over_positions(repeat, &counter, &items.at, end, span)?;
            Some((prologue.statements, repeat))
        });
        let Some((statements, repeat)) = parts else { return Expr::error(span) };
        if statements.is_empty() {
            return repeat;
        }
        let block = Block { statements, tail: Some(Box::new(repeat)), span, declared };
        Expr { kind: ExprKind::Block(block), result_kind: Kind::Unit, span }
    }

    /// Makes `for counter in 0..end { let pattern = items[counter]; ... }`.
    fn over_positions(
        &mut self,
        repeat: &ExprForLoop,
        counter: &Ident,
        at: &Item,
        end: Expr,
        span: SpanRange,
    ) -> Option<Expr> {
        let id = self.begin_loop(&repeat.attrs);
        let (parts, bound) = self.scoped(|parser| {
            let local = parser.declare(counter, None, Kind::Value, None);
            parser.hints.insert(local, TypeHint::Integer);
            let mut bindings = Vec::new();
            parser.bind_item(&repeat.pat, at, counter, &mut bindings)?;
            let (mut places, mut body) = (Vec::new(), Cow::Borrowed(&repeat.body));
            at.places(&repeat.pat, &mut places);
            if !places.is_empty() && !named_places::replace(&places, &repeat.pat, body.to_mut()) {
                parser.diags.push(messages::element_place(SpanRange::of(&repeat.pat)));
                return None;
            }
            let body = parser.loop_body(id, repeat.label.as_ref(), &body);
            Some((local, bindings, body, !places.is_empty()))
        });
        let (local, bindings, mut body, has_places) = parts?;
        let local = (!bindings.is_empty() || has_places).then_some(local);
        body.statements.splice(0..0, bindings);
        body.declared.splice(0..0, bound);
        let kind = ExprKind::Int { digits: "0".into(), ty: LiteralType::Beside };
        let start = Expr { kind, result_kind: Kind::Value, span: end.span };
        let range = Box::new(Range { start, end, inclusive: false, adaptors: Vec::new() });
        let label = repeat.label.as_ref().map(|label| label.name.ident.clone());
        Some(Expr { kind: ExprKind::For { id, label, local, range, body }, result_kind: Kind::Unit, span })
    }

    /// Binds the names of the loop's pattern to the item at each position.
    fn bind_item(&mut self, pat: &Pat, item: &Item, counter: &Ident, out: &mut Vec<Stmt>) -> Option<()> {
        let span = SpanRange::of(pat);
        let kind = match (pat, item) {
            (Pat::Paren(paren), item) => return self.bind_item(&paren.pat, item, counter, out),
            (Pat::Wild(_), _) => return Some(()),
            (Pat::Ident(name), Item::Value(value)) if name.ident == *counter && *counter == value.to_string() => {
                return Some(());
            }
            (Pat::Tuple(tuple), Item::Pair(first, second)) if tuple.elems.len() == 2 => {
                self.bind_item(&tuple.elems[0], first, counter, out)?;
                return self.bind_item(&tuple.elems[1], second, counter, out);
            }
            (Pat::Reference(reference), Item::Reference { mutable, place })
                if reference.mutability.is_some() == *mutable =>
            {
                return self.bind_item(&reference.pat, &Item::Value(place.clone()), counter, out);
            }
            (Pat::Reference(reference), Item::Copy(value)) if reference.mutability.is_none() => {
                return self.bind_item(&reference.pat, &Item::Value(value.clone()), counter, out);
            }
            (pat, Item::Copy(value)) => {
                let copy = hidden(&Ident::new("item", span.lo));
                out.extend(self.made(quote_spanned!(span.lo=> let #copy = #value; let #pat = &#copy;)));
                return Some(());
            }
            (Pat::Tuple(_) | Pat::Struct(_), Item::Reference { mutable, place }) => {
                // Two parts of one element cannot be borrowed mutably by its index.
                let fields = fields_of(pat).filter(|fields| {
                    !mutable || fields.iter().filter(|(pat, _)| !matches!(pat, Pat::Wild(_))).count() < 2
                });
                let Some(fields) = fields else {
                    self.diags.push(messages::element_pattern(span));
                    return None;
                };
                for (pat, member) in fields {
                    let place = quote_spanned!(span.lo=> #place.#member);
                    self.bind_item(pat, &Item::Reference { mutable: *mutable, place }, counter, out)?;
                }
                return Some(());
            }
            // The body names the place.
            (Pat::Ident(name), Item::Place(_)) if name.by_ref.is_none() && name.subpat.is_none() => return Some(()),
            (Pat::Reference(reference), Item::Place(place)) if reference.mutability.is_some() => {
                return self.bind_item(&reference.pat, &Item::Value(place.clone()), counter, out);
            }
            (Pat::Ident(name), Item::LocalPart { elements, mutable }) if name.mutability.is_none() => {
                return self.bind_part(&name.ident, elements.clone(), *mutable, out);
            }
            (Pat::Slice(array), Item::Reference { mutable: false, place }) => {
                let Some((copied, names)) = elements_of(array) else {
                    self.diags.push(messages::element_pattern(span));
                    return None;
                };
                let bound = quote_spanned!(span.lo=> let #copied = #place; #names);
                let bound = syn::Block::parse_within.parse2(bound).unwrap_or_default();
                out.extend(self.statements(&bound).0);
                return Some(());
            }
            (Pat::Ident(name), Item::Reference { mutable, place })
                if name.by_ref.is_none() && name.subpat.is_none() =>
            {
                let target = Box::new(self.written(place.clone())?);
                let result_kind = Kind::Reference { mutable: *mutable };
                let init = Expr { kind: ExprKind::Borrow { mutable: *mutable, target }, result_kind, span };
                let hint = self.hint(&init);
                let local = self.declare(&name.ident, name.mutability.map(|token| token.span), result_kind, None);
                self.hints.insert(local, hint);
                StmtKind::Let { local, ty: None, init: Some(init) }
            }
            (pat, item) => match item.value() {
                Some(value) => self.binding(quote_spanned!(span.lo=> let #pat = #value;))?,
                None => {
                    self.diags.push(messages::element_pattern(span));
                    return None;
                }
            },
        };
        out.push(Stmt { kind, span });
        Some(())
    }

    /// Returns the items that `expr` yields, at the position `at`.
    pub(super) fn items(&mut self, expr: &syn::Expr, at: TokenStream, prologue: &mut Prologue) -> Option<Sequence> {
        let call = match strip(expr) {
            syn::Expr::MethodCall(call) => call,
            syn::Expr::Reference(reference) => {
                let by = ElementAccess::ByReference { mutable: reference.mutability.is_some() };
                return self.source(&reference.expr, by, at, prologue);
            }
            expr => return self.source(expr, ElementAccess::ByValue, at, prologue),
        };
        let name = call.method.to_string();
        let Some(arguments) = arguments(&name) else {
            if UNSUPPORTED_ADAPTORS.contains(&name.as_str()) {
                self.diags.push(messages::loop_adaptor(SpanRange::of(&call.method), &name));
                return None;
            }
            // A method of the user's that returns an array; or a `take` or a part of memory.
            return self.source(strip(expr), ElementAccess::ByValue, at, prologue);
        };
        if call.args.len() != arguments {
            self.diags.push(messages::argument_count(SpanRange::of(expr), &name, arguments, call.args.len()));
            return None;
        }
        let lo = SpanRange::of(&call.method).lo;
        match name.as_str() {
            "iter" | "iter_mut" => {
                let by = ElementAccess::ByReference { mutable: name == "iter_mut" };
                self.source(&call.receiver, by, at, prologue)
            }
            "into_iter" => self.source(&call.receiver, ElementAccess::ByValue, at, prologue),
            "chunks" | "chunks_exact" | "windows" | "chunks_mut" | "chunks_exact_mut" | "rchunks" => {
                self.parts(call, &name, at, prologue)
            }
            "rev" => {
                let length = prologue.name("length");
                let items = self.items(&call.receiver, quote_spanned!(lo=> (#length - 1 - #at)), prologue)?;
                self.before(&length, items.length, prologue);
                Some(Sequence { length: length.to_token_stream(), ..items })
            }
            "enumerate" => {
                let items = self.items(&call.receiver, at.clone(), prologue)?;
                let pair = Item::Pair(Box::new(Item::Value(at)), Box::new(items.at));
                Some(Sequence { at: pair, length: items.length })
            }
            "zip" => {
                let first = self.items(&call.receiver, at.clone(), prologue)?;
                let second = self.items(call.args.first()?, at, prologue)?;
                let (one, other) = (first.length, second.length);
                let pair = Item::Pair(Box::new(first.at), Box::new(second.at));
                Some(Sequence { at: pair, length: quote_spanned!(lo=> #one.min(#other)) })
            }
            "chain" => self.chained(call, at, prologue),
            "copied" | "cloned" => {
                let items = self.items(&call.receiver, at, prologue)?;
                match items.at {
                    Item::Copy(value) => Some(Sequence { at: Item::Value(value), ..items }),
                    Item::Reference { mutable: false, place } => Some(Sequence { at: Item::Value(place), ..items }),
                    _ => {
                        self.diags.push(messages::loop_adaptor(SpanRange::of(&call.method), &name));
                        None
                    }
                }
            }
            // The adaptors `step_by`, `skip` and `take`.
            _ => {
                let by = prologue.name("by");
                let inner = match name.as_str() {
                    "step_by" => quote_spanned!(lo=> (#at * #by)),
                    "skip" => quote_spanned!(lo=> (#at + #by)),
                    _ => at,
                };
                let Sequence { at, length } = self.items(&call.receiver, inner, prologue)?;
                self.count(
                    &by,
                    call.args.first()?,
                    (name == "step_by").then_some("assertion failed: step != 0"),
                    prologue,
                );
                let length = match name.as_str() {
                    "step_by" => quote_spanned!(lo=> #length.div_ceil(#by)),
                    "skip" => quote_spanned!(lo=> #length.saturating_sub(#by)),
                    _ => quote_spanned!(lo=> #length.min(#by)),
                };
                Some(Sequence { at, length })
            }
        }
    }

    /// Returns the elements of an array or of memory.
    fn source(
        &mut self,
        expr: &syn::Expr,
        by: ElementAccess,
        at: TokenStream,
        prologue: &mut Prologue,
    ) -> Option<Sequence> {
        let lo = SpanRange::of(expr).lo;
        if by != (ElementAccess::ByReference { mutable: false })
            && let Some(Elements { whole, start, length }) = self.written_memory(expr, prologue)
        {
            let place = if start.is_empty() {
                quote_spanned!(lo=> #whole[#at])
            } else {
                quote_spanned!(lo=> #whole[#start + #at])
            };
            return Some(Sequence { at: Item::Place(place), length });
        }
        if let Some(Elements { whole, start, length }) = self.elements_before(expr, prologue) {
            // A part is a reference, of whose elements the iterator gives references.
            let mutable = matches!(by, ElementAccess::ByReference { mutable: true });
            let place = quote_spanned!(lo=> #whole[#start + #at]);
            let at = match mutable && self.is_mutable_half(expr) {
                true => Item::Place(place),
                false => Item::Reference { mutable, place },
            };
            return Some(Sequence { at, length });
        }
        let (source, of_array) = self.evaluated(expr, by, prologue)?;
        let place = quote_spanned!(lo=> #source[#at]);
        let at = match of_array.unwrap_or(ElementAccess::ByReference { mutable: false }) {
            ElementAccess::ByValue => Item::Value(place),
            ElementAccess::ByReference { mutable } => Item::Reference { mutable, place },
        };
        Some(Sequence { at, length: quote_spanned!(lo=> #source.len()) })
    }

    /// Evaluates the source once into a variable; for an array, also returns whether its elements are copied or
    /// borrowed.
    pub(super) fn evaluated(
        &mut self,
        expr: &syn::Expr,
        by: ElementAccess,
        prologue: &mut Prologue,
    ) -> Option<(TokenStream, Option<ElementAccess>)> {
        let expr = strip(expr);
        if let syn::Expr::Range(_) = expr {
            self.diags.push(messages::loop_range(SpanRange::of(expr)));
            return None;
        }
        let source = self.place(expr);
        let source = self.as_memory(source);
        let span = source.span;
        let is_fixed = match source.kind {
            ExprKind::Constant(_) => true,
            ExprKind::Local(local) => self.function.local(local).mutable.is_none(),
            _ => false,
        };
        let (init, by) = match (source.result_kind, by) {
            // What is never a value has been reported.
            (Kind::Unknown | Kind::Never, _) if !self.diags.is_empty() => return None,
            (Kind::Unknown, _) => return None,
            (Kind::Memory(_), ElementAccess::ByReference { mutable: true })
            | (Kind::Memory(Memory::GlobalMut), ElementAccess::ByValue) => {
                self.diags.push(messages::elements_of_memory(span));
                return None;
            }
            (Kind::Memory(_), _) if is_fixed => return Some((expr.to_token_stream(), None)),
            (Kind::Memory(_), _) => (source, None),
            (Kind::Value, ElementAccess::ByValue) if is_fixed => return Some((expr.to_token_stream(), Some(by))),
            (Kind::Value, ElementAccess::ByValue) => (source, Some(by)),
            (Kind::Value, ElementAccess::ByReference { mutable }) => match local_of(&source) {
                Some(_) => (lent(source, mutable), Some(by)),
                None if mutable => {
                    self.diags.push(messages::borrow_target(span));
                    return None;
                }
                None if is_fixed => return Some((expr.to_token_stream(), Some(by))),
                // A value that has no place, or that is in memory, is copied.
                None => (source, Some(by)),
            },
            (Kind::Reference { mutable }, ElementAccess::ByValue) => {
                (lent(dereferenced(source), mutable), Some(ElementAccess::ByReference { mutable }))
            }
            (Kind::Reference { .. }, ElementAccess::ByReference { mutable }) => {
                (lent(dereferenced(source), mutable), Some(by))
            }
            (
                kind @ (Kind::Extent
                | Kind::Unit
                | Kind::Never
                | Kind::Group(_)
                | Kind::Token(_)
                | Kind::OptionalToken(_)
                | Kind::OptionalMemory(_)
                | Kind::TensorMap { .. }
                | Kind::Barrier(_)
                | Kind::Closure),
                _,
            ) => {
                self.diags.push(messages::no_elements(span, kind));
                return None;
            }
        };
        let name = prologue.name("items");
        let hint = self.hint(&init);
        let local = self.declare(&name, None, init.result_kind, None);
        self.hints.insert(local, hint);
        self.function.locals[local.0].is_array = self.is_array(&init);
        prologue.statements.push(Stmt { kind: StmtKind::Let { local, ty: None, init: Some(init) }, span });
        Some((name.to_token_stream(), by))
    }

    /// Adds `let name = value;` before the loop.
    pub(super) fn before(&mut self, name: &Ident, value: TokenStream, prologue: &mut Prologue) {
        let span = SpanRange::at(name.span());
        let kind = self.binding(quote_spanned!(span.lo=> let #name = #value;));
        prologue.statements.extend(kind.map(|kind| Stmt { kind, span }));
    }

    /// Adds the number of an adaptor, which is asserted not to be zero if there is a message for that.
    pub(super) fn count(
        &mut self,
        name: &Ident,
        value: &syn::Expr,
        unless_zero: Option<&str>,
        prologue: &mut Prologue,
    ) {
        let span = SpanRange::of(value);
        let kind = self.binding(quote_spanned!(span.lo=> let #name: ::core::primitive::usize = #value;));
        prologue.statements.extend(kind.map(|kind| Stmt { kind, span }));
        if let Some(sentence) = unless_zero.filter(|_| !is_positive(value)) {
            let test = self.written(quote_spanned!(span.lo=> assert!(#name != 0, #sentence)));
            prologue.statements.extend(test.map(|test| Stmt { kind: StmtKind::Expr(test), span }));
        }
    }

    /// Parses generated tokens as an expression.
    fn written(&mut self, tokens: TokenStream) -> Option<Expr> {
        let span = SpanRange::of(&tokens);
        match syn::parse2::<syn::Expr>(tokens) {
            Ok(expr) => Some(self.expr(&expr)),
            Err(_) => {
                self.diags.push(messages::unsupported_syntax(span, "this loop is"));
                None
            }
        }
    }

    /// Parses a generated `let pattern = value;`.
    fn binding(&mut self, tokens: TokenStream) -> Option<StmtKind> {
        let span = SpanRange::of(&tokens);
        match syn::parse2(tokens) {
            Ok(syn::Stmt::Local(local)) => self.local(&local),
            _ => {
                self.diags.push(messages::unsupported_syntax(span, "this loop is"));
                None
            }
        }
    }
}

/// Whether a loop iterates over a range of numbers.
pub(super) fn is_range(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Range(_) => true,
        syn::Expr::MethodCall(call) => is_range(&call.receiver),
        _ => false,
    }
}

/// Returns `i` of `for (i, x) in items.enumerate()`.
fn counter(repeat: &ExprForLoop) -> Option<Ident> {
    let syn::Expr::MethodCall(call) = strip(&repeat.expr) else { return None };
    match &*repeat.pat {
        Pat::Tuple(tuple) if call.method == "enumerate" => match tuple.elems.first() {
            Some(Pat::Ident(name)) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
                Some(name.ident.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of arguments of an adaptor, if a loop can have it.
fn arguments(name: &str) -> Option<usize> {
    match name {
        "iter" | "iter_mut" | "into_iter" | "rev" | "enumerate" | "copied" | "cloned" => Some(0),
        "zip" | "chain" | "step_by" | "skip" | "take" | "chunks" | "chunks_exact" | "windows" | "chunks_mut"
        | "chunks_exact_mut" | "rchunks" => Some(1),
        _ => None,
    }
}

fn lent(target: Expr, mutable: bool) -> Expr {
    let span = target.span;
    let kind = ExprKind::Borrow { mutable, target: Box::new(target) };
    Expr { kind, result_kind: Kind::Reference { mutable }, span }
}
