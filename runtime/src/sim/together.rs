//! Runs a grid that has a barrier: all of its clusters at once, on one OS thread, in the order of a scheduler of clusters.
//! So all that happens is decided by the schedule, what clusters do to global memory too.

use super::barrier::Phases;
use super::cluster::{Cluster, Launch};
use super::runner::{Progress, Runner};
use super::stacks::{MOST_STACKS, Stacks};
use super::{report, schedule};
use crate::failure::Failure;
use crate::shape::Shape;

/// The most clusters of this shape that run at once: each of their threads needs a stack.
pub(crate) fn most_clusters(shape: &Shape) -> u64 {
    MOST_STACKS as u64 / (shape.cluster.count() * shape.block.count())
}

/// Runs all clusters, no more than `most_clusters`, or up to the first failure.
pub(super) fn run_clusters(launch: &Launch<'_>) -> Option<Box<Failure>> {
    let (clusters, threads) = (launch.dim_clusters.count(), launch.cluster_threads());
    let phases = Phases::new(clusters * threads as u64);
    let mut stacks = Stacks::reserve(clusters as usize * threads);
    let mut runners: Vec<Runner<'_>> =
        (0..clusters).map(|rank| Runner::new(launch, rank, stacks.part(threads), Some(&phases))).collect();

    // No cluster has this rank: the lots are not those of a cluster's own scheduler.
    let mut scheduler = schedule::scheduler(launch.simulator.schedule, clusters);
    (0..runners.len()).for_each(|cluster| scheduler.ready(cluster));
    let mut at_barrier = Vec::new();
    let mut left = runners.len();
    while let Some(turn) = scheduler.next() {
        let phase = phases.current();
        match runners[turn.thread].run(turn.fuel + 1) {
            Progress::Paused => scheduler.ready(turn.thread),
            Progress::AtGridBarrier => at_barrier.push(turn.thread),
            Progress::Ended(Ok(())) => left -= 1,
            Progress::Ended(Err(failure)) => return Some(Box::new(failure)),
        }
        if phases.current() != phase {
            runners.iter().for_each(Runner::release_grid_barrier);
            at_barrier.drain(..).for_each(|cluster| scheduler.ready(cluster));
        }
    }
    (left > 0).then(|| {
        let clusters: Vec<&Cluster<'_>> = runners.iter().map(Runner::cluster).collect();
        Box::new(report::deadlock(&clusters))
    })
}
