//! A phase barrier that threads use before they know that it is initialised.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn no_sync() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn sync_of_a_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    warp.sync();
    let _ = bar.arrive();
}

/// The threads met before.
#[cluster_kernel(block = 64)]
fn synced_before() {
    let block = this_thread_block();
    let bar = shared_barrier();
    block.sync();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    let token = bar.arrive();
    block.sync();
    bar.wait(token);
}

#[cluster_kernel(block = 64)]
fn on_the_other_side() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(63);
    } else {
        bar.arrive_and_wait();
    }
}

/// A write that follows the arrival is not published by the wait.
#[cluster_kernel(block = 64)]
fn after_the_arrival() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    let met = block.barrier_arrive();
    if block.thread_rank() == 0 {
        bars[0].init(64);
        bars[1].init(64);
    }
    block.barrier_wait(met);
    bars[1].arrive_and_wait();
}

/// Each block's threads have met, and not those of the other.
#[cluster_kernel(cluster = 2, block = 64)]
fn to_the_block_alone() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    cluster.sync();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
    bar.wait_parity(false);
    cluster.sync();
}

#[cluster_kernel(block = 64)]
fn initialised_anew(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    for _ in 0..n {
        bar.arrive_and_wait();
        block.sync();
        if block.thread_rank() == 0 {
            bar.invalidate();
        }
        block.sync();
        if block.thread_rank() == 0 {
            bar.init(64);
        }
    }
}

/// The others may not have left the wait.
#[cluster_kernel(block = 64)]
fn ended_too_soon() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
}

/// Other warps than that of the thread that initializes the barrier.
#[cluster_kernel(block = 128)]
fn of_other_warps(output: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    let bar = shared_barrier();
    if rank == 0 {
        bar.init(96);
    }
    warp.sync();
    if rank >= 32 {
        bar.arrive_and_wait();
    }
    output[rank] = rank;
}

/// One thread ends the barrier's life while the others wait at it.
#[cluster_kernel(block = 64)]
fn ended_beside_waits() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let token = bar.arrive();
    if block.thread_rank() == 0 {
        bar.invalidate();
    } else {
        bar.wait(token);
    }
}

/// The phase is over for the thread that waited; the others may not know yet.
#[cluster_kernel(block = 64)]
fn ended_after_its_own_wait() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() == 0 {
        bar.arrive_and_wait();
        bar.invalidate();
    } else {
        bar.arrive_and_wait();
    }
}

/// The others may still come to the arrival.
#[cluster_kernel(block = 64)]
fn ended_before_arrivals() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let bar = &bar;
    let _token = bar.arrive();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
}

#[device]
fn meet(bar: &Barrier) {
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn ended_beside_a_call() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() == 0 {
        bar.invalidate();
    } else {
        meet(&bar);
    }
}

fn main() {}
