//! Chooses the thread that runs next: a trait, and a file for each scheduler. A scheduler knows threads by their
//! numbers, and not why a thread cannot run.

mod exhaustive;
mod lockstep;
mod priority;
mod random;
mod rng;
mod round_robin;
mod scheduler;

pub(crate) use exhaustive::OrderSearch;
pub(super) use scheduler::{AtomicAccess, Pending, Scheduler, Turn};

use crate::schedule::Schedule;

/// Returns the scheduler for a schedule, or for an exploration that replaces it. Blocks have `block_threads` threads.
pub(super) fn scheduler(
    schedule: &Schedule,
    exploration: Option<&OrderSearch>,
    block_threads: usize,
) -> Box<dyn Scheduler> {
    if let Some(exploration) = exploration {
        return Box::new(exhaustive::Exhaustive::new(exploration.clone()));
    }
    match schedule {
        Schedule::RoundRobin => Box::<round_robin::RoundRobin>::default(),
        Schedule::Random { seed } => Box::new(random::Random::new(*seed)),
        Schedule::Priority { seed, changes } => Box::new(priority::Priority::new(*seed, *changes, block_threads)),
        Schedule::Lockstep { seed } => Box::new(lockstep::Lockstep::new(*seed, block_threads)),
        Schedule::Choices(choices) => Box::new(exhaustive::Exhaustive::new(OrderSearch::from(&**choices))),
    }
}
