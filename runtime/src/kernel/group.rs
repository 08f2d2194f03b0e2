//! The groups of threads that a kernel names, with CUDA's names and numbering (`cooperative_groups.h`: ranks run
//! along x first). They hold nothing: the simulator knows which thread asks. The device has its own in `groups.cuh`.
//!
//! Tiles and coalesced groups are in `warp`.

mod copying;
mod members;
pub mod op;
mod warp;

use std::panic::Location;

pub use self::copying::CopyGroup;
pub use self::warp::{
    CoalescedGroup, Parent, Tile, WarpGroup, binary_partition, coalesced_threads, labeled_partition, tile, tile_size,
    tiled_partition,
};

use crate::kernel::memory::{OwnedShared, Shared, bits};
use crate::kernel::token::ArrivalToken;
use crate::program::template::Optional;
use crate::program::type_info::TypeInfo;
use crate::program::types::DeviceCopy;
use crate::shape::{Dim3, Shape};
use crate::sim::{self, Group};

/// The blocks that share their memory: `cooperative_groups::cluster_group`.
#[derive(Debug, Clone)]
pub struct Cluster {
    _from_this_cluster: (),
}

/// The threads of a block: `cooperative_groups::thread_block`.
#[derive(Debug, Clone)]
pub struct ThreadBlock {
    _from_this_thread_block: (),
}

/// All threads of the launch: `cooperative_groups::grid_group`.
#[derive(Debug, Clone)]
pub struct Grid {
    _from_this_grid: (),
}

/// The groups whose barrier has an arrival and a wait, each with the type of its tokens in C++.
macro_rules! split_barriers {
    ($($group:ident => $token:literal;)*) => {$(
        impl Optional for ArrivalToken<$group> {
            fn info() -> TypeInfo {
                TypeInfo::prelude::<Self>($token)
            }
        }
    )*};
}

split_barriers! {
    ThreadBlock => "thread_block::arrival_token";
    Cluster => "cluster_group::arrival_token";
    Grid => "grid_group::arrival_token";
}

/// The running thread's cluster.
#[inline]
#[track_caller]
pub fn this_cluster() -> Cluster {
    sim::with("`this_cluster()`", |_| Cluster { _from_this_cluster: () })
}

/// The running thread's block.
#[inline]
#[track_caller]
pub fn this_thread_block() -> ThreadBlock {
    sim::with("`this_thread_block()`", |_| ThreadBlock { _from_this_thread_block: () })
}

/// The running thread's grid.
#[inline]
#[track_caller]
pub fn this_grid() -> Grid {
    sim::with("`this_grid()`", |_| Grid { _from_this_grid: () })
}

/// Queries: `name: type, |context| value, "doc"`.
macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident: $t:ty = |$context:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[track_caller]
        pub fn $name(&self) -> $t {
            sim::with(concat!("`", stringify!($name), "()`"), |$context| $value)
        }
    )*};
}

impl Cluster {
    /// Says that `value` is the same for all threads of the cluster, and gives it: what it decides, all of them do. The
    /// simulator compares; a GPU goes by it. All threads of the cluster come here, and none waits.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel]
    /// # fn rounds(counts: &mut [u32]) {
    /// #     let cluster = this_cluster();
    /// // `counts[0]` may change, but not before the barrier in the loop.
    /// while cluster.uniform(counts[0] > 0) {
    /// #     break;
    ///     // ...
    /// }
    /// # }
    /// ```
    #[track_caller]
    pub fn uniform<T: DeviceCopy>(&self, value: T) -> T {
        let site = Location::caller();
        sim::with("`cluster.uniform()`", |context| {
            context.check_uniform(Group::Cluster, "`cluster.uniform()` of a value that is", bits(&value), site)
        });
        value
    }

