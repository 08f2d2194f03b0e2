//! `barrier_use_after_drop` and `barrier_count` through device functions, which rustc finds when it joins their summaries.

use phalanx::prelude::*;

#[device]
fn leave(bar: &Barrier) {
    bar.arrive_and_drop();
}

#[device]
fn leave_early(bar: &Barrier) {
    leave(bar);
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

/// The function drops out, and the kernel arrives again.
#[cluster_kernel(block = 64)]
fn dropped_in_a_function(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    leave_early(&bar);
    bar.arrive_and_wait();
    out[block.thread_rank()] = 1;
}

/// Some threads drop out in one function, and arrive in another one.
#[cluster_kernel(block = 64)]
fn dropped_on_one_path(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if input[i] == 0 {
        leave(&bar);
    }
    meet(&bar);
    out[i] = 1;
}

/// Half of the threads call the function that arrives.
#[cluster_kernel(block = 64)]
fn half_of_the_threads(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if block.thread_rank() < 32 {
        meet(&bar);
    }
    out[block.thread_rank()] = 1;
}

/// All threads call the function, in which half of them arrive.
#[cluster_kernel(block = 64)]
fn half_in_the_function(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    meet_by_half(&block, &bar);
    out[block.thread_rank()] = 1;
}

/// Two arrivals of each thread are too few.
#[cluster_kernel(block = 64)]
fn too_few_arrivals(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 192);
    arrive_for_two(&bar);
    bar.wait_parity(false);
    out[block.thread_rank()] = 1;
}

fn main() {}
