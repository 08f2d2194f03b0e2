//! What a scheduler is: it holds the threads that can run, and says which runs next.

use super::lots::Lots;
use crate::sim::site::Site;

/// Holds the threads that can run.
pub(in crate::sim) trait Scheduler {
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
pub(in crate::sim) type Pending = Option<Touch>;

/// An atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct Touch {
    /// Where.
    pub(in crate::sim) place: (usize, usize),
    pub(in crate::sim) site: Site,
    /// It may write.
    pub(in crate::sim) writes: bool,
}

/// A thread's turn: it runs until it waits, ends, or has no fuel left at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct Turn {
    pub(in crate::sim) thread: usize,
    /// What its scheduling points may cost together (`super::cost`).
    pub(in crate::sim) fuel: u32,
}
