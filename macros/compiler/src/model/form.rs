//! The forms of expressions: an expression without its operands, for readers that visit every expression of a body and ask
//! each one only what it does by itself. The one match here has no wildcard, so that a new kind of expression does not
//! compile until it says what it is to all of them.

#![warn(clippy::wildcard_enum_match_arm)]

use super::LocalId;
use super::expr::{Expr, ExprKind};
use super::inline_cuda::InlineCuda;
use super::method::ScalarFunction;
use super::op::Op;

/// What an expression does apart from its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExprForm<'e> {
    /// It combines its operands as Rust and C++ both can: literals, operators, fields, borrows, blocks, control flow.
    Plain,
    /// It combines its operands by a definition of the prelude, which is in this header.
    Prelude(&'static str),
    /// It is a variable.
    Variable(LocalId),
    /// It is an element of this base, which is memory or a local array.
    Element { base: &'e Expr },
    /// It stores to this place.
    Store { place: &'e Expr },
    /// It is an operation of the language on these operands.
    Operation { op: Op, operands: &'e [Expr] },
    /// It calls a device function with these arguments.
    Call { arguments: &'e [Expr] },
    /// It calls the closure that this variable holds.
    CallClosure(LocalId),
    /// It is inline CUDA C++.
    Cuda(&'e InlineCuda),
}

impl ExprKind {
    /// Returns the form of the expression.
    pub(crate) fn form(&self) -> ExprForm<'_> {
        match self {
            ExprKind::Local(local) => ExprForm::Variable(*local),
            ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } => ExprForm::Element { base },
            ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => ExprForm::Store { place },
            ExprKind::Op { op, operands, .. } => ExprForm::Operation { op: *op, operands },
            ExprKind::Call { arguments, .. } => ExprForm::Call { arguments },
            ExprKind::CallClosure { closure, .. } => ExprForm::CallClosure(*closure),
            ExprKind::Cuda(inline_cuda) => ExprForm::Cuda(inline_cuda),
            ExprKind::Vector { .. } => ExprForm::Prelude("lanes.cuh"),
            ExprKind::Some(_) | ExprKind::None(_) => ExprForm::Prelude("option.cuh"),
            ExprKind::Tuple { .. } => ExprForm::Prelude("tuple.cuh"),
            ExprKind::Array { .. } | ExprKind::Repeat { .. } => ExprForm::Prelude("memory.cuh"),
            ExprKind::For { .. } => ExprForm::Prelude("range.cuh"),
            ExprKind::Method { method, .. } => ExprForm::Prelude(method.header),
            ExprKind::ScalarCall { function, .. } => match function {
                ScalarFunction::Method(method) => ExprForm::Prelude(method.header),
                ScalarFunction::From | ScalarFunction::Constructor(_) | ScalarFunction::Default => ExprForm::Plain,
            },
            ExprKind::FastCall { .. } => ExprForm::Prelude("fast.cuh"),
            ExprKind::Assert(..) | ExprKind::Panic(_) => ExprForm::Prelude("message.cuh"),
            ExprKind::Print(_) => ExprForm::Prelude("print.cuh"),
            ExprKind::Error
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary { .. }
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::Deref(_)
            | ExprKind::Axis(..)
            | ExprKind::Field { .. }
            | ExprKind::Borrow { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Operator(..)
            | ExprKind::Closure { .. }
            | ExprKind::Block(_)
            | ExprKind::Unsafe(_)
            | ExprKind::Labelled { .. }
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::Loop { .. }
            | ExprKind::While { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { .. } => ExprForm::Plain,
        }
    }
}
