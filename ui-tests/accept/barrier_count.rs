//! The closest kernels in which as many arrive as are expected.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn the_most(count: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    if block.thread_rank() == 0 {
        bars[0].init(1);
        bars[1].init((1 << 20) - 1);
    }
    block.sync();
    let _ = bars[1].arrive_n(count);
}

#[cluster_kernel(block = 64)]
fn all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(block.num_threads());
    }
    block.sync();
    bar.arrive_and_wait();
}

/// Each on its side.
#[cluster_kernel(block = 64)]
fn on_both_sides() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 32 {
        let _ = bar.arrive();
    } else {
        bar.arrive_and_wait();
    }
}

#[cluster_kernel(block = 64)]
fn as_many_as_come() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    if block.thread_rank() < 32 {
        bar.arrive_and_wait();
    }
}

/// Half of them arrive twice.
#[cluster_kernel(block = 64)]
fn twice_by_half() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    if block.thread_rank() < 32 {
        let _ = bar.arrive();
        bar.arrive_and_wait();
    }
}

/// One arrives for all.
#[cluster_kernel(block = 64)]
fn one_for_all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    if block.thread_rank() == 0 {
        let _ = bar.arrive_n(block.num_threads());
    }
    bar.wait_parity(false);
}

/// Either all threads of the block arrive, or none.
#[cluster_kernel(block = 64)]
fn in_some_rounds(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    for round in 0..rounds {
        if round % 3 == 0 {
            bar.arrive_and_wait();
        }
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<the_most>,
    phalanx::Program::of::<all>,
    phalanx::Program::of::<on_both_sides>,
    phalanx::Program::of::<as_many_as_come>,
    phalanx::Program::of::<twice_by_half>,
    phalanx::Program::of::<one_for_all>,
    phalanx::Program::of::<in_some_rounds>,
];
