//! An element that data select may be one that another thread of the block writes; peers do not write the memory of each block.

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

/// All blocks read what is written in one.
#[cluster_kernel(cluster = 4, block = 32)]
fn sums_in_one_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
    let sums = shared_array::<[u32; 32], 4>();
    cluster.sync();
    cluster.map_shared_rank(&sums, 1)[rank][i] = input[cluster.thread_rank()];
    cluster.sync();
    out[cluster.thread_rank()] = sums[0][i] + sums[3][i];
}

fn main() {}
