//! Who runs next: one trait, one file for each scheduler. A scheduler knows thread numbers, and nothing of why a
//! thread could not run.

mod random;
mod round_robin;

use super::Schedule;

/// Holds the threads of a cluster that can run.
pub(super) trait Scheduler {
    /// `thread` can run, and is not held yet.
    fn ready(&mut self, thread: usize);
    /// Takes out the thread that runs next; `None` if none can.
    fn next(&mut self) -> Option<Turn>;
}

/// A thread's turn: it runs until it waits, ends, or has no fuel left at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) thread: usize,
    /// What its scheduling points may cost together (`super::cost`).
    pub(super) fuel: u32,
}

/// The scheduler of the cluster of this rank: each has its own, so that the cores' order does not matter.
pub(super) fn scheduler(schedule: Schedule, cluster: u64) -> Box<dyn Scheduler> {
    match schedule {
        Schedule::RoundRobin => Box::<round_robin::RoundRobin>::default(),
        Schedule::Random { seed } => Box::new(random::Random::new(seed, cluster)),
    }
}
