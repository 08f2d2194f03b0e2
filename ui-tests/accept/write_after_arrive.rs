//! Everything that peers read is written before the arrival; the rest may come later.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn one_line_before(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    let token = cluster.barrier_arrive();
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
    let sum = warp.reduce(input[this_grid().thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        part[warp.meta_group_rank()] = sum;
    }
    let token = cluster.barrier_arrive();
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
        tile[t % 2][i] = input[t * 64 + i];
        let token = cluster.barrier_arrive();
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
    bins.atomic(input[this_grid().thread_rank()] % 64).fetch_add(1, Relaxed);
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    if cluster.block_rank() == 0 {
        out[i] = bins[i] + cluster.map_shared_rank(&bins, 1)[i];
    }
    cluster.sync();
}

/// The other array no peer reads.
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
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&keys, rank)[i] + values[i];
    cluster.sync();
}

/// The token goes round the loop: the next tile is fetched while others arrive, and stored behind the wait.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_token_round_a_loop(input: &[u32], out: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    tile[0][i] = input[i];
    let mut token = cluster.barrier_arrive();
    for t in 0..tiles {
        let fetched = input[(t + 1) * 64 + i];
        cluster.barrier_wait(token);
        tile[(t + 1) % 2][i] = fetched;
        sum += peer[t % 2][63 - i];
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = sum;
}

/// The block works in its own scratch memory between arrive and wait.
#[cluster_kernel(cluster = 2, block = 64)]
fn local_work(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    let scratch = shared_array::<u32, 64>();
    let i = block.thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    let token = cluster.barrier_arrive();
    scratch[i] = tile[i] * 3;
    block.sync();
    let local = scratch[63 - i];
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i] + local;
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<one_line_before>,
    phalanx::Program::of::<a_leader_s_write>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<histogram>,
    phalanx::Program::of::<one_of_two>,
    phalanx::Program::of::<a_token_round_a_loop>,
    phalanx::Program::of::<local_work>,
];
