//! A phase barrier that is used before any thread has initialised it, on some way.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_nobody() {
    let bar = shared_barrier();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn too_late() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let _ = bar.arrive();
    bar.init_collective(&block, 64);
    bar.wait_parity(false);
}

/// Only where `n` is large.
#[cluster_kernel(block = 64)]
fn on_one_way(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    if n > 3 {
        if block.thread_rank() == 0 {
            bar.init(64);
        }
    }
    block.sync();
    if n > 2 {
        bar.arrive_and_wait();
    }
}

/// The one is for the other's.
#[cluster_kernel(block = 64)]
fn of_two() {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 64);
    full[0].arrive_and_wait();
    empty[1].wait_parity(true);
}

#[cluster_kernel(block = 64)]
fn one_of_four() {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    if block.thread_rank() == 0 {
        bars[0].init(64);
        bars[1].init(64);
        bars[3].init(64);
    }
    block.sync();
    bars[1].arrive_and_wait();
    bars[2].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn invalidated() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn of_a_peer() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    cluster.sync();
    let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
    peer.arrive();
    cluster.sync();
}

/// A thread of the cluster is in one block, and each block has a barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn by_one_of_the_cluster() {
    let cluster = this_cluster();
    let bar = shared_barrier();
    if cluster.thread_rank() == 0 {
        bar.init(64);
    }
    cluster.sync();
    bar.arrive_and_wait();
}

fn main() {}
