//! Conditions without branches in them: in `while steps < most && a * a + b * b <= 4.0`, and in `w > v || w == v && j < i`, the second
//! comparison is made whether the first one decides or not. What is made for nothing has to be little, and nothing may show it. Outside of
//! loops' conditions, the compiler of CUDA C++ does so by itself where all operators are `&&`, or all are `||`.

use super::Lower;
use super::access::may_fail;
use crate::emit::cuda::ast::CuExpr;
use crate::model::effect::effect;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::walk::walk;

/// The most that is computed for nothing, in expressions.
const MOST_EXPRESSIONS: usize = 16;

impl Lower<'_> {
    /// Lowers the condition of a loop, to a `bool` or a number that is 0 if it does not hold.
    pub(super) fn loop_condition(&mut self, condition: &Expr) -> CuExpr {
        let both = match &condition.kind {
            ExprKind::Binary { op, left, right, .. } => self.eager(*op, left, right),
            _ => None,
        };
        both.unwrap_or_else(|| self.value(condition))
    }

    /// Lowers the condition of a branch, to a `bool` or a number that is 0 if it does not hold.
    pub(super) fn branch_condition(&mut self, condition: &Expr) -> CuExpr {
        let both = match &condition.kind {
            ExprKind::Binary { op, left, right, .. } => self.eager_if_mixed(*op, left, right),
            _ => None,
        };
        both.unwrap_or_else(|| self.value(condition))
    }

    /// Lowers a `&&` with a `||` in it, or the reverse, that needs no branch.
    pub(super) fn eager_if_mixed(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<CuExpr> {
        if mixes(op, left) || mixes(op, right) { self.eager(op, left, right) } else { None }
    }

    /// Lowers a `&&` or `||` that needs no branch. C++ leaves the order of the operands open, so that the left one changes nothing.
    fn eager(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<CuExpr> {
        let op = match op {
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            _ => return None,
        };
        if !self.is_cheap(right) || effect(self.function, left) == Effect::Changes {
            return None;
        }
        let (left, right) = (Box::new(self.loop_condition(left)), Box::new(self.loop_condition(right)));
        Some(CuExpr::Infix { op, left, right, site: None })
    }

    /// Whether a value is little arithmetic on variables and literals, which has no effect and cannot fail.
    fn is_cheap(&self, value: &Expr) -> bool {
        let (mut size, mut is_plain) = (0, true);
        walk(value, &mut |inner| {
            size += 1;
            is_plain &= match &inner.kind {
                ExprKind::Local(local) => self.function.kind(*local) == Kind::Value,
                ExprKind::Int { .. }
                | ExprKind::Float { .. }
                | ExprKind::Bool(_)
                | ExprKind::Constant(_)
                | ExprKind::Field { .. }
                | ExprKind::Unary(..)
                | ExprKind::Cast(..) => true,
                ExprKind::Binary { op, right, .. } => !may_fail(*op, right),
                _ => false,
            };
        });
        is_plain && size <= MOST_EXPRESSIONS
    }
}

/// Whether an operand of `&&` has a `||` in it, or one of `||` a `&&`.
fn mixes(op: BinaryOp, operand: &Expr) -> bool {
    match &operand.kind {
        ExprKind::Binary { op: inner, left, right, .. } if inner.short_circuits() => {
            *inner != op || mixes(op, left) || mixes(op, right)
        }
        _ => false,
    }
}
