//! The state of one cluster while it runs: plain cells, because one OS thread runs all of it. `sim::barrier`,
//! `sim::access` and `sim::runner` change it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corosensei::Yielder;

use super::barrier::{Arrival, Barrier, Collective, Phases};
use super::copy::Copies;
use super::phase_barrier::{BarrierCall, PhaseBarriers};
use super::prints::Prints;
use super::shared::SharedMemory;
use super::uniform_check::UniformChecks;
use super::warp::{Lane, Warp, WarpCall};
use crate::report::failure::{Cause, Failure};
use crate::shape::{Dim3, Shape};
use crate::sim::group::Group;
use crate::sim::group::LANES;
use crate::sim::race::{Actor, Detector, Epochs, ForeignAccesses, Layout, Who};
use crate::sim::schedule::{Pending, Scheduler};
use crate::sim::simulator::Simulator;
use crate::sim::site::{Site, location};

/// The state that all clusters of a launch share.
pub(crate) struct Launch<'l> {
    pub(crate) kernel: &'l str,
    pub(crate) shape: &'l Shape,
    pub(crate) simulator: &'l Simulator,
    pub(crate) body: &'l (dyn Fn() + Send + Sync + 'l),
    pub(crate) prints: Prints,
    pub(crate) uniform_checks: UniformChecks,
    /// `None` if races are not detected.
    pub(crate) races: Option<Detector>,
    /// The number of threads in a block.
    pub(crate) block_threads: u32,
    /// The number of blocks in a cluster.
    pub(crate) cluster_blocks: u32,
    /// The number of clusters in the grid, in each dimension.
    pub(crate) dim_clusters: Dim3,
}

impl<'l> Launch<'l> {
    pub(crate) fn new(
        kernel: &'l str,
        shape: &'l Shape,
        simulator: &'l Simulator,
        body: &'l (dyn Fn() + Send + Sync + 'l),
    ) -> Self {
        let Shape { grid, cluster, block, .. } = *shape;
        let dim_clusters = Dim3::new(grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z);
        let layout = Layout::new(dim_clusters.count(), cluster.count() as u32, block.count() as u32);
        Launch {
            kernel,
            shape,
            simulator,
            body,
            prints: Prints::default(),
            uniform_checks: UniformChecks::default(),
            races: simulator.races.then(|| Detector::new(layout)),
            block_threads: block.count() as u32,
            cluster_blocks: cluster.count() as u32,
            dim_clusters,
        }
    }

    /// Returns the grid index of the block of this rank in the cluster of this rank.
    pub(crate) fn block_index(&self, cluster: u64, block: u32) -> Dim3 {
        let (origin, inner) = (self.dim_clusters.index(cluster), self.shape.cluster.index(block.into()));
        let Dim3 { x, y, z } = self.shape.cluster;
        Dim3::new(origin.x * x + inner.x, origin.y * y + inner.y, origin.z * z + inner.z)
    }

    /// Returns the grid rank of the block with this index.
    pub(in crate::sim) fn block_rank(&self, index: Dim3) -> u64 {
        let (grid, wide) = (self.shape.grid, u64::from);
        wide(index.x) + wide(grid.x) * (wide(index.y) + wide(grid.y) * wide(index.z))
    }

    /// Returns the number of threads in a cluster.
    pub(crate) fn cluster_threads(&self) -> usize {
        self.block_threads as usize * self.cluster_blocks as usize
    }
}

/// The scheduler of a cluster's threads, possibly shared with other clusters.
pub(in crate::sim) type Threads = Rc<RefCell<Box<dyn Scheduler>>>;

/// A running cluster.
pub(crate) struct Cluster<'l> {
    pub(crate) launch: &'l Launch<'l>,
    /// The cluster's rank in the grid.
    pub(crate) rank: u64,
    /// The threads in the order of their cluster ranks: all of block 0, all of block 1, ...
    pub(crate) threads: Vec<Thread>,
    /// The blocks in the order of their cluster ranks.
    pub(crate) blocks: Vec<Block>,
    pub(crate) barrier: Barrier,
    /// The barrier of the grid, if all of its clusters run concurrently.
    pub(crate) grid_barrier: Option<Barrier>,
    pub(crate) shared: SharedMemory,
    pub(crate) phase_barriers: PhaseBarriers,
    pub(in crate::sim) copies: Copies,
    pub(crate) epochs: Epochs,
    pub(in crate::sim) scheduler: Threads,
    /// The scheduler's number of the cluster's first thread.
    pub(in crate::sim) first: usize,
    /// Whether threads announce the atomics that they are about to execute.
    pub(in crate::sim) announces: bool,
    /// Whether atomic loads may find stale values.
    pub(in crate::sim) has_stale_loads: bool,
    /// Whether threads end their turns before plain accesses.
    pub(in crate::sim) stops_at_accesses: bool,
    /// What is left of the running thread's turn.
    pub(crate) fuel: Cell<u32>,
    /// The first failure, which ends the cluster.
    pub(crate) failure: RefCell<Option<Failure>>,
}

/// A block of the cluster.
pub(crate) struct Block {
    /// The block's index in the grid.
    pub(crate) index: Dim3,
    pub(crate) barrier: Barrier,
    /// The barrier at which the block's threads meet before they arrive at the grid's barrier.
    pub(crate) before_grid_barrier: Barrier,
    pub(crate) warps: Vec<Warp>,
    /// How many of the block's threads have exited.
    pub(crate) exited: Cell<u32>,
    /// The accesses to the block's shared memory by others than its threads.
    pub(in crate::sim) foreign_accesses: RefCell<ForeignAccesses>,
}

