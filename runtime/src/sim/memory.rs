//! Describes an access as data: the memory, the bytes and the operation.

use std::ptr::NonNull;

use super::site::Site;

/// Identifies the memory that an access refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryId {
    /// An array of the thread itself, identified by its first byte, which nobody writes while the memory is used.
    Own(NonNull<u8>),
    /// A buffer in global memory that no thread of the launch writes, identified by its first byte.
    Constant(NonNull<u8>),
    /// A buffer in global memory, identified by its first byte.
    Global(NonNull<u8>),
    /// Shared memory of the thread's own block or of a peer.
    Shared(SharedId),
}

impl MemoryId {
    /// Returns the same shared memory of the block of this rank.
    pub(crate) fn of_block(self, rank: u32) -> MemoryId {
        match self {
            MemoryId::Shared(id) => MemoryId::Shared(SharedId { rank, ..id }),
            MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => self,
        }
    }
}

/// Identifies one block's instance of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedId {
    pub(crate) allocation: u32,
    /// The cluster rank of the owning block.
    pub(crate) rank: u32,
}

/// The operation of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryOp<'v> {
    Read,
    /// A plain write of these bytes.
    Write(&'v [u8]),
    /// An atomic load of the current value.
    AtomicLoad,
    /// An atomic load that may return a stale value: any that no newer store superseded before it, by happens-before.
    StaleLoad,
    /// An atomic read-modify-write, which may fail to write.
    Atomic,
    /// An atomic store.
    AtomicStore,
    /// An arrival at a phase barrier: an atomic read-modify-write, which is over when its phase ends.
    Arrival,
}

/// An access to the bytes `start..start + len`, which lie inside the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'v> {
    pub(crate) memory: MemoryId,
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) op: MemoryOp<'v>,
    pub(crate) site: Site,
    /// The name of the value's type.
    pub(crate) type_name: &'static str,
}

/// Identifies an atomic's memory location among those of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocationKey(usize, usize);

impl LocationKey {
    /// The location that stands for all sequentially consistent fences, which name no memory.
    pub(super) const FENCE: LocationKey = LocationKey(0, 0);
}

impl Access<'_> {
    /// Returns the key of the location at which the access begins.
    pub(super) fn location(&self) -> LocationKey {
        match self.memory {
            MemoryId::Own(base) | MemoryId::Constant(base) | MemoryId::Global(base) => {
                LocationKey(base.addr().get(), self.start)
            }
            // Shared memory gets addresses at which no buffer can lie.
            MemoryId::Shared(id) => LocationKey(1 + (id.allocation as usize) * 16 + id.rank as usize, self.start),
        }
    }
}
