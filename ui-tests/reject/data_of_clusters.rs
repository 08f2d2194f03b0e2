//! An element that data select may be one that another thread of the block writes.

use phalanx::prelude::*;

/// Counts of digits whose place the launch says, while other threads clear the counts.
#[cluster_kernel(cluster = 2, block = 64)]
fn digits_while_cleared(keys: &[u32], out: &mut [u32], shift: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let counts = shared_array::<u32, 16>();
    if i < 16 {
        counts[i] = 0;
    }
    counts.atomic(keys[cluster.thread_rank()] >> shift & 15).fetch_add(1, Relaxed);
    cluster.sync();
    if i < 16 {
        out[i + cluster.block_rank() * 16] = counts[i] + cluster.map_shared_rank(&counts, 0)[i];
    }
    cluster.sync();
}

fn main() {}
