//! The prelude's headers that a text needs, derived from its body. Each operation and each form of expression states
//! its own headers, matched without a wildcard, also where there are none.

#![warn(clippy::wildcard_enum_match_arm)]

use super::cuda::Text;
use crate::model::Function;
use crate::model::expr::ExprKind;
use crate::model::group::Group;
use crate::model::kind::{Kind, Memory};
use crate::model::method::ScalarFunction;
use crate::model::op::Op;
use crate::model::ty::{ParamType, TypeShape};
use crate::model::walk::walk_block;

/// Returns the headers, without those that they include themselves.
pub(super) fn headers(function: &Function, text: &Text) -> Vec<&'static str> {
    let mut headers = vec!["scalar.cuh"];
    let mut need = |more: &[&'static str]| {
        for header in more {
            if !headers.contains(header) {
                headers.push(header);
            }
        }
    };
    written_shapes(function).into_iter().for_each(|shape| need(of_shape(shape)));
    function.locals.iter().for_each(|local| need(of_kind(local.kind)));
    walk_block(&function.body, &mut |expr| need(of_kind(expr.result_kind)));
    // Neither the arrival nor the wait of a fused token is in the text.
    let mut split = 0;
    walk_block(&function.body, &mut |expr| {
        need(of_expression(&expr.kind));
        if let ExprKind::Op { op: Op::Arrive(Group::ThreadBlock, _) | Op::Wait(Group::ThreadBlock, _), .. } = expr.kind
        {
            split += 1;
        }
    });
    if split > 2 * text.fused.len() {
        need(&["block_barrier.cuh"]);
    }
    if text.has_adjacent {
        need(&["arguments.cuh"]);
    }
    headers
}

/// Returns the types that the text names, with the types inside of them.
fn written_shapes(function: &Function) -> Vec<&TypeShape> {
    let params = function.params.iter().map(|param| match &param.ty {
        ParamType::Value(value) | ParamType::Reference { target: value, .. } => Some(&value.shape),
        ParamType::Slice { element, .. }
        | ParamType::OptionalSlice { element, .. }
        | ParamType::Memory { element, .. } => Some(&element.shape),
        ParamType::TensorMap { tile, .. } => Some(&tile.shape),
        ParamType::Group(_) | ParamType::Tile { .. } | ParamType::Barrier { .. } | ParamType::Closure { .. } => None,
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
            TypeShape::Scalar(..)
            | TypeShape::Named(_)
            | TypeShape::Token(_)
            | TypeShape::BarrierToken(_)
            | TypeShape::OptionalToken(_) => {}
        }
    }
    shapes
}

fn of_shape(shape: &TypeShape) -> &'static [&'static str] {
    match shape {
        TypeShape::Option(_) | TypeShape::OptionalToken(_) => &["option.cuh"],
        TypeShape::Tuple(_) => &["tuple.cuh"],
        TypeShape::Array(..) => &["memory.cuh"],
        TypeShape::Token(_) => &["groups.cuh"],
        TypeShape::BarrierToken(_) => &["barrier.cuh"],
        TypeShape::Scalar(..) | TypeShape::Named(_) => &[],
    }
}

/// Returns the headers for a value or a variable of this kind, whichever operation returns it.
fn of_kind(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Group(Group::Tile | Group::Coalesced) => &["tile.cuh"],
        Kind::Group(Group::ThreadBlock | Group::Cluster | Group::Grid) | Kind::Extent | Kind::Token(_) => {
            &["groups.cuh"]
        }
        Kind::OptionalToken(_) => &["groups.cuh", "option.cuh"],
        Kind::Memory(Memory::RemoteArray | Memory::RemoteSlice) => &["groups.cuh", "memory.cuh"],
        Kind::Memory(Memory::Global | Memory::GlobalMut | Memory::SharedArray | Memory::SharedSlice) => &["memory.cuh"],
        Kind::OptionalMemory(_) => &["memory.cuh", "option.cuh"],
        Kind::TensorMap { .. } => &["tensor.cuh"],
        Kind::Barrier(_) => &["barrier.cuh"],
        Kind::Unknown | Kind::Value | Kind::Reference { .. } | Kind::Unit | Kind::Never | Kind::Closure => &[],
    }
}

