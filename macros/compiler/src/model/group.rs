//! The groups of threads that a kernel names, as Cooperative Groups has them.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::Groups;

/// A group of threads, smallest first: a group may be contained in any that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Group {
    Coalesced,
    Tile,
    ThreadBlock,
    Cluster,
    Grid,
}

impl Group {
    pub(crate) const ALL: [Group; 5] = [Group::Coalesced, Group::Tile, Group::ThreadBlock, Group::Cluster, Group::Grid];

    /// Returns the name of the type in Rust.
    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            Group::Coalesced => "CoalescedGroup",
            Group::Tile => "Tile",
            Group::ThreadBlock => "ThreadBlock",
            Group::Cluster => "Cluster",
            Group::Grid => "Grid",
        }
    }

    /// Returns the name of the type in CUDA C++; a tile's is followed by its size.
    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced_group",
            Group::Tile => "thread_block_tile",
            Group::ThreadBlock => "thread_block",
            Group::Cluster => "cluster_group",
            Group::Grid => "grid_group",
        }
    }

    /// Returns the name of the function that makes the calling thread's group, in Rust and in CUDA C++.
    pub(crate) fn origin(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced_threads",
            Group::Tile => "tiled_partition",
            Group::ThreadBlock => "this_thread_block",
            Group::Cluster => "this_cluster",
            Group::Grid => "this_grid",
        }
    }

    /// Whether the group has `barrier_arrive` and `barrier_wait`. Every group has `sync`.
    pub(crate) fn has_split_barrier(self) -> bool {
        !self.is_of_a_warp()
    }

    /// Whether all threads of the group belong to one warp.
    pub(crate) fn is_of_a_warp(self) -> bool {
        match self {
            Group::Coalesced | Group::Tile => true,
            Group::ThreadBlock | Group::Cluster | Group::Grid => false,
        }
    }

    /// Returns the set of this group alone.
    pub(crate) fn flag(self) -> Groups {
        match self {
            Group::ThreadBlock => Groups::THREAD_BLOCK,
            Group::Cluster => Groups::CLUSTER,
            Group::Grid => Groups::GRID,
            Group::Tile => Groups::TILE,
            Group::Coalesced => Groups::COALESCED,
        }
    }

    /// Returns the group's name for a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Group::Coalesced => "coalesced group",
            Group::Tile => "tile",
            Group::ThreadBlock => "thread block",
            Group::Cluster => "cluster",
            Group::Grid => "grid",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.rust_name() == name)
    }
}
