//! A thread that arrives after it has dropped out.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn at_once() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_drop();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn twice() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_drop();
    block.sync();
    bar.arrive_and_drop();
}

#[cluster_kernel(block = 64)]
fn on_both_ways() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 32 {
        bar.arrive_and_drop();
    } else {
        bar.arrive_and_wait();
        bar.arrive_and_drop();
    }
    block.sync();
    let _ = bar.arrive();
}

#[cluster_kernel(block = 64)]
fn for_others() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() % 2 == 0 {
        bar.arrive_and_drop();
        let _ = bar.arrive_n(2);
    }
}

#[cluster_kernel(block = 64)]
fn one_of_an_array() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    bars[1].arrive_and_drop();
    bars[0].arrive_and_wait();
    bars[1].arrive_and_wait();
}

/// On one path, which leads to the arrival.
#[cluster_kernel(block = 64)]
fn some_drop_out() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() == 0 {
        bar.arrive_and_drop();
    }
    bar.arrive_and_wait();
}

fn main() {}
