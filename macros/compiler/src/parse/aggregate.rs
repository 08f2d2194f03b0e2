//! Structs: their literals, the constructors of tuple structs, and their fields.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{ExprArray, ExprField, ExprStruct, Token};

use super::Parser;
use super::expr::dereferenced;
use crate::messages;
use crate::model::SlotUse;
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::kind::Kind;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a part of `whole`, whose type precedes its parts in the text.
    pub(super) fn element(&mut self, expr: &syn::Expr, whole: &str) -> Expr {
        let mut element = self.beside(expr);
        self.plain_option(&mut element);
        match element.result_kind {
            Kind::Token(_) | Kind::OptionalToken(_) => self.escape(element, whole),
            kind @ Kind::Memory(_) => {
                self.learn_element(&element);
                self.error(messages::memory_in_value(element.span, kind, whole))
            }
            _ => {
                self.require_value(&element);
                self.with_type(element)
            }
        }
    }

    /// Parses `[a, b]`. What is wrong with one element is often wrong with the others: one error is enough.
    pub(super) fn array(&mut self, array: &ExprArray, span: SpanRange) -> Expr {
        let mut elements = Vec::new();
        for element in &array.elems {
            let element = self.element(element, "an array");
            if matches!(element.kind, ExprKind::Error) {
                return Expr::error(span);
            }
            elements.push(element);
        }
        let slot = self.slot(SlotUse::Type);
        Expr { kind: ExprKind::Array { elements, slot }, result_kind: Kind::Value, span }
    }

    /// Parses `Point { x: 1.0, y, ..base }`.
    pub(super) fn struct_literal(&mut self, literal: &ExprStruct, span: SpanRange) -> Expr {
        let fields =
            literal.fields.iter().map(|field| (member_of(&field.member), self.element(&field.expr, "a struct")));
        let fields = fields.collect();
        let base = literal.rest.as_ref().map(|rest| Box::new(self.value(rest)));
        let (slot, mut path) = (self.slot(SlotUse::Type), literal.path.to_token_stream());
        if let Some(qself) = &literal.qself {
            let whole = syn::ExprPath { attrs: Vec::new(), qself: Some(qself.clone()), path: literal.path.clone() };
            path = whole.to_token_stream();
        }
        let variant = self.variant_of_enum(&literal.path).filter(|_| literal.qself.is_none());
        Expr { kind: ExprKind::Struct { path, variant, fields, base, slot }, result_kind: Kind::Value, span }
    }

    /// Parses `Meters(1.0)`. The host body has `Meters { 0: 1.0 }`, which cannot be a function of that name.
    pub(super) fn tuple_struct(
        &mut self,
        path: &syn::ExprPath,
        arguments: &Punctuated<syn::Expr, Token![,]>,
        span: SpanRange,
    ) -> Expr {
        let number = |index: usize| member_of(&syn::Member::Unnamed(syn::Index::from(index)));
        let fields = arguments.iter().enumerate();
        let fields = fields.map(|(index, field)| (number(index), self.element(field, "a struct"))).collect();
        let slot = self.slot(SlotUse::Type);
        let variant = self.variant_of_enum(&path.path).filter(|_| path.qself.is_none());
        let kind = ExprKind::Struct { path: path.to_token_stream(), variant, fields, base: None, slot };
        Expr { kind, result_kind: Kind::Value, span }
    }

    /// Parses `base.name` or `base.0`.
    pub(super) fn field(&mut self, field: &ExprField, span: SpanRange) -> Expr {
        let base = self.expr(&field.base);
        let axis = match &field.member {
            syn::Member::Named(name) => ["x", "y", "z"].into_iter().find(|axis| name == axis),
            syn::Member::Unnamed(_) => None,
        };
        let base = match (base.result_kind, axis) {
            (Kind::Extent, Some(axis)) => {
                let axis = axis.chars().next().unwrap_or('x');
                return Expr { kind: ExprKind::Axis(Box::new(base), axis), result_kind: Kind::Value, span };
            }
            (Kind::Extent, None) => {
                let what = "a field of a `Dim3` other than `x`, `y` and `z` is";
                return self.error(messages::unsupported_syntax(span, what));
            }
            (Kind::Unknown, _) => return Expr::error(span),
            (Kind::Value, _) => base,
            (Kind::Reference { .. }, _) => dereferenced(base),
            (
                kind @ (Kind::Unit
                | Kind::Never
                | Kind::Group(_)
                | Kind::Token(_)
                | Kind::OptionalToken(_)
                | Kind::Closure
                | Kind::OptionalMemory(_)
                | Kind::Barrier(_)
                | Kind::TensorMap { .. }
                | Kind::Memory(_)),
                _,
            ) => {
                self.learn_element(&base);
                return self.error(messages::no_fields(span, kind));
            }
        };
        let kind = ExprKind::Field { base: Box::new(base), member: member_of(&field.member) };
        Expr { kind, result_kind: Kind::Value, span }
    }
}

pub(super) fn member_of(name: &syn::Member) -> Member {
    match name {
        syn::Member::Named(name) => Member::Named(name.clone()),
        syn::Member::Unnamed(index) => Member::Unnamed(index.index),
    }
}
