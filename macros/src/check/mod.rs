//! What the kernel language forbids beyond what rustc does. All rules report before the gate. Only this folder makes
//! a [`Checked`].

pub(crate) mod build;
pub(crate) mod cfg;
pub(crate) mod engine;
mod tokens;

use crate::diag::{Diags, Reported};
use crate::model::Function;
use crate::model::expr::ExprKind;
use crate::model::walk::walk_block;

/// A function that broke no rule, with what the checks found out about it.
pub(crate) struct Checked<'f> {
    function: &'f Function,
    pending: tokens::PendingAtCalls,
}

pub(crate) fn run<'f>(function: &'f Function, diags: &mut Diags) -> Result<Checked<'f>, Reported> {
    let pending = tokens::check(function, diags);
    diags.gate()?;
    Ok(Checked { function, pending })
}

impl<'f> Checked<'f> {
    pub(crate) fn function(&self) -> &'f Function {
        self.function
    }

    /// For calls made while arrivals are pending, by slot: the groups of which the callee must use no collective.
    pub(crate) fn pending_at_calls(&self) -> &tokens::PendingAtCalls {
        &self.pending
    }

    /// The groups of which the function itself executes a collective, one bit each.
    pub(crate) fn collectives(&self) -> u8 {
        let mut groups = 0;
        walk_block(&self.function.body, &mut |expr| {
            if let ExprKind::Op { op, .. } = &expr.kind
                && let Some(group) = op.facts().collective
            {
                groups |= group.bit();
            }
        });
        groups
    }
}
