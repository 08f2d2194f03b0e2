//! Defines what a scheduler is: it holds the threads that can run, and picks the one that runs next.

use super::rng::Rng;
use crate::sim::memory::LocationKey;
use crate::sim::site::Site;

/// Holds the threads that can run.
pub(in crate::sim) trait Scheduler {
    /// Adds `thread`, which can run and is not held yet. `pending` is the atomic it executes first, if it announced
    /// one.
    fn ready(&mut self, thread: usize, pending: Pending);
    /// Removes and returns the thread that runs next; `None` if none can.
    fn next(&mut self) -> Option<Turn>;

    /// Returns whether threads end their turns before atomics and announce what they will access.
    fn announces(&self) -> bool {
        false
    }

    /// Returns the random numbers of this order. Where there are none, every load finds the current value and no copy
    /// lands early.
    fn rng(&mut self) -> Option<&mut Rng> {
        None
    }

    /// Returns whether plain accesses are scheduling points.
    fn stops_at_accesses(&self) -> bool {
        false
    }

    /// Notes that a thread has made the access that it announced, and whether it wrote.
    fn accessed(&mut self, _thread: usize, _touch: AtomicAccess, _wrote: bool) {}

    /// Returns whether `next` returned `None` because everything left has been seen.
    fn is_redundant(&self) -> bool {
        false
    }
}

/// The atomic that a thread that can run is about to execute, if any.
pub(in crate::sim) type Pending = Option<AtomicAccess>;

/// An announced atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct AtomicAccess {
    pub(in crate::sim) location: LocationKey,
    pub(in crate::sim) site: Site,
    /// Whether it may write.
    pub(in crate::sim) writes: bool,
}

/// A thread's turn: it runs until it waits, ends, or has no fuel left at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct Turn {
    pub(in crate::sim) thread: usize,
    /// The total that its scheduling points may cost (`super::cost`).
    pub(in crate::sim) fuel: u32,
}
