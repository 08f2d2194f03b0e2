//! Expected arrivals that cannot match who arrives.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn none() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 0);
}

#[cluster_kernel(block = 64)]
fn too_many() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    if block.thread_rank() < 2 {
        bars[block.thread_rank()].init(0x10_0000);
    }
    block.sync();
    let _ = bars[0].arrive_n(1 << 20);
}

/// The other warp comes nowhere.
#[cluster_kernel(block = 64)]
fn one_warp() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(block.num_threads());
    }
    block.sync();
    if block.thread_rank() < 32 {
        bar.arrive_and_wait();
    }
}

#[cluster_kernel(block = 64)]
fn one_thread() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let leader = block.thread_rank() == 0;
    if leader {
        let _ = bar.arrive();
    }
    bar.wait_parity(false);
}

const THREADS: usize = 128;

#[cluster_kernel(block = THREADS)]
fn where_there_is_input(input: &[u32]) {
    let block = this_thread_block();
    let count = THREADS as u32;
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, count);
    let i = this_grid().thread_rank();
    bars[0].arrive_and_wait();
    if i < input.len() {
        let token = bars[1].arrive();
        bars[1].wait(token);
    }
}

#[cluster_kernel(block = 64)]
fn in_each_round(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    let warp = block.thread_rank() / 32;
    for round in 0..rounds {
        if warp == 1 {
            bar.arrive_and_wait();
        }
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn one_too_many() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads() + 1);
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn half_of_them() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads() / 2);
    bar.arrive_and_wait();
}

/// A count of bytes is no arrival.
#[cluster_kernel(block = 64)]
fn nobody_arrives(count: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, count);
    if block.thread_rank() == 0 {
        bar.expect_tx(256);
    }
    bar.wait_parity(false);
}

/// Each thread compares its own numbers, some more often than others.
#[cluster_kernel(block = 64)]
fn in_a_comparison(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let mut own = [input[i], input[i + 64], input[i + 128]];
    own.sort_by(|a, b| {
        bar.arrive_and_wait();
        a.cmp(b)
    });
    out[i] = own[0];
}

fn main() {}
