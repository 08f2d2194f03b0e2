//! How long memory is, for the checks that the host makes before a launch (`checks`): a parameter, a shared array, a part, or one of several
//! that take turns.

use super::limits::is_same;
use super::scope::{Origin, Scope};
use super::terms::one_of;
use crate::emit::cuda::at_launch::{Operation, Term, Terms, may_be_known};
use crate::emit::cuda::lower::access::row;
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::{Op, Part};
use crate::model::ty::{ParamType, TypeShape};

impl<'e> Scope<'e> {
    /// Returns the length of memory.
    pub(super) fn length(&mut self, memory: &'e Expr) -> Option<Terms> {
        match &memory.kind {
            ExprKind::Borrow { target, .. } => self.length(target),
            ExprKind::Local(local) => match self.origin(*local) {
                Some(Origin::Parameter(index)) => match &self.function.params[usize::from(index)].ty {
                    ParamType::Slice { .. } | ParamType::Memory { length: None, .. } => Some(vec![Term::Length(index)]),
                    ParamType::Memory { length: Some(length), .. } => Some(vec![Term::Constant(*length)]),
                    _ => None,
                },
                _ if !matches!(self.function.kind(*local), Kind::Memory(_)) => None,
                Some(Origin::Value(init, _)) => self.length(init),
                Some(Origin::Terms(terms)) => Some(terms),
                Some(Origin::Range(_)) => None,
                None => self.one_of_all_lengths(*local),
            },
            ExprKind::Op { op: Op::SharedArray(_), types: Some((_, length)), .. } => {
                length.map(|length| vec![Term::Constant(length)])
            }
            ExprKind::Op { op: Op::MapSharedRank(_), operands, .. } => self.length(operands.get(1)?),
            ExprKind::Op { op: Op::Part { form: Part::Range, .. }, operands, .. } => {
                let [_, start, end] = &operands[..] else { return None };
                Some(match distance(start, end) {
                    Some(distance) => self.terms(distance),
                    None => {
                        let end = self.terms(end);
                        self.operation(Operation::Sub, end, start)
                    }
                })
            }
            ExprKind::Op { op: Op::Part { form: Part::From, .. }, operands, .. } => {
                let [whole, start] = &operands[..] else { return None };
                let whole = self.length(whole)?;
                if start.integer() == Some(0) {
                    return Some(whole);
                }
                Some(self.operation(Operation::Sub, whole, start))
            }
            _ => match self.element(row(memory)?)? {
                TypeShape::Array(_, length) => Some(vec![Term::Constant(*length)]),
                _ => None,
            },
        }
    }

    /// Returns the parameter that memory is.
    pub(super) fn parameter(&self, memory: &Expr) -> Option<u8> {
        match &memory.kind {
            ExprKind::Borrow { target, .. } => self.parameter(target),
            ExprKind::Local(local) => match self.origin(*local)? {
                Origin::Parameter(index) => Some(index),
                Origin::Value(init, _) => self.parameter(init),
                Origin::Range(_) | Origin::Terms(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the lengths of the parts before and behind a place.
    pub(super) fn lengths_of_halves(&mut self, init: &'e Expr) -> Option<[Terms; 2]> {
        let ExprKind::Op { op: Op::SplitAt { .. }, operands, .. } = &init.kind else { return None };
        let [whole, middle] = &operands[..] else { return None };
        let whole = self.length(whole)?;
        Some([self.terms(middle), self.operation(Operation::Sub, whole, middle)])
    }

    /// Returns the type of the elements of memory.
    pub(super) fn element(&self, memory: &'e Expr) -> Option<&'e TypeShape> {
        match &memory.kind {
            ExprKind::Borrow { target, .. } => self.element(target),
            ExprKind::Local(local) => match self.origin(*local) {
                Some(Origin::Parameter(index)) => match &self.function.params[usize::from(index)].ty {
                    ParamType::Slice { element, .. } | ParamType::Memory { element, .. } => Some(&element.shape),
                    _ => None,
                },
                Some(Origin::Value(init, _)) => self.element(init),
                // All of its values have one type.
                None => {
                    let (_, value) = *self.assigned.get(local)?.last()?;
                    self.element(value)
                }
                Some(Origin::Range(_) | Origin::Terms(_)) => None,
            },
            ExprKind::Op { op: Op::SharedArray(_), types: Some((element, _)), .. } => Some(&element.shape),
            ExprKind::Op { op: Op::MapSharedRank(_), operands, .. } => self.element(operands.get(1)?),
            ExprKind::Op { op: Op::Part { form: Part::Range | Part::From, .. }, operands, .. } => {
                self.element(operands.first()?)
            }
            _ => match self.element(row(memory)?)? {
                TypeShape::Array(inner, _) => Some(inner),
                _ => None,
            },
        }
    }

    /// Returns one of the lengths that memory with this name ever has.
    fn one_of_all_lengths(&mut self, local: LocalId) -> Option<Terms> {
        let mut all = Vec::new();
        self.lengths(local, &mut Vec::new(), &mut all)?;
        (!all.is_empty()).then(|| one_of(all))
    }

    /// Adds the lengths that memory with this name gets, itself or from memory whose names take turns with it; `None` if one is unknown.
    fn lengths(&mut self, local: LocalId, names: &mut Vec<LocalId>, all: &mut Vec<Terms>) -> Option<()> {
        let values = self.assigned.get(&local)?.clone();
        names.push(local);
        for (_, value) in values {
            match memory_name(value) {
                Some(name) if names.contains(&name) => {}
                Some(name) if self.origin(name).is_none() => self.lengths(name, names, all)?,
                // A part of it is shorter each time.
                _ if self.open.contains(&local) => return None,
                _ => {
                    self.open.push(local);
                    let length = self.length(value).filter(|length| may_be_known(length));
                    self.open.pop();
                    let length = length?;
                    all.extend((!all.contains(&length)).then_some(length));
                }
            }
        }
        Some(())
    }
}

/// Returns how far the end of a range is from its start, which is natural unless the end wraps: `start + length`, `0..length`, or `(i + 1) *
/// length` behind `i * length`.
pub(super) fn distance<'e>(start: &Expr, end: &'e Expr) -> Option<&'e Expr> {
    if start.integer() == Some(0) {
        return Some(end);
    }
    match (&end.kind, &start.kind) {
        (ExprKind::Binary { op: BinaryOp::Add, left, right, .. }, _) if is_same(left, start) => Some(right),
        (ExprKind::Binary { op: BinaryOp::Add, left, right, .. }, _) if is_same(right, start) => Some(left),
        (
            ExprKind::Binary { op: BinaryOp::Mul, left, right, .. },
            ExprKind::Binary { op: BinaryOp::Mul, left: number, right: length, .. },
        ) if is_same(right, length) && is_next(left, number) => Some(right),
        _ => None,
    }
}

/// Whether an expression is `number + 1`.
fn is_next(expr: &Expr, number: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => right.integer() == Some(1) && is_same(left, number),
        _ => false,
    }
}

/// Returns the name that an expression of memory is, or that of which it is all.
fn memory_name(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Borrow { target: inner, .. } | ExprKind::Typed(inner, _) => memory_name(inner),
        ExprKind::Op { op: Op::Part { form: Part::From, .. }, operands, .. } => match &operands[..] {
            [whole, start] if start.integer() == Some(0) => memory_name(whole),
            _ => None,
        },
        _ => None,
    }
}
