//! An `.aligned` barrier is for whole warps, whatever rule is switched off.

use phalanx::prelude::*;

#[cluster_kernel(block = 64, unchecked(divergent_collective))]
fn half_of_a_warp(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() < 16 {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(cluster = 2, block = 64, unchecked(divergent_exit))]
fn some_have_left(data: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_grid().thread_rank();
    if i >= data.len() {
        return;
    }
    cluster.sync_aligned();
    out[i] = data[i];
}

#[cluster_kernel(cluster = 2, block = 64, unchecked(divergent_collective))]
fn one_s_own_rounds(rounds: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_grid().thread_rank();
    let mut passed = 0;
    for _ in 0..rounds[i] {
        let token = cluster.barrier_arrive_aligned();
        passed += 1;
        cluster.barrier_wait_aligned(token);
    }
    out[i] = passed;
}

/// Whole warps, as it seems: the rank is divided by less.
#[cluster_kernel(block = 64, unchecked(divergent_collective))]
fn by_sixteens(out: &mut [u32]) {
    let block = this_thread_block();
    if block.thread_rank() / 16 == 1 {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

/// The function's result is known to rustc only.
#[device]
fn chosen(rank: u32) -> bool {
    rank.checked_sub(32).is_none()
}

#[cluster_kernel(block = 64, unchecked(divergent_collective))]
fn a_function_decides(out: &mut [u32]) {
    let block = this_thread_block();
    if chosen(block.thread_rank()) {
        block.sync_aligned();
    }
    out[this_grid().thread_rank()] = 1;
}

/// The callers decide which threads reach this.
#[device]
fn meet(cluster: &Cluster) {
    let token = cluster.barrier_arrive_relaxed_aligned();
    cluster.barrier_wait_aligned(token);
}

fn main() {}
