//! Runs a launch to its end: clusters in parallel on the available cores, or all threads in the order of one schedule.

use super::simulator::Simulator;
use super::state::Launch;
use super::{serial, workers};
use crate::report::failure::Failure;
use crate::report::output::Printed;
use crate::schedule::Schedule;
use crate::shape::Shape;

/// Runs a launch to its end or to its first failure, and returns what it printed until then. Under round robin, the
/// first failure is that of the failing cluster with the lowest rank, regardless of the number of cores. `shape` must
/// have been checked: no extent is zero, and the grid is a multiple of the cluster.
pub(crate) fn run(
    kernel: &str,
    shape: &Shape,
    simulator: &Simulator,
    body: &(dyn Fn() + Send + Sync),
) -> (Printed, Result<(), Box<Failure>>) {
    if !matches!(simulator.schedule, Schedule::RoundRobin) || simulator.exploration.is_some() {
        return run_in_one_order(kernel, shape, simulator, body, false);
    }
    let launch = Launch::new(kernel, shape, simulator, body, true);
    let failed = workers::run_clusters(&launch);
    let last = failed.as_ref().map_or(u64::MAX, |(cluster, _)| *cluster);
    (launch.prints.printed(last), failed.map_or(Ok(()), |(_, failure)| Err(failure)))
}

/// Runs a kernel with a barrier of the grid, whose clusters, at most [`serial::most_clusters`], all run concurrently.
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
    let launch = Launch::new(kernel, shape, simulator, body, false);
    let failed = serial::run_clusters(&launch, together);
    (launch.prints.printed(u64::MAX), failed.map_or(Ok(()), Err))
}
