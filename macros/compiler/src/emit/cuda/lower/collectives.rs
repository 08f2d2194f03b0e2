//! Tells whether the threads of a group do something together, or wait for each other, in the body of a function. The rules of such
//! operations are in `Op::facts`.

use crate::model::Function;
use crate::model::copy::CopyOp;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};

/// Whether the body of a function has anything that threads do together, or waits for other threads. Its callees may have more. What the
/// closures do that it is given, stands in its callers.
pub(crate) fn has_collectives(function: &Function) -> bool {
    let mut found = false;
    walk_block(&function.body, &mut |expr| {
        // What CUDA C++ does is unknown.
        found |= matches!(expr.kind, ExprKind::Cuda(_))
            || may_spin(expr)
            || matches!(expr.kind, ExprKind::Op { op, .. } if is_collective(op));
    });
    found
}

/// Whether a loop may wait for what another thread writes, or a function that is given a closure, or a loop that calls one.
pub(super) fn may_spin(expr: &Expr) -> bool {
    let mut spins = false;
    if let ExprKind::Loop { .. } | ExprKind::While { .. } | ExprKind::Closure { .. } = expr.kind {
        walk(expr, &mut |inner| {
            spins |= matches!(inner.kind, ExprKind::Op { op: Op::Atomic(_) | Op::Fence(..), .. });
        });
    }
    spins
}

/// Whether threads do an operation together, or wait in it.
pub(super) fn is_collective(op: Op) -> bool {
    match op {
        Op::Sync(..)
        | Op::Arrive(..)
        | Op::Wait(..)
        | Op::Barrier(..)
        | Op::Copy(CopyOp::Wait { .. } | CopyOp::BulkWait { .. })
        | Op::Warp(..)
        | Op::LoadMatrix { .. }
        | Op::StoreMatrix { .. }
        | Op::MmaAsync { .. }
        | Op::MmaWait { .. }
        | Op::MmaWaitExceptLast { .. }
        | Op::ChangeRegisters { .. }
        | Op::Partition(..)
        | Op::TiledPartition(..)
        | Op::Nanosleep
        | Op::LaunchDependents
        | Op::WaitPrevious
        | Op::Forget(_)
        | Op::SharedArray(_)
        | Op::SharedBarrier(..) => true,
        // Each thread issues its own share of a copy.
        Op::Copy(CopyOp::Cooperative { .. } | CopyOp::Bulk(_) | CopyOp::Tensor(_) | CopyOp::Store)
        | Op::This(_)
        | Op::Query(..)
        | Op::Uniform(_)
        | Op::MapSharedRank(_)
        | Op::QuerySharedRank
        | Op::MapBarrier(_)
        | Op::DynamicShared
        | Op::DynamicSharedSlice
        | Op::Length
        | Op::IsEmpty
        | Op::LoadUnchecked
        | Op::LoadVec(_)
        | Op::StoreVec
        | Op::Part { .. }
        | Op::SplitAt { .. }
        | Op::Is(_)
        | Op::Take
        | Op::Unwrap
        | Op::UnwrapOr
        | Op::Atomic(_)
        | Op::Fence(..) => false,
    }
}
