//! Defines how much of a thread's turn each scheduling point costs (`schedule::Turn::fuel`).

/// One iteration of a loop.
pub(crate) const TICK: u32 = 1;
/// An atomic that writes, or an arrival or a wait that does not block.
pub(crate) const ATOMIC: u32 = 4;
/// An atomic that only reads. It is expensive, because polling a flag again in the same turn makes no progress.
pub(crate) const ATOMIC_LOAD: u32 = 16;
