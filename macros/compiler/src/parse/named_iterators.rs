//! Iterators with names: `let squares = values.iter().map(|x| x * x);`, and then `for s in squares` or `squares.sum::<f32>()`. No value of the
//! language is an iterator: it stands where its name is consumed, over a reference to its elements that is bound where it is named, so that
//! rustc has the elements borrowed meanwhile.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, Local, Macro, Pat, PatIdent, Stmt, Token, parse_quote_spanned};

use super::Parser;
use super::iter_consumers::is_iterator;
use super::named_ranges;
use super::syntax::{binds, strip};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the statements in place of a `let` and of those after it, if it names a range, an iterator, or the parts of a place.
    pub(super) fn without_name(&self, local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
        self.with_position(local, rest)
            .or_else(|| self.without_named_iterator(local, rest))
            .or_else(|| self.without_named_conversion(local, rest))
            .or_else(|| named_ranges::without(local, rest))
            .or_else(|| self.with_named_places(local, rest))
    }

    /// Returns the statements in place of `let name = iterator;` and of those after it, if the statement is one whose iterator may stand where
    /// its name does.
    fn without_named_iterator(&self, local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
        let Pat::Ident(PatIdent { by_ref: None, mutability, ident: name, subpat: None, .. }) = &local.pat else {
            return None;
        };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::MethodCall(call) = strip(&init.expr) else { return None };
        // `let mut chunks = v.chunks_exact(4);`, of which the remainder is asked for after `for chunk in chunks.by_ref()`.
        if mutability.is_some() && call.method != "chunks_exact" {
            return None;
        }
        let call = strip(&init.expr);
        if !is_iterator(call) || binds(rest.iter().copied(), name) {
            return None;
        }
        let mut held = Held::of(self, name);
        let iterator = held.iterator(call)?;
        let Held { mut statements, is_possible, .. } = held;
        // What the iterator names is the same where it is consumed.
        let mut named = Named { used: Vec::new(), bound: Vec::new() };
        named.visit_expr(&iterator);
        let is_free = |used: &Ident| self.lookup(used).is_some() || !named.bound.contains(&used);
        let is_hidden = named.used.iter().any(|used| is_free(used) && binds(rest.iter().copied(), used));
        if !is_possible || is_hidden {
            return None;
        }
        let mut uses = Uses { name, iterator: &iterator, moved: 0, remainders: 0, is_possible: true };
        for stmt in rest {
            let mut stmt = (*stmt).clone();
            uses.visit_stmt_mut(&mut stmt);
            statements.push(stmt);
        }
        let is_consumed = uses.moved == 1 || uses.moved == 0 && uses.remainders > 0;
        (uses.is_possible && is_consumed).then_some(statements)
    }
}

/// What an iterator is made of, with names for what is evaluated where it is named.
pub(super) struct Held<'p, 'd> {
    parser: &'p Parser<'d>,
    name: &'p Ident,
    statements: Vec<Stmt>,
    is_possible: bool,
}

impl<'p, 'd> Held<'p, 'd> {
    pub(super) fn of(parser: &'p Parser<'d>, name: &'p Ident) -> Self {
        Held { parser, name, statements: Vec::new(), is_possible: true }
    }

    /// What evaluates what has names, if that may be done before the iterator is consumed.
    pub(super) fn statements(self) -> Option<Vec<Stmt>> {
        self.is_possible.then_some(self.statements)
    }

