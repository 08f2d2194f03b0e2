//! The closest kernels in which the barrier of an asynchronous copy is ready.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_all(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&block, 64);
    memcpy_async(&block, &words, &input[0..64], &bar);
    bar.arrive_and_wait();
}

/// The initializing thread may use the barrier at once.
#[cluster_kernel(block = 64)]
fn by_one(input: &[u32]) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let words = shared_array::<u32, 64>();
    if block.thread_rank() == 0 {
        full[0].init(1);
        full[1].init(1);
        full[1].expect_tx(256);
        bulk_copy_async(&words, &input[0..64], &full[1]);
        let _ = full[1].arrive();
    }
    block.sync();
    full[1].wait_parity(false);
}

#[cluster_kernel(block = 64)]
fn anew(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
        bar.init(64);
    }
    block.sync();
    memcpy_async(&block, &words, &input[0..64], &bar);
    bar.arrive_and_wait();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn of_a_peer() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&cluster, 1);
    let rank = 1 - cluster.block_rank();
    let peer = cluster.map_shared_rank(&bar, rank);
    let peers = cluster.map_shared_rank(&words, rank);
    if block.thread_rank() == 0 {
        bar.expect_tx(256);
        let _ = bar.arrive();
    }
    peers.store_async(block.thread_rank(), 5, &peer);
    bar.wait_parity(false);
    cluster.sync();
}

#[device]
fn fetch(words: &SharedArray<u32, 64>, input: &[u32], bar: &Barrier) {
    bar.expect_tx(256);
    bulk_copy_async(words, &input[0..64], bar);
    let _ = bar.arrive();
}

#[cluster_kernel(block = 64)]
fn in_a_function(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let words = shared_array::<u32, 64>();
    bar.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        fetch(&words, input, &bar);
    }
    bar.wait_parity(false);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_all>,
    phalanx::Program::of::<by_one>,
    phalanx::Program::of::<anew>,
    phalanx::Program::of::<of_a_peer>,
    phalanx::Program::of::<in_a_function>,
];
