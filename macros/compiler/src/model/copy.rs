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
    /// `map.load_async([row, column], &tile, &bar)` and its like: the map, the coordinates, the tile, the barrier.
    Tensor(TensorCopy),
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

/// A copy between a tensor in global memory and a tile in the block's shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorCopy {
    /// From the tensor, on a barrier, which it lets expect its bytes.
    Load,
    /// To the tensor.
    Store,
    /// To the tensor, whose elements are combined with the tile's.
    Reduce(TensorReduction),
    /// From the tensor into the L2 cache.
    Prefetch,
    /// From the tensor to the tiles of several blocks, on the barrier of each: the map, the coordinates, the tile, the barrier, the ranks.
    Multicast,
    /// Lets a barrier expect the tile that a peer's multicast brings: the map, the tile, the barrier.
    Expect,
}

/// The operation that combines elements (PTX ISA, cp.reduce.async.bulk.tensor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorReduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl TensorCopy {
    pub(crate) const ALL: [TensorCopy; 11] = [
        TensorCopy::Load,
        TensorCopy::Store,
        TensorCopy::Reduce(TensorReduction::Add),
        TensorCopy::Reduce(TensorReduction::Min),
        TensorCopy::Reduce(TensorReduction::Max),
        TensorCopy::Reduce(TensorReduction::And),
        TensorCopy::Reduce(TensorReduction::Or),
        TensorCopy::Reduce(TensorReduction::Xor),
        TensorCopy::Prefetch,
        TensorCopy::Multicast,
        TensorCopy::Expect,
    ];

    pub(crate) fn by_name(name: &str) -> Option<TensorCopy> {
        TensorCopy::ALL.into_iter().find(|copy| copy.name() == name)
    }

    /// Returns the name of the method, in Rust and in CUDA C++.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TensorCopy::Load => "load_async",
            TensorCopy::Store => "store_async",
            TensorCopy::Reduce(TensorReduction::Add) => "reduce_add_async",
            TensorCopy::Reduce(TensorReduction::Min) => "reduce_min_async",
            TensorCopy::Reduce(TensorReduction::Max) => "reduce_max_async",
            TensorCopy::Reduce(TensorReduction::And) => "reduce_and_async",
            TensorCopy::Reduce(TensorReduction::Or) => "reduce_or_async",
            TensorCopy::Reduce(TensorReduction::Xor) => "reduce_xor_async",
            TensorCopy::Prefetch => "prefetch",
            TensorCopy::Multicast => "multicast_async",
            TensorCopy::Expect => "expect_multicast",
        }
    }

    /// Whether it changes the tensor.
    pub(crate) fn writes(self) -> bool {
        match self {
            TensorCopy::Load | TensorCopy::Prefetch | TensorCopy::Multicast | TensorCopy::Expect => false,
            TensorCopy::Store | TensorCopy::Reduce(_) => true,
        }
    }

    /// Returns the form of a call, for messages.
    pub(crate) fn form(self) -> String {
        match self {
            TensorCopy::Load => "map.load_async([row, column], &tile, &bar)".into(),
            TensorCopy::Prefetch => "map.prefetch([row, column])".into(),
            TensorCopy::Multicast => "map.multicast_async([row, column], &tile, &bar, &cluster)".into(),
            TensorCopy::Expect => "map.expect_multicast(&tile, &bar)".into(),
            TensorCopy::Store | TensorCopy::Reduce(_) => format!("map.{}([row, column], &tile)", self.name()),
        }
    }

    /// Returns the number of arguments.
    pub(crate) fn arguments(self) -> usize {
        match self {
            TensorCopy::Multicast => 4,
            TensorCopy::Load => 3,
            TensorCopy::Store | TensorCopy::Reduce(_) | TensorCopy::Expect => 2,
            TensorCopy::Prefetch => 1,
        }
    }
}

/// The completion mechanism of an asynchronous copy (PTX ISA, asynchronous copy operations): the wait that shows that
/// it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CompletionMechanism {
    /// The end of a barrier's phase.
    Barrier,
    /// The end of a phase of a peer's barrier, for the sender.
    PeersBarrier,
    /// A wait of the group that copied.
    Group,
    /// A wait of the thread that started the bulk copy.
    BulkGroup,
    /// A wait of the thread that started the bulk copy, for what it writes.
    BulkWrites,
    /// A wait of the warpgroup that began the product.
    Product,
}

impl CopyOp {
    /// Returns the position of the barrier among the operands.
    pub(crate) fn barrier(self) -> Option<usize> {
        match self {
            CopyOp::Cooperative { to_barrier: true, .. }
            | CopyOp::Store
            | CopyOp::Tensor(TensorCopy::Load | TensorCopy::Multicast) => Some(3),
            CopyOp::Bulk(BulkDirection::GlobalToShared | BulkDirection::SharedToPeer)
            | CopyOp::Tensor(TensorCopy::Expect) => Some(2),
            CopyOp::Cooperative { to_barrier: false, .. }
            | CopyOp::Bulk(BulkDirection::SharedToGlobal)
            | CopyOp::Tensor(TensorCopy::Store | TensorCopy::Reduce(_) | TensorCopy::Prefetch)
            | CopyOp::Wait { .. }
            | CopyOp::BulkWait { .. } => None,
        }
    }

    /// Returns the name in Rust and in CUDA C++.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CopyOp::Cooperative { .. } => "memcpy_async",
            CopyOp::Bulk(_) => "bulk_copy_async",
            CopyOp::Tensor(tensor) => tensor.name(),
            CopyOp::Store => "store_async",
            CopyOp::Wait { prior: None, .. } => "wait_async",
            CopyOp::Wait { prior: Some(_), .. } => "wait_prior",
            CopyOp::BulkWait { read: false, .. } => "bulk_wait_group",
            CopyOp::BulkWait { read: true, .. } => "bulk_wait_group_read",
        }
    }
}