    /// Waits for all threads of the cluster.
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`cluster.sync()`", |context| context.sync(Group::Cluster, site));
    }

    /// Says that the thread has come here, and does not wait.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<Cluster> {
        let site = Location::caller();
        let arrive = "`cluster.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Cluster, site)))
    }

    /// Waits for the arrival of all threads of the cluster.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<Cluster>) {
        let site = Location::caller();
        let wait = "`cluster.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Cluster, token.phase(), site));
    }

    /// Says that the thread has come here, and orders nothing: neither what the thread wrote is published, nor is waited for
    /// what it reads of a peer. `fence(AcqRel, Scope::Cluster)` before it does both (PTX ISA, `barrier.cluster`, `.relaxed`).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel(cluster = 2, block = 32)]
    /// # fn neighbours(input: &[u32], output: &mut [u32]) {
    /// #     let cluster = this_cluster();
    /// #     let block = this_thread_block();
    /// #     let array = shared_array::<u32, 32>();
    /// #     let i = block.thread_rank();
    /// // Nothing to publish yet: that the peers have started is all that is asked.
    /// let started = cluster.barrier_arrive_relaxed();
    /// array[i] = input[cluster.thread_rank()];
    /// cluster.barrier_wait(started);
    /// cluster.sync();
    /// output[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    /// cluster.sync();
    /// # }
    /// ```
    #[track_caller]
    pub fn barrier_arrive_relaxed(&self) -> ArrivalToken<Cluster> {
        let site = Location::caller();
        let arrive = "`cluster.barrier_arrive_relaxed()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive_relaxed(Group::Cluster, site)))
    }

    /// `sync`, `.aligned` even where a rule is switched off by which all threads of a warp come here together.
    #[track_caller]
    pub fn sync_aligned(&self) {
        self.sync();
    }

    /// `barrier_arrive`, `.aligned` as `sync_aligned` is.
    #[track_caller]
    pub fn barrier_arrive_aligned(&self) -> ArrivalToken<Cluster> {
        self.barrier_arrive()
    }

    /// `barrier_arrive_relaxed`, `.aligned` as `sync_aligned` is.
    #[track_caller]
    pub fn barrier_arrive_relaxed_aligned(&self) -> ArrivalToken<Cluster> {
        self.barrier_arrive_relaxed()
    }

    /// `barrier_wait`, `.aligned` as `sync_aligned` is.
    #[track_caller]
    pub fn barrier_wait_aligned(&self, token: ArrivalToken<Cluster>) {
        self.barrier_wait(token);
    }

    /// The shared memory of the block of this rank: the same array, there.
    #[track_caller]
    pub fn map_shared_rank<S: OwnedShared>(&self, memory: &S, rank: u32) -> S::Remote {
        let site = Location::caller();
        sim::with("`cluster.map_shared_rank()`", |context| context.check_rank(rank, site));
        memory.remote(rank)
    }

    /// The rank of the block that owns this shared memory.
    #[inline]
    pub fn query_shared_rank<S: Shared>(&self, memory: &S) -> u32 {
        memory.rank()
    }

    queries! {
        /// The thread's rank in the cluster.
        thread_rank: u32 = |context| context.thread.rank as u32;
        /// Threads in the cluster.
        num_threads: u32 = |context| context.cluster.threads.len() as u32;
        /// Threads in the cluster: another name for `num_threads`.
        size: u32 = |context| context.cluster.threads.len() as u32;
        /// The block's rank in the cluster.
        block_rank: u32 = |context| context.thread.block_rank;
        /// Blocks in the cluster.
        num_blocks: u32 = |context| context.cluster.launch.cluster_blocks;
        /// The block's index in the cluster.
        block_index: Dim3 = |context| context.cluster.launch.shape.cluster.index(context.thread.block_rank.into());
        /// Blocks in the cluster, in each dimension.
        dim_blocks: Dim3 = |context| context.cluster.launch.shape.cluster;
        /// Threads in the cluster, in each dimension.
        dim_threads: Dim3 = |context| {
            let Shape { cluster, block, .. } = *context.cluster.launch.shape;
            Dim3::new(cluster.x * block.x, cluster.y * block.y, cluster.z * block.z)
        };
    }
}

impl ThreadBlock {
    /// Says that `value` is the same for all threads of the block, and gives it: what it decides, all of them do. The
    /// simulator compares; a GPU goes by it. All threads of the block come here, and none waits.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel]
    /// # fn rounds(counts: &mut [u32]) {
    /// #     let block = this_thread_block();
    /// // `counts[0]` may change, but not before the barrier in the loop.
    /// while block.uniform(counts[0] > 0) {
    /// #     break;
    ///     // ...
    /// }
    /// # }
    /// ```
    #[track_caller]
    pub fn uniform<T: DeviceCopy>(&self, value: T) -> T {
        let site = Location::caller();
        sim::with("`block.uniform()`", |context| {
            context.check_uniform(Group::Block, "`block.uniform()` of a value that is", bits(&value), site)
        });
        value
    }

