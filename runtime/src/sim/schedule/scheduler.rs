//! The interface of schedulers, which hold the threads that can run and choose the one that runs next.

use super::rng::Rng;
use crate::sim::memory::LocationKey;
use crate::sim::site::Site;

/// A scheduler, which holds the threads that can run.
pub(in crate::sim) trait Scheduler {
    /// Adds `thread`, which can run and is not held yet. `pending` is the atomic that it executes first, if it has
    /// announced one.
    fn ready(&mut self, thread: usize, pending: Pending);
    /// Removes the thread that runs next, and returns its turn; `None` if no thread can run.
    fn next(&mut self) -> Option<Turn>;

    /// Returns whether threads end their turns before atomics, and announce what they will access.
    fn announces(&self) -> bool {
        false
    }

    /// Returns the generator of this order's random numbers. If there is none, every load returns the current value,
    /// and no copy lands early.
    fn rng(&mut self) -> Option<&mut Rng> {
        None
    }

    /// Returns whether plain accesses are scheduling points.
    fn stops_at_accesses(&self) -> bool {
        false
    }

    /// Tells the scheduler that a thread has made the access that it announced, and whether it wrote.
    fn accessed(&mut self, _thread: usize, _access: AtomicAccess, _wrote: bool) {}

    /// Returns whether `next` returned `None` because every order that was left has been seen.
    fn is_redundant(&self) -> bool {
        false
    }
}

/// The atomic that a thread that can run is about to execute, if any.
pub(in crate::sim) type Pending = Option<AtomicAccess>;

/// An atomic that a thread is about to execute, as the thread announces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct AtomicAccess {
    pub(in crate::sim) location: LocationKey,
    pub(in crate::sim) site: Site,
    /// Whether it may write.
    pub(in crate::sim) writes: bool,
}

/// A thread's turn, in which it runs until it waits, exits, or has no fuel left at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct Turn {
    pub(in crate::sim) thread: usize,
    /// The total cost that its scheduling points may have (`super::cost`).
    pub(in crate::sim) fuel: u32,
}
