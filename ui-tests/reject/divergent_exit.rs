//! Threads that leave before a collective that needs them.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn the_guard_of_every_cuda_kernel(data: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = this_grid().thread_rank();
    if i >= data.len() {
        return;
    }
    tile[block.thread_rank()] = data[i];
    block.sync();
    out[i] = tile[63 - block.thread_rank()];
    block.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_block_of_a_cluster(n: usize) {
    let cluster = this_cluster();
    if this_grid().block_rank() >= n {
        return;
    }
    cluster.sync();
}

#[device]
fn protocol(block: &ThreadBlock, value: u32) {
    if value + block.thread_rank() == 0 {
        return;
    }
    block.sync();
}

/// A thread that has found it exits; the others go on to the next iteration's barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn in_the_middle_of_a_loop(keys: &[u32], wanted: u32, out: &mut [u32]) {
    let block = this_thread_block();
    let window = shared_array::<u32, 64>();
    for round in 0..8 {
        window[block.thread_rank()] = keys[round * 64 + block.thread_rank()];
        block.sync();
        if window[63 - block.thread_rank()] == wanted {
            out[0] = round;
            return;
        }
        block.sync();
    }
}

/// A warp that leaves is missing in the block.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_warp(values: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sum = warp.reduce(values[block.thread_rank()], op::Plus);
    if warp.meta_group_rank() > 0 {
        return;
    }
    out[block.thread_rank()] = sum;
    block.sync();
}

/// An arrival is a collective.
#[cluster_kernel(cluster = 2, block = 64)]
fn before_the_next_arrival(n: u32) {
    let cluster = this_cluster();
    cluster.sync();
    if cluster.thread_rank() >= n {
        return;
    }
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
}

fn main() {}
