//! The state of one GPU thread while it runs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use corosensei::Yielder;
use phalanx_contract::fence::Fence;

use super::barrier::{Arrival, Collective};
use super::phase_barrier::BarrierCall;
use super::uniform_check::UniformGroup;
use super::warp::{LaneState, WarpCall};
use crate::shape::Dim3;
use crate::sim::memory::MemoryId;
use crate::sim::race::{Actor, WeakArrival};
use crate::sim::schedule::Pending;
use crate::sim::site::Site;
use crate::sim::spin::Polls;

/// A GPU thread.
pub(crate) struct Thread {
    /// The thread's rank in the cluster.
    pub(crate) rank: usize,
    /// The thread's simulated time, in steps.
    pub(crate) time: Cell<u64>,
    /// The cluster rank of the thread's block.
    pub(crate) block_rank: u32,
    /// The thread's rank in its block.
    pub(crate) rank_in_block: u32,
    /// The thread's index in its block.
    pub(crate) index: Dim3,
    pub(crate) status: Cell<Status>,
    /// The atomic that the thread is about to execute, if it has announced one.
    pub(in crate::sim) pending: Cell<Pending>,
    /// The thread's arrival at the barrier of each group, by `Group as usize`.
    pub(crate) arrivals: [Cell<Arrival>; 3],
    /// The fence of the thread's next arrival.
    pub(in crate::sim) fence: Cell<Fence>,
    /// Whether the thread has waited at a barrier of the cluster or the grid, which proves that all peers have started.
    pub(crate) peers_started: Cell<bool>,
    /// Whether the thread has waited for the launches before this one.
    pub(in crate::sim) has_waited_for_previous: Cell<bool>,
    pub(crate) warp: LaneState,
    /// The number of stale values in a row that the thread's atomic loads have returned.
    pub(in crate::sim) stale_in_a_row: Cell<u32>,
    /// The arrivals that did not release everything, of the last such phase that the thread waited for.
    pub(in crate::sim) weak_arrivals: RefCell<Rc<[WeakArrival]>>,
    /// The thread's polls of memory that did not change.
    pub(in crate::sim) polls: Cell<Polls>,
    /// The sites of the thread's open calls of device functions, the outermost first.
    pub(in crate::sim) calls: RefCell<Vec<Site>>,
    /// The thread's last plain read: its site, the memory, the first byte and the number of bytes.
    pub(in crate::sim) last_read: Cell<Option<(Site, MemoryId, usize, usize)>>,
    /// The number of products of warpgroups that the thread has begun.
    pub(crate) products: Cell<u64>,
    /// The loop whose iteration the thread began last.
    pub(in crate::sim) last_tick: Cell<Option<Site>>,
    /// The thread as the race detector sees it, with its vector clock.
    pub(crate) actor: Actor,
    /// The number of the thread's calls of `uniform`, by group and site.
    pub(in crate::sim) uniform_calls: RefCell<BTreeMap<(UniformGroup, Site), u64>>,
    /// The number of loop iterations that the thread has executed.
    pub(crate) ticks: Cell<u64>,
    /// The yielder of the thread's coroutine, which returns to the runner; null until the thread's first turn.
    pub(crate) yielder: Cell<*const Yielder<(), ()>>,
}

/// Says whether a thread can run, and what it waits for if it cannot.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Status {
    /// The thread runs, or the scheduler holds it.
    Ready,
    /// The thread waits at the barrier of a group.
    AtGroupBarrier(Collective),
    /// The thread waits at a phase barrier.
    AtPhaseBarrier(BarrierCall),
    /// The thread waits in a collective of a tile or a coalesced group.
    InExchange(WarpCall),
    /// The thread waits in `coalesced_threads()`.
    Coalescing(Site),
    /// The thread has reached its end.
    Exited,
}
