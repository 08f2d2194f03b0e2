//! The methods of groups' own barriers, as a table: they have the same names in Rust and in CUDA C++.

#![warn(clippy::wildcard_enum_match_arm)]

use super::group::Group;

/// A thread's operation at the barrier of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierOperation {
    Sync,
    Arrive,
    Wait,
}

/// A method for a barrier operation, with PTX's modifiers (PTX ISA, barrier{.cta} and barrier.cluster).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BarrierMethod {
    pub(crate) name: &'static str,
    pub(crate) operation: BarrierOperation,
    /// Whether the arrival lacks release semantics, and does not wait for earlier operations.
    pub(crate) relaxed: bool,
    /// Whether all threads of a warp must execute it together, whichever rule is switched off.
    pub(crate) aligned: bool,
}

static BARRIER_METHODS: [BarrierMethod; 8] = {
    use BarrierOperation::{Arrive, Sync, Wait};
    [
        BarrierMethod { name: "sync", operation: Sync, relaxed: false, aligned: false },
        BarrierMethod { name: "barrier_arrive", operation: Arrive, relaxed: false, aligned: false },
        BarrierMethod { name: "barrier_wait", operation: Wait, relaxed: false, aligned: false },
        BarrierMethod { name: "sync_aligned", operation: Sync, relaxed: false, aligned: true },
        BarrierMethod { name: "barrier_arrive_relaxed", operation: Arrive, relaxed: true, aligned: false },
        BarrierMethod { name: "barrier_arrive_aligned", operation: Arrive, relaxed: false, aligned: true },
        BarrierMethod { name: "barrier_arrive_relaxed_aligned", operation: Arrive, relaxed: true, aligned: true },
        BarrierMethod { name: "barrier_wait_aligned", operation: Wait, relaxed: false, aligned: true },
    ]
};

impl Group {
    /// Returns the methods of the group's barrier. Only the cluster's barrier has all modifiers: the split barrier of a
    /// block is an mbarrier.
    pub(crate) fn barrier_methods(self) -> impl Iterator<Item = &'static BarrierMethod> {
        BARRIER_METHODS.iter().filter(move |method| match (self, method.operation) {
            (Group::Cluster, _) => true,
            (Group::ThreadBlock, BarrierOperation::Sync) => true,
            (Group::ThreadBlock | Group::Grid, _) => !method.aligned && !method.relaxed,
            (Group::Coalesced | Group::Tile, BarrierOperation::Sync) => !method.aligned,
            (Group::Coalesced | Group::Tile, BarrierOperation::Arrive | BarrierOperation::Wait) => false,
        })
    }
}
