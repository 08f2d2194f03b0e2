//! The accesses of a closure that straight-line code calls, which are tested before it (`straight`).

use super::straight::Scan;
use crate::model::expr::{Expr, ExprKind};
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId};

impl<'f: 'e, 'e> Scan<'_, 'f, 'e> {
    /// Adds the accesses of a closure for these arguments. One that copies variables may have other values of them.
    pub(super) fn closure(&mut self, name: LocalId, arguments: &'e [Expr], site: SiteId) -> Option<()> {
        // What a run around this one has tested.
        if self.values.lower.tested_calls.contains_key(&site) {
            return Some(());
        }
        let closure = self.values.lower.closures.get(&name)?;
        let mut assigns = false;
        walk(closure.body, &mut |inner| {
            assigns |= matches!(inner.kind, ExprKind::Assign(..) | ExprKind::AssignOp { .. });
        });
        // The closure without checks is declared before the run, where what another one captures need not exist.
        let is_inside = self.values.variables.declared.contains(&name);
        if assigns || is_inside || closure.by_value || self.in_closure {
            return None;
        }
        for ((param, ty), argument) in closure.params.iter().zip(arguments) {
            self.values.declare(*param, ty.as_ref(), Some(argument));
        }
        self.in_closure = true;
        let result = self.expr(closure.body);
        self.in_closure = false;
        result?;
        self.calls.push((site, name));
        Some(())
    }
}
