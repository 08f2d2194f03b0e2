//! Peers read what an asynchronous copy has written: a wait for the copy comes before the barrier of the cluster.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn waited(input: &[f32], out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(64 * 4);
        bulk_copy_async(&tile, &input[..64], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[block.thread_rank()];
    cluster.sync();
}

/// One row is copied while peers read the other.
#[cluster_kernel(cluster = 2, block = 64)]
fn two_rows(input: &[f32], out: &mut [f32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let rows = shared_array::<[f32; 64], 2>();
    memcpy_async(&block, &rows[0], &input[..64]);
    for round in 0..rounds {
        block.wait_async();
        cluster.sync();
        if round + 1 < rounds {
            memcpy_async(&block, &rows[(round + 1) % 2], &input[(round + 1) * 64..(round + 2) * 64]);
        }
        let peer = cluster.map_shared_rank(&rows[round % 2], 1 - cluster.block_rank());
        out[round * 128 + cluster.thread_rank()] = peer[i];
    }
    block.wait_async();
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<waited>, phalanx::Program::of::<two_rows>];
