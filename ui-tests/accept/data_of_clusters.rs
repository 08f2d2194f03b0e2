//! Elements that data select, in the blocks of a cluster.

use phalanx::prelude::*;

/// Counts of digits whose place the launch says: all threads wait until the counts are zero.
#[cluster_kernel(cluster = 2, block = 64)]
fn digits_of_a_cluster(keys: &[u32], out: &mut [u32], shift: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let counts = shared_array::<u32, 16>();
    if i < 16 {
        counts[i] = 0;
    }
    block.sync();
    counts.atomic(keys[cluster.thread_rank()] >> shift & 15).fetch_add(1, Relaxed);
    cluster.sync();
    if i < 16 {
        out[i + cluster.block_rank() * 16] = counts[i] + cluster.map_shared_rank(&counts, 0)[i];
    }
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<digits_of_a_cluster>];
