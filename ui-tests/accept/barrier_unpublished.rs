//! The closest kernels in which the threads have synchronized since a phase barrier was initialised.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn synced() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// A block of one warp.
#[cluster_kernel(block = 32)]
fn sync_of_a_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(32);
    }
    warp.sync();
    bar.arrive_and_wait();
}

/// The thread itself knows.
#[cluster_kernel(block = 64)]
fn by_itself() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let leader = block.thread_rank() == 0;
    if leader {
        bar.init(65);
        let _ = bar.arrive();
    }
    if leader {
        bar.expect_tx(0);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn on_the_other_side() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let first = block.thread_rank() == 0;
    if first {
        bar.init(63);
    }
    block.sync();
    if !first {
        bar.arrive_and_wait();
    }
}

#[cluster_kernel(block = 64)]
fn before_the_arrival() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    if block.thread_rank() == 0 {
        bars[0].init(64);
        bars[1].init(64);
    }
    let met = block.barrier_arrive();
    block.barrier_wait(met);
    bars[1].arrive_and_wait();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn to_the_cluster() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    cluster.sync();
    cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
    bar.wait_parity(false);
    cluster.sync();
}

/// An atomic tells the others.
#[cluster_kernel(block = 64)]
fn told_by_an_atomic() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let ready = shared_array::<u32, 1>();
    let i = block.thread_rank();
    ready.atomic(0).store(0, Relaxed);
    block.sync();
    if i == 0 {
        bar.init(64);
        ready.atomic(0).store(1, Release);
    } else {
        while ready.atomic(0).load(Acquire) == 0 {}
    }
    bar.arrive_and_wait();
}

/// The warp of the thread that initializes the barrier, and no other.
#[cluster_kernel(block = 128)]
fn of_one_warp_alone(output: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    let bar = shared_barrier();
    if rank == 96 {
        bar.init(32);
    }
    warp.sync();
    if rank >= 96 {
        bar.arrive_and_wait();
    }
    output[rank] = rank;
}

/// The others are done with the barrier, or only arrive at it, before one thread ends its life.
#[cluster_kernel(block = 64)]
fn ended_after_all(flag: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let other = shared_barrier();
    bar.init_collective(&block, 64);
    other.init_collective(&block, 64);
    if flag == 1 {
        bar.arrive_and_wait();
        block.sync();
    } else {
        other.arrive_and_wait();
    }
    if block.thread_rank() == 0 {
        bar.arrive_and_wait();
        bar.invalidate();
    } else {
        let _token = bar.arrive();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<synced>,
    phalanx::Program::of::<sync_of_a_warp>,
    phalanx::Program::of::<by_itself>,
    phalanx::Program::of::<on_the_other_side>,
    phalanx::Program::of::<before_the_arrival>,
    phalanx::Program::of::<to_the_cluster>,
    phalanx::Program::of::<told_by_an_atomic>,
    phalanx::Program::of::<of_one_warp_alone>,
    phalanx::Program::of::<ended_after_all>,
];
