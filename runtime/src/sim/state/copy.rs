//! The copies of a cluster that are in flight.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use super::phase_barrier::BarrierId;
use crate::sim::memory::MemoryId;
use crate::sim::race::Clock;
use crate::sim::site::Site;

/// The completion mechanism of a copy, by which threads observe that it has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The current phase of a barrier does not complete before the copy's bytes have arrived. If `expect`, issuing the
    /// copy also adds the bytes to those that the phase expects.
    Barrier { barrier: BarrierId, expect: bool },
    /// The issuing thread waits for the copy together with the other copies of this batch.
    Batch(Batch),
}

/// A set of copies that a thread waits for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// The copies that the thread issued with its block.
    Block,
    /// The copies that the thread issued with a group of these lanes.
    Lanes(u32),
    /// The thread's bulk copies to global memory.
    Bulk,
    /// The products of the warp that the thread stands for.
    Product,
}

impl Batch {
    /// Returns whether copies of both are in one sequence, of which a wait leaves the last ones in flight.
    pub(in crate::sim) fn is_counted_with(self, other: Batch) -> bool {
        let sequence = |batch| match batch {
            Batch::Block | Batch::Lanes(_) => 0,
            Batch::Bulk => 1,
            Batch::Product => 2,
        };
        sequence(self) == sequence(other)
    }
}

/// How a copy combines elements in memory with those that arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combine {
    /// The size of an element in bytes: 2, 4 or 8.
    pub(crate) element: usize,
    /// Combines the bytes of an element in memory, the first, with those of one that arrives.
    pub(crate) combined: fn(&mut [u8], &[u8]),
}

/// The copies of a cluster that are in flight, or that their threads have not waited for.
#[derive(Default)]
pub(crate) struct Copies {
    /// The copies in the order in which they were issued.
    pub(in crate::sim) in_flight: RefCell<Vec<PendingCopy>>,
    /// The number of copies issued so far.
    pub(in crate::sim) issued: Cell<u64>,
    /// The number of turns of the cluster's threads during which copies were in flight.
    pub(in crate::sim) turns: Cell<u64>,
}

/// A copy that is in flight, or that its thread has not waited for.
pub(in crate::sim) struct PendingCopy {
    pub(in crate::sim) name: &'static str,
    pub(in crate::sim) site: Site,
    /// The cluster rank of the issuing thread.
    pub(in crate::sim) thread: usize,
    pub(in crate::sim) pieces: Vec<PendingPiece>,
    /// The bytes of all pieces, once the source has been read.
    pub(in crate::sim) bytes: Option<Box<[u8]>>,
    /// Each 16 bits of what pieces without a source get.
    pub(in crate::sim) fill: u16,
    /// The number of bytes that the copy completes at its barrier.
    pub(in crate::sim) counted: usize,
    /// Combines what is in memory with what arrives, if that does not replace it.
    pub(in crate::sim) combine: Option<Combine>,
    pub(in crate::sim) completion: Completion,
    /// The clocks that a wait acquires: after the source has been read, and after the copy has completed.
    pub(in crate::sim) read: Clock,
    pub(in crate::sim) done: Clock,
    /// The turn after which the copy lands.
    pub(in crate::sim) due: u64,
    /// Whether the bytes are in the destination.
    pub(in crate::sim) landed: bool,
    /// Whether the issuing thread has waited until the source was read.
    pub(in crate::sim) waited_read: bool,
}

/// Bytes of a copy that lie next to each other on both sides.
pub(in crate::sim) struct PendingPiece {
    /// The destination: its memory, its first byte there, and the address of that byte. There is none where bytes are only read.
    pub(in crate::sim) to: Option<(MemoryId, usize, NonNull<u8>)>,
    /// The source's memory and address; `None` for zeros and for a value.
    pub(in crate::sim) from: Option<(MemoryId, NonNull<u8>)>,
    pub(in crate::sim) len: usize,
}
