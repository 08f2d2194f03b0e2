//! Barriers at indexes that loops and ranks select, which the runs of single threads show.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn one_too_few(y: &mut [u32]) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bars = shared_barriers::<4>();
    if rank < 3 {
        bars[rank].init(64);
    }
    block.sync();
    for i in 0..4 {
        bars[i].arrive_and_wait();
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn in_every_round(y: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bars = shared_barriers::<2>();
    for tile in 0..tiles {
        if rank == 0 {
            bars[tile % 2].init(64);
        }
        block.sync();
        bars[tile % 2].arrive_and_wait();
        block.sync();
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn drops_and_stays(last: &[u32], y: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    for k in 0..n {
        if last[rank] == k {
            bar.arrive_and_drop();
        } else {
            bar.arrive_and_wait();
        }
    }
    y[rank] = rank;
}

#[cluster_kernel(block = 64)]
fn counts_for_two(y: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    let token = bar.arrive_n(2);
    bar.wait(token);
    y[block.thread_rank()] = 1;
}

fn main() {}
