//! A phase barrier that is initialised while it is in use.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn twice() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
}

/// The next phase begins by itself.
#[cluster_kernel(block = 64)]
fn each_round(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    for _ in 0..rounds {
        if block.thread_rank() == 0 {
            bar.init(64);
        }
        block.sync();
        bar.arrive_and_wait();
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn for_fewer(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    if n < 32 {
        block.sync();
        bar.init_collective(&block, 32);
    }
    if block.thread_rank() < 32 {
        bar.arrive_and_wait();
    }
}

#[cluster_kernel(block = 64)]
fn one_of_an_array() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    if block.thread_rank() == 0 {
        bars[0].init(64);
        bars[1].init(64);
        bars[0].init(64);
    }
    block.sync();
    bars[0].arrive_and_wait();
    bars[1].arrive_and_wait();
}

/// Only some ways end its life.
#[cluster_kernel(block = 64)]
fn invalidated_on_one_way(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    if n > 7 {
        if block.thread_rank() == 0 {
            bar.invalidate();
        }
    }
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
}

fn main() {}
