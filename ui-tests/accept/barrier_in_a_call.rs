//! The closest kernels in which device functions initialise a phase barrier before it is used.

use phalanx::prelude::*;

#[device]
fn set_up(bar: &Barrier, block: &ThreadBlock) {
    if block.thread_rank() == 0 {
        bar.init(64);
    }
}

#[device]
fn set_up_by_who_calls(bar: &Barrier, other: &Barrier) {
    bar.init(64);
    other.init(64);
}

#[device]
fn meet(bar: &Barrier) {
    bar.arrive_and_wait();
}

#[device]
fn meet_twice(bar: &Barrier, other: &Barrier) {
    meet(bar);
    meet(other);
}

#[device]
fn set_up_all(bars: &Barriers<2>, block: &ThreadBlock) {
    bars.init_collective(block, 64);
}

#[device]
fn again(bar: &Barrier, block: &ThreadBlock) {
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
        bar.init(64);
    }
    block.sync();
    meet(bar);
}

#[cluster_kernel(block = 64)]
fn the_function_initialises() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let bars = shared_barriers::<2>();
    set_up(&bar, &block);
    set_up_all(&bars, &block);
    block.sync();
    bar.arrive_and_wait();
    bars[1].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn for_one_thread() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let other = shared_barrier();
    if block.thread_rank() == 0 {
        set_up_by_who_calls(&bar, &other);
    }
    block.sync();
    meet_twice(&bar, &other);
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn initialised_before() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    meet(&bar);
    again(&bar, &block);
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn one_of_an_array(n: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    set_up(&bars[0], &block);
    set_up(&bars[1], &block);
    block.sync();
    meet(&bars[0]);
    meet(&bars[n % 2]);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<the_function_initialises>,
    phalanx::Program::of::<for_one_thread>,
    phalanx::Program::of::<initialised_before>,
    phalanx::Program::of::<one_of_an_array>,
];
