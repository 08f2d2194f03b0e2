//! Numbers of threads and blocks in expressions: literals and constants that are the same in all instances.

use super::Builder;
use super::value::keeps_value;
use crate::check::cfg::Granule;
use crate::model::expr::{Expr, ExprKind};

impl<'f> Builder<'f> {
    /// A number that is the same in all instances: a literal, or a constant that is not generic.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is the same number in all instances")]
    pub(super) fn granule(&self, expr: &Expr) -> Option<Granule> {
        match &expr.kind {
            ExprKind::Int { .. } => expr.integer().map(Granule::Number),
            ExprKind::Constant(value) => {
                let constant = &self.function.values[usize::from(value.0)];
                let generic = self.function.generics.names_one_of(&constant.tokens);
                (!generic).then_some(Granule::Constant(*value))
            }
            ExprKind::Cast(inner, ty) if keeps_value(inner, ty) => self.granule(inner),
            _ => None,
        }
    }
}
