//! The function's text as data for the runtime: a static template, and the values that rustc evaluates for it.

use proc_macro2::TokenStream;
use quote::quote;

use super::cuda::{Piece, Text};
use super::host;
use super::item;
use crate::model::expr::{Callee, ExprKind, StmtKind};
use crate::model::op::Op;
use crate::model::ty::{Kind, Memory, ParamType, TypeShape};
use crate::model::walk::walk_block;
use crate::model::{Function, Role};

pub(super) fn definition(function: &Function, text: &Text, collectives: u8) -> TokenStream {
    let name = &function.title;
    let items = function.body.statements.iter().filter_map(|statement| match &statement.kind {
        StmtKind::Item(item) => Some(item),
        StmtKind::Let { .. } | StmtKind::LetPattern { .. } | StmtKind::Discard(_) | StmtKind::Expr(_) => None,
    });
    let items: Vec<TokenStream> = items
        .map(|item| quote!(#[allow(dead_code, unused_imports, reason = "not every user of the items needs all")] #item))
        .collect();
    let headers = headers(function);
    let role = role(function);
    let signature = pieces(&text.signature);
    let body = pieces(&text.body);
    let sites = function.sites.iter().map(|site| {
        let (line, column, message) = (site.at.line(), site.at.column(), host::segments(&site.message));
        quote!(::phalanx::__private::Site { line: #line, column: #column, message: #message })
    });
    let locals = &text.locals;
    let types = function.types.iter().map(|ty| quote!(<#ty as ::phalanx::__private::DeviceType>::info()));
    let values = function.values.iter().map(|constant| {
        let tokens = &constant.tokens;
        match constant.is_length {
            true => quote!({ let length: usize = #tokens; ::phalanx::__private::scalar(length) }),
            false => quote!(::phalanx::__private::scalar(#tokens)),
        }
    });
    let shared = function.shared.iter().map(|(ty, length)| {
        let length = &function.values[usize::from(length.0)].tokens;
        quote!(+ ::core::mem::size_of::<[#ty; { #length }]>())
    });
    let (callees, stand_ins) = (callees(function), item::closure_stand_ins(function));
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let marker = &function.name;
    quote! {
        impl ::phalanx::__private::Summary for #marker {
            const COLLECTIVES: u8 = {
                #(#items)*
                #collectives #(| <#callees as ::phalanx::__private::Summary>::COLLECTIVES)*
            };
        }

        impl<#declared> ::phalanx::__private::Function for #marker<#used> #where_clause {
            fn definition() -> ::phalanx::__private::Definition {
                static TEMPLATE: ::phalanx::__private::Template = ::phalanx::__private::Template {
                    name: #name,
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    role: #role,
                    signature: &[#(#signature),*],
                    body: &[#(#body),*],
                    sites: &[#(#sites),*],
                    headers: &[#(#headers),*],
                    locals: &[#(#locals),*],
                };
                #(#items)*
                ::phalanx::__private::Definition {
                    template: &TEMPLATE,
                    instance: ::core::any::type_name::<Self>(),
                    slots: Self::__phalanx_body::<::phalanx::__private::Describe, #(#stand_ins),*>(::phalanx::__private::Describe),
                    types: ::std::vec![#(#types),*],
                    values: ::std::vec![#(#values),*],
                    static_shared_bytes: 0 #(#shared)*,
                }
            }
        }
    }
}

/// A function with faults has no text.
pub(super) fn stub(function: &Function) -> TokenStream {
    let item::Declared { declared, used, where_clause } = item::declared(&function.generics);
    let marker = &function.name;
    quote! {
        impl ::phalanx::__private::Summary for #marker {
            const COLLECTIVES: u8 = 0;
        }

        impl<#declared> ::phalanx::__private::Function for #marker<#used> #where_clause {
            fn definition() -> ::phalanx::__private::Definition { loop {} }
        }
    }
}

/// The path as a type: the marker's parameters have defaults.
pub(super) fn without_turbofish(path: &TokenStream) -> TokenStream {
    let Ok(mut path) = syn::parse2::<syn::Path>(path.clone()) else { return path.clone() };
    if let Some(last) = path.segments.last_mut() {
        last.arguments = syn::PathArguments::None;
    }
    quote!(#path)
}

/// The device functions that the body calls by their paths, each once. Methods use no collectives.
fn callees(function: &Function) -> Vec<TokenStream> {
    let mut callees: Vec<TokenStream> = Vec::new();
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Call { callee: Callee::Function(path), .. } = &expr.kind {
            let path = without_turbofish(path);
            if !callees.iter().any(|known| known.to_string() == path.to_string()) {
                callees.push(path);
            }
        }
    });
    callees
}

fn role(function: &Function) -> TokenStream {
    let Role::Kernel(options) = &function.role else {
        return quote!(::phalanx::__private::Role::Device);
    };
    let extents = |extents: Option<[u32; 3]>| match extents {
        Some([x, y, z]) => quote!(::core::option::Option::Some([#x, #y, #z])),
        None => quote!(::core::option::Option::None),
    };
    let (cluster, block) = (extents(options.cluster), extents(options.block));
    let (non_portable, dynamic_shared) = (options.non_portable, function.dynamic_shared);
    quote!(::phalanx::__private::Role::Kernel(::phalanx::__private::KernelOptions {
        cluster: #cluster,
        block: #block,
        non_portable: #non_portable,
        dynamic_shared: #dynamic_shared,
    }))
}

fn pieces(pieces: &[Piece]) -> Vec<TokenStream> {
    let piece = |piece: &Piece| {
        let piece = match piece {
            Piece::Text(text) => quote!(Text(#text)),
            Piece::Line(line) => quote!(Line(#line)),
            Piece::Type(slot) => {
                let slot = slot.0;
                quote!(Type(#slot))
            }
            Piece::Literal { slot, digits } => {
                let slot = slot.0;
                quote!(Literal { slot: #slot, digits: #digits })
            }
            Piece::Named(id) => {
                let id = id.0;
                quote!(Named(#id))
            }
            Piece::Value(id) => {
                let id = id.0;
                quote!(Value(#id))
            }
            Piece::Digits(id) => {
                let id = id.0;
                quote!(Digits(#id))
            }
            Piece::Callee(slot) => {
                let slot = slot.0;
                quote!(Callee(#slot))
            }
            Piece::Name => quote!(Name),
            Piece::Site(site) => {
                let site = site.0;
                quote!(Site(#site))
            }
        };
        quote!(::phalanx::__private::Piece::#piece)
    };
    pieces.iter().map(piece).collect()
}

/// The types that the text names, with those inside of them.
fn written_shapes(function: &Function) -> Vec<&TypeShape> {
    let params = function.params.iter().map(|param| match &param.ty {
        ParamType::Value(value) | ParamType::Reference { target: value, .. } => Some(&value.shape),
        ParamType::Slice { element, .. } | ParamType::Memory { element, .. } => Some(&element.shape),
        ParamType::Group(_) | ParamType::Closure { .. } => None,
    });
    let locals = function.locals.iter().map(|local| local.ty.as_ref().map(|ty| &ty.shape));
    let result = function.ret.as_ref().map(|ret| &ret.shape);
    let mut shapes: Vec<&TypeShape> = params.chain(locals).chain([result]).flatten().collect();
    let mut next = 0;
    while let Some(shape) = shapes.get(next).copied() {
        next += 1;
        match shape {
            TypeShape::Array(inner, _) | TypeShape::Option(inner) => shapes.push(inner),
            TypeShape::Tuple(elements) => shapes.extend(elements),
            TypeShape::Scalar(_) | TypeShape::Named(_) | TypeShape::Token(_) | TypeShape::OptionalToken(_) => {}
        }
    }
    shapes
}

/// The prelude's headers that the text needs, by what is in the body.
fn headers(function: &Function) -> Vec<&'static str> {
    let mut headers = vec!["scalar.cuh"];
    let mut need = |header| {
        if !headers.contains(&header) {
            headers.push(header);
        }
    };
    for shape in written_shapes(function) {
        match shape {
            TypeShape::Option(_) | TypeShape::OptionalToken(_) => need("option.cuh"),
            TypeShape::Tuple(_) => need("tuple.cuh"),
            TypeShape::Array(..) => need("memory.cuh"),
            TypeShape::Token(_) => need("groups.cuh"),
            TypeShape::Scalar(_) | TypeShape::Named(_) => {}
        }
    }
    let mut of_kind = |kind: Kind| match kind {
        Kind::Group(_) | Kind::Extent | Kind::Token(_) => need("groups.cuh"),
        Kind::OptionalToken(_) => {
            need("groups.cuh");
            need("option.cuh");
        }
        Kind::Memory(Memory::RemoteArray | Memory::RemoteSlice) => {
            need("groups.cuh");
            need("memory.cuh");
        }
        Kind::Memory(_) => need("memory.cuh"),
        Kind::Unknown | Kind::Value | Kind::Reference { .. } | Kind::Unit | Kind::Never | Kind::Closure => {}
    };
    function.locals.iter().for_each(|local| of_kind(local.kind));
    walk_block(&function.body, &mut |expr| of_kind(expr.gives));
    walk_block(&function.body, &mut |expr| match &expr.kind {
        ExprKind::Some(_) | ExprKind::None(_) | ExprKind::Op { op: Op::Is(_) | Op::Unwrap | Op::UnwrapOr, .. } => {
            need("option.cuh");
        }
        ExprKind::Tuple { .. } => need("tuple.cuh"),
        ExprKind::Op { op: Op::Atomic(_), .. } => need("atomic.cuh"),
        ExprKind::Method { .. } => need("math.cuh"),
        ExprKind::For { .. } => need("range.cuh"),
        ExprKind::Array { .. } | ExprKind::Repeat { .. } | ExprKind::Index { .. } => need("memory.cuh"),
        ExprKind::Assert { .. } | ExprKind::Panic { .. } => need("failure.cuh"),
        _ => {}
    });
    headers
}
