//! The widths of unsigned integers and of vectors, as far as the text shows the types: what a method of a number gives may depend on the one,
//! and which elements a store writes on the other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, Value};
use crate::check::cfg::{BelowZero, NodeId};
use crate::model::LocalId;
use crate::model::expr::{BinaryOp, Expr, ExprKind, LiteralType};
use crate::model::op::Op;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty::{ParamType, TypeShape, ValueType};
use crate::model::warp::WarpMethod;
use crate::span::SpanRange;

/// The types of locals, as far as the text shows them.
#[derive(Default)]
pub(super) struct ShownTypes {
    /// The numbers of bits of those that are unsigned integers.
    widths: BTreeMap<LocalId, u32>,
    /// The variables that are integers with a sign.
    signed: BTreeSet<LocalId>,
    /// The numbers of elements of those that are vectors.
    lanes: BTreeMap<LocalId, u64>,
    /// Those that are accumulators of a product.
    pub(super) accumulators: BTreeSet<LocalId>,
}

impl<'f> Builder<'f> {
    /// Notes the type of a variable where it is declared.
    pub(super) fn note_width(&mut self, local: LocalId, ty: Option<&ValueType>, init: Option<&Expr>) {
        let width = match ty {
            Some(ty) => width_of(ty),
            None => init.and_then(|init| self.width(init)),
        };
        self.shown_types.widths.extend(width.map(|width| (local, width)));
        let is_signed = match ty {
            Some(ty) => is_signed(ty),
            None => init.is_some_and(|init| self.is_signed(init)),
        };
        if is_signed {
            self.shown_types.signed.insert(local);
        }
        let lanes = init.and_then(|init| self.lanes(init));
        self.shown_types.lanes.extend(lanes.map(|lanes| (local, lanes)));
        if init.is_some_and(|init| self.is_accumulator(init)) {
            self.shown_types.accumulators.insert(local);
        }
    }

    /// Notes the types of the variables that a pattern takes out of a tuple.
    pub(super) fn note_widths(&mut self, pattern: &Pattern, init: &Expr) {
        match (&pattern.kind, &init.kind) {
            (PatternKind::Bind { local, sub: None }, _) => self.note_width(*local, None, Some(init)),
            (PatternKind::Tuple { elements: parts, rest: false }, ExprKind::Tuple { elements, .. }) => {
                parts.iter().zip(elements).for_each(|(part, element)| self.note_widths(part, element));
            }
            _ => {}
        }
    }

    /// Notes the type of the variable of a loop over a range, which is that of its bounds.
    pub(super) fn note_width_of_bounds(&mut self, local: LocalId, bounds: [&Expr; 2]) {
        let width = bounds.into_iter().find_map(|bound| self.width(bound));
        self.shown_types.widths.extend(width.map(|width| (local, width)));
        if bounds.into_iter().any(|bound| self.is_signed(bound)) {
            self.shown_types.signed.insert(local);
        }
    }

    /// The result of an operator, of which it is noted what it is below zero.
    pub(super) fn wrapping(&mut self, op: BinaryOp, left: &'f Expr, right: &'f Expr, at: SpanRange) -> Value {
        let value = self.binary(op, left, right, at);
        let bits = || [left, right].into_iter().find_map(|operand| self.width(operand));
        let is_wrapped = |node: &NodeId| self.differences.contains_key(node);
        let wraps =
            op == BinaryOp::Sub || op == BinaryOp::Add && self.nodes[value.node.0].operands.iter().any(is_wrapped);
        if let (true, Some(bits)) = (wraps, bits()) {
            self.differences.insert(value.node, BelowZero::Wraps(bits));
        }
        let may_be_negative = matches!(op, BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem);
        if may_be_negative && [left, right].into_iter().any(|operand| self.is_signed(operand)) {
            self.differences.insert(value.node, BelowZero::IsNegative);
        }
        value
    }

    /// The value of a cast that is taken to keep it. Notes where the text does not show that the type holds it.
    pub(super) fn kept_by_cast(&mut self, inner: &Expr, ty: &ValueType, value: Value) -> Value {
        let fits = inner.integer().is_some() || self.width(inner).is_some_and(|bits| holds(ty, bits));
        if let TypeShape::Scalar(name, _) = ty.shape
            && !fits
        {
            self.recast.entry(value.node).or_default().push_str(&format!(" as {name}"));
        }
        value
    }

    /// The number of elements of a vector.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other expressions, the text does not show the type")]
    pub(super) fn lanes(&self, expr: &Expr) -> Option<u64> {
        match &expr.kind {
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => self.function.values[usize::from(lanes.0)].literal,
            ExprKind::Vector { is_matrix: false, splat: false, argument, .. } => match &argument.kind {
                ExprKind::Array { elements, .. } => Some(elements.len() as u64),
                _ => None,
            },
            ExprKind::Local(local) => self.shown_types.lanes.get(local).copied(),
            ExprKind::Binary { left, right, .. } => self.lanes(left).or_else(|| self.lanes(right)),
            _ => None,
        }
    }

