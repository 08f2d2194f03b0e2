//! The closest kernels in which a phase barrier is initialised on each path to its use.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_one() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(block.num_threads());
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn in_time() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let token = bar.arrive();
    bar.wait(token);
}

/// A barrier that is initialized if `n` is large is used under the same condition.
#[cluster_kernel(block = 64)]
fn on_one_way(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let deep = n > 3;
    if deep {
        if block.thread_rank() == 0 {
            bar.init(64);
        }
    }
    block.sync();
    for _ in 0..n {
        if n > 3 {
            bar.arrive_and_wait();
        }
    }
    if !deep {
        return;
    }
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn of_two() {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 64);
    empty.init_collective(&block, 64);
    full[0].arrive_and_wait();
    empty[1].wait_parity(true);
}

#[cluster_kernel(block = 64)]
fn in_a_loop(stages: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    let few = shared_barriers::<2>();
    if block.thread_rank() == 0 {
        for stage in 0..stages {
            bars[stage].init(64);
        }
        few[0].init(64);
        few[1].init(64);
    }
    block.sync();
    for stage in 0..stages {
        bars[stage].arrive_and_wait();
        few[stage % 2].arrive_and_wait();
    }
    few[1].arrive_and_wait();
}

/// Each of a warp's first threads has one to initialise.
#[cluster_kernel(block = 64)]
fn one_each() {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    let i = block.thread_rank();
    if i < 4 {
        if i < 2 { full[i].init(64) } else { empty[i - 2].init(64) }
    }
    block.sync();
    full[0].arrive_and_wait();
    empty[1].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn initialised_anew() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// Only the first block has a barrier, and the others arrive there.
#[cluster_kernel(cluster = 4, block = 64)]
fn at_the_leader() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    if cluster.block_rank() == 0 {
        if block.thread_rank() == 0 {
            bar.init(4);
        }
    }
    cluster.sync();
    if block.thread_rank() == 0 {
        cluster.map_shared_rank(&bar, 0).arrive();
    }
    if cluster.block_rank() == 0 {
        bar.wait_parity(false);
    }
    cluster.sync();
}

/// One thread alone may test what the launch fixes.
#[cluster_kernel(block = 64)]
fn the_thread_asks(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        if n > 3 {
            bar.init(64);
        }
    }
    block.sync();
    if n > 3 {
        bar.arrive_and_wait();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_one>,
    phalanx::Program::of::<in_time>,
    phalanx::Program::of::<on_one_way>,
    phalanx::Program::of::<of_two>,
    phalanx::Program::of::<in_a_loop>,
    phalanx::Program::of::<one_each>,
    phalanx::Program::of::<initialised_anew>,
    phalanx::Program::of::<at_the_leader>,
    phalanx::Program::of::<the_thread_asks>,
];
