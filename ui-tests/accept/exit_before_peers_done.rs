//! All threads have arrived once more before a block exits.

use phalanx::prelude::*;

/// The Programming Guide's example.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_last_barrier(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn an_arrival_is_enough(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[63 - i];
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
}

#[cluster_kernel(cluster = 4, block = 64)]
fn on_both_paths(input: &[u32], out: &mut [u32], last: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let mut sum = 0;
    for rank in 0..cluster.num_blocks() {
        sum += cluster.map_shared_rank(&tile, rank)[i];
    }
    out[this_grid().thread_rank()] = sum;
    if last == 0 {
        cluster.sync();
        return;
    }
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_return_behind_the_barrier(input: &[f32], out: &mut [f32], wanted: u32) {
    let cluster = this_cluster();
    let most = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    most[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let other = cluster.map_shared_rank(&most, 1 - cluster.block_rank())[i];
    cluster.sync();
    if wanted == 0 {
        return;
    }
    out[this_grid().thread_rank()] = other.max(most[i]);
}

/// Left at a round's end.
#[cluster_kernel(cluster = 4, block = 64)]
fn a_break_behind_the_barrier(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&tile, (cluster.block_rank() + 1) % cluster.num_blocks());
    let mut sum = 0;
    let mut round = 0;
    loop {
        tile[round % 2][i] = input[round * 64 + i];
        cluster.sync();
        sum += next[round % 2][i];
        cluster.sync();
        if round == rounds {
            break;
        }
        round += 1;
    }
    out[this_grid().thread_rank()] = sum;
}

/// A block that exits has accessed no peer since it arrived.
#[cluster_kernel(cluster = 2, block = 64)]
fn writes(flags: &[u32]) {
    let cluster = this_cluster();
    let marks = shared_array::<u32, 64>();
    let count = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    count[0] = 0;
    cluster.sync();
    cluster.map_shared_rank(&marks, 1 - cluster.block_rank())[i] = flags[i];
    cluster.map_shared_rank(&count, 0).atomic(0).fetch_add(1, Relaxed);
    cluster.sync();
    if i == 0 {
        count[0] += 1;
    }
}

/// Whichever block gets there reads its own memory.
#[cluster_kernel(cluster = 4, block = 64)]
fn the_own_rank(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    this_thread_block().sync();
    let rank = (cluster.block_rank() + cluster.num_blocks()) % cluster.num_blocks();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, rank)[63 - i];
}

/// Blocks tell block 0 that they are done with its memory, and leave. It waits for all of them.
#[cluster_kernel(cluster = 4, block = 64)]
fn they_tell_and_leave(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let slots = shared_array::<[u32; 64], 4>();
    let arrived = shared_cluster_barrier();
    arrived.init_collective(&cluster, 3 * 64);
    let (rank, i) = (cluster.block_rank(), this_thread_block().thread_rank());
    let own = input[this_grid().thread_rank()];
    if rank != 0 {
        cluster.map_shared_rank(&slots, 0)[rank][i] = own;
        cluster.map_shared_rank(&arrived, 0).arrive();
        return;
    }
    arrived.wait_parity(false);
    out[i] = own + slots[1][i] + slots[2][i] + slots[3][i];
}

/// One thread of each block tells it, after a barrier of its block.
#[cluster_kernel(cluster = 4, block = 64)]
fn one_tells_for_its_block(input: &[u32], out: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let slots = shared_array::<[u32; 256], 4>();
    let arrived = shared_cluster_barrier();
    arrived.init_collective(&cluster, 3);
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    if rank != 0 {
        let there = cluster.map_shared_rank(&slots, 0);
        for k in (i..n).step_by(64) {
            there[rank][k] = input[rank * n + k];
        }
        block.sync();
        if i == 0 {
            cluster.map_shared_rank(&arrived, 0).arrive();
        }
        return;
    }
    arrived.wait_parity(false);
    for k in (i..n).step_by(64) {
        out[k] = slots[1][k] + slots[2][k] + slots[3][k];
    }
}

/// A block that has only told that it is done with global memory.
#[cluster_kernel(cluster = 2, block = 32)]
fn one_counts_the_others(data: &mut [u32]) {
    let cluster = this_cluster();
    let done = shared_cluster_barrier();
    done.init_collective(&cluster, 32);
    if cluster.block_rank() == 1 {
        cluster.map_shared_rank(&done, 0).arrive();
        return;
    }
    done.wait_parity(false);
    data[this_thread_block().thread_rank()] = 1;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<a_last_barrier>,
    phalanx::Program::of::<an_arrival_is_enough>,
    phalanx::Program::of::<on_both_paths>,
    phalanx::Program::of::<a_return_behind_the_barrier>,
    phalanx::Program::of::<a_break_behind_the_barrier>,
    phalanx::Program::of::<writes>,
    phalanx::Program::of::<the_own_rank>,
    phalanx::Program::of::<they_tell_and_leave>,
    phalanx::Program::of::<one_tells_for_its_block>,
    phalanx::Program::of::<one_counts_the_others>,
];