    /// The number of bits of an unsigned integer; `None` if the text does not show that an expression is one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other expressions, the text does not show the type")]
    pub(super) fn width(&self, expr: &Expr) -> Option<u32> {
        match &expr.kind {
            ExprKind::Int { ty: LiteralType::Suffix(name), .. } => width_of_scalar(name),
            ExprKind::Local(local) => {
                self.shown_types.widths.get(local).copied().or_else(|| self.width_of_param(*local))
            }
            ExprKind::Cast(_, ty) => width_of(ty),
            ExprKind::Axis(..) | ExprKind::Op { op: Op::Query(..), .. } => Some(32),
            ExprKind::Op { op: Op::Warp(_, WarpMethod { name: "ballot", .. }), .. } => Some(32),
            ExprKind::Op { op: Op::Length, .. } => Some(64),
            ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, left, .. } => self.width(left),
            ExprKind::Binary { op, left, right, .. } if op.is_arithmetic() => {
                self.width(left).or_else(|| self.width(right))
            }
            ExprKind::Method { method, operands, .. } => match method.name {
                "count_ones" | "count_zeros" | "leading_zeros" | "trailing_zeros" | "leading_ones"
                | "trailing_ones" | "ilog2" | "ilog10" => Some(32),
                "min" | "max" | "clamp" | "wrapping_add" | "wrapping_sub" | "wrapping_mul" | "saturating_add"
                | "saturating_sub" | "saturating_mul" | "pow" | "rotate_left" | "rotate_right" | "reverse_bits"
                | "swap_bytes" | "abs_diff" | "isqrt" | "next_power_of_two" | "div_ceil" | "next_multiple_of" => {
                    operands.iter().find_map(|operand| self.width(operand))
                }
                _ => None,
            },
            ExprKind::Array { elements, .. } => elements.iter().find_map(|element| self.width(element)),
            ExprKind::Index { base, .. } if base.memory().is_none() => self.width(base),
            ExprKind::Block(block) => block.tail.as_ref().and_then(|tail| self.width(tail)),
            _ => None,
        }
    }

    /// Whether the text shows that an expression is an integer with a sign.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other expressions, the text does not show the type")]
    fn is_signed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int { ty: LiteralType::Suffix(name), .. } => is_signed_scalar(name),
            ExprKind::Local(local) => {
                let of_param = |ty: &ParamType| matches!(ty, ParamType::Value(ty) if is_signed(ty));
                let mut params = self.function.params.iter().filter(|param| param.local == *local);
                self.shown_types.signed.contains(local) || params.any(|param| of_param(&param.ty))
            }
            ExprKind::Cast(_, ty) => is_signed(ty),
            ExprKind::Binary { op: BinaryOp::Shl | BinaryOp::Shr, left, .. } => self.is_signed(left),
            ExprKind::Binary { op, left, right, .. } if op.is_arithmetic() => {
                self.is_signed(left) || self.is_signed(right)
            }
            ExprKind::Method { method, operands, .. }
                if matches!(method.name, "min" | "max" | "clamp" | "rem_euclid" | "div_euclid") =>
            {
                operands.iter().any(|operand| self.is_signed(operand))
            }
            ExprKind::Block(block) => block.tail.as_ref().is_some_and(|tail| self.is_signed(tail)),
            _ => false,
        }
    }

    fn width_of_param(&self, local: LocalId) -> Option<u32> {
        let param = self.function.params.iter().find(|param| param.local == local)?;
        if let ParamType::Value(ty) = &param.ty { width_of(ty) } else { None }
    }
}

/// Whether an integer type holds all natural numbers of so many bits.
fn holds(ty: &ValueType, bits: u32) -> bool {
    let TypeShape::Scalar(name, _) = ty.shape else { return false };
    match name {
        "i64" | "isize" => bits < 64,
        "u128" | "i128" => true,
        _ => width_of_scalar(name).is_some_and(|width| bits <= width),
    }
}

fn width_of(ty: &ValueType) -> Option<u32> {
    if let TypeShape::Scalar(name, _) = ty.shape { width_of_scalar(name) } else { None }
}

fn is_signed(ty: &ValueType) -> bool {
    matches!(ty.shape, TypeShape::Scalar(name, _) if is_signed_scalar(name))
}

fn is_signed_scalar(name: &str) -> bool {
    matches!(name, "i8" | "i16" | "i32" | "i64" | "isize")
}

fn width_of_scalar(name: &str) -> Option<u32> {
    match name {
        "u8" => Some(8),
        "u16" => Some(16),
        "u32" => Some(32),
        "u64" | "usize" => Some(64),
        _ => None,
    }
}