/// Returns the headers for an expression, without its operands.
fn of_expression(kind: &ExprKind) -> &'static [&'static str] {
    match kind {
        ExprKind::Op { op, .. } => of_operation(*op),
        ExprKind::Vector { .. } => &["lanes.cuh"],
        ExprKind::Some(_) | ExprKind::None(_) => &["option.cuh"],
        ExprKind::Tuple { .. } => &["tuple.cuh"],
        // The user's text may use all of the prelude.
        ExprKind::Cuda(_) => &["groups.cuh", "lanes.cuh", "math.cuh", "memory.cuh"],
        ExprKind::Method { method, .. } => std::slice::from_ref(&method.header),
        ExprKind::ScalarCall { function, .. } => match function {
            ScalarFunction::Method(method) => std::slice::from_ref(&method.header),
            ScalarFunction::CheckedFrom => &["checked.cuh"],
            ScalarFunction::From | ScalarFunction::Constructor(_) | ScalarFunction::Default => &[],
        },
        ExprKind::Intrinsic { function, .. } => std::slice::from_ref(&function.header),
        ExprKind::For { .. } => &["range.cuh"],
        ExprKind::Array { .. } | ExprKind::Repeat { .. } | ExprKind::Index { .. } => &["memory.cuh"],
        ExprKind::Assert(..) | ExprKind::Panic(_) => &["message.cuh"],
        ExprKind::Print(_) => &["print.cuh"],
        // The scalars' headers have the operators and literals; the other expressions are C++'s own, or have the
        // headers of their kind.
        ExprKind::Error
        | ExprKind::Int { .. }
        | ExprKind::Float { .. }
        | ExprKind::Bool(_)
        | ExprKind::Local(_)
        | ExprKind::Constant(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary { .. }
        | ExprKind::Cast(..)
        | ExprKind::Typed(..)
        | ExprKind::UncheckedPlace { .. }
        | ExprKind::Deref(_)
        | ExprKind::Axis(..)
        | ExprKind::Field { .. }
        | ExprKind::Borrow { .. }
        | ExprKind::Struct { .. }
        | ExprKind::Operator(..)
        | ExprKind::Call { .. }
        | ExprKind::CallClosure { .. }
        | ExprKind::Closure { .. }
        | ExprKind::Block(_)
        | ExprKind::Unsafe(_)
        | ExprKind::Labelled { .. }
        | ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Loop { .. }
        | ExprKind::While { .. }
        | ExprKind::Assign(..)
        | ExprKind::AssignOp { .. }
        | ExprKind::Break { .. }
        | ExprKind::Continue { .. }
        | ExprKind::Return { .. } => &[],
    }
}

/// Returns the headers for an operation, without the kinds of its operands and of its result.
fn of_operation(op: Op) -> &'static [&'static str] {
    match op {
        Op::Atomic(_) | Op::Fence(..) => &["atomic.cuh"],
        Op::Sync(group, _) | Op::Arrive(group, _) | Op::Wait(group, _) => match group {
            Group::Grid => &["grid_barrier.cuh"],
            // `headers` counts the uses of the block's split barrier.
            Group::Coalesced | Group::Tile | Group::ThreadBlock | Group::Cluster => &[],
        },
        Op::Nanosleep => &["nanosleep.cuh"],
        Op::LaunchDependents => &["launch_dependents.cuh"],
        Op::WaitPrevious => &["wait_previous.cuh"],
        Op::Copy(_) => &["copy.cuh"],
        Op::Part { .. } | Op::SplitAt { .. } => &["subslice.cuh"],
        Op::LoadVec(_) | Op::StoreVec => &["vector.cuh"],
        Op::LoadMatrix { .. } | Op::StoreMatrix { .. } => &["matrix.cuh"],
        Op::MmaAsync { .. } | Op::MmaWait { .. } | Op::MmaWaitExceptLast { .. } | Op::ChangeRegisters { .. } => {
            &["warpgroup.cuh"]
        }
        Op::Is(_) | Op::Unwrap | Op::UnwrapOr => &["option.cuh"],
        // These are methods of groups, memory, barriers and optional tokens, or construct them: the kind has the
        // header, and the types of matrices have that of `mma`.
        Op::This(_)
        | Op::TiledPartition(..)
        | Op::Partition(..)
        | Op::Warp(..)
        | Op::Query(..)
        | Op::Uniform(_)
        | Op::Forget(_)
        | Op::MapSharedRank(_)
        | Op::QuerySharedRank
        | Op::SharedArray(_)
        | Op::SharedBarrier(..)
        | Op::Barrier(..)
        | Op::MapBarrier(_)
        | Op::DynamicShared
        | Op::DynamicSharedSlice
        | Op::Length
        | Op::IsEmpty
        | Op::LoadUnchecked
        | Op::Take => &[],
    }
}