    /// Waits for all threads of the block.
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`block.sync()`", |context| context.sync(Group::Block, site));
    }

    /// `sync`, `.aligned` even where a rule is switched off by which all threads of a warp come here together.
    #[track_caller]
    pub fn sync_aligned(&self) {
        self.sync();
    }

    /// Says that the thread has come here, and does not wait.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<ThreadBlock> {
        let site = Location::caller();
        let arrive = "`block.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Block, site)))
    }

    /// Waits for the arrival of all threads of the block.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<ThreadBlock>) {
        let site = Location::caller();
        let wait = "`block.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Block, token.phase(), site));
    }

    queries! {
        /// The thread's rank in the block.
        thread_rank: u32 = |context| context.thread.rank_in_block;
        /// Threads in the block.
        num_threads: u32 = |context| context.cluster.launch.block_threads;
        /// Threads in the block: another name for `num_threads`.
        size: u32 = |context| context.cluster.launch.block_threads;
        /// The thread's index in the block: `threadIdx`.
        thread_index: Dim3 = |context| context.thread.index;
        /// The block's index in the grid: `blockIdx`.
        group_index: Dim3 = |context| context.cluster.blocks[context.thread.block_rank as usize].index;
        /// Threads in the block, in each dimension: `blockDim`.
        dim_threads: Dim3 = |context| context.cluster.launch.shape.block;
        /// Threads in the block, in each dimension: another name for `dim_threads`.
        group_dim: Dim3 = |context| context.cluster.launch.shape.block;
    }
}

impl Grid {
    /// Says that `value` is the same for all threads of the grid, and gives it: what it decides, all of them do. The
    /// simulator compares; a GPU goes by it. All threads of the grid come here, and none waits.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel]
    /// # fn rounds(counts: &mut [u32]) {
    /// #     let grid = this_grid();
    /// // `counts[0]` may change, but not before the barrier in the loop.
    /// while grid.uniform(counts[0] > 0) {
    /// #     break;
    ///     // ...
    /// }
    /// # }
    /// ```
    #[track_caller]
    pub fn uniform<T: DeviceCopy>(&self, value: T) -> T {
        let site = Location::caller();
        sim::with("`grid.uniform()`", |context| {
            context.check_uniform(Group::Grid, "`grid.uniform()` of a value that is", bits(&value), site)
        });
        value
    }

    /// Waits for all threads of the grid. A launch of a kernel that has it is cooperative: all blocks run at once, or it is
    /// refused ([`LaunchError::GridNotResident`](crate::LaunchError::GridNotResident)).
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`grid.sync()`", |context| context.sync(Group::Grid, site));
    }

    /// Says that the thread has come here. On a GPU it waits for its block, and for no other.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<Grid> {
        let site = Location::caller();
        let arrive = "`grid.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Grid, site)))
    }

    /// Waits for the arrival of all threads of the grid.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<Grid>) {
        let site = Location::caller();
        let wait = "`grid.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Grid, token.phase(), site));
    }

    /// The thread's rank in the grid: its block's rank times the block's size, plus its rank in the block.
    #[inline]
    #[track_caller]
    pub fn thread_rank(&self) -> usize {
        let block_rank = self.block_rank();
        sim::with("`thread_rank()`", |context| {
            block_rank * context.cluster.launch.block_threads as usize + context.thread.rank_in_block as usize
        })
    }

    /// The block's rank in the grid.
    #[inline]
    #[track_caller]
    pub fn block_rank(&self) -> usize {
        let Dim3 { x, y, z } = self.block_index();
        let grid = self.dim_blocks();
        x as usize + grid.x as usize * (y as usize + grid.y as usize * z as usize)
    }

    queries! {
        /// Threads in the grid.
        num_threads: usize = |context| {
            context.cluster.launch.shape.grid.count() as usize * context.cluster.launch.block_threads as usize
        };
        /// Threads in the grid: another name for `num_threads`.
        size: usize = |context| {
            context.cluster.launch.shape.grid.count() as usize * context.cluster.launch.block_threads as usize
        };
        /// Blocks in the grid.
        num_blocks: usize = |context| context.cluster.launch.shape.grid.count() as usize;
        /// Clusters in the grid.
        num_clusters: usize = |context| context.cluster.launch.dim_clusters.count() as usize;
        /// The cluster's rank in the grid.
        cluster_rank: usize = |context| context.cluster.rank as usize;
        /// Blocks in the grid, in each dimension: `gridDim`.
        dim_blocks: Dim3 = |context| context.cluster.launch.shape.grid;
        /// The block's index in the grid: `blockIdx`.
        block_index: Dim3 = |context| context.cluster.blocks[context.thread.block_rank as usize].index;
        /// Clusters in the grid, in each dimension.
        dim_clusters: Dim3 = |context| context.cluster.launch.dim_clusters;
        /// The cluster's index in the grid of clusters.
        cluster_index: Dim3 = |context| context.cluster.launch.dim_clusters.index(context.cluster.rank);
    }
}
