//! The simulator's engine: runs a launch with a coroutine for each GPU thread and reports what breaks the abstract
//! rules of barriers and of shared memory, whatever today's hardware makes of it. It knows thread ids, byte ranges and
//! sites; no types of the user's and no CUDA.
//!
//! Not detected: data races, relaxed arrivals that publish nothing. An access to a block
//! that has exited is reported when it happens in the schedule that ran, not when another schedule would show it.
//! Every access and every scheduling point goes through one function each (`access`, `Context::point`), which is
//! where vector clocks and other schedulers belong.

mod access;
mod barrier;
mod by_hand;
mod claim;
mod cluster;
mod context;
mod hooks;
mod phase_barrier;
mod prints;
mod report;
mod runner;
mod schedule;
mod shared;
mod stacks;
mod together;
mod warp;
mod workers;

#[cfg(test)]
mod tests;

pub(crate) use access::MemoryId;
pub(crate) use access::{Access, Kind, Synchronization};
pub(crate) use barrier::Group;
pub use by_hand::{by_hand, without_closure};
pub(crate) use claim::Claimant;
pub(crate) use context::{Context, fail_at, with};
pub use hooks::{Held, fail_assertion, fail_panic, print, scalar, step, tick, unwrap, unwrap_or};
pub(crate) use phase_barrier::{BarrierCall, BarrierId, Ticket};
pub(crate) use shared::Key;
pub(crate) use shared::SharedId;
pub(crate) use together::most_clusters;
pub(crate) use warp::{LANES, Meeting, WarpCall};

use crate::failure::Failure;
use crate::output::Printed;
use crate::shape::Shape;

/// A place in the Rust source, as `#[track_caller]` tells it.
pub(crate) type Site = &'static std::panic::Location<'static>;

/// What a scheduling point costs of a thread's turn (`schedule::Turn::fuel`).
pub(crate) mod cost {
    /// One iteration of a loop.
    pub(crate) const TICK: u32 = 1;
    /// An atomic that writes, or an arrival that does not wait.
    pub(crate) const ATOMIC: u32 = 4;
    /// An atomic that only reads: what loops that wait for a flag do, and get nowhere by doing again at once.
    pub(crate) const ATOMIC_LOAD: u32 = 16;
}

/// How kernels run in the simulator.
///
/// ```
/// # use phalanx::{Schedule, Simulator};
/// let simulator = Simulator::new().schedule(Schedule::Random { seed: 7 }).step_limit(1 << 20);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Simulator {
    schedule: Schedule,
    step_limit: u64,
}

/// In which order the threads of a cluster run. The same schedule gives the same run of a cluster, unless clusters
/// talk to each other through global memory; of a kernel with a barrier of the grid, the same run of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// In turn, with long turns: the fastest.
    RoundRobin,
    /// By lot, with short turns: shows what depends on the order.
    Random {
        /// Replays the same order.
        seed: u64,
    },
}

impl Simulator {
    /// Round robin, and 2^32 loop iterations a thread.
    pub fn new() -> Self {
        Simulator { schedule: Schedule::RoundRobin, step_limit: 1 << 32 }
    }

    /// The order of threads.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// How often a thread may go round its loops, all of them together, before the kernel fails.
    pub fn step_limit(mut self, iterations: u64) -> Self {
        self.step_limit = iterations;
        self
    }
}

impl Default for Simulator {
    fn default() -> Self {
        Simulator::new()
    }
}

/// Runs a launch to its end or to its first failure: that of the lowest cluster that fails, whatever the number of
/// cores. Gives what it printed so far, too. `shape` must have been checked: no extent of zero, the grid a multiple of
/// the cluster.
pub(crate) fn run(
    kernel: &str,
    shape: &Shape,
    simulator: &Simulator,
    body: &(dyn Fn() + Send + Sync),
) -> (Printed, Result<(), Box<Failure>>) {
    let launch = cluster::Launch::new(kernel, shape, simulator, body);
    let failed = workers::run_clusters(&launch);
    let last = failed.as_ref().map_or(u64::MAX, |(cluster, _)| *cluster);
    (launch.prints.printed(last), failed.map_or(Ok(()), |(_, failure)| Err(failure)))
}

/// The same of a kernel with a barrier of the grid, which has at most [`most_clusters`] clusters: all of them run at once.
pub(crate) fn run_together(
    kernel: &str,
    shape: &Shape,
    simulator: &Simulator,
    body: &(dyn Fn() + Send + Sync),
) -> (Printed, Result<(), Box<Failure>>) {
    let launch = cluster::Launch::new(kernel, shape, simulator, body);
    let failed = together::run_clusters(&launch);
    (launch.prints.printed(u64::MAX), failed.map_or(Ok(()), Err))
}
