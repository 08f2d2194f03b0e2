//! Phase barriers that device functions initialise and use.

use phalanx::prelude::*;

#[device]
fn set_up(bar: &Barrier, block: &ThreadBlock) {
    if block.thread_rank() == 0 {
        bar.init(64);
    }
}

#[device]
fn set_up_by_who_calls(bar: &Barrier) {
    bar.init(64);
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

#[cluster_kernel(block = 64)]
fn nobody_initialises() {
    let bar = shared_barrier();
    meet(&bar);
}

#[cluster_kernel(block = 64)]
fn one_of_two() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let other = shared_barrier();
    bar.init_collective(&block, 64);
    meet_twice(&bar, &other);
}

/// It is not the function that does.
#[cluster_kernel(block = 64)]
fn after_a_call() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() > 99 {
        meet(&bar);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    set_up_by_who_calls(&bar);
    block.sync();
    meet(&bar);
}

#[cluster_kernel(block = 64)]
fn while_in_use() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let bars = shared_barriers::<2>();
    bar.init_collective(&block, 64);
    bars.init_collective(&block, 64);
    set_up(&bar, &block);
    set_up_all(&bars, &block);
    block.sync();
}

#[cluster_kernel(block = 64)]
fn not_met() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    meet(&bar);
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

#[cluster_kernel(block = 64)]
fn by_one_of_each_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    let other = shared_barrier();
    let third = shared_barrier();
    set_up_if(&bar, warp.thread_rank() == 0);
    set_up_by(&other, warp.thread_rank());
    set_up_in(&third, &warp);
    block.sync();
}

fn main() {}
