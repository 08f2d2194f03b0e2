//! Asynchronous copies: their forms, and the facts of each that the checks need.

#![warn(clippy::wildcard_enum_match_arm)]

use super::ValueId;
use super::group::Group;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyOp {
    /// `memcpy_async(&group, &shared, slice)`, also with a barrier as the last argument.
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

/// The source and the destination of a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BulkDirection {
    /// Global memory to the block's shared memory: destination, source, barrier.
    GlobalToShared,
    /// The block's shared memory to a peer's: destination, source, barrier.
    SharedToPeer,
    /// The block's shared memory to global memory: destination, source.
    SharedToGlobal,
}

/// The completion mechanism of an asynchronous copy (PTX ISA, asynchronous copy operations): the wait that shows that
/// it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CompletionMechanism {
    /// The end of a barrier's phase.
    Barrier,
    /// A wait of the group that copied.
    Group,
    /// A wait of the thread that started the bulk copy.
    BulkGroup,
    /// A wait of the thread that started the bulk copy, for what it writes.
    BulkWrites,
}

impl CopyOp {
    /// Returns the position of the barrier among the operands.
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

    /// Returns the name in Rust and in CUDA C++.
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
