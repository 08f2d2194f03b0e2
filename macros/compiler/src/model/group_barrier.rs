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
    /// The groups that have the method. Only the cluster's barrier has all modifiers: the split barrier of a block is an mbarrier.
    pub(crate) groups: &'static [Group],
    pub(crate) operation: BarrierOperation,
    /// Whether the arrival lacks release semantics, and does not wait for earlier operations.
    pub(crate) relaxed: bool,
    /// Whether all threads of a warp must execute it together, whichever rule is switched off.
    pub(crate) aligned: bool,
}

static BARRIER_METHODS: [BarrierMethod; 8] = {
    use BarrierOperation::{Arrive, Sync, Wait};
    use Group::{Cluster, Coalesced, Grid, ThreadBlock, Tile};
    const ALL: &[Group] = &[Coalesced, Tile, ThreadBlock, Cluster, Grid];
    const SPLIT: &[Group] = &[ThreadBlock, Cluster, Grid];
    [
        BarrierMethod { name: "sync", groups: ALL, operation: Sync, relaxed: false, aligned: false },
        BarrierMethod { name: "barrier_arrive", groups: SPLIT, operation: Arrive, relaxed: false, aligned: false },
        BarrierMethod { name: "barrier_wait", groups: SPLIT, operation: Wait, relaxed: false, aligned: false },
        BarrierMethod {
            name: "sync_aligned",
            groups: &[ThreadBlock, Cluster],
            operation: Sync,
            relaxed: false,
            aligned: true,
        },
        BarrierMethod {
            name: "barrier_arrive_relaxed",
            groups: &[Cluster],
            operation: Arrive,
            relaxed: true,
            aligned: false,
        },
        BarrierMethod {
            name: "barrier_arrive_aligned",
            groups: &[Cluster],
            operation: Arrive,
            relaxed: false,
            aligned: true,
        },
        BarrierMethod {
            name: "barrier_arrive_relaxed_aligned",
            groups: &[Cluster],
            operation: Arrive,
            relaxed: true,
            aligned: true,
        },
        BarrierMethod {
            name: "barrier_wait_aligned",
            groups: &[Cluster],
            operation: Wait,
            relaxed: false,
            aligned: true,
        },
    ]
};

/// Whether a method of this name of a group's barrier returns a token.
pub(crate) fn makes_token(name: &str) -> bool {
    known().any(|method| method.name == name && method.operation == BarrierOperation::Arrive)
}

/// Returns all methods that a name is looked up among.
fn known() -> impl Iterator<Item = &'static BarrierMethod> {
    let known = BARRIER_METHODS.iter();
    #[cfg(test)]
    let known = known.chain(&crate::tests::made_up::BARRIER_METHODS);
    known
}

impl Group {
    /// Returns the methods of the group's barrier.
    pub(crate) fn barrier_methods(self) -> impl Iterator<Item = &'static BarrierMethod> {
        BARRIER_METHODS.iter().filter(move |method| method.groups.contains(&self))
    }

    /// Returns the method of this name of the group's barrier.
    pub(crate) fn barrier_method(self, name: &str) -> Option<&'static BarrierMethod> {
        known().find(|method| method.name == name && method.groups.contains(&self))
    }
}
