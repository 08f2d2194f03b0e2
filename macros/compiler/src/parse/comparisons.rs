//! Comparisons of types whose `PartialEq`, `PartialOrd` or `Ord` is written by hand, under `#[device]`: `a == b` is a call of the method
//! there, as in Rust. Which types these are, the file shows; of any other type, rustc says at the comparison that it has none.

use std::ops::ControlFlow::{self, Break, Continue};

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericArgument, ItemImpl, PathArguments, Type};

use super::Parser;
use super::operand_types::{Operand, TypeHint};
use super::reference::is_in_memory;
use crate::messages;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, UnaryOp};
use crate::model::kind::Kind;
use crate::source;
use crate::span::SpanRange;

/// Whether a trait of the standard library compares, and so its methods are called of the type itself.
pub(super) fn is_comparison(name: &str) -> bool {
    ["PartialEq", "PartialOrd", "Ord", "Eq"].contains(&name)
}

/// Whether an `impl` compares a type with itself: other operands are not found by the left one's type.
pub(super) fn compares_itself(item: &ItemImpl) -> bool {
    let Some(last) = item.trait_.as_ref().and_then(|(path, _)| path.segments.last()) else { return false };
    match &last.arguments {
        PathArguments::None => true,
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().all(|argument| match argument {
            GenericArgument::Type(other @ Type::Path(path)) => {
                path.path.is_ident("Self")
                    || other.to_token_stream().to_string() == item.self_ty.to_token_stream().to_string()
            }
            _ => false,
        }),
        PathArguments::Parenthesized(_) => false,
    }
}

impl Parser<'_> {
    /// Makes a comparison of two values, if the left one's type has one that is written by hand.
    pub(super) fn compared_by_hand(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: SpanRange,
    ) -> ControlFlow<Expr, (Expr, Expr)> {
        let (of_trait, own, provided) = match op {
            BinaryOp::Eq => ("PartialEq", "eq", None),
            BinaryOp::Ne => ("PartialEq", "ne", None),
            BinaryOp::Lt => ("PartialOrd", "lt", Some(quote!(Some(::core::cmp::Ordering::Less)))),
            BinaryOp::Gt => ("PartialOrd", "gt", Some(quote!(Some(::core::cmp::Ordering::Greater)))),
            BinaryOp::Le => {
                ("PartialOrd", "le", Some(quote!(Some(::core::cmp::Ordering::Less | ::core::cmp::Ordering::Equal))))
            }
            BinaryOp::Ge => {
                ("PartialOrd", "ge", Some(quote!(Some(::core::cmp::Ordering::Greater | ::core::cmp::Ordering::Equal))))
            }
            _ => return Continue((left, right)),
        };
        if !self.is_by_hand(of_trait, &left) {
            return Continue((left, right));
        }
        let is_own = op == BinaryOp::Eq || self.has_own_method(&left, own);
        let method = match (is_own, of_trait) {
            (true, _) => own,
            (false, "PartialEq") => "eq",
            (false, _) => "partial_cmp",
        };
        let other = self.compared_with(right);
        let name = Ident::new(method, span.lo.resolved_at(Span::call_site()));
        let called = self.device_callee(Callee::Method(name, Default::default()), vec![left, other], span);
        Break(match provided {
            _ if is_own => called,
            None => Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(called)), result_kind: Kind::Value, span },
            Some(orders) => {
                let arms =
                    syn::parse2::<syn::ExprMatch>(quote_spanned!(span.lo=> match () { #orders => true, _ => false }));
                match arms {
                    Ok(choice) => self.match_arms(called, &choice.arms, span),
                    Err(_) => self.error(messages::unsupported_syntax(span, "this comparison is")),
                }
            }
        })
    }

    /// Parses `a.max(b)` or `a.min(b)` of a type whose `Ord` is written by hand, if it is one: the second of two that are equal is the greater.
    pub(super) fn greater_by_hand(
        &mut self,
        greater: bool,
        left: Expr,
        right: &syn::Expr,
        span: SpanRange,
    ) -> ControlFlow<Expr, Expr> {
        if !self.is_by_hand("Ord", &left) {
            return Continue(left);
        }
        let fresh = span.lo.resolved_at(Span::mixed_site());
        let (first, second) = (Ident::new("receiver", fresh), Ident::new("second", fresh));
        let (one, other) = if greater { (&first, &second) } else { (&second, &first) };
        let tokens = quote_spanned!(fresh=> if #first.cmp(&#second).is_gt() { #one } else { #other });
        Break(self.after(left, quote!(let #second = #right;), fresh, |parser, _| parser.in_place(tokens, span)))
    }

    /// Whether the type of a value has an `impl` of this trait that is written by hand, and is a device `impl`.
    pub(super) fn is_by_hand(&self, of_trait: &str, value: &Expr) -> bool {
        match self.hint(value) {
            TypeHint::Named(name) => {
                self.operand(value) == Operand::User
                    && self.file().is_some_and(|file| source::implements(file, of_trait, &name))
            }
            _ => false,
        }
    }

    /// Returns the reference that a method takes to what is compared.
    fn compared_with(&mut self, right: Expr) -> Expr {
        let span = right.span;
        match right.result_kind {
            Kind::Reference { .. } => right,
            Kind::Value if is_in_memory(&right) => self.lent_copy(right, span),
            Kind::Value => {
                let kind = ExprKind::Borrow { mutable: false, target: Box::new(right) };
                Expr { kind, result_kind: Kind::Value, span }
            }
            _ => right,
        }
    }
}
