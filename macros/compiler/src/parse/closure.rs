//! Closures, and parameters that are closures: `f: impl Fn(A) -> B`, and the equivalent `f: F` with `F: Fn(A) -> B`; also with `FnMut` and
//! `FnOnce`.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, GenericParam, ItemFn, PathArguments, Type, TypeParamBound, WherePredicate, parse_quote, parse2};

use super::scalar_functions::is_number;
use super::syntax::strip;
use super::ty::holds_token;
use super::{Parser, parameters};
use crate::messages;
use crate::model::LocalId;
use crate::model::barrier::BarrierForm;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::method::ScalarFunction;
use crate::model::place::local_of;
use crate::model::ty::{ParamType, ValueType};
use crate::model::walk::walk;
use crate::span::SpanRange;

/// Rewrites `f: F` with `F: Fn(A) -> B` as `f: impl Fn(A) -> B`.
pub(super) fn in_place(item: &ItemFn) -> ItemFn {
    let mut item = item.clone();
    let generics = &mut item.sig.generics;
    let mut closures = Vec::new();
    for param in &generics.params {
        let GenericParam::Type(param) = param else { continue };
        let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let further = predicates.filter_map(|predicate| match predicate {
            WherePredicate::Type(of) if param.ident == of.bounded_ty.to_token_stream().to_string() => Some(&of.bounds),
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

pub(super) fn is_fn(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| of_calls(&last.ident).is_some()))
}

/// Returns the name of a trait of closures, if it is one.
fn of_calls(name: &Ident) -> Option<&'static str> {
    ["Fn", "FnMut", "FnOnce"].into_iter().find(|of| name == of)
}

impl Parser<'_> {
    /// Returns the closure that a path stands for which names a function, as far as the text shows: `apply(x, f32::sqrt)`.
    pub(super) fn function_as_closure(&self, function: &syn::ExprPath) -> Option<syn::ExprClosure> {
        let segments: Vec<_> = function.path.segments.iter().collect();
        let last = segments.last().filter(|last| last.arguments.is_none() && function.qself.is_none())?;
        let name = last.ident.to_string();
        if name.starts_with(char::is_uppercase) || segments.len() == 1 && self.lookup(&last.ident).is_some() {
            return None;
        }
        let owner = segments.len().checked_sub(2).map(|owner| segments[owner].ident.to_string());
        let count = match owner.as_deref() {
            Some(number) if is_number(number) => ScalarFunction::by_name(&name)?.arguments(),
            _ if super::imported::is_marked(&function.path) => 2,
            _ => self.values_taken(&name).filter(|count| *count > 0)?,
        };
        let at = SpanRange::of(function).lo.resolved_at(Span::mixed_site());
        let values: Vec<Ident> = (0..count).map(|number| format_ident!("value_{number}", span = at)).collect();
        parse2(quote!(|#(#values),*| #function(#(#values),*))).ok()
    }

    /// Parses a closure, which computes a value from its arguments and its environment. Tokens, collectives and jumps
    /// cannot occur in it, because it is not followed.
    pub(super) fn closure(&mut self, closure: &syn::ExprClosure, span: SpanRange) -> Expr {
        if let Some(local) = self.captured_token(closure) {
            return self.escape(Expr { kind: ExprKind::Local(local), result_kind: Kind::Unknown, span }, "a closure");
        }
        if closure.asyncness.is_some() || closure.constness.is_some() || closure.lifetimes.is_some() {
            return self.error(messages::unsupported_syntax(span, "`async`, `const` or `for` before a closure is"));
        }
        let around = self.function.locals.len();
        let closure = &parameters::of_closure(closure);
        let hint = self.closure_hint.take();
        let (params, body) = self.in_closure(|parser| {
            let ((params, body), bound) = parser.scoped(|parser| {
                let params: Vec<_> = closure.inputs.iter().map(|input| parser.closure_parameter(input)).collect();
                for (local, ty) in params.iter().flatten() {
                    let hint = hint.clone().filter(|_| ty.is_none());
                    parser.hints.extend(hint.map(|hint| (*local, hint)));
                }
                (params, parser.closure_body(&closure.body))
            });
            (params, parser.arm_body(body, bound))
        });
        let Some(params) = params.into_iter().collect() else { return Expr::error(span) };
        self.changed_by_closure = self.changed_around(&body, around);
        let by_value = closure.capture.is_some().then(|| self.shared_arrays(&body, around));
        let kind = ExprKind::Closure { params, body: Box::new(body), by_value };
        Expr { kind, result_kind: Kind::Closure, span }
    }

    /// Returns where a closure assigns to a variable that is declared around it.
    fn changed_around(&self, body: &Expr, around: usize) -> Option<SpanRange> {
        let mut changed = None;
        walk(body, &mut |expr| {
            let place = match &expr.kind {
                ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => place,
                ExprKind::Borrow { mutable: true, target } => target,
                _ => return,
            };
            let is_around = |local: LocalId| local.0 < around && self.function.kind(local) == Kind::Value;
            if local_of(place).is_some_and(is_around) {
                changed.get_or_insert(expr.span);
            }
        });
        changed
    }

    /// Returns those of the first `around` locals that `body` names and that are shared arrays or barriers.
    fn shared_arrays(&self, body: &Expr, around: usize) -> Vec<LocalId> {
        let mut found = Vec::new();
        walk(body, &mut |expr| match expr.kind {
            ExprKind::Local(local)
                if local.0 < around && has_one_place(self.function.kind(local)) && !found.contains(&local) =>
            {
                found.push(local);
            }
            _ => {}
        });
        found
    }

    /// Runs `f` inside a closure: its jumps stay inside, and its callers may be a part of a group.
    pub(super) fn in_closure<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let jump_targets = std::mem::take(&mut self.jump_targets);
        self.closures += 1;
        let result = f(self);
        self.closures -= 1;
        self.jump_targets = jump_targets;
        result
    }

    /// Parses a closure's body: a value, or `()` if it is called for its effect on memory.
    fn closure_body(&mut self, body: &syn::Expr) -> Expr {
        let body = self.expr(body);
        if body.result_kind == Kind::Unit {
            return body;
        }
        self.require_value(&body);
        match body.result_kind {
            // It was reported.
            Kind::Closure => Expr::error(body.span),
            _ => self.with_type(body),
        }
    }

    fn closure_parameter(&mut self, input: &syn::Pat) -> Option<(LocalId, Option<ValueType>)> {
        let (pat, ty) = match input {
            syn::Pat::Type(typed) => (&*typed.pat, Some(self.value_type(&typed.ty)?)),
            pat => (pat, None),
        };
        match pat {
            syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let hint = ty.as_ref().map(|ty| self.hint_of_shape(&ty.shape));
                let local = self.declare(&name.ident, name.mutability.map(|token| token.span), Kind::Value, None);
                self.hints.extend(hint.map(|hint| (local, hint)));
                Some((local, ty))
            }
            pat => {
                self.diags.push(messages::unsupported_pattern(SpanRange::of(pat)));
                None
            }
        }
    }

    /// Returns a token that a closure captures.
    pub(super) fn captured_token(&self, closure: &syn::ExprClosure) -> Option<LocalId> {
        fn idents(stream: proc_macro2::TokenStream, found: &mut Vec<Ident>) {
            for tree in stream {
                match tree {
                    proc_macro2::TokenTree::Ident(ident) => found.push(ident),
                    proc_macro2::TokenTree::Group(group) => idents(group.stream(), found),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        idents(closure.body.to_token_stream(), &mut found);
        found
            .iter()
            .filter_map(|name| self.lookup(name))
            .find(|local| matches!(self.function.kind(*local), Kind::Token(_) | Kind::OptionalToken(_)))
    }

    /// Parses `impl Fn(A, B) -> C`.
    pub(super) fn closure_type(&mut self, ty: &syn::TypeImplTrait) -> Option<ParamType> {
        let mut bounds = ty.bounds.iter();
        let (Some(syn::TypeParamBound::Trait(bound)), None) = (bounds.next(), bounds.next()) else {
            self.diags.push(messages::impl_trait_parameter(SpanRange::of(ty)));
            return None;
        };
        let last = bound.path.segments.last();
        let of = last.and_then(|last| Some((of_calls(&last.ident)?, &last.arguments)));
        let Some((calls, PathArguments::Parenthesized(signature))) = of else {
            self.diags.push(messages::impl_trait_parameter(SpanRange::of(ty)));
            return None;
        };
        let inputs = signature.inputs.iter().map(|input| self.plain_type(&input.ty)).collect::<Option<Vec<_>>>()?;
        let output = match &signature.output {
            syn::ReturnType::Type(_, output) => Some(self.plain_type(output)?),
            syn::ReturnType::Default => None,
        };
        let closures = self.function.params.iter().filter(|param| matches!(param.ty, ParamType::Closure { .. }));
        Some(ParamType::Closure { index: closures.count(), inputs, output, calls })
    }

    /// Parses the type of plain data, which a token is not.
    fn plain_type(&mut self, ty: &Type) -> Option<ValueType> {
        let value = self.value_type(ty)?;
        if holds_token(&value.shape) {
            self.diags.push(messages::token_escapes(SpanRange::of(ty), "a closure"));
            return None;
        }
        Some(value)
    }
}

impl Parser<'_> {
    /// Returns a chain of calls with `f` for `&f`, where `f` is a closure with a name: a closure that is lent is called as it is.
    pub(super) fn without_lent_closures(&self, call: &syn::ExprMethodCall) -> Option<syn::ExprMethodCall> {
        let lent = |argument: &syn::Expr| match strip(argument) {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => {
                let local = self.named_local(&reference.expr)?;
                (self.function.kind(local) == Kind::Closure).then(|| (*reference.expr).clone())
            }
            _ => None,
        };
        let receiver = match strip(&call.receiver) {
            syn::Expr::MethodCall(receiver) => self.without_lent_closures(receiver),
            _ => None,
        };
        if receiver.is_none() && !call.args.iter().any(|argument| lent(argument).is_some()) {
            return None;
        }
        let mut call = call.clone();
        if let Some(receiver) = receiver {
            call.receiver = Box::new(syn::Expr::MethodCall(receiver));
        }
        for argument in &mut call.args {
            if let Some(closure) = lent(argument) {
                *argument = closure;
            }
        }
        Some(call)
    }
}

/// Whether the kind has one place, in shared memory or as a parameter, and cannot be copied.
fn has_one_place(kind: Kind) -> bool {
    match kind {
        Kind::Memory(Memory::SharedArray) | Kind::TensorMap { .. } => true,
        Kind::Memory(
            Memory::Global | Memory::GlobalMut | Memory::SharedSlice | Memory::RemoteArray | Memory::RemoteSlice,
        ) => false,
        Kind::Barrier(barrier) => barrier.form != BarrierForm::Remote,
        Kind::Unknown
        | Kind::Value
        | Kind::Reference { .. }
        | Kind::Extent
        | Kind::Unit
        | Kind::Never
        | Kind::Group(_)
        | Kind::Token(_)
        | Kind::OptionalToken(_)
        | Kind::OptionalMemory(_)
        | Kind::Closure => false,
    }
}
