//! Iterators whose items are taken one by one: `let mut items = values.iter();`, and then `items.next()`, `while let Some(x) = items.next()`,
//! `for x in items.by_ref()`, and what is left of them, `for x in items`. No value of the language is an iterator: a variable says how many of
//! the elements are taken, and the next one is `elements.get(taken)`. Of a range, the variable is the next number.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, ExprRange, Local, Macro, Member, Pat, PatIdent, RangeLimits, Stmt, Token};
use syn::{parse_quote_spanned, parse2};

use super::Parser;
use super::named_iterators::Held;
use super::syntax::{binds, strip};
use crate::span::SpanRange;

/// The methods that take items of an iterator and leave the rest in it, and those that look at it: any other one consumes it.
const OF_REFERENCES: [&str; 26] = [
    "next_back",
    "nth_back",
    "next_if",
    "next_if_eq",
    "next_if_map",
    "peek_mut",
    "next_chunk",
    "advance_by",
    "as_slice",
    "as_ref",
    "size_hint",
    "any",
    "all",
    "find",
    "find_map",
    "position",
    "rposition",
    "rfind",
    "try_fold",
    "try_rfold",
    "try_for_each",
    "by_ref",
    "is_sorted",
    "is_partitioned",
    "remainder",
    "borrow",
];

