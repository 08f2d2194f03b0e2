//! The expressions whose syntax shows that they are floats, whose division does not fail.

use std::collections::BTreeSet;

use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::model::ty::{ParamType, TypeShape};
use crate::model::walk::{Node, block_nodes};
use crate::model::{Function, LocalId};

/// The variables that are certainly floats, or memory and arrays of floats.
#[derive(Debug, Default)]
pub(super) struct Floats {
    locals: BTreeSet<LocalId>,
}

impl Floats {
    pub(super) fn of(function: &Function) -> Floats {
        let mut floats = Floats::default();
        let parameters = function.params.iter().filter(|param| match &param.ty {
            ParamType::Value(ty) => is_float(&ty.shape),
            ParamType::Reference { target, .. } => is_float(&target.shape),
            ParamType::Slice { element, .. } | ParamType::Memory { element, .. } => is_float(&element.shape),
            _ => false,
        });
        floats.locals.extend(parameters.map(|param| param.local));
        // A variable is declared before it is used.
        block_nodes(&function.body, &mut |node| {
            let Node::Statement(statement) = node else { return };
            let StmtKind::Let { local, ty, init: Some(init) } = &statement.kind else { return };
            if ty.as_ref().is_some_and(|ty| is_float(&ty.shape)) || floats.contains(init) {
                floats.locals.insert(*local);
            }
        });
        floats
    }

    /// Whether an expression is certainly a float, or floats.
    pub(super) fn contains(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Float { .. } => true,
            ExprKind::Intrinsic { function, .. } => function.module == "fast",
            ExprKind::Local(local) => self.locals.contains(local),
            ExprKind::Cast(_, ty) => is_float(&ty.shape),
            ExprKind::Unary(_, inner)
            | ExprKind::Index { base: inner, .. }
            | ExprKind::Repeat { element: inner, .. } => self.contains(inner),
            ExprKind::Array { elements, .. } => elements.first().is_some_and(|first| self.contains(first)),
            ExprKind::Binary { op, left, right, .. } => {
                op.is_arithmetic() && (self.contains(left) || self.contains(right))
            }
            ExprKind::Method { method, operands, .. } if method.name != "to_bits" => {
                operands.first().is_some_and(|receiver| self.contains(receiver))
            }
            _ => false,
        }
    }
}

/// Whether a type is a float, or an array of floats.
fn is_float(shape: &TypeShape) -> bool {
    match shape {
        TypeShape::Scalar(name, _) => matches!(*name, "f16" | "bf16" | "f32" | "f64"),
        TypeShape::Array(element, _) => is_float(element),
        _ => false,
    }
}
