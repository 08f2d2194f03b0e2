//! The variables of a body that are certainly no floats, which only rustc knows of most. The value of an integer is the
//! same wherever it is computed; that of a float may differ where it is contracted to a fused operation.

use std::collections::BTreeSet;

use crate::model::expr::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::model::op::Op;
use crate::model::ty::{ParamType, TypeShape};
use crate::model::walk::{Node, block_nodes};
use crate::model::{Function, LocalId};

/// The variables that the body's syntax shows to be integers.
#[derive(Debug, Default)]
pub(super) struct Integers {
    locals: BTreeSet<LocalId>,
}

impl Integers {
    pub(super) fn of(function: &Function) -> Integers {
        let mut nodes = Vec::new();
        block_nodes(&function.body, &mut |node| nodes.push(node));
        let mut integers = Integers::default();
        let parameters = function.params.iter().filter(|param| match &param.ty {
            ParamType::Value(ty) => is_integer(&ty.shape),
            _ => false,
        });
        integers.locals.extend(parameters.map(|param| param.local));
        // What one statement shows of a variable may show what another variable is.
        loop {
            let known = integers.locals.len();
            for node in &nodes {
                match node {
                    Node::Expr(expr) => integers.add_uses(expr),
                    Node::Statement(Stmt { kind: StmtKind::Let { local, ty, init: Some(init), .. }, .. }) => {
                        let says_so = ty.as_ref().is_some_and(|ty| is_integer(&ty.shape));
                        if says_so || integers.contains(init) {
                            integers.locals.insert(*local);
                        } else if integers.locals.contains(local) {
                            integers.add(init);
                        }
                    }
                    Node::Statement(_) => {}
                }
            }
            if integers.locals.len() == known {
                return integers;
            }
        }
    }

    /// Whether a variable is certainly no float.
    pub(super) fn has(&self, local: LocalId) -> bool {
        self.locals.contains(&local)
    }

    /// Whether an expression is certainly no float.
    pub(super) fn contains(&self, expr: &Expr) -> bool {
        match &expr.kind {
            // A literal with a point or an exponent is a `Float`; one without is an integer in Rust.
            ExprKind::Int { .. } | ExprKind::Bool(_) | ExprKind::Axis(..) => true,
            ExprKind::Local(local) => self.locals.contains(local),
            ExprKind::Cast(_, ty) => is_integer(&ty.shape),
            ExprKind::Unary(_, inner) => self.contains(inner),
            ExprKind::Binary { op, left, .. } if is_shift(*op) => self.contains(left),
            ExprKind::Binary { op, left, right, .. } => {
                !op.is_arithmetic() || self.contains(left) || self.contains(right)
            }
            ExprKind::Method { operands, .. } => operands.first().is_some_and(|receiver| self.contains(receiver)),
            ExprKind::Op { op, .. } => matches!(op, Op::Query(..) | Op::QuerySharedRank | Op::Length),
            _ => false,
        }
    }

    /// Adds what is an integer because of how the expression uses it.
    fn add_uses(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Index { index, .. } | ExprKind::UncheckedPlace { index, .. } => self.add(index),
            ExprKind::Op { op: Op::LoadVec(_) | Op::StoreVec, operands, .. } => {
                operands.get(1).into_iter().for_each(|index| self.add(index));
            }
            ExprKind::Op { op: Op::LoadMatrix { .. } | Op::StoreMatrix { .. }, operands, .. } => {
                operands.iter().skip(2).take(2).for_each(|index| self.add(index));
            }
            ExprKind::For { local: Some(local), .. } => {
                self.locals.insert(*local);
            }
            // Both operands of other operators have one type.
            ExprKind::Binary { op, left, right, .. } if !is_shift(*op) && !op.short_circuits() => {
                if self.contains(left) {
                    self.add(right);
                } else if self.contains(right) {
                    self.add(left);
                }
            }
            _ => {}
        }
    }

    /// Adds the variables of an expression that is an integer.
    fn add(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local) => {
                self.locals.insert(*local);
            }
            ExprKind::Unary(_, inner) => self.add(inner),
            ExprKind::Binary { op, left, .. } if is_shift(*op) => self.add(left),
            ExprKind::Binary { op, left, right, .. } if op.is_arithmetic() => {
                self.add(left);
                self.add(right);
            }
            _ => {}
        }
    }
}

/// Whether a type is no float: an integer, or `bool`. rustc is asked whether it has the meaning of its name.
fn is_integer(shape: &TypeShape) -> bool {
    matches!(shape, TypeShape::Scalar(name, _) if !matches!(*name, "f32" | "f64"))
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}
