//! A group of threads as an operation names it, with the uniformity at which the group's collectives need agreement. Data, no
//! analysis.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::uniformity::Uniformity;

use super::BlockId;
use crate::model::group::Group;

/// A group of threads as an operation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Team {
    pub(crate) group: Group,
    pub(crate) uniformity: Uniformity,
    /// Where control stood when the group was made of the threads that were there.
    pub(crate) formed_at: Option<BlockId>,
    /// The position of the parameter that the group is, where only the caller knows its uniformity.
    pub(crate) param: Option<usize>,
}

impl Team {
    /// All threads of the block, the cluster or the grid.
    pub(crate) fn whole(group: Group) -> Team {
        let uniformity = match group {
            Group::ThreadBlock => Uniformity::Block,
            Group::Cluster => Uniformity::Cluster,
            Group::Grid => Uniformity::Grid,
            // Whichever group of a warp it is, the warp contains it.
            Group::Tile | Group::Coalesced => Uniformity::Warp,
        };
        Team { group, uniformity, formed_at: None, param: None }
    }
}

/// Whether a barrier of this group is one of all threads of the cluster.
pub(crate) fn spans_cluster(group: Group) -> bool {
    match group {
        Group::Cluster | Group::Grid => true,
        Group::Coalesced | Group::Tile | Group::ThreadBlock => false,
    }
}
