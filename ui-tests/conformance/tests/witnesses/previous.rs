//! The witnesses of launches that overlap: what a thread does before it has waited for those in front.

use phalanx::prelude::*;

#[cluster_kernel(block = 32, unchecked(access_before_previous))]
pub(super) fn writes_at_once(out: &mut [u32]) {
    out[this_grid().thread_rank()] = 1;
    wait_previous();
}

#[cluster_kernel(block = 32, unchecked(access_before_previous))]
pub(super) fn leaves_at_once(out: &mut [u32]) {
    if this_thread_block().thread_rank() == 7 {
        return;
    }
    wait_previous();
    out[this_grid().thread_rank()] = 1;
}
