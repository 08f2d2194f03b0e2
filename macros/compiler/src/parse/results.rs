//! `Result` as a value: `Ok(x)` and `Err(e)`, its methods with closures, `?`, and the methods that make one of an `Option`. In the host body
//! `Ok(x)` is written `Result::Ok { 0: x }`, which is no call.

use std::ops::ControlFlow::{self, Break, Continue};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ExprMethodCall;

use super::Parser;
use super::desugared_methods::applied;
use super::operand_order::OperandOrder;
use super::operand_types::TypeHint;
use super::syntax::strip;
use crate::messages;
use crate::model::SlotUse;
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::kind::Kind;
use crate::model::op::Variant;
use crate::model::ty::TypeShape;
use crate::source;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the error of the function if the file shows that `?` after a call converts the call's error to it by a `From`.
    pub(super) fn converted_error(&self, attempted: &syn::Expr) -> Option<syn::Type> {
        let called = match strip(attempted) {
            syn::Expr::Call(call) => match strip(&call.func) {
                syn::Expr::Path(path) => &path.path.segments.last()?.ident,
                _ => return None,
            },
            syn::Expr::MethodCall(call) => &call.method,
            _ => return None,
        };
        let file = self.file()?;
        let to = error_of(&syn::parse2(self.function.ret.as_ref()?.tokens.clone()).ok()?)?;
        let from = error_of(&source::result_of(file, &called.to_string())?)?;
        source::converts(file, &from, &to).then_some(to)
    }

    /// Parses `Ok(x)` or `Err(x)`.
    pub(super) fn outcome(&mut self, variant: Variant, arguments: &[&syn::Expr], span: SpanRange) -> Expr {
        let name = variant.name();
        let [value] = arguments else {
            return self.error(messages::argument_count(span, name, 1, arguments.len()));
        };
        let value = match value {
            syn::Expr::Tuple(nothing) if nothing.elems.is_empty() => self.expr(value),
            value => self.element(value, "a `Result`"),
        };
        let (slot, name) = (self.slot(SlotUse::Type), Ident::new(name, span.lo));
        let path = quote_spanned!(span.lo=> ::core::result::Result::#name);
        let kind =
            ExprKind::Struct { path, variant: None, fields: vec![(Member::Unnamed(0), value)], base: None, slot };
        Expr { kind, result_kind: Kind::Value, span }
    }

    /// Whether a value is a `Result`, as far as the text shows.
    pub(super) fn is_result(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Match { arms, .. } => arms.iter().any(|arm| self.is_result(&arm.body)),
            _ => matches!(self.hint(value), TypeHint::Named(name) if ["Result", "Ok", "Err"].contains(&name.as_str())),
        }
    }

    /// Whether the function returns a `Result`.
    pub(super) fn returns_result(&self) -> bool {
        self.function.ret.as_ref().is_some_and(|ret| {
            let is_named = matches!(ret.shape, TypeShape::Named(_));
            is_named
                && (ret.tokens.to_string().contains("Result")
                    || matches!(self.hint_of_shape(&ret.shape), TypeHint::Named(name) if name == "Result"))
        })
    }

    /// Parses a method of a `Result` that takes a closure or makes an `Option`, if the call is one.
    pub(super) fn method_of_result(
        &mut self,
        receiver: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> ControlFlow<Expr, Expr> {
        let at = SpanRange::of(&call.method).lo;
        let value = Ident::new("value", at.resolved_at(Span::mixed_site()));
        let (name, count) = (call.method.to_string(), call.args.len());
        let function = call.args.last().and_then(|function| applied(function, &value));
        let mut bindings = TokenStream::new();
        let arms = match (name.as_str(), count, function) {
            ("map", 1, Some((pat, body))) => quote_spanned!(at=> { Ok(#pat) => Ok(#body), Err(#value) => Err(#value) }),
            ("map_err", 1, Some((pat, body))) => {
                quote_spanned!(at=> { Ok(#value) => Ok(#value), Err(#pat) => Err(#body) })
            }
            ("and_then", 1, Some((pat, body))) => {
                quote_spanned!(at=> { Ok(#pat) => #body, Err(#value) => Err(#value) })
            }
            ("or_else", 1, Some((pat, body))) => quote_spanned!(at=> { Ok(#value) => Ok(#value), Err(#pat) => #body }),
            ("unwrap_or_else", 1, Some((pat, body))) => {
                quote_spanned!(at=> { Ok(#value) => #value, Err(#pat) => #body })
            }
            ("is_ok_and", 1, Some((pat, body))) => quote_spanned!(at=> { Ok(#pat) => #body, Err(_) => false }),
            ("is_err_and", 1, Some((pat, body))) => quote_spanned!(at=> { Ok(_) => false, Err(#pat) => #body }),
            // The first argument is always evaluated, after the result.
            ("map_or", 2, Some((pat, body))) => {
                let mut order = OperandOrder::of(&call.args.iter().collect::<Vec<_>>()[..1], value.span());
                let other = order.value(&call.args[0]);
                bindings = order.bindings();
                quote_spanned!(at=> { Ok(#pat) => #body, Err(_) => #other })
            }
            ("ok", 0, _) => quote_spanned!(at=> { Ok(#value) => Some(#value), Err(_) => None }),
            ("err", 0, _) => quote_spanned!(at=> { Ok(_) => None, Err(#value) => Some(#value) }),
            ("unwrap_or_default", 0, _) => {
                quote_spanned!(at=> { Ok(#value) => #value, Err(_) => ::core::default::Default::default() })
            }
            _ => return Continue(receiver),
        };
        Break(self.arms_of(receiver, bindings, &arms, value.span(), span))
    }

    /// Parses `option.ok_or(error)` or `option.ok_or_else(|| error)`, if the call is one.
    pub(super) fn result_of_option(
        &mut self,
        receiver: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> ControlFlow<Expr, Expr> {
        let at = SpanRange::of(&call.method).lo;
        let value = Ident::new("value", at.resolved_at(Span::mixed_site()));
        let mut bindings = TokenStream::new();
        let error = match (call.method.to_string().as_str(), &call.args.iter().collect::<Vec<_>>()[..]) {
            ("ok_or", [syn::Expr::Tuple(nothing)]) if nothing.elems.is_empty() => quote!(()),
            ("ok_or", [error]) => {
                let mut order = OperandOrder::of(&[*error], value.span());
                let error = order.value(error);
                bindings = order.bindings();
                error
            }
            ("ok_or_else", [function]) => match applied(function, &value) {
                Some((_, body)) if matches!(function, syn::Expr::Closure(_)) => body,
                _ => return Continue(receiver),
            },
            _ => return Continue(receiver),
        };
        let arms = quote_spanned!(at=> { Some(#value) => Ok(#value), None => Err(#error) });
        Break(self.arms_of(receiver, bindings, &arms, value.span(), span))
    }

    fn arms_of(
        &mut self,
        receiver: Expr,
        bindings: TokenStream,
        arms: &TokenStream,
        fresh: Span,
        span: SpanRange,
    ) -> Expr {
        match syn::parse2::<syn::ExprMatch>(quote!(match () #arms)) {
            Ok(choice) if bindings.is_empty() => {
                self.in_closure(|parser| parser.match_arms(receiver, &choice.arms, span))
            }
            Ok(choice) => self.after(receiver, bindings, fresh, |parser, receiver| {
                parser.in_closure(|parser| parser.match_arms(receiver, &choice.arms, span))
            }),
            Err(_) => self.error(messages::unsupported_syntax(span, "a closure of this form is")),
        }
    }
}

/// Returns the error of `Result<T, Error>`.
fn error_of(result: &syn::Type) -> Option<syn::Type> {
    let syn::Type::Path(path) = result else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let syn::PathArguments::AngleBracketed(of) = &last.arguments else { return None };
    match of.args.iter().nth(1)? {
        syn::GenericArgument::Type(error) => Some(error.clone()),
        _ => None,
    }
}
