//! The state of one cluster while it runs, in plain cells, because one OS thread runs all of it. `sim::barrier`,
//! `sim::access` and `sim::runner` change it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use phalanx_contract::fence::Fence;

use super::barrier::{Arrival, Barrier, Phases};
use super::copy::Copies;
use super::launch::Launch;
use super::phase_barrier::{ArrivalPhase, BarrierKey, PhaseBarriers};
use super::shared::SharedMemory;
use super::thread::{Status, Thread};
use super::warp::{LaneState, Warp};
use crate::report::failure::{Cause, Failure};
use crate::shape::{Dim3, Shape};
use crate::sim::group::LANES;
use crate::sim::race::{Actor, ActorId, EpochCounter, ForeignAccess, ForeignAccesses, WeakArrival};
use crate::sim::schedule::Scheduler;
use crate::sim::site::{Site, location};
use crate::sim::spin::Polls;

/// The scheduler of a cluster's threads, possibly shared with other clusters.
pub(in crate::sim) type SharedScheduler = Rc<RefCell<Box<dyn Scheduler>>>;

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
    pub(crate) epochs: EpochCounter,
    pub(in crate::sim) scheduler: SharedScheduler,
    /// The number of the cluster's first thread in the scheduler.
    pub(in crate::sim) first: usize,
    /// Whether threads announce the atomics that they are about to execute.
    pub(in crate::sim) announces: bool,
    /// Whether atomic loads may return stale values.
    pub(in crate::sim) has_stale_loads: bool,
    /// Whether threads end their turns before plain accesses.
    pub(in crate::sim) stops_at_accesses: bool,
    /// The number of changes of memory, and of exits, so far. Clusters that one OS thread runs together share it.
    pub(in crate::sim) effects: Rc<Cell<u64>>,
    /// Whether a thread has begun to count as spinning since the runner looked last.
    pub(in crate::sim) may_be_stuck: Cell<bool>,
    /// The fuel that the running thread's turn has left.
    pub(crate) fuel: Cell<u32>,
    /// The first failure, which ends the cluster.
    pub(crate) failure: RefCell<Option<Failure>>,
}

/// A block of the cluster.
pub(crate) struct Block {
    /// The block's index in the grid.
    pub(crate) index: Dim3,
    pub(crate) barrier: Barrier,
    /// The barrier at which the block's threads wait for each other before they arrive at the grid's barrier.
    pub(crate) before_grid_barrier: Barrier,
    pub(crate) warps: Vec<Warp>,
    /// The number of the block's threads that have exited.
    pub(crate) exited: Cell<u32>,
    /// The accesses to the block's shared memory by peers and by copies.
    pub(in crate::sim) foreign_accesses: RefCell<ForeignAccesses>,
    /// The last arrival of each peer's thread at each phase barrier of the block, by the barrier's index and the thread's rank.
    pub(in crate::sim) foreign_arrivals: RefCell<BTreeMap<(BarrierKey, usize), (ArrivalPhase, ForeignAccess)>>,
}

impl<'l> Cluster<'l> {
    /// Creates the cluster of this rank in the grid, before its first step.
    pub(in crate::sim) fn new(
        launch: &'l Launch<'l>,
        rank: u64,
        grid: Option<&Rc<Phases>>,
        scheduler: SharedScheduler,
        effects: Rc<Cell<u64>>,
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
                    foreign_arrivals: RefCell::default(),
                }
            })
            .collect();
        let no_arrivals: Rc<[WeakArrival]> = Rc::default();
        let thread = |in_cluster: usize| {
            let rank_in_block = in_cluster as u32 % launch.block_threads;
            let block_rank = in_cluster as u32 / launch.block_threads;
            Thread {
                rank: in_cluster,
                time: Cell::new(0),
                block_rank,
                rank_in_block,
                index: block.index(rank_in_block.into()),
                status: Cell::new(Status::Ready),
                pending: Cell::new(None),
                arrivals: [const { Cell::new(Arrival::None) }; 3],
                peers_started: Cell::new(false),
                has_waited_for_previous: Cell::new(false),
                warp: LaneState::default(),
                stale_in_a_row: Cell::new(0),
                weak_arrivals: RefCell::new(Rc::clone(&no_arrivals)),
                polls: Cell::new(Polls::NONE),
                calls: RefCell::default(),
                last_read: Cell::new(None),
                products: Cell::new(0),
                last_tick: Cell::new(None),
                fence: Cell::new(Fence::Full),
                actor: Actor::new(ActorId::new(rank, block_rank, rank_in_block)),
                uniform_calls: RefCell::default(),
                ticks: Cell::new(0),
                yielder: Cell::new(std::ptr::null()),
            }
        };
        let threads: Vec<Thread> = (0..launch.cluster_threads()).map(thread).collect();
        let first = rank as usize * threads.len();
        threads.iter().for_each(|thread| scheduler.borrow_mut().ready(first + thread.rank, None));
        let (announces, stops_at_accesses) = (scheduler.borrow().announces(), scheduler.borrow().stops_at_accesses());
        let has_stale_loads = launch.races.is_some() && scheduler.borrow_mut().rng().is_some();
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
            epochs: EpochCounter::new(1),
            scheduler,
            first,
            announces,
            has_stale_loads,
            stops_at_accesses,
            effects,
            may_be_stuck: Cell::new(false),
            fuel: Cell::new(0),
            failure: RefCell::new(None),
        }
    }

    /// Returns a failure of this thread with its location and the schedule.
    pub(crate) fn failure(&self, thread: &Thread, cause: Cause, site: Option<Site>) -> Failure {
        let (site, calls) = site.map(|site| thread.user_site(site)).unzip();
        Failure {
            kernel: self.launch.kernel.to_owned(),
            location: site.map(location),
            calls: calls.into_iter().flatten().map(location).collect(),
            cause,
            block: self.blocks[thread.block_rank as usize].index,
            thread: thread.index,
            schedule: self.launch.replays().then(|| self.launch.simulator.current_schedule()),
        }
    }

    /// Makes a waiting thread ready to run.
    pub(crate) fn wake(&self, thread: &Thread) {
        thread.status.set(Status::Ready);
        self.scheduler.borrow_mut().ready(self.first + thread.rank, thread.pending.take());
    }
}
