//! The groups of threads that a kernel names, with CUDA's names and numbering (`cooperative_groups.h`: ranks are
//! ordered by x first). They hold no data, because the simulator knows the running thread. The device's implementation
//! is `groups.cuh`.
//!
//! Tiles and coalesced groups are in `warp`, the products of tiles of 128 threads in `warpgroup`.

mod copying;
mod fence;
mod forget;
mod matrix;
mod members;
pub mod op;
mod warp;
mod warpgroup;

use std::panic::Location;

pub use self::copying::CopyGroup;
pub use self::fence::{with_fence, with_fence_of};
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

/// The cluster of the running thread, whose blocks can access each other's shared memory:
/// `cooperative_groups::cluster_group`. [`this_cluster`] returns it; a device function takes `&Cluster`.
///
/// In kernels it also has `invoke_one(|| { .. })`, which runs the closure in the thread of rank 0 only.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Each block passes its values to the next.
/// #[cluster_kernel(cluster = 4, block = 32)]
/// fn rotate(input: &[u32], out: &mut [u32]) {
///     let cluster = this_cluster();
///     let i = this_thread_block().thread_rank();
///     let array = shared_array::<u32, 32>();
///     array[i] = input[cluster.thread_rank()];
///     let token = cluster.barrier_arrive(); // does not wait
///     let next = (cluster.block_rank() + 1) % cluster.num_blocks();
///     let remote = cluster.map_shared_rank(&array, next);
///     cluster.barrier_wait(token); // all blocks have published their values
///     out[cluster.thread_rank()] = remote[i] + cluster.query_shared_rank(&remote);
///     cluster.sync(); // no block exits while a peer reads its memory
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter(0..128))?;
/// let mut out = device.zeros(128)?;
/// rotate(&input, &mut out).grid(4).launch(&device)?;
/// assert_eq!((out.read()?[0], out.read()?[127]), (33, 31));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cluster {
    _from_this_cluster: (),
}

/// The block of the running thread: `cooperative_groups::thread_block`. [`this_thread_block`] returns it; a device
/// function takes `&ThreadBlock`.
///
/// In kernels it also has `invoke_one(|| { .. })`, which runs the closure in the thread of rank 0 only.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = (8, 4))]
/// fn neighbours(out: &mut [u32], blocks: &mut [u32]) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let array = shared_array::<u32, 32>();
///     array[i] = block.thread_index().y;
///     let token = block.barrier_arrive(); // does not wait
///     block.invoke_one(|| {
///         blocks[block.group_index().x] = block.num_threads();
///     });
///     block.barrier_wait(token);
///     out[i] = array[(i + 8) % block.num_threads()];
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (mut out, mut blocks) = (device.zeros(32)?, device.zeros(1)?);
/// neighbours(&mut out, &mut blocks).grid(1).launch(&device)?;
/// assert_eq!((out.read()?[0], out.read()?[31], blocks.read()?), (1, 0, vec![32]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ThreadBlock {
    _from_this_thread_block: (),
}

/// All threads of the launch: `cooperative_groups::grid_group`. [`this_grid`] returns it; a device function takes
/// `&Grid`.
///
/// In kernels it also has `invoke_one(|| { .. })`, which runs the closure in the thread of rank 0 only.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// The sum of all values, in two phases of one launch.
/// #[cluster_kernel(block = 32)]
/// fn total(values: &[u32], sums: &mut [u32], out: &mut [u32]) {
///     let grid = this_grid();
///     let mut sum = 0;
///     for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
///         sum += values[i];
///     }
///     sums.atomic(grid.block_rank()).fetch_add(sum, Relaxed);
///     grid.sync(); // all blocks of the grid
///     grid.invoke_one(|| {
///         for block in 0..grid.num_blocks() {
///             out[0] += sums[block];
///         }
///     });
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let values = device.upload(&Vec::from_iter(0..1000))?;
/// let (mut sums, mut out) = (device.zeros(4)?, device.zeros(1)?);
/// total(&values, &mut sums, &mut out).grid(4).launch(&device)?;
/// assert_eq!(out.read()?, [499_500]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Grid {
    _from_this_grid: (),
}

/// Declares the groups whose barrier has an arrival and a wait, each with the type of its tokens in C++.
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

/// Returns the cluster of the running thread.
#[inline]
#[track_caller]
pub fn this_cluster() -> Cluster {
    sim::with("`this_cluster()`", |_| Cluster { _from_this_cluster: () })
}

/// Returns the block of the running thread.
#[inline]
#[track_caller]
pub fn this_thread_block() -> ThreadBlock {
    sim::with("`this_thread_block()`", |_| ThreadBlock { _from_this_thread_block: () })
}

/// Returns the grid of the running thread.
#[inline]
#[track_caller]
pub fn this_grid() -> Grid {
    sim::with("`this_grid()`", |_| Grid { _from_this_grid: () })
}

