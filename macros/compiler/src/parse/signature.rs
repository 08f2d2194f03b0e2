//! Parameters, generics and the result.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, ItemFn, Pat, ReturnType, Type, parse_quote};

use super::Parser;
use crate::diag::Diags;
use crate::messages;
use crate::model::group::Group;
use crate::model::kind::{Kind, Memory};
use crate::model::ty::{ParamType, TypeShape, ValueType, scalar};
use crate::model::{GenericParam, Param, Return, Role};
use crate::source;
use crate::span::SpanRange;

/// The attributes that keep their meaning on the items that replace a function. `expand` handles conditions.
pub(super) const OF_ITEMS: [&str; 7] = ["doc", "allow", "warn", "deny", "forbid", "deprecated", "must_use"];
/// The attributes that apply to the body.
pub(super) const OF_BODIES: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

pub(super) fn attributes(attrs: &[Attribute], names: &[&str]) -> TokenStream {
    attrs
        .iter()
        .filter(|attr| names.iter().any(|name| attr.path().is_ident(name)))
        .map(ToTokens::to_token_stream)
        .collect()
}

/// Adds `'static` to the bounds of each type parameter, as all types of the language have it: then rustc reports a
/// missing bound as such, and nothing about lifetimes.
fn static_types(generics: &syn::Generics) -> syn::Generics {
    let mut generics = generics.clone();
    let mut names: Vec<String> = generics.type_params().map(|param| param.ident.to_string()).collect();
    for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
        if let syn::WherePredicate::Type(of) = predicate
            && let Some(index) = names.iter().position(|name| *name == of.bounded_ty.to_token_stream().to_string())
        {
            of.bounds.insert(0, parse_quote!('static));
            names.swap_remove(index);
        }
    }
    for param in generics.type_params_mut().filter(|param| names.contains(&param.ident.to_string())) {
        param.colon_token.get_or_insert_default();
        param.bounds.insert(0, parse_quote!('static));
    }
    generics
}

/// Refuses a type parameter without bounds, which the language does not have. rustc would report each of its uses.
pub(super) fn bounded(generics: &syn::Generics, diags: &mut Diags) {
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let subjects: Vec<String> = clauses
        .filter_map(|predicate| match predicate {
            syn::WherePredicate::Type(of) => Some(of.bounded_ty.to_token_stream().to_string()),
            _ => None,
        })
        .collect();
    for param in generics.type_params() {
        if param.bounds.is_empty() && !subjects.contains(&param.ident.to_string()) {
            diags.push(messages::unbounded_parameter(SpanRange::of(&param.ident), &param.ident.to_string()));
        }
    }
}

/// Refuses a type parameter whose bounds are all the standard library's, as rustc would each of its uses.
pub(super) fn bounded_by_kernels(generics: &syn::Generics, diags: &mut Diags) {
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let predicates: Vec<&syn::PredicateType> = predicates
        .filter_map(|predicate| if let syn::WherePredicate::Type(of) = predicate { Some(of) } else { None })
        .collect();
    for param in generics.type_params() {
        let further = predicates.iter().filter(|of| param.ident == of.bounded_ty.to_token_stream().to_string());
        let traits: Vec<&syn::Path> = param
            .bounds
            .iter()
            .chain(further.flat_map(|of| &of.bounds))
            .filter_map(|bound| if let syn::TypeParamBound::Trait(bound) = bound { Some(&bound.path) } else { None })
            .collect();
        if !traits.is_empty() && traits.iter().all(|path| is_of_library(path)) {
            let name = param.ident.to_string();
            diags.push(messages::bounds_of_library(SpanRange::of(&param.ident), &name));
        }
    }
}

/// Whether a trait is one of the standard library, as its path or the file's imports show, or a name of Rust's prelude.
fn is_of_library(path: &syn::Path) -> bool {
    const PRELUDE: [&str; 12] =
        ["Copy", "Clone", "Default", "PartialEq", "Eq", "PartialOrd", "Ord", "Send", "Sync", "Sized", "From", "Into"];
    let (Some(first), Some(last)) = (path.segments.first(), path.segments.last()) else { return false };
    let (name, text) = (last.ident.to_string(), source::text(last.ident.span()).unwrap_or_default());
    let of_std = |word: &str| word == "std" || word == "core";
    let declarations = text.split(';').filter_map(|text| text.rsplit_once("use ")).map(|(_, tree)| tree.trim_start());
    let mut imports = declarations.filter(|tree| tree.split("::").next().is_some_and(of_std));
    let has_name = |tree: &str| tree.split(|of: char| !of.is_alphanumeric() && of != '_').any(|word| word == name);
    let is_declared = text.contains(&format!("trait {name}"));
    !is_declared && (of_std(&first.ident.to_string()) || PRELUDE.contains(&name.as_str()) || imports.any(has_name))
}

impl Parser<'_> {
    pub(super) fn signature(&mut self, item: &ItemFn) {
        let sig = &item.sig;
        self.qualifiers(item);
        self.generics(&sig.generics);
        self.elide_brands(sig);
        for argument in &sig.inputs {
            match argument {
                // `expand` has refused the receiver.
                FnArg::Receiver(_) => {}
                FnArg::Typed(typed) => self.parameter(&typed.pat, &typed.ty),
            }
        }
        self.elide_result();
        if let ReturnType::Type(_, ty) = &sig.output {
            self.result(ty);
        }
        self.infer_brands();
        if sig.constness.is_some() && self.function.role != Role::Kernel && !self.function.takes_values() {
            self.diags.push(messages::constant_of_memory(SpanRange::of(&sig.constness)));
        }
    }

    fn qualifiers(&mut self, item: &ItemFn) {
        let sig = &item.sig;
        // The launch of a kernel is a type of the kernel's name.
        let name = sig.ident.to_string();
        if self.function.role == Role::Kernel && scalar(&name).is_some() {
            self.diags.push(messages::kernel_named_as_type(SpanRange::of(&sig.ident), &name));
        }
        let mut refuse = |present: bool, tokens: TokenStream, what: &str| {
            if present {
                self.diags.push(messages::unsupported_qualifier(SpanRange::of(&tokens), what));
            }
        };
        let is_const = sig.constness.is_some();
        refuse(is_const && self.function.role == Role::Kernel, sig.constness.to_token_stream(), "`const`");
        refuse(sig.asyncness.is_some(), sig.asyncness.to_token_stream(), "`async`");
        refuse(!matches!(sig.safety, syn::Safety::Default), sig.safety.to_token_stream(), "`unsafe`");
        refuse(sig.abi.is_some(), sig.abi.to_token_stream(), "`extern`");
        refuse(sig.variadic.is_some(), sig.variadic.to_token_stream(), "variadic");
    }

    fn generics(&mut self, generics: &syn::Generics) {
        if self.function.role != Role::Method {
            bounded(generics, self.diags);
            bounded_by_kernels(generics, self.diags);
        }
        let generics = &static_types(generics);
        for param in &generics.params {
            let at = SpanRange::of(param);
            match param {
                syn::GenericParam::Lifetime(of) => {
                    self.reported_types.insert(of.lifetime.to_string());
                    self.diags.push(messages::lifetime_parameter(at));
                }
                syn::GenericParam::Type(ty) => {
                    let (ident, colon, bounds) = (&ty.ident, &ty.colon_token, &ty.bounds);
                    self.function.generics.declared.push(quote!(#ident #colon #bounds));
                    self.function.generics.params.push(GenericParam::Type(ident.clone()));
                }
                syn::GenericParam::Const(constant) => {
                    let (ident, ty) = (&constant.ident, &constant.ty);
                    if matches!(ty, Type::Path(path) if path.path.is_ident("char")) {
                        let help = "take its number: `const LETTER: u8`";
                        self.diags.push(messages::unsupported_type_with(SpanRange::of(ty), help));
                    }
                    self.function.generics.declared.push(quote!(const #ident: #ty));
                    self.function.generics.params.push(GenericParam::Const(ident.clone(), ty.to_token_stream()));
                }
            }
        }
        self.function.generics.where_clause = generics.where_clause.to_token_stream();
    }

    fn parameter(&mut self, pat: &Pat, ty: &Type) {
        let Pat::Ident(name) = pat else {
            self.diags.push(messages::parameter_pattern(SpanRange::of(pat)));
            self.refused_parameter(&Ident::new("_", SpanRange::of(pat).lo));
            return;
        };
        if name.by_ref.is_some() || name.subpat.is_some() {
            self.diags.push(messages::parameter_pattern(SpanRange::of(pat)));
        }
        let Some(param) = self.parameter_type(ty) else {
            self.refused_parameter(&name.ident);
            return;
        };
        let is_kernel = matches!(self.function.role, Role::Kernel);
        let fits = match &param {
            ParamType::Slice { .. } | ParamType::OptionalSlice { .. } | ParamType::TensorMap { .. } => true,
            ParamType::Value(ValueType {
                shape: TypeShape::Scalar(..) | TypeShape::Array(..) | TypeShape::Named(_),
                ..
            }) => true,
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Closure { .. }
            | ParamType::Barrier { .. }
            | ParamType::Memory { .. } => !is_kernel,
        };
        if !fits {
            self.diags.push(match &param {
                ParamType::Value(ValueType { shape: TypeShape::Tuple(_), .. }) => {
                    messages::tuple_parameter(SpanRange::of(ty))
                }
                _ => messages::kernel_parameter(SpanRange::of(ty)),
            });
            self.refused_parameter(&name.ident);
            return;
        }
        let kind = match &param {
            ParamType::Value(value) => shape_kind(&value.shape),
            ParamType::Reference { mutable, .. } => Kind::Reference { mutable: *mutable },
            ParamType::Slice { mutable: false, .. } => Kind::Memory(Memory::Global),
            ParamType::Slice { mutable: true, .. } => Kind::Memory(Memory::GlobalMut),
            ParamType::OptionalSlice { mutable: false, .. } => Kind::OptionalMemory(Memory::Global),
            ParamType::OptionalSlice { mutable: true, .. } => Kind::OptionalMemory(Memory::GlobalMut),
            ParamType::Group(group) => Kind::Group(*group),
            ParamType::Tile { .. } => Kind::Group(Group::Tile),
            ParamType::Closure { .. } => Kind::Closure,
            ParamType::Memory { memory, .. } => Kind::Memory(*memory),
            ParamType::TensorMap { mutable, .. } => Kind::TensorMap { mutable: *mutable },
            ParamType::Barrier { barrier, .. } => Kind::Barrier(*barrier),
        };
        let local = self.declare(&name.ident, name.mutability.map(|token| token.span), kind, None);
        self.function.locals[local.0].is_array = match &param {
            ParamType::Value(value) | ParamType::Reference { target: value, .. } => {
                matches!(value.shape, TypeShape::Array(..))
            }
            _ => false,
        };
        self.function.params.push(Param { local, ty: param });
    }

    /// Declares the parameter all the same, so that neither its uses nor its callers' are reported too.
    fn refused_parameter(&mut self, name: &Ident) {
        let local = self.declare(name, None, Kind::Unknown, None);
        let ty = ParamType::Value(self.refused_type());
        self.function.params.push(Param { local, ty });
    }

    /// Returns an error type in place of a type that was reported: rustc repeats the error once, and reports nothing
    /// about values of the type.
    fn refused_type(&mut self) -> ValueType {
        let fault = self.diags.last();
        let tokens = quote!(<::phalanx::__private::Refused<{ #fault }> as ::phalanx::__private::RefusedType>::Type);
        ValueType { shape: TypeShape::Named(self.type_name(tokens.clone())), tokens }
    }

    fn result(&mut self, ty: &Type) {
        if matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty()) {
            return;
        }
        if matches!(self.function.role, Role::Kernel) {
            self.diags.push(messages::kernel_result(SpanRange::of(ty)));
            return;
        }
        let ValueType { shape, tokens } = self.value_type(ty).unwrap_or_else(|| self.refused_type());
        self.function.ret = Some(Return { shape, tokens });
    }
}

/// Returns the kind of a value of this type.
pub(super) fn shape_kind(shape: &TypeShape) -> Kind {
    match shape {
        TypeShape::Scalar(..)
        | TypeShape::Array(..)
        | TypeShape::Named(_)
        | TypeShape::Tuple(_)
        | TypeShape::BarrierToken(_)
        | TypeShape::Option(_) => Kind::Value,
        TypeShape::Token(group) => Kind::Token(*group),
        TypeShape::OptionalToken(group) => Kind::OptionalToken(Some(*group)),
    }
}
