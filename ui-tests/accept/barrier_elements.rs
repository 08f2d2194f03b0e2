//! Barriers at indexes that loops and ranks select: each is initialized, once, and a thread that drops out leaves.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn all_of_them(y: &mut [u32]) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bars = shared_barriers::<4>();
    if rank < 4 {
        bars[rank].init(64);
    }
    block.sync();
    for i in 0..4 {
        bars[i].arrive_and_wait();
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn in_the_first_rounds(y: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bars = shared_barriers::<2>();
    for tile in 0..tiles {
        if rank == 0 && tile < 2 {
            bars[tile].init(64);
        }
        block.sync();
        bars[tile % 2].arrive_and_wait();
        block.sync();
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn drops_and_leaves(last: &[u32], y: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    for k in 0..n {
        if last[rank] == k {
            bar.arrive_and_drop();
            break;
        }
        bar.arrive_and_wait();
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn counts_for_two(y: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 2 * block.num_threads());
    let token = bar.arrive_n(2);
    bar.wait(token);
    y[block.thread_rank()] = 1;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<all_of_them>,
    phalanx::Program::of::<in_the_first_rounds>,
    phalanx::Program::of::<drops_and_leaves>,
    phalanx::Program::of::<counts_for_two>,
];