impl Parser<'_> {
    /// Returns the statements in place of `let mut name = iterator;` and of those after it, if the iterator is over a range or over elements that
    /// have positions, and its uses are those that a position has.
    pub(super) fn with_position(&self, local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
        let Pat::Ident(PatIdent { by_ref: None, mutability: Some(_), ident: name, subpat: None, .. }) = &local.pat
        else {
            return None;
        };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        if binds(rest.iter().copied(), name) {
            return None;
        }
        let mut held = Held::of(self, name);
        let source = Source::of(&init.expr, &mut held)?;
        // The elements stay as they are while the iterator borrows them: rustc holds the reference to them against what changes them.
        let mut statements = held.statements()?;
        let is_named = |names: &[Ident]| names.iter().any(|used| binds(rest.iter().copied(), used));
        if is_named(&source.names()) {
            return None;
        }
        let at = SpanRange::of(&local.pat).lo;
        let taken = format_ident!("taken_of_{name}", span = name.span().resolved_at(Span::mixed_site()));
        let start = match &source {
            Source::Elements { .. } => quote_spanned!(at=> let mut #taken: ::core::primitive::usize = 0;),
            Source::Range { start, .. } => quote_spanned!(at=> let mut #taken = #start;),
        };
        statements.push(parse2(start).ok()?);
        let mut uses = Uses { name, source: &source, taken: &taken, depth: 0, is_consumed: false, is_possible: true };
        for stmt in rest {
            let mut stmt = (*stmt).clone();
            uses.visit_stmt_mut(&mut stmt);
            statements.push(stmt);
        }
        uses.is_possible.then_some(statements)
    }
}

/// What an iterator is over.
enum Source {
    Elements {
        place: Expr,
        /// Whether its items are copies of the elements.
        copied: bool,
        reversed: bool,
        /// Whether its items have their numbers beside them.
        numbered: bool,
        peekable: bool,
    },
    Range {
        start: Expr,
        end: TokenStream,
    },
}

impl Source {
    fn of(iterator: &Expr, held: &mut Held<'_, '_>) -> Option<Source> {
        let call = match strip(iterator) {
            Expr::MethodCall(call) => call,
            Expr::Range(ExprRange { start: Some(start), limits: RangeLimits::HalfOpen(_), end: Some(end), .. }) => {
                let end = held.value(end)?.to_token_stream();
                return Some(Source::Range { start: (**start).clone(), end });
            }
            _ => return None,
        };
        let name = call.method.to_string();
        if !call.args.is_empty() || call.turbofish.is_some() {
            return None;
        }
        if name == "iter" || name == "into_iter" {
            let place = match name.as_str() {
                "iter" => held.elements(&call.receiver)?,
                _ => held.copied_array(&call.receiver)?,
            };
            let copied = name == "into_iter";
            return Some(Source::Elements { place, copied, reversed: false, numbered: false, peekable: false });
        }
        let mut source = Source::of(&call.receiver, held)?;
        let Source::Elements { copied, reversed, numbered, peekable, .. } = &mut source else { return None };
        match name.as_str() {
            "copied" | "cloned" if !*copied && !*numbered => *copied = true,
            "rev" if !*numbered => *reversed = !*reversed,
            "enumerate" if *copied && !*numbered => *numbered = true,
            "peekable" if *copied && !*numbered && !*peekable => *peekable = true,
            _ => return None,
        }
        Some(source)
    }

    /// The names that it is made of, which must mean the same where its items are taken.
    fn names(&self) -> Vec<Ident> {
        match self {
            Source::Elements { place, .. } => super::named_iterators::names_in(place.to_token_stream()),
            Source::Range { end, .. } => super::named_iterators::names_in(end.clone()),
        }
    }

    /// The option of the item after `skipped` further ones.
    fn next(&self, taken: &Ident, skipped: Option<&Expr>, at: Span) -> Option<Expr> {
        let advance = match skipped {
            Some(skipped) => quote_spanned!(at=> #taken += (#skipped) + 1;),
            None => quote_spanned!(at=> #taken += 1;),
        };
        let next = match self {
            Source::Range { end, .. } => {
                let test = quote_spanned!(at=> if #taken < #end { #advance Some(#taken - 1) } else { None });
                return skipped.is_none().then(|| parse2(quote_spanned!(at=> { #test })).ok())?;
            }
            Source::Elements { place, copied, reversed, numbered, .. } => {
                let position = match reversed {
                    false => quote_spanned!(at=> #taken - 1),
                    // Of none that is left, the position is above every length.
                    true => quote_spanned!(at=> #place.len().wrapping_sub(#taken)),
                };
                match (numbered, copied) {
                    (true, _) => quote_spanned!(at=> {
                        #advance
                        if #taken <= #place.len() { Some((#taken - 1, #place[#position])) } else { None }
                    }),
                    (false, true) => quote_spanned!(at=> {
                        #advance
                        if #taken <= #place.len() { Some(#place[#position]) } else { None }
                    }),
                    (false, false) => quote_spanned!(at=> #place.get({ #advance #position })),
                }
            }
        };
        parse2(next).ok()
    }

    /// The option of a reference to the next item, which stays in the iterator.
    fn peek(&self, taken: &Ident, at: Span) -> Option<Expr> {
        match self {
            Source::Elements { place, peekable: true, reversed, .. } => {
                let position = match reversed {
                    false => quote_spanned!(at=> #taken),
                    true => quote_spanned!(at=> #place.len().wrapping_sub(#taken + 1)),
                };
                parse2(quote_spanned!(at=> #place.get(#position))).ok()
            }
            Source::Elements { .. } | Source::Range { .. } => None,
        }
    }

    /// The items that are left.
    fn rest(&self, taken: &Ident, at: Span) -> Expr {
        match self {
            Source::Range { end, .. } => parse_quote_spanned!(at=> (#taken..#end)),
            Source::Elements { place, copied, reversed, numbered, .. } => {
                let copied = copied.then(|| quote_spanned!(at=> .copied()));
                let reversed = reversed.then(|| quote_spanned!(at=> .rev()));
                let numbered = numbered.then(|| quote_spanned!(at=> .enumerate()));
                parse_quote_spanned!(at=> #place.iter() #copied #reversed #numbered .skip(#taken))
            }
        }
    }

    fn is_empty(&self, taken: &Ident, at: Span) -> Option<Expr> {
        match self {
            Source::Range { end, .. } => Some(parse_quote_spanned!(at=> (!(#taken < #end)))),
            Source::Elements { .. } => None,
        }
    }

    fn len(&self, taken: &Ident, at: Span) -> Expr {
        match self {
            Source::Range { end, .. } => parse_quote_spanned!(at=>
                { if #taken < #end { (#end - #taken) as ::core::primitive::usize } else { 0 } }
            ),
            Source::Elements { place, .. } => parse_quote_spanned!(at=> #place.len().saturating_sub(#taken)),
        }
    }
}

/// Replaces the uses of the iterator.
struct Uses<'a> {
    name: &'a Ident,
    source: &'a Source,
    taken: &'a Ident,
    /// How many loops and closures are around.
    depth: usize,
    /// Whether the iterator itself has been consumed.
    is_consumed: bool,
    is_possible: bool,
}

impl Uses<'_> {
    fn is_name(&self, expr: &Expr) -> bool {
        matches!(strip(expr), Expr::Path(path) if path.path.is_ident(self.name))
    }

    /// Whether it is `items.by_ref()` or `&mut items`.
    fn is_lent(&self, expr: &Expr) -> bool {
        match strip(expr) {
            Expr::MethodCall(call) => call.method == "by_ref" && call.args.is_empty() && self.is_name(&call.receiver),
            Expr::Reference(reference) => reference.mutability.is_some() && self.is_name(&reference.expr),
            _ => false,
        }
    }

    fn is_next(&self, expr: &Expr) -> bool {
        matches!(strip(expr), Expr::MethodCall(call) if call.method == "next" && self.is_name(&call.receiver))
    }

    /// What stands in place of a method of the iterator; `None` if the method consumes it.
    fn method(&mut self, call: &ExprMethodCall) -> Option<Expr> {
        let at = SpanRange::of(&call.method).lo;
        let name = call.method.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        self.is_possible &= !self.is_consumed;
        let value = match (name.as_str(), &arguments[..]) {
            ("next", []) => self.source.next(self.taken, None, at),
            ("nth", [skipped]) => self.source.next(self.taken, Some(skipped), at),
            ("peek", []) => self.source.peek(self.taken, at),
            ("len", []) => Some(self.source.len(self.taken, at)),
            ("is_empty", []) => self.source.is_empty(self.taken, at),
            ("contains", [_]) => match self.source {
                Source::Range { .. } => {
                    let (range, arguments) = (self.source.rest(self.taken, at), &call.args);
                    Some(parse_quote_spanned!(at=> #range.contains(#arguments)))
                }
                Source::Elements { .. } => None,
            },
            ("clone", []) => Some(self.source.rest(self.taken, at)),
            (name, _) if OF_REFERENCES.contains(&name) => None,
            _ => return None,
        };
        self.is_possible &= value.is_some();
        value
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl VisitMut for Uses<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let is_skipped = matches!(stmt, Stmt::Expr(expr, Some(_)) if self.is_next(expr));
        if is_skipped && matches!(self.source, Source::Elements { .. }) {
            let (taken, at) = (self.taken, SpanRange::of(&*stmt).lo);
            self.is_possible &= !self.is_consumed;
            *stmt = parse_quote_spanned!(at=> #taken += 1;);
            return;
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let at = SpanRange::of(&*expr).lo;
        match expr {
            Expr::ForLoop(repeat) if self.is_lent(&repeat.expr) => {
                let (attrs, label, pat, body) = (&repeat.attrs, &repeat.label, &repeat.pat, &repeat.body);
                let name = Ident::new(&self.name.to_string(), self.name.span());
                *expr = parse_quote_spanned!(at=> #(#attrs)* #label while let Some(#pat) = #name.next() #body);
            }
            Expr::MethodCall(call) if self.is_name(&call.receiver) => {
                let value = self.method(call);
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
                match value {
                    // What is skipped may take items, too.
                    Some(value) if call.args.is_empty() => {
                        *expr = value;
                        return;
                    }
                    Some(_) => {
                        if let Some(value) = self.method(&call.clone()) {
                            *expr = value;
                        }
                        return;
                    }
                    None => {
                        self.visit_expr_mut(&mut call.receiver);
                        return;
                    }
                }
            }
            Expr::Field(field) if self.is_name(&field.base) => {
                let (taken, Member::Named(member)) = (self.taken, &field.member) else {
                    self.is_possible = false;
                    return;
                };
                match (self.source, member.to_string().as_str()) {
                    (Source::Range { .. }, "start") => *expr = parse_quote_spanned!(at=> #taken),
                    (Source::Range { end, .. }, "end") => *expr = parse_quote_spanned!(at=> #end),
                    _ => self.is_possible = false,
                }
                return;
            }
            Expr::Reference(reference) if self.is_name(&reference.expr) => self.is_possible = false,
            Expr::Assign(assign) if self.is_name(&assign.left) => self.is_possible = false,
            _ => {}
        }
        if self.is_name(expr) {
            // It is consumed once, and not in a loop, where it would be consumed again.
            self.is_possible &= self.depth == 0 && !self.is_consumed;
            self.is_consumed = true;
            *expr = self.source.rest(self.taken, at);
            return;
        }
        match expr {
            // Its items are evaluated before the first iteration.
            Expr::ForLoop(repeat) => {
                self.visit_expr_mut(&mut repeat.expr);
                self.inside(|uses| uses.visit_block_mut(&mut repeat.body));
            }
            Expr::While(_) | Expr::Loop(_) | Expr::Closure(_) => {
                self.inside(|uses| visit_mut::visit_expr_mut(uses, expr));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, of: &mut Macro) {
        if let Ok(mut arguments) = of.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            of.tokens = quote_spanned!(SpanRange::of(&*of).lo=> #arguments);
        }
    }
}
