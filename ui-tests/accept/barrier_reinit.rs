//! The closest kernels in which a phase barrier's life ends before the next one begins.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn two_phases() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    bar.arrive_and_wait();
}

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
        if block.thread_rank() == 0 {
            bar.invalidate();
        }
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
        if block.thread_rank() == 0 {
            bar.invalidate();
        }
        bar.init_collective(&block, 32);
        if block.thread_rank() < 32 {
            bar.arrive_and_wait();
        }
    }
}

#[cluster_kernel(block = 64)]
fn of_an_array(n: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    if block.thread_rank() == 0 {
        bars[0].init(64);
        for stage in 1..4 {
            bars[stage].init(64);
        }
    }
    block.sync();
    bars[n % 4].arrive_and_wait();
    bars[0].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn on_one_of_two_ways(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    if n > 7 {
        bar.init_collective(&block, 64);
    }
    block.sync();
    if n <= 7 {
        bar.init_collective(&block, 64);
    }
    bar.arrive_and_wait();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<two_phases>,
    phalanx::Program::of::<each_round>,
    phalanx::Program::of::<for_fewer>,
    phalanx::Program::of::<of_an_array>,
    phalanx::Program::of::<on_one_of_two_ways>,
];
