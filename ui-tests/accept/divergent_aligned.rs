//! `.aligned` barriers that all threads of a warp reach.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn all_of_them(data: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    block.sync_aligned();
    cluster.sync_aligned();
    let token = cluster.barrier_arrive_aligned();
    out[this_grid().thread_rank()] = data[0];
    cluster.barrier_wait_aligned(token);
}

/// The first warp: hardware counts the threads that have left.
#[cluster_kernel(block = 64, unchecked(divergent_collective))]
fn a_whole_warp(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() / 32 == 0 {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(block = 64, unchecked(divergent_exit))]
fn a_whole_warp_has_left(out: &mut [u32]) {
    let block = this_thread_block();
    if tiled_partition::<32>(&block).meta_group_rank() == 1 {
        return;
    }
    block.sync_aligned();
    out[this_grid().thread_rank()] = 1;
}

/// The number of iterations is uniform in the block.
#[cluster_kernel(cluster = 2, block = 64, unchecked(divergent_collective))]
fn rounds_of_a_block(rounds: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let mut passed = 0;
    for _ in 0..rounds[cluster.block_rank()] {
        let token = cluster.barrier_arrive_relaxed_aligned();
        passed += 1;
        cluster.barrier_wait_aligned(token);
    }
    out[this_grid().thread_rank()] = passed;
}

/// The threads of a warp agree, and claim so.
#[cluster_kernel(block = 64, unchecked(divergent_collective))]
fn a_vote(data: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    if warp.any(data[block.thread_rank()] > 0) {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<all_of_them>,
    phalanx::Program::of::<a_whole_warp>,
    phalanx::Program::of::<a_whole_warp_has_left>,
    phalanx::Program::of::<rounds_of_a_block>,
    phalanx::Program::of::<a_vote>,
];
