//! The copies of a cluster that are in flight.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use super::phase_barrier::BarrierId;
use crate::sim::memory::MemoryId;
use crate::sim::race::Clock;
use crate::sim::site::Site;

/// The way in which a thread learns that a copy has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The phase of a barrier lacks the copy's bytes until then. If `expect`, the copy itself adds them to the phase.
    Barrier { barrier: BarrierId, expect: bool },
    /// The issuing thread waits for the copy together with the others of this batch.
    Batch(Batch),
}

/// Copies that a thread waits for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// The copies of the block.
    Block,
    /// The copies of a group of these lanes.
    Lanes(u32),
    /// The bulk copies to global memory.
    Bulk,
}

/// The copies of a cluster that are in flight for at least one thread that waits for them.
#[derive(Default)]
pub(crate) struct Copies {
    pub(in crate::sim) in_flight: RefCell<Vec<PendingCopy>>,
    pub(in crate::sim) begun: Cell<u64>,
    /// The number of turns of the cluster's threads during which copies were in flight.
    pub(in crate::sim) turns: Cell<u64>,
}

pub(in crate::sim) struct PendingCopy {
    pub(in crate::sim) name: &'static str,
    pub(in crate::sim) site: Site,
    /// The cluster rank of the issuing thread.
    pub(in crate::sim) thread: usize,
    pub(in crate::sim) to: (MemoryId, usize, NonNull<u8>),
    pub(in crate::sim) from: Option<(MemoryId, NonNull<u8>)>,
    /// The bytes, once the source has been read.
    pub(in crate::sim) bytes: Option<Box<[u8]>>,
    pub(in crate::sim) len: usize,
    pub(in crate::sim) completion: Completion,
    /// The clocks after the source has been read, and after everything is done.
    pub(in crate::sim) read: Clock,
    pub(in crate::sim) done: Clock,
    /// The turn in which the copy lands.
    pub(in crate::sim) due: u64,
    pub(in crate::sim) landed: bool,
    /// Whether the issuing thread has waited until the source was read.
    pub(in crate::sim) waited_read: bool,
}
