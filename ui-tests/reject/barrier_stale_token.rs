//! A token of a phase before the last one.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn two_phases_later() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let old = bar.arrive();
    let token = bar.arrive_n(1);
    bar.wait(token);
    bar.arrive_and_wait();
    bar.wait(old);
}

#[cluster_kernel(block = 64)]
fn kept_through_a_loop(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let first = bar.arrive();
    if bar.try_wait(&first) {}
    for _ in 0..rounds {
        let token = bar.arrive_n(1);
        bar.wait(token);
    }
    bar.wait(first);
}

/// Only where there is more to do.
#[cluster_kernel(block = 64)]
fn on_one_way(n: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, n);
    let old = bars[1].arrive();
    bars[0].arrive_and_wait();
    if n > 2 {
        bars[1].arrive_and_wait();
        bars[1].arrive_and_wait();
    }
    bars[1].wait(old);
}

#[cluster_kernel(block = 64)]
fn asked_too_late() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    let old = bar.arrive();
    let second = bar.arrive();
    while !bar.try_wait(&second) {}
    let third = bar.arrive();
    while !bar.try_wait_for(&third, 1000) {}
    if bar.try_wait(&old) {}
}

#[cluster_kernel(block = 64)]
fn of_an_earlier_life() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let token = bar.arrive();
    bar.wait_parity(false);
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
    bar.init_collective(&block, 64);
    bar.wait(token);
}

/// The variable's name is the same.
#[cluster_kernel(block = 64)]
fn in_an_option(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, n);
    let pending = if n > 1 { Some(bar.arrive()) } else { None };
    bar.arrive_and_wait();
    let token = bar.arrive();
    bar.wait(token);
    if let Some(token) = pending {
        bar.wait(token);
    }
}

fn main() {}
