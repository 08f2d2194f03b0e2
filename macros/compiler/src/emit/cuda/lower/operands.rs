//! Lowers operands in the order of their evaluation: Rust's is from left to right, and C++ leaves it open.

use super::Lower;
use crate::emit::cuda::ast::CuExpr;
use crate::model::barrier::BarrierForm;
use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::place::is_place;

impl Lower<'_> {
    /// Lowers operands, evaluated from left to right where the order can be observed.
    pub(super) fn operands(&mut self, exprs: &[&Expr]) -> Vec<CuExpr> {
        let effects: Vec<Effect> = exprs.iter().map(|expr| effect(self.function, expr)).collect();
        let changes = effects.contains(&Effect::Changes);
        let last = effects.iter().rposition(|effect| *effect != Effect::Pure);
        let mut values = Vec::new();
        for (index, expr) in exprs.iter().enumerate() {
            // What is computed for a reference is a value of its own.
            let expr = match &expr.kind {
                ExprKind::Borrow { mutable: false, target } if !is_place(target) => target,
                _ => *expr,
            };
            let value = self.value(expr);
            let must_spill = changes && effects[index] != Effect::Pure && Some(index) != last;
            values.push(match &expr.kind {
                // The element is found now; what it holds is read by the callee.
                ExprKind::Borrow { .. } if must_spill && !matches!(value, CuExpr::Atom(_)) => {
                    self.bind(if self.is_read_of_peer(expr) { "auto" } else { "auto&" }, value)
                }
                _ if must_spill && has_value(expr) => self.spill(value),
                _ => value,
            });
        }
        values
    }
}

/// Whether an operand is copied. Groups and memory are used in place, and a borrowed variable is passed by reference. A
/// part of memory is a value: an address and a length.
pub(super) fn has_value(expr: &Expr) -> bool {
    match expr.result_kind {
        Kind::Group(_) | Kind::Closure | Kind::Reference { .. } | Kind::TensorMap { .. } => false,
        Kind::Memory(_) => matches!(expr.kind, ExprKind::Op { .. }),
        Kind::Barrier(barrier) => barrier.form == BarrierForm::Remote,
        Kind::Unknown
        | Kind::Value
        | Kind::Extent
        | Kind::Unit
        | Kind::Never
        | Kind::Token(_)
        | Kind::OptionalToken(_)
        | Kind::OptionalMemory(_) => !matches!(expr.kind, ExprKind::Borrow { .. }),
    }
}
