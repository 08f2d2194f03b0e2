//! The fence of an arrival at the cluster's barrier, which the macro passes beside the call.

use phalanx_contract::fence::Fence;

use crate::sim;

/// Calls an operation of the cluster's barrier in the source at a file, a line and a column. Its arrival has the fence that the program
/// has there.
#[inline]
#[track_caller]
pub fn with_fence_of<R>(place: (&'static str, u32, u32), barrier: impl FnOnce() -> R) -> R {
    sim::with("an arrival", |context| context.choose_fence_of(place));
    barrier()
}

/// Calls an operation of the cluster's barrier, whose arrival has this fence: for programs that are not assembled.
#[inline]
#[track_caller]
pub fn with_fence<R>(fence: Fence, barrier: impl FnOnce() -> R) -> R {
    sim::with("an arrival", |context| context.choose_fence(fence));
    barrier()
}
