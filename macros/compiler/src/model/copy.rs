//! Asynchronous copies: their forms, and what the checks need to know of each.

#![warn(clippy::wildcard_enum_match_arm)]

use super::ValueId;
use super::group::Group;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyOp {
    /// `memcpy_async(&group, &shared, slice)`, and with a barrier behind.
    Cooperative { group: Group, to_barrier: bool },
    /// `bulk_copy_async(...)`
    Bulk(BulkDirection),
    /// `remote.store_async(i, value, &bar)`
    Store,
    /// `group.wait_async()`, `group.wait_prior::<N>()`
    Wait { group: Group, prior: Option<ValueId> },
    /// `bulk_wait_group::<N>()`, `bulk_wait_group_read::<N>()`
    BulkWait { read: bool, prior: ValueId },
}

/// From where to where a bulk copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BulkDirection {
    /// From global memory to the block's shared memory: destination, source, barrier.
    GlobalToShared,
    /// From there to a peer's: destination, source, barrier.
    SharedToPeer,
    /// From there to global memory: destination, source.
    SharedToGlobal,
}

/// What shows that a copy has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CompletionMechanism {
    /// A phase of a barrier that is over.
    Barrier,
    /// The wait of the group that copied.
    Group,
    /// The wait of the thread that copied in bulk.
    BulkGroup,
}

impl CopyOp {
    /// The operand that is the barrier.
    pub(crate) fn barrier(self) -> Option<usize> {
        match self {
            CopyOp::Cooperative { to_barrier: true, .. } | CopyOp::Store => Some(3),
            CopyOp::Bulk(BulkDirection::GlobalToShared | BulkDirection::SharedToPeer) => Some(2),
            CopyOp::Cooperative { to_barrier: false, .. }
            | CopyOp::Bulk(BulkDirection::SharedToGlobal)
            | CopyOp::Wait { .. }
            | CopyOp::BulkWait { .. } => None,
        }
    }

    /// Its name in Rust and in CUDA C++.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CopyOp::Cooperative { .. } => "memcpy_async",
            CopyOp::Bulk(_) => "bulk_copy_async",
            CopyOp::Store => "store_async",
            CopyOp::Wait { prior: None, .. } => "wait_async",
            CopyOp::Wait { prior: Some(_), .. } => "wait_prior",
            CopyOp::BulkWait { read: false, .. } => "bulk_wait_group",
            CopyOp::BulkWait { read: true, .. } => "bulk_wait_group_read",
        }
    }
}
