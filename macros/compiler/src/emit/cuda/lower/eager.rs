//! Conditions of loops without a branch in them: in `while steps < most && a * a + b * b <= 4.0`, the second comparison is made
//! whether the first one holds or not, so that an iteration ends with one branch. What is made for nothing has to be little, and
//! nothing may show it.

use super::Lower;
use super::access::may_fail;
use crate::emit::cuda::ast::CuExpr;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::walk::walk;

/// The most that is computed for nothing, in expressions.
const MOST_EXPRESSIONS: usize = 16;

impl Lower<'_> {
    /// Lowers the condition of a loop.
    pub(super) fn eager(&mut self, condition: &Expr) -> CuExpr {
        match &condition.kind {
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } if self.is_cheap(right) => {
                let (left, right) = (Box::new(self.eager(left)), Box::new(self.value(right)));
                CuExpr::Infix { op: "&", left, right, site: None }
            }
            _ => self.value(condition),
        }
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
                | ExprKind::Unary(..)
                | ExprKind::Cast(..) => true,
                ExprKind::Binary { op, right, .. } => !may_fail(*op, right),
                _ => false,
            };
        });
        is_plain && size <= MOST_EXPRESSIONS
    }
}
