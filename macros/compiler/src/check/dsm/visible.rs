//! The functions whose accesses are compared with those of others: their callers or peers see some of what they do.

use super::divergent_arms::is_cluster_collective;
use crate::check::cfg::{Cfg, Root, Shared};

/// Whether the function accesses memory of peers, or calls a function that may.
pub(super) fn may_access_peers(cfg: &Cfg<'_>) -> bool {
    let remote = cfg.accesses.iter().any(|access| matches!(access.region.root, Root::Remote(_)));
    remote || !cfg.calls.is_empty()
}

/// Whether the function has an effect for its callers: it accesses a parameter or the dynamic memory, or executes a collective of
/// the cluster.
pub(super) fn is_visible_to_callers(cfg: &Cfg<'_>) -> bool {
    let mut steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    names_memory_of_others(cfg) || steps.any(is_cluster_collective)
}

/// Whether the function accesses or passes on shared memory other than arrays of its own.
pub(super) fn names_memory_of_others(cfg: &Cfg<'_>) -> bool {
    let given = cfg.calls.iter().flat_map(|call| call.regions.iter().flatten());
    let mut regions = cfg.accesses.iter().map(|access| &access.region).chain(given);
    regions.any(|region| region.root.party().is_some_and(|(_, shared)| !matches!(shared, Shared::Array(_))))
}
