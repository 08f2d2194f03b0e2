//! Defines what each scheduling point costs of a thread's turn (`schedule::Turn::fuel`).

/// One iteration of a loop.
pub(crate) const TICK: u32 = 1;
/// An atomic that writes, or an arrival that does not wait.
pub(crate) const ATOMIC: u32 = 4;
/// An atomic that only reads. It is expensive because a loop that polls a flag makes no progress by polling again at
/// once.
pub(crate) const ATOMIC_LOAD: u32 = 16;
