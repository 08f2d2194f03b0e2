//! Asynchronous copies to phase barriers that are not ready: a copy uses its barrier as an arrival does.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_nobody(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    memcpy_async(&block, &words, &input[0..64], &bar);
}

#[cluster_kernel(block = 64)]
fn before(input: &[u32]) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let words = shared_array::<u32, 64>();
    if block.thread_rank() == 0 {
        bulk_copy_async(&words, &input[0..64], &full[1]);
    }
    block.sync();
    full.init_collective(&block, 64);
    full[1].arrive_and_wait();
}

/// The first thread initialises it, another copies.
#[cluster_kernel(block = 64)]
fn no_sync(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    if block.thread_rank() == 32 {
        bulk_copy_async(&words, &input[0..64], &bar);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn invalidated(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
    block.sync();
    memcpy_async(&block, &words, &input[0..64], &bar);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn of_a_peer() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    let words = shared_array::<u32, 64>();
    cluster.sync();
    let rank = 1 - cluster.block_rank();
    let peer = cluster.map_shared_rank(&bar, rank);
    let peers = cluster.map_shared_rank(&words, rank);
    peers.store_async(this_thread_block().thread_rank(), 5, &peer);
    cluster.sync();
}

/// The block's threads have met, and not those of the other.
#[cluster_kernel(cluster = 2, block = 64)]
fn to_the_block_alone() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    let own = shared_array::<u32, 64>();
    let given = shared_array::<u32, 64>();
    own[block.thread_rank()] = 5;
    cluster.sync();
    if block.thread_rank() == 0 {
        bar.init(1);
        bar.expect_tx(256);
    }
    block.sync();
    let rank = 1 - cluster.block_rank();
    if block.thread_rank() == 32 {
        let peer = cluster.map_shared_rank(&bar, rank);
        bulk_copy_async(&cluster.map_shared_rank(&given, rank), &own, &peer);
    }
    cluster.sync();
}

#[device]
fn fetch(words: &SharedArray<u32, 64>, input: &[u32], bar: &Barrier) {
    bulk_copy_async(words, &input[0..64], bar);
}

#[cluster_kernel(block = 64)]
fn in_a_function(input: &[u32]) {
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    if this_thread_block().thread_rank() == 0 {
        fetch(&words, input, &bar);
    }
}

/// All threads are counted, and half of them arrive.
#[cluster_kernel(block = 64)]
fn half_arrive(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&block, 64);
    if block.thread_rank() == 0 {
        bar.expect_tx(256);
        bulk_copy_async(&words, &input[0..64], &bar);
    }
    if block.thread_rank() < 32 {
        let _ = bar.arrive();
    }
    bar.wait_parity(false);
}

fn main() {}
