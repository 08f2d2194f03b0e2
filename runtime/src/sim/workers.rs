//! Distributes a launch's clusters over the cores, each with a scheduler of its own. A cluster stays on one OS thread.
//! Clusters start in rank order, and a worker whose cluster takes long runs another one alternately, so that clusters
//! that wait for each other through global memory make progress as long as stacks are available for all of them.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::runner::{Runner, Turns};
use super::stacks::{MOST_STACKS, Stacks};
use super::state::Launch;
use super::{deadlock, schedule};
use crate::report::failure::Failure;
use crate::report::progress::Progress;

/// The number of turns that a cluster gets before another one of the same worker, which take a few milliseconds.
const MOST_TURNS: u32 = 1 << 14;

/// The state that the workers share.
struct Queue<'l> {
    launch: &'l Launch<'l>,
    clusters: u64,
    /// The rank of the next cluster to start.
    next: AtomicU64,
    /// The lowest rank of a cluster that has failed, or `u64::MAX` if none has. Clusters of higher rank need not
    /// continue.
    failed: AtomicU64,
    failure: Mutex<Option<Failure>>,
    stuck: Mutex<BlockedWorkers>,
    progress: Progress,
}

/// The clusters in which every thread spins, waits or has exited. If all of them do, none will get on.
struct BlockedWorkers {
    /// The number of times that a cluster has started, or had an effect in its turns.
    effects: u64,
    /// The number of clusters that have started and not ended.
    running: usize,
    /// The clusters that were stuck in turns that began after the last effect.
    clusters: BTreeSet<u64>,
    /// Whether all clusters were stuck.
    all: bool,
    /// The time at which a cluster was last seen to start, to end, or to have had an effect.
    since: Instant,
}

impl BlockedWorkers {
    fn new() -> Self {
        BlockedWorkers { effects: 0, running: 0, clusters: BTreeSet::new(), all: false, since: Instant::now() }
    }

    fn effect(&mut self) {
        self.effects += 1;
        self.clusters.clear();
    }
}

/// Runs all clusters, or those up to the lowest that fails, and returns the rank and the failure of that one.
pub(super) fn run_clusters(launch: &Launch<'_>) -> Option<(u64, Box<Failure>)> {
    let queue = Queue {
        launch,
        clusters: launch.dim_clusters.count(),
        next: AtomicU64::new(0),
        failed: AtomicU64::new(u64::MAX),
        failure: Mutex::new(None),
        stuck: Mutex::new(BlockedWorkers::new()),
        progress: launch.progress(),
    };
    let at_once = (MOST_STACKS / launch.cluster_threads()).max(1);
    let workers = queue.clusters.min(rayon::current_num_threads().min(at_once) as u64);
    if workers == 1 {
        queue.work();
    } else {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| queue.work())));
    }
    let failure = queue.failure.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Some((queue.failed.into_inner(), Box::new(failure)))
}

impl<'l> Queue<'l> {
    /// Runs clusters until none is left to start.
    fn work(&self) {
        let mut running: VecDeque<Runner<'l>> = VecDeque::new();
        loop {
            let started = self.start(running.is_empty());
            let may_start = started.is_some();
            running.extend(started);
            let Some(mut runner) = running.pop_front() else { return };
            let rank = runner.cluster().rank;
            if rank > self.failed.load(Ordering::Relaxed) {
                continue;
            }
            let (before, own) = (self.stuck().effects, runner.effects());
            let turns = runner.run(MOST_TURNS);
            let mut stuck = self.stuck();
            match turns {
                Turns::Paused if runner.effects() == own && runner.is_stuck() => {
                    if stuck.effects == before {
                        stuck.clusters.insert(rank);
                    }
                    stuck.all |= !may_start && stuck.clusters.len() == stuck.running;
                }
                Turns::Paused | Turns::Ended(_) => stuck.effect(),
            }
            stuck.running -= usize::from(matches!(turns, Turns::Ended(_)));
            if runner.effects() != own || matches!(turns, Turns::Ended(_)) {
                stuck.since = Instant::now();
            }
            let (all, spins) = (stuck.all, stuck.since.elapsed() >= self.launch.simulator.spin_limit);
            drop(stuck);
            self.progress.show();
            match turns {
                Turns::Paused if all => self.fail(rank, deadlock::deadlock(&[runner.cluster()])),
                Turns::Paused if spins => self.fail(rank, deadlock::no_effect(&[runner.cluster()])),
                Turns::Paused => running.push_back(runner),
                Turns::Ended(Err(failure)) => self.fail(rank, *failure),
                Turns::Ended(Ok(())) => self.progress.step(),
            }
        }
    }

    /// Starts the next cluster, if there is one. If `wait`, it waits for stacks; otherwise it starts none while they
    /// are short. Stacks are reserved first: a cluster that was taken from the queue must run, or later ones could wait
    /// for it forever.
    fn start(&self, wait: bool) -> Option<Runner<'l>> {
        let end = || self.clusters.min(self.failed.load(Ordering::Relaxed));
        if self.next.load(Ordering::Relaxed) >= end() {
            return None;
        }
        let threads = self.launch.cluster_threads();
        let local_bytes = self.launch.simulator.local_bytes;
        let stacks =
            if wait { Stacks::reserve(threads, local_bytes) } else { Stacks::try_reserve(threads, local_bytes)? };
        let rank = {
            let mut stuck = self.stuck();
            let rank = self.next.fetch_add(1, Ordering::Relaxed);
            stuck.running += usize::from(rank < end());
            stuck.effect();
            stuck.since = Instant::now();
            rank
        };
        let simulator = self.launch.simulator;
        (rank < end()).then(|| {
            let scheduler = schedule::scheduler(&simulator.schedule, None, self.launch.block_threads as usize);
            Runner::new(self.launch, rank, stacks, None, Rc::new(RefCell::new(scheduler)), Rc::default())
        })
    }

    fn stuck(&self) -> MutexGuard<'_, BlockedWorkers> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, rank: u64, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if rank < self.failed.fetch_min(rank, Ordering::Relaxed) {
            *first = Some(failure);
        }
    }
}
