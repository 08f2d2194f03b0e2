//! The closest kernels to those of `reject/barrier_of_functions.rs` that are right.

use phalanx::prelude::*;

#[device]
fn leave(bar: &Barrier) {
    bar.arrive_and_drop();
}

#[device]
fn meet(bar: &Barrier) {
    bar.arrive_and_wait();
}

#[device]
fn meet_by_half(block: &ThreadBlock, bar: &Barrier) {
    if block.thread_rank() < 32 {
        bar.arrive_and_wait();
    }
}

#[device]
fn arrive_for_two(bar: &Barrier) {
    let _ = bar.arrive_n(2);
}

/// The drop is the last arrival.
#[cluster_kernel(block = 64)]
fn dropped_at_the_end(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    meet(&bar);
    leave(&bar);
    out[block.thread_rank()] = 1;
}

/// Each thread drops out or arrives.
#[cluster_kernel(block = 64)]
fn dropped_or_met(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if input[i] == 0 {
        leave(&bar);
    } else {
        meet(&bar);
    }
    out[i] = 1;
}

/// Half of the threads arrive, and half of them are expected.
#[cluster_kernel(block = 64)]
fn half_are_expected(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    meet_by_half(&block, &bar);
    out[block.thread_rank()] = 1;
}

/// Both halves call a function that arrives.
#[cluster_kernel(block = 64)]
fn both_halves(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if block.thread_rank() < 32 {
        meet(&bar);
    } else {
        meet(&bar);
    }
    out[block.thread_rank()] = 1;
}

/// Half of the threads arrive for two each.
#[cluster_kernel(block = 64)]
fn for_two_each(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 32 {
        arrive_for_two(&bar);
    }
    bar.wait_parity(false);
    out[block.thread_rank()] = 1;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<dropped_at_the_end>,
    phalanx::Program::of::<dropped_or_met>,
    phalanx::Program::of::<half_are_expected>,
    phalanx::Program::of::<both_halves>,
    phalanx::Program::of::<for_two_each>,
];
