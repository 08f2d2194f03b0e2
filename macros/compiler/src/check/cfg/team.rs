//! A group of threads as an operation names it, with the scope at which the group's collectives need agreement. Data, no
//! analysis.

use phalanx_contract::uniformity::Uniformity;

use super::BlockId;
use super::position::Granule;
use crate::model::group::Group;

/// A group of threads as an operation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Team {
    pub(crate) group: Group,
    pub(crate) uniformity: Uniformity,
    /// The block where the group was formed of the threads that reached it.
    pub(crate) formed_at: Option<BlockId>,
    /// The position of the parameter that is the group, if only the caller knows its uniformity.
    pub(crate) param: Option<usize>,
    /// The form of a tile, if the text shows it.
    pub(crate) tile: Option<Tile>,
}

/// A tile as its partition makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) size: Granule,
    /// The size of the tile that was partitioned; `None` for the block. Unknown of a parameter.
    pub(crate) of: Option<Option<Granule>>,
}

impl Team {
    /// All threads of the block, the cluster or the grid.
    pub(crate) fn whole(group: Group) -> Team {
        let uniformity = match group {
            Group::ThreadBlock => Uniformity::Block,
            Group::Cluster => Uniformity::Cluster,
            Group::Grid => Uniformity::Grid,
            // A warp contains any group of it.
            Group::Tile | Group::Coalesced => Uniformity::Warp,
        };
        Team { group, uniformity, formed_at: None, param: None, tile: None }
    }
}

/// Whether a barrier of this group synchronizes all threads of the cluster.
pub(crate) fn spans_cluster(group: Group) -> bool {
    match group {
        Group::Cluster | Group::Grid => true,
        Group::Coalesced | Group::Tile | Group::ThreadBlock => false,
    }
}
