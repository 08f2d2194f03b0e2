//! What is accessed and how, as data: the memory, the bytes, the kind.

use std::ptr::NonNull;

use super::site::Site;

/// What memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryId {
    /// A buffer in global memory that no thread of the launch writes, by its first byte.
    Constant(NonNull<u8>),
    /// A buffer in global memory, by its first byte.
    Global(NonNull<u8>),
    /// Shared memory, of the thread's own block or of a peer.
    Shared(SharedId),
}

/// A block's instance of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedId {
    pub(crate) allocation: u32,
    /// The rank in the cluster of the block that owns it.
    pub(crate) rank: u32,
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'v> {
    Read,
    /// Of these bytes.
    Write(&'v [u8]),
    /// An atomic that only reads, and what is there now.
    AtomicLoad,
    /// One that may find what was there before, if nothing orders it after what came later.
    WeakLoad,
    /// Reads, and may write.
    Atomic,
    /// An atomic that only writes.
    AtomicStore,
}

/// An access to the bytes `start..start + len`, which lie inside the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'v> {
    pub(crate) memory: MemoryId,
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) kind: Kind<'v>,
    pub(crate) site: Site,
    /// Of the value.
    pub(crate) type_name: &'static str,
}
