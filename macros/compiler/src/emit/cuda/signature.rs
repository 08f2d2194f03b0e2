//! Prints a function's signature, and types.

use super::ast::Fragment;
use super::name::Names;
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::group::Group;
use crate::model::kind::Memory;
use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::model::{Function, Role};

/// Prints a signature. A function that takes what its caller does with its result has `then` as the name of the last parameter.
pub(super) fn signature(function: &Function, names: &Names, then: Option<&str>) -> Vec<Fragment> {
    let mut out = Vec::new();
    match &function.role {
        Role::Kernel => out.extend(["extern \"C\" __global__ void".into(), Fragment::Bounds, "\n".into()]),
        Role::Device | Role::Method => {
            let result = function.ret.as_ref().map_or_else(|| vec!["void".into()], |ret| shape(&ret.shape));
            let whole = then.map(|_| template_after("class Then = ", "whole", result.clone()));
            out.extend(template_parameters(function, whole));
            // Inlined, as the prelude is, so that whatever fails knows its launch (launch.cuh).
            out.push("__device__ __forceinline__ ".into());
            match then {
                Some(_) => out.push("typename Then::result".into()),
                None => out.extend(result),
            }
            out.push(" ".into());
        }
    }
    out.push(Fragment::Name);
    out.push("(".into());
    for (index, param) in function.params.iter().enumerate() {
        if index > 0 {
            out.push(", ".into());
        }
        let slice = match (function.role, lent_slice(function, index)) {
            (Role::Kernel, _) => "readonly_slice".into(),
            (_, Some(name)) => name,
            (_, None) => "slice".into(),
        };
        let (before, after) = match (&param.ty, function.role) {
            // The copies take its address, which is that of the parameter itself (PTX ISA, cp.async.bulk.tensor).
            (ParamType::TensorMap { mutable, tile }, Role::Kernel) => {
                (template_after("const __grid_constant__ ", tensor_map(*mutable), shape(&tile.shape)), " ")
            }
            (ty, _) => parameter(ty, &slice),
        };
        out.extend(before);
        out.push(Fragment::Text(format!("{after}{}", names.local(param.local))));
    }
    let last = match function.role {
        Role::Kernel => Some("const __grid_constant__ launch_block phalanx_launch".into()),
        Role::Device | Role::Method => then.map(|then| Fragment::Text(format!("const Then& {then} = {{}}"))),
    };
    if let Some(last) = last {
        out.push(if function.params.is_empty() { "" } else { ", " }.into());
        out.push(last);
    }
    out.push(")".into());
    out
}

/// Prints `template <class F>`, because the type of a lambda has no name in C++. A `&[T]` also becomes a template
/// parameter, because its argument may be memory that is never written, or a reborrowed `&mut [T]`: the caller's type
/// decides how it is read. `last` is a further one.
fn template_parameters(function: &Function, last: Option<Vec<Fragment>>) -> Vec<Fragment> {
    let params = function.params.iter().enumerate().filter_map(|(index, param)| match param.ty {
        ParamType::Closure { index, .. } => Some(format!("class {}", closure_type(index))),
        _ => lent_slice(function, index).map(|name| format!("template <class> class {name}")),
    });
    let params: Vec<Vec<Fragment>> = params.map(|param| vec![Fragment::Text(param)]).chain(last).collect();
    match params.is_empty() {
        true => Vec::new(),
        false => [vec!["template <".into()], params.join(&Fragment::from(", ")), vec![">\n".into()]].concat(),
    }
}

/// Returns the template parameter of a slice that a device function takes, unless the slice is assigned a different
/// value.
fn lent_slice(function: &Function, index: usize) -> Option<String> {
    let param = &function.params[index];
    match (&param.ty, function.role) {
        (ParamType::Slice { mutable: false, .. }, Role::Device | Role::Method) => {
            function.local(param.local).mutable.is_none().then(|| format!("Slice{index}"))
        }
        _ => None,
    }
}

fn closure_type(index: usize) -> String {
    format!("Closure{index}")
}

/// Returns the type, and the tokens between it and the name.
fn parameter(ty: &ParamType, slice: &str) -> (Vec<Fragment>, &'static str) {
    let around = |before: &str, inner: Vec<Fragment>, after: &str| {
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
        ParamType::Slice { mutable: false, element } => (around(&format!("{slice}<"), shape(&element.shape), ">"), " "),
        ParamType::TensorMap { mutable, tile } => {
            (template_after("const ", tensor_map(*mutable), shape(&tile.shape)), "& ")
        }
        ParamType::Group(group) => (vec![Fragment::Text(format!("const {}", group.cuda_name()))], "& "),
        ParamType::Tile { size, .. } => {
            let before = format!("const {}<", Group::Tile.cuda_name());
            (around(&before, vec![Fragment::Digits(*size)], ">"), "& ")
        }
        ParamType::Barrier { barrier, length, .. } => {
            let name = barrier.cuda_name();
            match (barrier.form, length) {
                (BarrierForm::Remote, _) => (vec![name.into()], " "),
                (_, Some(length)) => (around(&format!("const {name}<"), vec![Fragment::Digits(*length)], ">"), "& "),
                (_, None) => (vec![Fragment::Text(format!("const {name}"))], "& "),
            }
        }
        ParamType::Closure { index, .. } => (vec![Fragment::Text(format!("const {}", closure_type(*index)))], "& "),
        ParamType::Memory { memory, element, length, .. } => {
            let mut inner = shape(&element.shape);
            if let Some(length) = length {
                inner.extend([", ".into(), Fragment::Digits(*length)]);
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

fn token(group: Group) -> String {
    format!("{}::arrival_token", group.cuda_name())
}

/// Returns `name<arguments>`.
pub(super) fn template(name: &str, arguments: Vec<Fragment>) -> Vec<Fragment> {
    [vec![Fragment::Text(format!("{name}<"))], arguments, vec![">".into()]].concat()
}

/// Returns the name of the type of a tensor's map.
fn tensor_map(mutable: bool) -> &'static str {
    if mutable { "tensor_map_mut" } else { "tensor_map" }
}

/// Returns `before name<arguments>`.
fn template_after(before: &'static str, name: &str, arguments: Vec<Fragment>) -> Vec<Fragment> {
    [vec![before.into()], template(name, arguments)].concat()
}

/// Returns the conversion to a type.
pub(super) fn cast(ty: &ValueType) -> Vec<Fragment> {
    template("as", shape(&ty.shape))
}

pub(super) fn shape(shape_: &TypeShape) -> Vec<Fragment> {
    match shape_ {
        TypeShape::Scalar(_, id) | TypeShape::Named(id) => vec![Fragment::Named(*id)],
        TypeShape::Token(group) => vec![Fragment::Text(token(*group))],
        TypeShape::BarrierToken(scope) => {
            let barrier = Barrier { scope: *scope, form: BarrierForm::One };
            vec![Fragment::Text(format!("{}::arrival_token", barrier.cuda_name()))]
        }
        TypeShape::OptionalToken(group) => vec![Fragment::Text(format!("option<{}>", token(*group)))],
        TypeShape::Option(inner) => template("option", shape(inner)),
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
            out.extend([", ".into(), Fragment::Digits(*length), ">".into()]);
            out
        }
    }
}
