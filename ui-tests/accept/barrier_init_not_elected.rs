//! The closest kernels in which one thread initialises a phase barrier.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_the_first() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(block.num_threads());
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_the_first_of_a_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    if warp.meta_group_rank() == 1 && warp.thread_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn together() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    bar.arrive_and_wait();
}

/// A block of one thread.
#[cluster_kernel(block = 1)]
fn alone() {
    let bar = shared_barrier();
    bar.init(1);
    bar.arrive_and_wait();
}

/// Each of a warp's threads has its own.
#[cluster_kernel(block = 64)]
fn one_each() {
    let block = this_thread_block();
    let bars = shared_barriers::<32>();
    let i = block.thread_rank();
    if i < 32 {
        bars[i].init(64);
    }
    block.sync();
    bars[31].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn on_either_way(input: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let first = block.thread_rank() == 0;
    if input.len() > 100 {
        if first {
            bar.init(64);
        }
    } else if first {
        bar.init(32);
    }
    block.sync();
    if input.len() > 100 || block.thread_rank() < 32 {
        bar.arrive_and_wait();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_the_first>,
    phalanx::Program::of::<by_the_first_of_a_warp>,
    phalanx::Program::of::<together>,
    phalanx::Program::of::<alone>,
    phalanx::Program::of::<one_each>,
    phalanx::Program::of::<on_either_way>,
];
