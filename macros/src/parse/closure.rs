//! Parameters that are closures: `f: impl Fn(A) -> B`, and `f: F` with `F: Fn(A) -> B`, which is the same.

use quote::ToTokens;
use syn::{FnArg, GenericParam, ItemFn, PathArguments, Type, TypeParamBound, WherePredicate, parse_quote};

use super::Parser;
use crate::messages;
use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::span::SpanRange;

/// Writes `f: F` with `F: Fn(A) -> B` as `f: impl Fn(A) -> B`.
pub(super) fn in_place(item: &ItemFn) -> ItemFn {
    let mut item = item.clone();
    let generics = &mut item.sig.generics;
    let mut closures = Vec::new();
    for param in &generics.params {
        let GenericParam::Type(param) = param else { continue };
        let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let further = predicates.filter_map(|predicate| match predicate {
            WherePredicate::Type(of) if of.bounded_ty.to_token_stream().to_string() == param.ident.to_string() => {
                Some(&of.bounds)
            }
            _ => None,
        });
        let bounds: Vec<&TypeParamBound> = param.bounds.iter().chain(further.flatten()).collect();
        if bounds.iter().any(|bound| is_fn(bound)) {
            let ty: Type = parse_quote!(impl #(#bounds)+*);
            closures.push((param.ident.to_string(), ty));
        }
    }
    if closures.is_empty() {
        return item;
    }
    let closure = |name: String| closures.iter().find(|(known, _)| *known == name).map(|(_, ty)| ty);
    let kept = generics.params.iter().filter(|param| match param {
        GenericParam::Type(param) => closure(param.ident.to_string()).is_none(),
        _ => true,
    });
    generics.params = kept.cloned().collect();
    if let Some(clause) = &mut generics.where_clause {
        let kept = clause.predicates.iter().filter(|predicate| match predicate {
            WherePredicate::Type(of) => closure(of.bounded_ty.to_token_stream().to_string()).is_none(),
            _ => true,
        });
        clause.predicates = kept.cloned().collect();
    }
    generics.where_clause.take_if(|clause| clause.predicates.is_empty());
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(input) = input
            && let Some(ty) = closure(input.ty.to_token_stream().to_string())
        {
            *input.ty = ty.clone();
        }
    }
    item
}

fn is_fn(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| last.ident == "Fn"))
}

impl Parser<'_> {
    /// `impl Fn(A, B) -> C`
    pub(super) fn closure_type(&mut self, ty: &syn::TypeImplTrait) -> Option<ParamType> {
        let mut bounds = ty.bounds.iter();
        let (Some(syn::TypeParamBound::Trait(bound)), None) = (bounds.next(), bounds.next()) else {
            self.diags.push(messages::impl_trait_parameter(SpanRange::of(ty)));
            return None;
        };
        let last = bound.path.segments.last().filter(|last| last.ident == "Fn");
        let Some(PathArguments::Parenthesized(signature)) = last.map(|last| &last.arguments) else {
            self.diags.push(messages::impl_trait_parameter(SpanRange::of(ty)));
            return None;
        };
        let inputs = signature.inputs.iter().map(|input| self.plain_type(&input.ty)).collect::<Option<Vec<_>>>()?;
        let output = match &signature.output {
            syn::ReturnType::Type(_, output) => Some(self.plain_type(output)?),
            syn::ReturnType::Default => None,
        };
        let closures = self.function.params.iter().filter(|param| matches!(param.ty, ParamType::Closure { .. }));
        Some(ParamType::Closure { index: closures.count(), inputs, output })
    }

    /// The type of plain data, which a token is not.
    fn plain_type(&mut self, ty: &Type) -> Option<ValueType> {
        let value = self.value_type(ty)?;
        match value.shape {
            TypeShape::Token(_) | TypeShape::OptionalToken(_) => {
                self.diags.push(messages::token_escapes(SpanRange::of(ty), "a closure"));
                None
            }
            _ => Some(value),
        }
    }
}
