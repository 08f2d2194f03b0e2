//! Ranges with names: `let rows = begin..end;`, and then `for row in rows`, `rows.contains(&x)`, `rows.len()`, `&values[rows]`. No value of the
//! language is a range: the ends get names, and a range of these stands wherever the name of the range does.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprMethodCall, ExprRange, Local, Macro, Member, Pat, PatIdent, RangeLimits, Stmt, Token, UnOp,
    parse_quote_spanned,
};

use super::expr::is_literal;
use super::syntax::{binds, strip};
use crate::span::SpanRange;

/// Returns the statements in place of `let name = a..b;` and of those after it, if the statement is one.
pub(super) fn without(local: &Local, rest: &[&Stmt]) -> Option<Vec<Stmt>> {
    let Pat::Ident(PatIdent { by_ref: None, mutability: None, ident: name, subpat: None, .. }) = &local.pat else {
        return None;
    };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let Expr::Range(ExprRange { start: Some(start), limits, end: Some(end), .. }) = strip(&init.expr) else {
        return None;
    };
    if binds(rest.iter().copied(), name) {
        return None;
    }
    let at = SpanRange::of(&local.pat).lo;
    let mut statements = Vec::new();
    let mut held = |what: &str, value: &Expr| -> TokenStream {
        // Its type is that of the other end.
        if is_literal(value) {
            return value.to_token_stream();
        }
        let held = format_ident!("{what}_of_{name}", span = name.span().resolved_at(Span::mixed_site()));
        statements.push(parse_quote_spanned!(at=> let #held = #value;));
        held.into_token_stream()
    };
    let (start, end) = (held("start", start), held("end", end));
    let mut uses = Uses { name, start, end, limits: *limits };
    for stmt in rest {
        let mut stmt = (*stmt).clone();
        uses.visit_stmt_mut(&mut stmt);
        statements.push(stmt);
    }
    Some(statements)
}

struct Uses<'a> {
    name: &'a Ident,
    start: TokenStream,
    end: TokenStream,
    limits: RangeLimits,
}

impl Uses<'_> {
    /// Whether it is the range, or a copy of it.
    fn is_range(&self, expr: &Expr) -> bool {
        match strip(expr) {
            Expr::Path(path) => path.path.get_ident() == Some(self.name),
            Expr::MethodCall(call) => {
                call.args.is_empty()
                    && (call.method == "clone" || call.method == "into_iter")
                    && self.is_range(&call.receiver)
            }
            Expr::Reference(reference) => self.is_range(&reference.expr),
            _ => false,
        }
    }

    fn range(&self, at: Span) -> Expr {
        // What is wrong with the range is wrong where its name stands.
        let here = |tokens: &TokenStream| -> TokenStream {
            let moved = |mut token: TokenTree| {
                token.set_span(at.resolved_at(token.span()));
                token
            };
            tokens.clone().into_iter().map(moved).collect()
        };
        let (start, end, limits) = (here(&self.start), here(&self.end), &self.limits);
        parse_quote_spanned!(at=> #start #limits #end)
    }

    fn method(&self, call: &ExprMethodCall) -> Option<Expr> {
        let at = SpanRange::of(call).lo;
        let (start, end) = (&self.start, &self.end);
        let is_half_open = matches!(self.limits, RangeLimits::HalfOpen(_));
        let is_within = if is_half_open { quote!(#start < #end) } else { quote!(#start <= #end) };
        if !call.args.is_empty() || !self.is_range(&call.receiver) {
            return None;
        }
        Some(match call.method.to_string().as_str() {
            "len" if is_half_open => {
                parse_quote_spanned!(at=> { if #is_within { (#end - #start) as ::core::primitive::usize } else { 0 } })
            }
            "is_empty" => parse_quote_spanned!(at=> (!(#is_within))),
            _ => return None,
        })
    }

    /// Returns an end of the range: `range.start`, `*range.end()`.
    fn end_of(&self, expr: &Expr) -> Option<Expr> {
        let (receiver, name) = match expr {
            Expr::Field(field) => match &field.member {
                Member::Named(name) => (&field.base, name),
                Member::Unnamed(_) => return None,
            },
            Expr::Unary(deref) if matches!(deref.op, UnOp::Deref(_)) => match strip(&deref.expr) {
                Expr::MethodCall(call) if call.args.is_empty() => (&call.receiver, &call.method),
                _ => return None,
            },
            _ => return None,
        };
        let end = match name.to_string().as_str() {
            "start" => &self.start,
            "end" => &self.end,
            _ => return None,
        };
        let at = SpanRange::of(expr).lo;
        self.is_range(receiver).then(|| parse_quote_spanned!(at=> #end))
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let at = SpanRange::of(&*expr).lo;
        if let Some(end) = self.end_of(expr) {
            *expr = end;
            return;
        }
        match expr {
            Expr::MethodCall(call) => {
                if let Some(value) = self.method(call) {
                    *expr = value;
                    return;
                }
            }
            Expr::Index(index) if self.is_range(&index.index) => *index.index = self.range(at),
            Expr::ForLoop(repeat) if self.is_range(&repeat.expr) => *repeat.expr = self.range(at),
            _ => {}
        }
        if !matches!(expr, Expr::Reference(_)) && self.is_range(expr) {
            let range = self.range(at);
            *expr = parse_quote_spanned!(at=> (#range));
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
