//! Describes an access as data: the memory, the bytes, the kind of access.

use std::ptr::NonNull;

use super::site::Site;

/// Identifies the memory that an access refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryId {
    /// A buffer in global memory that no thread of the launch writes, identified by its first byte.
    Constant(NonNull<u8>),
    /// A buffer in global memory, identified by its first byte.
    Global(NonNull<u8>),
    /// Shared memory of the thread's own block or of a peer.
    Shared(SharedId),
}

/// Identifies one block's instance of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedId {
    pub(crate) allocation: u32,
    /// The cluster rank of the owning block.
    pub(crate) rank: u32,
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'v> {
    Read,
    /// A plain write of these bytes.
    Write(&'v [u8]),
    /// An atomic that only reads, and finds the current value.
    AtomicLoad,
    /// An atomic load that may find an older value, unless a newer store happens-before it.
    WeakLoad,
    /// An atomic that reads, and may write.
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
    /// The name of the value's type.
    pub(crate) type_name: &'static str,
}
