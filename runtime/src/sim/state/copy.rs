//! The copies of a cluster that are in flight.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use super::phase_barrier::BarrierId;
use crate::sim::memory::MemoryId;
use crate::sim::race::Clock;
use crate::sim::site::Site;

/// The way in which a thread learns that a copy has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The phase of a barrier lacks its bytes until then. `expect`: the copy says so itself.
    Barrier { barrier: BarrierId, expect: bool },
    /// Its thread waits for it, among others of this kind.
    Batch(Batch),
}

/// Copies that a thread waits for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// The block's.
    Block,
    /// Of a group of these lanes.
    Lanes(u32),
    /// Bulk copies to global memory.
    Bulk,
}

/// The copies of a cluster that have not ended for all who wait for them.
#[derive(Default)]
pub(crate) struct Copies {
    pub(in crate::sim) flying: RefCell<Vec<Flight>>,
    pub(in crate::sim) begun: Cell<u64>,
    /// Turns of the cluster's threads while there were copies.
    pub(in crate::sim) turns: Cell<u64>,
}

pub(in crate::sim) struct Flight {
    pub(in crate::sim) name: &'static str,
    pub(in crate::sim) site: Site,
    /// The rank in the cluster of its thread.
    pub(in crate::sim) thread: usize,
    pub(in crate::sim) to: (MemoryId, usize, NonNull<u8>),
    pub(in crate::sim) from: Option<(MemoryId, NonNull<u8>)>,
    /// What was read, once it was.
    pub(in crate::sim) bytes: Option<Box<[u8]>>,
    pub(in crate::sim) len: usize,
    pub(in crate::sim) tells: Tells,
    /// Knows that the source has been read, and that all is done.
    pub(in crate::sim) read: Clock,
    pub(in crate::sim) done: Clock,
    /// The turn in which it lands.
    pub(in crate::sim) due: u64,
    pub(in crate::sim) landed: bool,
    /// Its thread has waited until the source was read.
    pub(in crate::sim) waited_read: bool,
}
