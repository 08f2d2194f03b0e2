//! The fence of an arrival at the cluster's barrier, which the macro passes beside the call.

use phalanx_contract::fence::Fence;

use crate::sim;

/// Calls an operation of the cluster's barrier, whose arrival has this fence.
#[inline]
#[track_caller]
pub fn with_fence<R>(fence: Fence, barrier: impl FnOnce() -> R) -> R {
    sim::with("an arrival", |context| context.choose_fence(fence));
    barrier()
}