    /// A copy of an array, which is consumed with it.
    pub(super) fn copied_array(&mut self, array: &Expr) -> Option<Expr> {
        if !self.parser.is_local_array(array) {
            return None;
        }
        let (held, at) = (self.fresh("elements", array), SpanRange::of(array).lo);
        self.statements.push(parse_quote_spanned!(at=> let #held = #array;));
        Some(parse_quote_spanned!(at=> #held))
    }

    fn iterator(&mut self, expr: &Expr) -> Option<Expr> {
        match strip(expr) {
            Expr::MethodCall(call) => self.call(call).map(Expr::MethodCall),
            Expr::Range(range) => {
                let mut range = range.clone();
                for end in range.start.iter_mut().chain(&mut range.end) {
                    **end = self.value(end)?;
                }
                let at = SpanRange::of(&range).lo;
                Some(parse_quote_spanned!(at=> (#range)))
            }
            // Another iterator's elements, as `zip` takes them.
            Expr::Reference(reference) if reference.mutability.is_none() => self.elements(&reference.expr),
            elements => self.elements(elements),
        }
    }

    fn call(&mut self, call: &ExprMethodCall) -> Option<ExprMethodCall> {
        let mut call = call.clone();
        let name = call.method.to_string();
        match name.as_str() {
            "iter" => *call.receiver = self.elements(&call.receiver)?,
            "windows" | "chunks" | "chunks_exact" | "rchunks" => {
                *call.receiver = self.elements(&call.receiver)?;
                call.args[0] = self.value(call.args.first()?)?;
            }
            "rev" | "enumerate" | "copied" | "cloned" => *call.receiver = self.iterator(&call.receiver)?,
            "skip" | "take" | "step_by" => {
                *call.receiver = self.iterator(&call.receiver)?;
                call.args[0] = self.value(call.args.first()?)?;
            }
            "zip" => {
                *call.receiver = self.iterator(&call.receiver)?;
                call.args[0] = self.iterator(call.args.first()?)?;
            }
            "map" | "filter" | "filter_map" | "take_while" | "skip_while" | "map_while" | "scan" => {
                *call.receiver = self.iterator(&call.receiver)?;
                if name == "scan" {
                    call.args[0] = self.value(call.args.first()?)?;
                }
                // A closure that borrows sees what the variables are where it is called, and nothing changes them meanwhile. One that moves
                // has copied them.
                if let Expr::Closure(closure) = strip(call.args.last()?)
                    && closure.capture.is_some()
                {
                    self.is_possible &= names_in(closure.body.to_token_stream()).iter().all(|used| self.is_fixed(used));
                }
            }
            _ => return None,
        }
        Some(call)
    }

    /// A reference to the elements, which borrows them.
    pub(super) fn elements(&mut self, place: &Expr) -> Option<Expr> {
        let place = strip(place);
        let at = SpanRange::of(place).lo;
        if self.parser.names_memory(place) || self.parser.named_part(place).is_some() {
            let local = self.parser.named_local(place)?;
            return self.parser.function.local(local).mutable.is_none().then(|| place.clone());
        }
        let is_part = match place {
            Expr::Index(index) if matches!(strip(&index.index), Expr::Range(_)) => {
                self.parser.names_memory(&index.expr)
                    || self.parser.named_part(&index.expr).is_some()
                    || self.parser.is_local_array(&index.expr)
            }
            _ => false,
        };
        if !is_part && !self.parser.is_local_array(place) {
            return None;
        }
        let held = self.fresh("elements", place);
        self.statements.push(parse_quote_spanned!(at=> let #held = &#place;));
        Some(parse_quote_spanned!(at=> #held))
    }

    /// The value of a count or a bound.
    pub(super) fn value(&mut self, value: &Expr) -> Option<Expr> {
        let at = SpanRange::of(value).lo;
        match strip(value) {
            Expr::Lit(_) => Some(value.clone()),
            Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.is_fixed(name)) => Some(value.clone()),
            value => {
                let held = self.fresh("count", value);
                self.statements.push(parse_quote_spanned!(at=> let #held = #value;));
                Some(parse_quote_spanned!(at=> #held))
            }
        }
    }

    fn is_fixed(&self, name: &Ident) -> bool {
        self.parser.lookup(name).is_none_or(|local| self.parser.function.local(local).mutable.is_none())
    }

    fn fresh(&self, what: &str, of: &Expr) -> Ident {
        let at: Span = SpanRange::of(of).lo;
        format_ident!("{what}_{}_of_{}", self.statements.len(), self.name, span = at.resolved_at(Span::mixed_site()))
    }
}

/// The names that an iterator uses as values, and those that its closures bind.
struct Named<'a> {
    used: Vec<&'a Ident>,
    bound: Vec<&'a Ident>,
}

impl<'a> Visit<'a> for Named<'a> {
    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        self.used.extend(path.path.get_ident());
    }

    fn visit_pat_ident(&mut self, bound: &'a PatIdent) {
        self.bound.push(&bound.ident);
        visit::visit_pat_ident(self, bound);
    }
}

/// The names in an expression.
pub(super) fn names_in(stream: TokenStream) -> Vec<Ident> {
    let names = stream.into_iter().map(|tree| match tree {
        TokenTree::Ident(name) => vec![name],
        TokenTree::Group(group) => names_in(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    names.flatten().collect()
}

/// Returns statements in which an expression stands for a name, if it may.
pub(super) fn replaced(rest: &[&Stmt], name: &Ident, expr: &Expr) -> Option<Vec<Stmt>> {
    let mut uses = Uses { name, iterator: expr, moved: 0, remainders: 0, is_possible: true };
    let mut rest: Vec<Stmt> = rest.iter().map(|stmt| (*stmt).clone()).collect();
    rest.iter_mut().for_each(|stmt| uses.visit_stmt_mut(stmt));
    uses.is_possible.then_some(rest)
}

/// Replaces the name by the iterator.
struct Uses<'a> {
    name: &'a Ident,
    iterator: &'a Expr,
    /// How often the iterator itself is consumed, and no clone of it.
    moved: usize,
    /// How often its remainder is asked for.
    remainders: usize,
    is_possible: bool,
}

impl Uses<'_> {
    fn is_name(&self, expr: &Expr) -> bool {
        matches!(strip(expr), Expr::Path(path) if path.path.is_ident(self.name))
    }
}

/// The elements behind the last of `elements.chunks_exact(n)`.
fn remainder(chunks: &Expr) -> Option<Expr> {
    let Expr::MethodCall(call) = strip(chunks) else { return None };
    let (elements, size) = (&call.receiver, call.args.first()?);
    let at = SpanRange::of(&call.method).lo;
    (call.method == "chunks_exact").then(|| parse_quote_spanned!(at=> (&#elements[#elements.len() / #size * #size..])))
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::MethodCall(call)
                if call.method == "clone" && call.args.is_empty() && self.is_name(&call.receiver) =>
            {
                *expr = self.iterator.clone();
                return;
            }
            Expr::MethodCall(call)
                if call.method == "remainder" && call.args.is_empty() && self.is_name(&call.receiver) =>
            {
                self.remainders += 1;
                match remainder(self.iterator) {
                    Some(part) => *expr = part,
                    None => self.is_possible = false,
                }
                return;
            }
            // One loop over all of the chunks: what is left of them is not asked for.
            Expr::MethodCall(call)
                if call.method == "by_ref" && self.is_name(&call.receiver) && remainder(self.iterator).is_some() =>
            {
                self.moved += 1;
                *expr = self.iterator.clone();
                return;
            }
            Expr::MethodCall(call) if call.method == "by_ref" && self.is_name(&call.receiver) => {
                self.is_possible = false;
            }
            Expr::Reference(reference)
                if reference.mutability.is_some()
                    && self.is_name(&reference.expr)
                    && remainder(self.iterator).is_some() =>
            {
                self.moved += 1;
                *expr = self.iterator.clone();
                return;
            }
            Expr::Reference(reference) if self.is_name(&reference.expr) => self.is_possible = false,
            _ => {}
        }
        if self.is_name(expr) {
            self.moved += 1;
            *expr = self.iterator.clone();
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_macro_mut(&mut self, of: &mut Macro) {
        if let Ok(mut arguments) = of.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            of.tokens = quote_spanned!(SpanRange::of(&*of).lo=> #arguments);
        }
    }
}
