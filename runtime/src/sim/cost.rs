//! What a scheduling point costs of a thread's turn (`schedule::Turn::fuel`).

/// One iteration of a loop.
pub(crate) const TICK: u32 = 1;
/// An atomic that writes, or an arrival that does not wait.
pub(crate) const ATOMIC: u32 = 4;
/// An atomic that only reads: what loops that wait for a flag do, and get nowhere by doing again at once.
pub(crate) const ATOMIC_LOAD: u32 = 16;
