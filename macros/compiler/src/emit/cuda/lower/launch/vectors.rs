//! What the host has to know of a vector's access before a launch (`checks`), beside its bounds: that it is aligned. Its first element is a
//! multiple of the lanes, counted from an address that is a multiple of the vector's size: that of a parameter, or of a shared array.

use super::scope::{Origin, Scope};
use crate::emit::cuda::at_launch::{Operation, Term, Terms, VectorCheck};
use crate::emit::cuda::lower::access::row;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::{Op, Part};
use crate::model::ty::{ParamType, TypeShape};

impl<'e> Scope<'e> {
    /// Returns what is to hold of the access of a vector with these lanes, beside its bounds.
    pub(super) fn vector(&mut self, memory: &'e Expr, index: &'e Expr, lanes: Terms) -> Option<VectorCheck> {
        let (TypeShape::Scalar(_, of) | TypeShape::Named(of)) = *self.element(memory)? else { return None };
        let (offset, start) = self.beginning(memory)?;
        let mut element = offset;
        element.extend(self.terms(index));
        element.push(Term::Operation(Operation::Add));
        Some(VectorCheck { element, lanes, of, start })
    }

    /// Returns the number of lanes of a vector.
    pub(super) fn lanes(&self, vector: &'e Expr) -> Option<Terms> {
        match &vector.kind {
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => Some(vec![Term::Constant(*lanes)]),
            ExprKind::Vector { is_matrix: false, slot, .. } | ExprKind::Typed(_, slot) => {
                Some(vec![Term::Lanes(*slot)])
            }
            ExprKind::Local(local) => self.lanes(self.init(*local)?),
            _ => None,
        }
    }

    /// Returns where memory begins: the element of a parameter, with its address, or of a shared array.
    fn beginning(&mut self, memory: &'e Expr) -> Option<(Terms, Terms)> {
        let first = vec![Term::Literal(0)];
        match &memory.kind {
            ExprKind::Borrow { target, .. } => self.beginning(target),
            ExprKind::Local(local) => match self.origin(*local)? {
                Origin::Parameter(index) => match &self.function.params[usize::from(index)].ty {
                    ParamType::Slice { .. } => Some((first, vec![Term::Start(index)])),
                    ParamType::Memory { length: Some(_), .. } => Some((first, Terms::new())),
                    _ => None,
                },
                Origin::Value(init, _) => self.beginning(init),
                Origin::Range(_) | Origin::Terms(_) => None,
            },
            ExprKind::Op { op: Op::SharedArray(_), .. } => Some((first, Terms::new())),
            ExprKind::Op { op: Op::MapSharedRank(_), operands, .. } => self.beginning(operands.get(1)?),
            ExprKind::Op { op: Op::Part { form: Part::Range | Part::From, .. }, operands, .. } => {
                let (whole, start) = self.beginning(operands.first()?)?;
                Some((self.operation(Operation::Add, whole, operands.get(1)?), start))
            }
            ExprKind::Index { index, .. } => self.beginning_of_row(memory, index),
            ExprKind::Op { op: Op::Part { form: Part::Row, .. }, operands, .. } => {
                self.beginning_of_row(memory, operands.get(1)?)
            }
            _ => None,
        }
    }

    fn beginning_of_row(&mut self, memory: &'e Expr, index: &'e Expr) -> Option<(Terms, Terms)> {
        let rows = row(memory)?;
        let TypeShape::Array(_, length) = self.element(rows)? else { return None };
        let length = Term::Constant(*length);
        let (whole, start) = self.beginning(rows)?;
        let mut first = self.operation(Operation::Add, whole, index);
        first.extend([length, Term::Operation(Operation::Mul)]);
        Some((first, start))
    }
}
