//! The closest kernels in which no thread arrives after it has dropped out.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn last() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    bar.arrive_and_drop();
}

/// It may still wait.
#[cluster_kernel(block = 64)]
fn waits_still() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_drop();
    bar.wait_parity(false);
}

#[cluster_kernel(block = 64)]
fn the_others_go_on() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 32 {
        bar.arrive_and_drop();
    } else {
        bar.arrive_and_wait();
        bar.arrive_and_wait();
    }
}

/// A thread that is done drops out, in its last iteration.
#[cluster_kernel(block = 64)]
fn in_its_round(rounds: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let mut round = 0;
    loop {
        if round == rounds[block.thread_rank()] {
            bar.arrive_and_drop();
            break;
        }
        bar.arrive_and_wait();
        round += 1;
    }
}

#[cluster_kernel(block = 64)]
fn of_an_array() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    bars[1].arrive_and_drop();
    bars[0].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn in_another_life() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_drop();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<last>,
    phalanx::Program::of::<waits_still>,
    phalanx::Program::of::<the_others_go_on>,
    phalanx::Program::of::<in_its_round>,
    phalanx::Program::of::<of_an_array>,
    phalanx::Program::of::<in_another_life>,
];
