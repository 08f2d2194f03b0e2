//! Who runs next: one trait, one file for each scheduler. A scheduler knows thread numbers, and nothing of why a
//! thread could not run.

mod exhaustive;
mod lockstep;
mod named;
mod priority;
mod random;
mod round_robin;

use super::Site;

pub(crate) use exhaustive::Exploration;
pub use named::{Schedule, UnknownSchedule};
use random::Lots;

/// Holds the threads that can run.
pub(super) trait Scheduler {
    /// `thread` can run, and is not held yet. What it does first, if it said so.
    fn ready(&mut self, thread: usize, pending: Pending);
    /// Takes out the thread that runs next; `None` if none can.
    fn next(&mut self) -> Option<Turn>;

    /// Whether threads end their turns before they touch memory that others may touch, and say what they will touch.
    fn announces(&self) -> bool {
        false
    }

    /// What is decided by lot in this order: no value is older than need be, and no copy is done early, where nothing is.
    fn lots(&mut self) -> Option<&mut Lots> {
        None
    }

    /// Whether plain accesses are scheduling points.
    fn stops_at_accesses(&self) -> bool {
        false
    }

    /// A thread has touched what it said, and whether it wrote.
    fn touched(&mut self, _thread: usize, _touch: Touch, _wrote: bool) {}

    /// `next` gave none because what is left has been seen.
    fn is_redundant(&self) -> bool {
        false
    }
}

/// What a thread that can run is about to touch: `None` if nothing that others may.
pub(super) type Pending = Option<Touch>;

/// An atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch {
    /// Where.
    pub(super) place: (usize, usize),
    pub(super) site: Site,
    /// It may write.
    pub(super) writes: bool,
}

/// A thread's turn: it runs until it waits, ends, or has no fuel left at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) thread: usize,
    /// What its scheduling points may cost together (`super::cost`).
    pub(super) fuel: u32,
}

/// The scheduler of threads in blocks of this many.
pub(super) fn scheduler(
    schedule: &Schedule,
    exploration: Option<&Exploration>,
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
        Schedule::Choices(choices) => Box::new(exhaustive::Exhaustive::new(Exploration::from(&**choices))),
    }
}
