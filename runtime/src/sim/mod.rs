//! The simulator's engine: runs a launch with a coroutine for each GPU thread and reports what breaks the abstract
//! rules of barriers and of shared memory, whatever today's hardware makes of it. It knows thread ids, byte ranges and
//! sites; no types of the user's, no program text and no CUDA.
//!
//! What is missed of data races is said in `race`.

mod access;
mod barrier;
mod cluster;
mod context;
mod copy;
mod group;
mod phase_barrier;
mod prints;
mod race;
mod report;
mod runner;
mod schedule;
mod serial;
mod shared;
mod stacks;
mod stale_loads;
mod tick;
mod timeline;
mod uniform_check;
mod warp;
mod workers;

#[cfg(test)]
mod tests;

pub(crate) use access::MemoryId;
pub(crate) use access::{Access, Kind};
pub(crate) use context::{Context, fail_at, try_with, with};
pub(crate) use copy::{Batch, CopyCall, End, From, Tells};
pub(crate) use group::Group;
pub(crate) use phase_barrier::{BarrierCall, BarrierId, Ticket};
pub(crate) use race::{Done, Synchronization};
pub(crate) use schedule::Exploration;
pub use schedule::{Schedule, UnknownSchedule};
pub(crate) use serial::most_clusters;
pub(crate) use shared::Key;
pub(crate) use shared::SharedId;
pub(crate) use timeline::Recorder;
pub(crate) use warp::{LANES, Meeting, WarpCall};

use crate::report::failure::Failure;
use crate::report::output::Printed;
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
    races: bool,
    /// All orders of atomics, one after another, in place of the schedule.
    exploration: Option<Exploration>,
    /// For a timeline.
    recorder: Option<Recorder>,
}

impl Simulator {
    /// Round robin, 2^32 loop iterations a thread, and data races are looked for.
    pub fn new() -> Self {
        Simulator {
            schedule: Schedule::RoundRobin,
            step_limit: 1 << 32,
            races: true,
            exploration: None,
            recorder: None,
        }
    }

    /// The order of threads.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Whether to look for data races: of every access, whether something orders it with those that it conflicts with. It
    /// costs time, and memory beside that of what the kernel touches.
    pub fn races(mut self, look: bool) -> Self {
        self.races = look;
        self
    }

    /// All orders of atomics, a run each, in place of the schedule.
    pub(crate) fn under(mut self, exploration: &Exploration) -> Self {
        self.exploration = Some(exploration.clone());
        self
    }

    /// Runs leave there what happens.
    pub(crate) fn recording(mut self, recorder: &Recorder) -> Self {
        self.recorder = Some(recorder.clone());
        self
    }

    /// The order that runs, as a text.
    fn order(&self) -> String {
        let choices = self.exploration.as_ref().map(|exploration| Schedule::Choices(exploration.choices().into()));
        choices.as_ref().unwrap_or(&self.schedule).to_string()
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

/// Runs a launch to its end or to its first failure: in round robin, that of the lowest cluster that fails, whatever the
/// number of cores. Gives what it printed so far, too. `shape` must have been checked: no extent of zero, the grid a multiple of
/// the cluster.
pub(crate) fn run(
    kernel: &str,
    shape: &Shape,
    simulator: &Simulator,
    body: &(dyn Fn() + Send + Sync),
) -> (Printed, Result<(), Box<Failure>>) {
    if !matches!(simulator.schedule, Schedule::RoundRobin) || simulator.exploration.is_some() {
        return run_in_one_order(kernel, shape, simulator, body, false);
    }
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
    run_in_one_order(kernel, shape, simulator, body, true)
}

fn run_in_one_order(
    kernel: &str,
    shape: &Shape,
    simulator: &Simulator,
    body: &(dyn Fn() + Send + Sync),
    together: bool,
) -> (Printed, Result<(), Box<Failure>>) {
    let launch = cluster::Launch::new(kernel, shape, simulator, body);
    let failed = serial::run_clusters(&launch, together);
    (launch.prints.printed(u64::MAX), failed.map_or(Ok(()), Err))
}
