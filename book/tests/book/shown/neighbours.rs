//! Blocks that read their neighbours, and all of whose accesses a barrier of the cluster encloses.

use phalanx::prelude::*;

/// Each block adds what its right neighbour published.
#[cluster_kernel(cluster = 4, block = 64)]
pub(crate) fn neighbours(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let published = shared_array::<u32, 64>();
    let i = this_grid().thread_rank();

    let mut own = input[i];
    for round in 0..10 * cluster.block_rank() {
        own = own * 3 + round;
    }
    published[block.thread_rank()] = own;
    let token = cluster.barrier_arrive(); // my part is published
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let remote = cluster.map_shared_rank(&published, next);
    cluster.barrier_wait(token); // all parts are published
    out[i] = own + remote[block.thread_rank()];
    cluster.sync(); // nobody reads mine any more
}
