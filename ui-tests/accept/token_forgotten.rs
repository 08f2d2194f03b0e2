//! Arrivals that elected threads wait for and others forget, with no use of the group after that.

use phalanx::prelude::*;

#[cluster_kernel]
fn on_some_path(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        token.forget();
    } else {
        cluster.barrier_wait(token);
        cluster.sync();
    }
}

#[cluster_kernel]
fn arrives_before() {
    let block = this_thread_block();
    let first = block.barrier_arrive();
    block.barrier_wait(first);
    let token = block.barrier_arrive();
    token.forget();
}

#[cluster_kernel]
fn behind_a_loop(n: u32) {
    let block = this_thread_block();
    let mut token = block.barrier_arrive();
    for _ in 0..n {
        block.barrier_wait(token);
        token = block.barrier_arrive();
    }
    token.forget();
}

#[cluster_kernel]
fn a_smaller_group() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = cluster.barrier_arrive();
    token.forget();
    block.sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn elected_warp() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = cluster.barrier_arrive();
    if block.thread_rank() / 32 == 0 {
        cluster.barrier_wait(token);
    } else {
        token.forget();
    }
}

#[cluster_kernel(block = 64)]
fn elected_block_of_a_grid(out: &mut [u32]) {
    let grid = this_grid();
    let token = grid.barrier_arrive();
    if grid.block_rank() != 0 {
        token.forget();
        return;
    }
    grid.barrier_wait(token);
    this_thread_block().sync();
}

/// One thread of a block may wait alone.
#[cluster_kernel(block = 64)]
fn elected_thread(out: &mut [u32]) {
    let block = this_thread_block();
    let shared = shared_array::<u32, 64>();
    let i = block.thread_rank();
    shared[i] = i;
    let token = block.barrier_arrive();
    if i == 0 {
        block.barrier_wait(token);
        out[0] = shared[63];
    } else {
        token.forget();
    }
}

/// The warps that wait are a group of their own.
#[cluster_kernel(block = 64)]
fn waiters_meet_again(out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let token = block.barrier_arrive();
    if block.thread_rank() / 32 == 0 {
        block.barrier_wait(token);
        warp.sync();
    } else {
        token.forget();
    }
}

/// A barrier at which all wait is before, and nothing is accessed after it.
#[cluster_kernel(cluster = 2, block = 64)]
fn exits(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    cluster.sync();
    out[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
    let token = cluster.barrier_arrive();
    token.forget();
}

#[cluster_kernel]
fn optional(n: u32) {
    let cluster = this_cluster();
    let pending = if n > 4 { Some(cluster.barrier_arrive_relaxed()) } else { None };
    if let Some(token) = pending {
        token.forget();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<on_some_path>,
    phalanx::Program::of::<arrives_before>,
    phalanx::Program::of::<behind_a_loop>,
    phalanx::Program::of::<a_smaller_group>,
    phalanx::Program::of::<elected_warp>,
    phalanx::Program::of::<elected_block_of_a_grid>,
    phalanx::Program::of::<elected_thread>,
    phalanx::Program::of::<waiters_meet_again>,
    phalanx::Program::of::<exits>,
    phalanx::Program::of::<optional>,
];
