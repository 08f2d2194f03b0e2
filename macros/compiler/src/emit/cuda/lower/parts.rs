//! The parts of a thread's own variables that a body reads and never writes by themselves, such as the lanes of a vector that is
//! loaded as a whole. The text reads them through `const`, where the prelude takes a narrow lane out of the word that holds it
//! (lanes.cuh), so that the vector stays in whole registers. It decides nothing but that.

use std::collections::{BTreeMap, BTreeSet};

use crate::emit::cuda::ast::CuExpr;
use crate::model::expr::{Callee, Expr, ExprKind};
use crate::model::inline_cuda::Direction;
use crate::model::kind::Kind;
use crate::model::place::local_of;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};

/// What a body does with the parts of its variables, by the number of indexes that lead to a part.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The most indexes of a place that is written, where the variable is written at all.
    written: BTreeMap<LocalId, usize>,
    /// The variables of which a part is named.
    named: BTreeSet<LocalId>,
}

impl Parts {
    pub(super) fn of(function: &Function) -> Parts {
        let mut parts = Parts::default();
        walk_block(&function.body, &mut |expr| match &expr.kind {
            ExprKind::Index { .. } | ExprKind::UncheckedPlace { .. } => parts.named.extend(local_of(expr)),
            ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => {
                parts.write(function, place, indexes(place));
            }
            // What is done through a reference, and in a method, is not known here.
            ExprKind::Borrow { mutable: true, target } => parts.write(function, target, usize::MAX),
            ExprKind::Call { callee: Callee::Method(..), arguments, .. } => {
                arguments.first().iter().for_each(|receiver| parts.write(function, receiver, usize::MAX));
            }
            ExprKind::Cuda(inline_cuda) => {
                let written = inline_cuda.operands.iter().filter(|operand| operand.direction != Direction::In);
                written.for_each(|operand| parts.write(function, &operand.value, usize::MAX));
            }
            _ => {}
        });
        parts
    }

    /// Adds that a part of a variable may be written.
    fn write(&mut self, function: &Function, place: &Expr, indexes: usize) {
        let Some(local) = local_of(place) else { return };
        let info = function.local(local);
        // A method of what is not `mut` changes nothing.
        if info.mutable.is_some() || info.filled_by.is_some() || matches!(info.kind, Kind::Reference { mutable: true })
        {
            let most = self.written.entry(local).or_default();
            *most = indexes.max(*most);
        }
    }

    /// Whether a variable is declared as `const`: it is never written, and its parts are named.
    pub(super) fn is_constant(&self, function: &Function, local: LocalId) -> bool {
        let info = function.local(local);
        info.mutable.is_none() && info.filled_by.is_none() && info.kind == Kind::Value && self.named.contains(&local)
    }

    /// Returns the variable of which `expr` is a part that is never written by itself.
    pub(super) fn read_only(&self, function: &Function, expr: &Expr) -> Option<LocalId> {
        let local = local_of(expr)?;
        let is_own = matches!(function.local(local).kind, Kind::Value | Kind::Reference { mutable: true });
        let written = self.written.get(&local).copied().unwrap_or(0);
        (is_own && indexes(expr) > written).then_some(local)
    }
}

/// Returns the number of indexes in a place expression.
fn indexes(place: &Expr) -> usize {
    match &place.kind {
        ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } => indexes(base) + 1,
        ExprKind::Field { base, .. } | ExprKind::Deref(base) => indexes(base),
        _ => 0,
    }
}

/// Returns the text of a place, as a part of what is `const`.
pub(super) fn as_constant(place: CuExpr) -> CuExpr {
    match place {
        CuExpr::Index { base, index, site } => CuExpr::Index { base: Box::new(as_constant(*base)), index, site },
        CuExpr::Method { base, name, arguments, site } => {
            CuExpr::Method { base: Box::new(as_constant(*base)), name, arguments, site }
        }
        CuExpr::Member(base, name) => CuExpr::Member(Box::new(as_constant(*base)), name),
        variable => CuExpr::call("as_const", vec![variable]),
    }
}
