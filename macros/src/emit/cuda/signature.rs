//! A function's head, and types as text.

use super::ast::Piece;
use super::name::Names;
use crate::model::ty::{Group, Memory, ParamType, TypeShape};
use crate::model::{Function, Role};

pub(super) fn signature(function: &Function, names: &Names) -> Vec<Piece> {
    let mut out = Vec::new();
    match &function.role {
        Role::Kernel => out.extend(["extern \"C\" __global__ void".into(), Piece::Bounds, "\n".into()]),
        Role::Device | Role::Method => {
            out.extend(closure_types(function));
            out.push("__device__ ".into());
            match &function.ret {
                Some(ret) => out.extend(shape(&ret.shape)),
                None => out.push("void".into()),
            }
            out.push(" ".into());
        }
    }
    out.push(Piece::Name);
    out.push("(".into());
    for (index, param) in function.params.iter().enumerate() {
        if index > 0 {
            out.push(", ".into());
        }
        let (before, after) = parameter(&param.ty, &function.role);
        out.extend(before);
        out.push(Piece::Text(format!("{after}{}", names.local(param.local))));
    }
    out.push(")".into());
    out
}

/// `template <class F>`: C++ names no lambda's type.
fn closure_types(function: &Function) -> Option<Piece> {
    let closures = function.params.iter().filter_map(|param| match param.ty {
        ParamType::Closure { index, .. } => Some(format!("class {}", closure_type(index))),
        _ => None,
    });
    let closures: Vec<String> = closures.collect();
    (!closures.is_empty()).then(|| Piece::Text(format!("template <{}>\n", closures.join(", "))))
}

fn closure_type(index: usize) -> String {
    format!("Closure{index}")
}

/// The type, and what stands between it and the name.
fn parameter(ty: &ParamType, role: &Role) -> (Vec<Piece>, &'static str) {
    let around = |before: &str, inner: Vec<Piece>, after: &str| {
        let mut out = vec![before.into()];
        out.extend(inner);
        out.push(after.into());
        out
    };
    match ty {
        ParamType::Value(value) => (shape(&value.shape), " "),
        ParamType::Reference { mutable: true, target } => (shape(&target.shape), "& "),
        ParamType::Reference { mutable: false, target } => (around("const ", shape(&target.shape), ""), "& "),
        ParamType::OptionalSlice { mutable: true, element } => {
            (around("option<slice_mut<", shape(&element.shape), ">>"), " ")
        }
        ParamType::OptionalSlice { mutable: false, element } => {
            (around("option<readonly_slice<", shape(&element.shape), ">>"), " ")
        }
        ParamType::Slice { mutable: true, element } => (around("slice_mut<", shape(&element.shape), ">"), " "),
        ParamType::Slice { mutable: false, element } => {
            // To a device function a `&mut [T]` may be lent, which threads write.
            let name = match role {
                Role::Kernel => "readonly_slice<",
                Role::Device | Role::Method => "slice<",
            };
            (around(name, shape(&element.shape), ">"), " ")
        }
        ParamType::Group(group) => (vec![Piece::Text(format!("const {}", group.cuda_name()))], "& "),
        ParamType::Tile { size, .. } => {
            let before = format!("const {}<", Group::Tile.cuda_name());
            (around(&before, vec![Piece::Digits(*size)], ">"), "& ")
        }
        ParamType::Closure { index, .. } => (vec![Piece::Text(format!("const {}", closure_type(*index)))], "& "),
        ParamType::Memory { memory, element, length, .. } => {
            let mut inner = shape(&element.shape);
            if let Some(length) = length {
                inner.extend([", ".into(), Piece::Digits(*length)]);
            }
            match memory {
                Memory::SharedArray => (around("shared_array<", inner, ">"), "& "),
                Memory::SharedSlice => (around("shared_slice<", inner, ">"), " "),
                Memory::RemoteArray => (around("remote_array<", inner, ">"), " "),
                Memory::RemoteSlice => (around("remote_slice<", inner, ">"), " "),
                Memory::Global => (around("slice<", inner, ">"), " "),
                Memory::GlobalMut => (around("slice_mut<", inner, ">"), " "),
            }
        }
    }
}

pub(super) fn shape(shape_: &TypeShape) -> Vec<Piece> {
    match shape_ {
        TypeShape::Scalar(name) => vec![(*name).into()],
        TypeShape::Named(id) => vec![Piece::Named(*id)],
        TypeShape::Token(_) => vec!["arrival_token".into()],
        TypeShape::OptionalToken(_) => vec!["option<arrival_token>".into()],
        TypeShape::Option(inner) => {
            let mut out = vec!["option<".into()];
            out.extend(shape(inner));
            out.push(">".into());
            out
        }
        TypeShape::Tuple(elements) => {
            let mut out = vec!["tuple<".into()];
            for (index, element) in elements.iter().enumerate() {
                out.extend((index > 0).then(|| ", ".into()));
                out.extend(shape(element));
            }
            out.push(">".into());
            out
        }
        TypeShape::Array(element, length) => {
            let mut out = vec!["local_array<".into()];
            out.extend(shape(element));
            out.extend([", ".into(), Piece::Digits(*length), ">".into()]);
            out
        }
    }
}