/// A GPU thread.
pub(crate) struct Thread {
    /// The thread's rank in the cluster.
    pub(crate) rank: usize,
    /// The thread's steps so far.
    pub(crate) clock: Cell<u64>,
    /// The cluster rank of the thread's block.
    pub(crate) block_rank: u32,
    /// The thread's rank in its block.
    pub(crate) rank_in_block: u32,
    /// The thread's index in its block.
    pub(crate) index: Dim3,
    pub(crate) status: Cell<Status>,
    /// The atomic that the thread is about to execute, if the scheduler wants to know.
    pub(in crate::sim) pending: Cell<Pending>,
    /// The thread's arrival at the barrier of each group, by `Group as usize`.
    pub(crate) arrivals: [Cell<Arrival>; 3],
    /// Whether a barrier of the cluster or of the grid has shown the thread that all peers run.
    pub(crate) peers_started: Cell<bool>,
    pub(crate) warp: Lane,
    /// How many stale values in a row the thread's atomics have found.
    pub(in crate::sim) stale_in_a_row: Cell<u32>,
    /// What the thread knows of what others did.
    pub(crate) actor: Actor,
    /// How often the thread has called `uniform`, by group and site.
    pub(crate) uniform_calls: RefCell<BTreeMap<(Group, Site), u64>>,
    /// The number of loop iterations so far.
    pub(crate) ticks: Cell<u64>,
    /// Returns the OS thread to the runner. Null until the thread's first turn.
    pub(crate) yielder: Cell<*const Yielder<(), ()>>,
}

/// Whether a thread can run, and what it waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Status {
    /// The thread runs, or the scheduler holds it.
    Ready,
    /// The thread waits at the barrier of a group.
    Waiting(Collective),
    /// The thread waits at a phase barrier.
    AtBarrier(BarrierCall),
    /// The thread waits in a collective of a tile or a coalesced group.
    Meeting(WarpCall),
    /// The thread waits in `coalesced_threads()`.
    Coalescing(Site),
    /// The thread has reached its end.
    Exited,
}

impl<'l> Cluster<'l> {
    /// Creates the cluster of this rank in the grid, before its first step.
    pub(in crate::sim) fn new(
        launch: &'l Launch<'l>,
        rank: u64,
        grid: Option<&Rc<Phases>>,
        scheduler: Threads,
    ) -> Self {
        let Shape { block, dynamic_shared_bytes, .. } = *launch.shape;
        let blocks = (0..launch.cluster_blocks)
            .map(|block_rank| {
                let warps = std::iter::repeat_with(Warp::default);
                Block {
                    index: launch.block_index(rank, block_rank),
                    barrier: Barrier::new(Phases::new(launch.block_threads.into())),
                    before_grid_barrier: Barrier::new(Phases::new(launch.block_threads.into())),
                    warps: warps.take(launch.block_threads.div_ceil(LANES) as usize).collect(),
                    exited: Cell::new(0),
                    foreign_accesses: RefCell::default(),
                }
            })
            .collect();
        let thread = |in_cluster: usize| {
            let rank_in_block = in_cluster as u32 % launch.block_threads;
            let block_rank = in_cluster as u32 / launch.block_threads;
            Thread {
                rank: in_cluster,
                clock: Cell::new(0),
                block_rank,
                rank_in_block,
                index: block.index(rank_in_block.into()),
                status: Cell::new(Status::Ready),
                pending: Cell::new(None),
                arrivals: [const { Cell::new(Arrival::None) }; 3],
                peers_started: Cell::new(false),
                warp: Lane::default(),
                stale_in_a_row: Cell::new(0),
                actor: Actor::new(Who::new(rank, block_rank, rank_in_block)),
                uniform_calls: RefCell::default(),
                ticks: Cell::new(0),
                yielder: Cell::new(std::ptr::null()),
            }
        };
        let threads: Vec<Thread> = (0..launch.cluster_threads()).map(thread).collect();
        let first = rank as usize * threads.len();
        threads.iter().for_each(|thread| scheduler.borrow_mut().ready(first + thread.rank, None));
        let (announces, stops_at_accesses) = (scheduler.borrow().announces(), scheduler.borrow().stops_at_accesses());
        let has_stale_loads = launch.races.is_some() && scheduler.borrow_mut().lots().is_some();
        Cluster {
            launch,
            rank,
            barrier: Barrier::new(Phases::new(threads.len() as u64)),
            grid_barrier: grid.cloned().map(Barrier::new),
            threads,
            blocks,
            phase_barriers: PhaseBarriers::default(),
            copies: Copies::default(),
            shared: SharedMemory::new(launch.cluster_blocks, dynamic_shared_bytes),
            epochs: Epochs::new(1),
            scheduler,
            first,
            announces,
            has_stale_loads,
            stops_at_accesses,
            fuel: Cell::new(0),
            failure: RefCell::new(None),
        }
    }

    /// Returns a failure of this thread.
    pub(crate) fn failure(&self, thread: &Thread, cause: Cause, site: Option<Site>) -> Failure {
        Failure {
            kernel: self.launch.kernel.to_owned(),
            location: site.map(location),
            cause,
            block: self.blocks[thread.block_rank as usize].index,
            thread: thread.index,
            schedule: Some(self.launch.simulator.current_schedule()),
        }
    }

    /// Lets a waiting thread run again.
    pub(crate) fn wake(&self, thread: &Thread) {
        thread.status.set(Status::Ready);
        self.scheduler.borrow_mut().ready(self.first + thread.rank, thread.pending.take());
    }
}
