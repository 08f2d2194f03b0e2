//! Peers read what an asynchronous copy writes: a barrier of the cluster does not wait for the copy.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn never_waited(input: &[f32], out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(64 * 4);
        bulk_copy_async(&tile, &input[..64], &full);
        let _ = full.arrive();
    }
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[block.thread_rank()];
    full.wait_parity(false);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn waited_after_the_arrival(input: &[f32], out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tile = shared_array::<f32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
    let token = cluster.barrier_arrive();
    block.wait_async();
    cluster.barrier_wait(token);
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[block.thread_rank()];
    cluster.sync();
}

/// A peer writes what a bulk copy is still reading.
#[cluster_kernel(cluster = 2, block = 64)]
fn source(out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tile = shared_array::<f32, 64>();
    let i = block.thread_rank();
    tile[i] = 1.0;
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &tile);
    }
    cluster.sync();
    cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i] = 2.0;
    if i == 0 {
        bulk_wait_group_read::<0>();
    }
    cluster.sync();
}

/// The wait leaves the last copy in flight.
#[cluster_kernel(block = 64)]
fn all_but_the_last(input: &[f32], out: &mut [f32], rounds: usize) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[f32; 64], 2>();
    for round in 0..rounds {
        if i == 0 {
            bulk_wait_group_read::<1>();
        }
        block.sync();
        rows[round % 2][i] = input[round * 64 + i];
        block.sync();
        if i == 0 {
            bulk_copy_async(&mut out[round * 64..(round + 1) * 64], &rows[round % 2]);
        }
    }
}

fn main() {}