/// Declares queries: `name: type = |context| value;`.
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
    /// Asserts that `value` is uniform in the cluster, and returns it, for a condition whose uniformity the source does
    /// not show. The simulator verifies the assertion; a GPU relies on it. All threads of the cluster must reach the
    /// call; none waits.
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
            context.check_uniform(Group::Cluster, "the value of `cluster.uniform()`", bits(&value), site)
        });
        value
    }

    /// Waits until all threads of the cluster have arrived.
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`cluster.sync()`", |context| context.sync(Group::Cluster, site));
    }

    /// Arrives at the group's barrier and does not wait. It returns the token for the wait.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<Cluster> {
        let site = Location::caller();
        let arrive = "`cluster.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Cluster, site)))
    }

    /// Waits until all threads of the cluster have arrived in the phase of the token.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<Cluster>) {
        let site = Location::caller();
        let wait = "`cluster.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Cluster, token.phase(), site));
    }

    /// Arrives at the cluster's barrier without ordering memory: it neither publishes what the thread wrote, nor orders
    /// what the thread read of a peer. `fence(AcqRel, Scope::Cluster)` before it does both (PTX ISA, `barrier.cluster`,
    /// `.relaxed`).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[cluster_kernel(cluster = 2, block = 32)]
    /// # fn neighbours(input: &[u32], output: &mut [u32]) {
    /// #     let cluster = this_cluster();
    /// #     let block = this_thread_block();
    /// #     let array = shared_array::<u32, 32>();
    /// #     let i = block.thread_rank();
    /// // Nothing has been written yet: the barrier only establishes that the peers have started.
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

    /// Does what `sync` does, and asserts that all threads of a warp reach it together (`.aligned`), where a rule that
    /// would prove it is switched off.
    #[track_caller]
    pub fn sync_aligned(&self) {
        self.sync();
    }

    /// Does what `barrier_arrive` does, and is `.aligned` like `sync_aligned`.
    #[track_caller]
    pub fn barrier_arrive_aligned(&self) -> ArrivalToken<Cluster> {
        self.barrier_arrive()
    }

    /// Does what `barrier_arrive_relaxed` does, and is `.aligned` like `sync_aligned`.
    #[track_caller]
    pub fn barrier_arrive_relaxed_aligned(&self) -> ArrivalToken<Cluster> {
        self.barrier_arrive_relaxed()
    }

    /// Does what `barrier_wait` does, and is `.aligned` like `sync_aligned`.
    #[track_caller]
    pub fn barrier_wait_aligned(&self, token: ArrivalToken<Cluster>) {
        self.barrier_wait(token);
    }

    /// Returns the same shared memory, or the same barrier, of the block of this rank.
    #[track_caller]
    pub fn map_shared_rank<S: OwnedShared>(&self, memory: &S, rank: u32) -> S::Remote {
        let site = Location::caller();
        sim::with("`cluster.map_shared_rank()`", |context| context.check_rank(rank, site));
        memory.remote(rank)
    }

    /// Returns the rank of the block that owns this shared memory.
    #[inline]
    pub fn query_shared_rank<S: Shared>(&self, memory: &S) -> u32 {
        memory.rank()
    }

    queries! {
        /// Returns the thread's rank in the cluster.
        thread_rank: u32 = |context| context.thread.rank as u32;
        /// Returns the number of threads in the cluster.
        num_threads: u32 = |context| context.cluster.threads.len() as u32;
        /// Returns the number of threads in the cluster. It is another name for `num_threads`.
        size: u32 = |context| context.cluster.threads.len() as u32;
        /// Returns the block's rank in the cluster.
        block_rank: u32 = |context| context.thread.block_rank;
        /// Returns the number of blocks in the cluster.
        num_blocks: u32 = |context| context.cluster.launch.cluster_blocks;
        /// Returns the block's index in the cluster.
        block_index: Dim3 = |context| context.cluster.launch.shape.cluster.index(context.thread.block_rank.into());
        /// Returns the number of blocks in the cluster, in each dimension.
        dim_blocks: Dim3 = |context| context.cluster.launch.shape.cluster;
        /// Returns the number of threads in the cluster, in each dimension.
        dim_threads: Dim3 = |context| {
            let Shape { cluster, block, .. } = *context.cluster.launch.shape;
            Dim3::new(cluster.x * block.x, cluster.y * block.y, cluster.z * block.z)
        };
    }
}

