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

/// One thread of a warp that is the same for the whole block, whatever the order of the conditions.
#[cluster_kernel(block = 128)]
fn by_a_producer(producer: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bars = shared_barriers::<2>();
    let (warp_rank, lane) = (block.thread_rank() / 32, block.thread_rank() % 32);
    let leader = lane == 0 && warp_rank == producer;
    if leader {
        bars[0].init(1);
    }
    if warp.meta_group_rank() == 3 {
        warp.invoke_one(|| {
            bars[1].init(128);
        });
    }
    block.sync();
    bars[1].arrive_and_wait();
}

#[cluster_kernel(block = (32, 2))]
fn by_all_axes() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let index = block.thread_index();
    if index.x == 0 && block.thread_index().y == 1 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// The warps' first threads, each with a barrier of its own.
#[cluster_kernel(block = 128)]
fn one_for_each_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bars = shared_barriers::<4>();
    if warp.thread_rank() == 0 {
        bars[warp.meta_group_rank()].init(32);
    }
    block.sync();
    bars[warp.meta_group_rank()].arrive_and_wait();
}

#[device]
fn set_up_if(bar: &Barrier, leader: bool) {
    if leader {
        bar.init(64);
    }
}

#[device]
fn set_up_by(bar: &Barrier, rank: u32) {
    if rank == 0 {
        bar.init(64);
    }
}

#[device]
fn set_up_in(bar: &Barrier, warp: &Tile<32>) {
    warp.invoke_one(|| {
        bar.init(64);
    });
}

/// The functions elect by what they are given.
#[cluster_kernel(block = 64)]
fn by_functions() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bars = shared_barriers::<3>();
    set_up_if(&bars[0], block.thread_rank() == 5);
    set_up_by(&bars[1], block.thread_rank());
    if warp.meta_group_rank() == 1 {
        set_up_in(&bars[2], &warp);
    }
    block.sync();
    bars[0].arrive_and_wait();
    bars[1].arrive_and_wait();
    bars[2].arrive_and_wait();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_the_first>,
    phalanx::Program::of::<by_the_first_of_a_warp>,
    phalanx::Program::of::<together>,
    phalanx::Program::of::<alone>,
    phalanx::Program::of::<one_each>,
    phalanx::Program::of::<on_either_way>,
    phalanx::Program::of::<by_a_producer>,
    phalanx::Program::of::<by_all_axes>,
    phalanx::Program::of::<one_for_each_warp>,
    phalanx::Program::of::<by_functions>,
];
