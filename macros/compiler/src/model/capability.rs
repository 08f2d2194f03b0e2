//! The operations that need more of a GPU than compute capability 8.0 has. Where a type is a float of 8 bits, which
//! needs 8.9, only rustc knows: the runtime looks at the text.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::capability::{Capability, Need};

use super::Function;
use super::atomic::MemoryScope;
use super::barrier::{BarrierScope, PhaseAction};
use super::copy::CopyOp;
use super::expr::ExprKind;
use super::group::Group;
use super::op::Op;
use super::walk;
use crate::span::SpanRange;

/// Returns the first operation of the function of each kind that not every GPU has, in the order of the source.
pub(crate) fn needs(function: &Function) -> Vec<(Need, SpanRange)> {
    let mut needs: Vec<(Need, SpanRange)> = Vec::new();
    walk::walk_block(&function.body, &mut |expr| {
        let ExprKind::Op { op, .. } = &expr.kind else { return };
        let Some((capability, what)) = needed(*op) else { return };
        if !needs.iter().any(|(known, _)| known.what == what) {
            let need = Need { capability, what, line: expr.span.line(), column: expr.span.column() };
            needs.push((need, expr.span));
        }
    });
    needs
}

/// Returns what an operation needs, and its name for a sentence.
fn needed(op: Op) -> Option<(Capability, &'static str)> {
    let clusters = |what| Some((Capability::Clusters, what));
    match op {
        Op::Sync(Group::Cluster, _) | Op::Arrive(Group::Cluster, _) | Op::Wait(Group::Cluster, _) => {
            clusters("a barrier of the cluster")
        }
        Op::MapSharedRank(_) | Op::MapBarrier(_) => clusters("a peer's shared memory"),
        Op::SharedBarrier(barrier, _) if barrier.scope == BarrierScope::Cluster => {
            clusters("a phase barrier of the cluster")
        }
        Op::Barrier(_, method) if method.action == PhaseAction::ExpectTx => clusters("a phase that expects bytes"),
        Op::Copy(CopyOp::Cooperative { to_barrier: true, .. }) => clusters("a copy that completes on a phase barrier"),
        Op::Copy(CopyOp::Bulk(_) | CopyOp::BulkWait { .. }) => clusters("a bulk copy"),
        Op::Copy(CopyOp::Tensor(_)) => clusters("a copy of a tensor's tile"),
        Op::Copy(CopyOp::Store) => clusters("an asynchronous store"),
        Op::StoreMatrix { .. } => clusters("`store_matrix`"),
        Op::MmaAsync { .. } | Op::MmaWait { .. } | Op::MmaWaitExceptLast { .. } => {
            Some((Capability::Warpgroups, "a product of a warpgroup"))
        }
        Op::ChangeRegisters { .. } => Some((Capability::Warpgroups, "a change of a warpgroup's registers")),
        Op::Atomic(atomic) if atomic.scope == Some(MemoryScope::Cluster) => {
            clusters("an atomic of the cluster's scope")
        }
        Op::Fence(_, MemoryScope::Cluster) => clusters("a fence of the cluster's scope"),
        Op::LaunchDependents | Op::WaitPrevious => clusters("a launch that overlaps with others"),
        Op::This(_)
        | Op::TiledPartition(..)
        | Op::Partition(..)
        | Op::Warp(..)
        | Op::Query(..)
        | Op::Sync(..)
        | Op::Uniform(_)
        | Op::Arrive(..)
        | Op::Wait(..)
        | Op::Forget(_)
        | Op::QuerySharedRank
        | Op::SharedArray(_)
        | Op::SharedBarrier(..)
        | Op::Barrier(..)
        | Op::DynamicShared
        | Op::DynamicSharedSlice
        | Op::Part { .. }
        | Op::SplitAt { .. }
        | Op::LoadVec(_)
        | Op::StoreVec
        | Op::LoadMatrix { .. }
        | Op::Length
        | Op::IsEmpty
        | Op::LoadUnchecked
        | Op::Atomic(_)
        | Op::Fence(..)
        | Op::Nanosleep
        | Op::Copy(CopyOp::Cooperative { .. } | CopyOp::Wait { .. })
        | Op::Is(_)
        | Op::Take
        | Op::Unwrap
        | Op::UnwrapOr => None,
    }
}
