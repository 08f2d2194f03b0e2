//! Values that are read of peers, for which an arrival at the cluster's barrier waits in place of a full fence: each value that is read
//! goes through a variable of the type `reads_of_peers`, which the arrival is given. Which reads those are, `check::fences` says by the
//! flag `reads_value` of the accesses: all that are values here, and no others.

use super::Lower;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};

impl Lower<'_> {
    /// Declares the variable.
    pub(super) fn declare_peer_reads(&mut self) {
        let name = self.names.fresh("peer_reads");
        self.out.push(CuStmt::Declare { ty: vec!["reads_of_peers".into()], name: name.clone(), init: None });
        self.peer_reads = Some(name);
    }

    /// Has the variable know a value, if it is one of a peer's memory.
    pub(super) fn read_of_peer(&self, is_of_peer: bool, value: CuExpr) -> CuExpr {
        match &self.peer_reads {
            Some(name) if is_of_peer => {
                CuExpr::Method { base: Box::new(CuExpr::name(name)), name: "of", arguments: vec![value], site: None }
            }
            _ => value,
        }
    }

    /// Whether an expression borrows such a value.
    pub(super) fn is_read_of_peer(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Borrow { mutable: false, target } if is_element(target))
            && self.peer_reads.is_some()
    }

    /// The variable, for an arrival that waits for what it knows.
    pub(super) fn reads_before(&self, barrier: usize) -> Option<CuExpr> {
        let name = self.peer_reads.as_ref().filter(|_| self.fences.waits_for_reads(barrier))?;
        Some(CuExpr::name(name))
    }
}

pub(super) fn is_remote(memory: Memory) -> bool {
    matches!(memory, Memory::RemoteArray | Memory::RemoteSlice)
}

/// Whether an expression is an element of a peer's memory, or a part of one.
pub(super) fn is_element(expr: &Expr) -> bool {
    match &expr.kind {
        _ if matches!(expr.result_kind, Kind::Memory(_)) => false,
        ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } | ExprKind::Field { base, .. } => {
            base.memory().is_some_and(is_remote) || is_element(base)
        }
        _ => false,
    }
}
