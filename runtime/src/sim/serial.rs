//! Runs all clusters on one OS thread, under one scheduler of all their threads. A run is therefore deterministic, even
//! where clusters communicate through global memory. A grid with a barrier runs like this, with all of its clusters
//! concurrently, and so does every schedule except round robin.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use super::runner::Runner;
use super::stacks::{MOST_STACKS, Stacks};
use super::state::{Cluster, Launch, Phases};
use super::{deadlock, schedule};
use crate::report::failure::Failure;
use crate::shape::Shape;

/// The largest number of threads that run concurrently if the grid has no barrier, except that one cluster always runs.
const MOST_THREADS: usize = MOST_STACKS / 4;

/// The number of turns after which the clock is read, which take some milliseconds.
const LOOK: u64 = 1 << 10;

/// Returns the number of clusters of this shape that can run concurrently: each of their threads needs a stack.
pub(crate) fn most_clusters(shape: &Shape) -> u64 {
    MOST_STACKS as u64 / (shape.cluster.count() * shape.block.count())
}

/// Runs all clusters, or up to the first failure. `together` says that the grid has a barrier; it must then have at
/// most `most_clusters` clusters.
pub(super) fn run_clusters(launch: &Launch<'_>, together: bool) -> Option<Box<Failure>> {
    let (clusters, threads) = (launch.dim_clusters.count(), launch.cluster_threads());
    let at_once = if together { clusters } else { clusters.min((MOST_THREADS / threads).max(1) as u64) };
    let phases = together.then(|| Phases::new(clusters * threads as u64));
    let mut stacks = Stacks::reserve(at_once as usize * threads, launch.simulator.local_bytes);
    let simulator = launch.simulator;
    let scheduler =
        schedule::scheduler(&simulator.schedule, simulator.exploration.as_ref(), launch.block_threads as usize);
    let scheduler = Rc::new(RefCell::new(scheduler));

    let mut runners: BTreeMap<u64, Runner<'_>> = BTreeMap::new();
    let mut started = 0;
    let effects = Rc::new(Cell::new(0));
    let progress = launch.progress();
    // The time at which an effect was last seen, and the number of effects until then.
    let (mut since, mut seen) = (Instant::now(), 0);
    let mut turns = 0u64;
    loop {
        while started < clusters && (runners.len() as u64) < at_once {
            let stacks = stacks.part(threads);
            let (scheduler, effects) = (Rc::clone(&scheduler), Rc::clone(&effects));
            runners.insert(started, Runner::new(launch, started, stacks, phases.as_ref(), scheduler, effects));
            started += 1;
        }
        let next = scheduler.borrow_mut().next();
        let Some(mut turn) = next else {
            let landed = runners.values().any(Runner::land_next);
            match runners.values().find_map(Runner::failure) {
                Some(failure) => return Some(Box::new(failure)),
                None if landed => continue,
                None => break,
            }
        };
        let cluster = (turn.thread / threads) as u64;
        turn.thread %= threads;
        let phase = phases.as_ref().map(|phases| phases.current());
        let runner = runners.get_mut(&cluster).expect("a thread that is ready is of a cluster that runs");
        runner.turn(turn);
        if let Some(failure) = runner.failure() {
            return Some(Box::new(failure));
        }
        let may_be_stuck = runner.may_be_stuck();
        // If the grid has a barrier, a deadlock report needs the exited clusters, too.
        if runner.left() == 0 && !together {
            while runner.land_next() {}
            stacks.take_back(runner.stacks());
            runners.remove(&cluster);
            progress.step();
        }
        if phases.as_ref().map(|phases| phases.current()) != phase {
            runners.values().for_each(Runner::release_grid_barrier);
        }
        turns += 1;
        if turns.is_multiple_of(LOOK) {
            progress.show();
            if seen != effects.get() {
                (since, seen) = (Instant::now(), effects.get());
            } else if since.elapsed() >= simulator.spin_limit {
                let clusters: Vec<&Cluster<'_>> = runners.values().map(Runner::cluster).collect();
                return Some(Box::new(deadlock::no_effect(&clusters)));
            }
        }
        if may_be_stuck && runners.values().all(Runner::is_stuck) {
            let clusters: Vec<&Cluster<'_>> = runners.values().map(Runner::cluster).collect();
            return Some(Box::new(deadlock::deadlock(&clusters)));
        }
    }
    let stuck = runners.values().any(|runner| runner.left() > 0);
    (stuck && !scheduler.borrow().is_redundant()).then(|| {
        let clusters: Vec<&Cluster<'_>> = runners.values().map(Runner::cluster).collect();
        Box::new(deadlock::deadlock(&clusters))
    })
}
