//! A barrier that is waited for at once, and one with work before the wait.

use phalanx::prelude::*;

/// Blocks with more work let the others wait.
#[cluster_kernel(cluster = 4, block = 32)]
pub(crate) fn whole(out: &mut [u32]) {
    let cluster = this_cluster();
    let mut sum = 0;
    for i in 0..40 * (4 - cluster.block_rank()) {
        sum += i;
    }
    cluster.sync();
    for i in 0..60 {
        sum += i;
    }
    out[this_grid().thread_rank()] = sum;
}

/// The same, but the work that needs no other block is between the arrival and the wait.
#[cluster_kernel(cluster = 4, block = 32)]
pub(crate) fn split(out: &mut [u32]) {
    let cluster = this_cluster();
    let mut sum = 0;
    for i in 0..40 * (4 - cluster.block_rank()) {
        sum += i;
    }
    let token = cluster.barrier_arrive();
    for i in 0..60 {
        sum += i;
    }
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = sum;
}
