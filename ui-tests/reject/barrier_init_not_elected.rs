//! More than one thread initialises a phase barrier.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn by_all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init(block.num_threads());
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_a_warp() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() < 32 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_each_of_a_tile() {
    let block = this_thread_block();
    let tile = tiled_partition::<4>(&block);
    let bar = shared_barrier();
    if tile.meta_group_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// A question to the launch elects nobody.
#[cluster_kernel(block = 64)]
fn where_the_input_is_long(input: &[u32]) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    if input.len() > 100 {
        for stage in 0..2 {
            bars[stage].init(64);
        }
    } else {
        bars.init_collective(&block, 32);
    }
    block.sync();
    bars[0].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_all_others() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() != 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_two() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let i = block.thread_rank();
    if i == 0 {
        bar.init(64);
    } else if i == 32 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn by_one_of_each_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    if warp.thread_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = (32, 2))]
fn by_a_column() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_index().x == 0 {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// A value from memory elects nobody.
#[cluster_kernel(block = 64)]
fn by_memory(leaders: &[u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let leader = leaders[block.thread_rank()] != 0;
    if leader {
        bar.init(64);
    }
    block.sync();
    bar.arrive_and_wait();
}

/// Two threads for each barrier.
#[cluster_kernel(block = 64)]
fn two_for_each() {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    let rank = block.thread_rank();
    if rank < 8 {
        bars[rank % 4].init(64);
    }
    block.sync();
    bars[0].arrive_and_wait();
}

#[cluster_kernel(block = 64)]
fn ended_by_all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    bar.arrive_and_wait();
    block.sync();
    bar.invalidate();
}

fn main() {}
