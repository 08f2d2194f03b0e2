//! Data that is written between arrive and wait is not published by the barrier.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn one_line_too_late(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let token = cluster.barrier_arrive();
    tile[i] = input[this_grid().thread_rank()];
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// The write is under a condition of threads.
#[cluster_kernel(cluster = 4, block = 64)]
fn a_leader_s_write(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let part = shared_array::<f32, 2>();
    let token = cluster.barrier_arrive();
    let sum = warp.reduce(input[this_grid().thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        part[warp.meta_group_rank()] = sum;
    }
    block.sync();
    cluster.barrier_wait(token);
    let first = cluster.map_shared_rank(&part, 0);
    out[this_grid().thread_rank()] = first[0] + first[1];
    cluster.sync();
}

/// The pattern repeats in each iteration of a loop.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for t in 0..tiles {
        let token = cluster.barrier_arrive();
        tile[t % 2][i] = input[t * 64 + i];
        cluster.barrier_wait(token);
        sum += peer[t % 2][63 - i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = sum;
}

/// An atomic write is one too.
#[cluster_kernel(cluster = 2, block = 64)]
fn histogram(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    this_thread_block().sync();
    let token = cluster.barrier_arrive();
    bins.atomic(input[this_grid().thread_rank()] % 64).fetch_add(1, Relaxed);
    cluster.barrier_wait(token);
    if cluster.block_rank() == 0 {
        out[i] = bins[i] + cluster.map_shared_rank(&bins, 1)[i];
    }
    cluster.sync();
}

/// One of two arrays is too late.
#[cluster_kernel(cluster = 2, block = 64)]
fn one_of_two(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let keys = shared_array::<u32, 64>();
    let values = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    keys[i] = input[this_grid().thread_rank()] % 16;
    let token = cluster.barrier_arrive();
    values[i] = input[this_grid().thread_rank()] / 16;
    cluster.barrier_wait(token);
    let rank = 1 - cluster.block_rank();
    out[this_grid().thread_rank()] =
        cluster.map_shared_rank(&keys, rank)[i] + cluster.map_shared_rank(&values, rank)[i];
    cluster.sync();
}

fn main() {}