impl ThreadBlock {
    /// Asserts that `value` is uniform in the block, and returns it, for a condition whose uniformity the source does
    /// not show. The simulator verifies the assertion; a GPU relies on it. All threads of the block must reach the
    /// call; none waits.
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
            context.check_uniform(Group::Block, "the value of `block.uniform()`", bits(&value), site)
        });
        value
    }

    /// Waits until all threads of the block have arrived.
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`block.sync()`", |context| context.sync(Group::Block, site));
    }

    /// Does what `sync` does, and asserts that all threads of a warp reach it together (`.aligned`), where a rule that
    /// would prove it is switched off.
    #[track_caller]
    pub fn sync_aligned(&self) {
        self.sync();
    }

    /// Arrives at the group's barrier and does not wait. It returns the token for the wait.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<ThreadBlock> {
        let site = Location::caller();
        let arrive = "`block.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Block, site)))
    }

    /// Waits until all threads of the block have arrived in the phase of the token.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<ThreadBlock>) {
        let site = Location::caller();
        let wait = "`block.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Block, token.phase(), site));
    }

    queries! {
        /// Returns the thread's rank in the block.
        thread_rank: u32 = |context| context.thread.rank_in_block;
        /// Returns the number of threads in the block.
        num_threads: u32 = |context| context.cluster.launch.block_threads;
        /// Returns the number of threads in the block. It is another name for `num_threads`.
        size: u32 = |context| context.cluster.launch.block_threads;
        /// Returns the thread's index in the block: `threadIdx`.
        thread_index: Dim3 = |context| context.thread.index;
        /// Returns the block's index in the grid: `blockIdx`.
        group_index: Dim3 = |context| context.cluster.blocks[context.thread.block_rank as usize].index;
        /// Returns the number of threads in the block, in each dimension: `blockDim`.
        dim_threads: Dim3 = |context| context.cluster.launch.shape.block;
        /// Returns the number of threads in the block, in each dimension. It is another name for `dim_threads`.
        group_dim: Dim3 = |context| context.cluster.launch.shape.block;
    }
}

impl Grid {
    /// Asserts that `value` is uniform in the grid, and returns it, for a condition whose uniformity the source does
    /// not show. The simulator verifies the assertion; a GPU relies on it. All threads of the grid must reach the call;
    /// none waits.
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
            context.check_uniform(Group::Grid, "the value of `grid.uniform()`", bits(&value), site)
        });
        value
    }

    /// Waits until all threads of the grid have arrived. A launch of a kernel that uses it is cooperative: all blocks
    /// are resident at once, or it is rejected ([`LaunchError::GridNotResident`](crate::LaunchError::GridNotResident)).
    #[track_caller]
    pub fn sync(&self) {
        let site = Location::caller();
        sim::with("`grid.sync()`", |context| context.sync(Group::Grid, site));
    }

    /// Arrives at the grid's barrier. On a GPU it waits for the threads of its own block, and for no others.
    #[track_caller]
    pub fn barrier_arrive(&self) -> ArrivalToken<Grid> {
        let site = Location::caller();
        let arrive = "`grid.barrier_arrive()`";
        ArrivalToken::new(sim::with(arrive, |context| context.barrier_arrive(Group::Grid, site)))
    }

    /// Waits until all threads of the grid have arrived in the phase of the token.
    #[track_caller]
    pub fn barrier_wait(&self, token: ArrivalToken<Grid>) {
        let site = Location::caller();
        let wait = "`grid.barrier_wait()`";
        sim::with(wait, |context| context.barrier_wait(Group::Grid, token.phase(), site));
    }

    /// Returns the thread's rank in the grid: its block's rank times the block's size, plus its rank in the block.
    #[inline]
    #[track_caller]
    pub fn thread_rank(&self) -> usize {
        let block_rank = self.block_rank();
        sim::with("`thread_rank()`", |context| {
            block_rank * context.cluster.launch.block_threads as usize + context.thread.rank_in_block as usize
        })
    }

    /// Returns the block's rank in the grid.
    #[inline]
    #[track_caller]
    pub fn block_rank(&self) -> usize {
        let Dim3 { x, y, z } = self.block_index();
        let grid = self.dim_blocks();
        x as usize + grid.x as usize * (y as usize + grid.y as usize * z as usize)
    }

    queries! {
        /// Returns the number of threads in the grid.
        num_threads: usize = |context| {
            context.cluster.launch.shape.grid.count() as usize * context.cluster.launch.block_threads as usize
        };
        /// Returns the number of threads in the grid. It is another name for `num_threads`.
        size: usize = |context| {
            context.cluster.launch.shape.grid.count() as usize * context.cluster.launch.block_threads as usize
        };
        /// Returns the number of blocks in the grid.
        num_blocks: usize = |context| context.cluster.launch.shape.grid.count() as usize;
        /// Returns the number of clusters in the grid.
        num_clusters: usize = |context| context.cluster.launch.dim_clusters.count() as usize;
        /// Returns the cluster's rank in the grid.
        cluster_rank: usize = |context| context.cluster.rank as usize;
        /// Returns the number of blocks in the grid, in each dimension: `gridDim`.
        dim_blocks: Dim3 = |context| context.cluster.launch.shape.grid;
        /// Returns the block's index in the grid: `blockIdx`.
        block_index: Dim3 = |context| context.cluster.blocks[context.thread.block_rank as usize].index;
        /// Returns the number of clusters in the grid, in each dimension.
        dim_clusters: Dim3 = |context| context.cluster.launch.dim_clusters;
        /// Returns the cluster's index in the grid of clusters.
        cluster_index: Dim3 = |context| context.cluster.launch.dim_clusters.index(context.cluster.rank);
    }
}
