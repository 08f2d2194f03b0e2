//! Elements that data select in the blocks of a cluster, and memory that peers alone write.

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

/// The block that has the sums reads them alone.
#[cluster_kernel(cluster = 4, block = 32)]
fn sums_of_one_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
    let sums = shared_array::<[u32; 32], 4>();
    cluster.sync();
    cluster.map_shared_rank(&sums, 1)[rank][i] = input[cluster.thread_rank()];
    cluster.sync();
    if rank == 1 {
        out[i] = sums[0][i] + sums[3][i];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<digits_of_a_cluster>, phalanx::Program::of::<sums_of_one_block>];
