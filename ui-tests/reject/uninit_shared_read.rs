//! Shared memory is read that no thread can have written.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn never_written(out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    out[this_grid().thread_rank()] = tile[this_thread_block().thread_rank()];
}

/// The other one was.
#[cluster_kernel(cluster = 2, block = 64)]
fn another_array(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let front = shared_array::<f32, 64>();
    let back = shared_array::<f32, 64>();
    front[block.thread_rank()] = input[this_grid().thread_rank()];
    block.sync();
    out[this_grid().thread_rank()] = back[63 - block.thread_rank()];
}

/// Written afterwards.
#[cluster_kernel(cluster = 2, block = 64)]
fn too_early(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = block.thread_rank();
    let before = tile[63 - i];
    block.sync();
    tile[i] = input[this_grid().thread_rank()];
    block.sync();
    out[this_grid().thread_rank()] = before + tile[i];
}

/// A peer's, which no block has written.
#[cluster_kernel(cluster = 2, block = 64)]
fn of_a_peer(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[this_thread_block().thread_rank()];
    cluster.sync();
}

/// The way on which it is written leaves the kernel.
#[cluster_kernel(cluster = 2, block = 64)]
fn behind_a_return(input: &[u32], out: &mut [u32], n: u32) {
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    if n > 0 {
        tile[i] = input[i];
        return;
    }
    out[this_grid().thread_rank()] = tile[i];
}

/// Nobody sets the counter, and nobody counts.
#[cluster_kernel(cluster = 2, block = 64)]
fn an_atomic_read(out: &mut [u32]) {
    let count = shared_array::<u32, 1>();
    out[this_grid().thread_rank()] = count.atomic(0).load(Relaxed);
}

/// The host may launch it with an `n` of 0.
#[cluster_kernel(cluster = 2, block = 64)]
fn on_one_way(input: &[u32], out: &mut [u32], n: u32) {
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    if n > 0 {
        tile[i] = input[i];
    }
    out[this_grid().thread_rank()] = tile[i];
}

fn main() {}

/// The blocks write to the memory of block 0, and each reads its own.
#[cluster_kernel(cluster = 2, block = 32)]
fn written_in_another_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let sums = shared_array::<[u32; 32], 2>();
    let arrived = shared_cluster_barrier();
    arrived.init_collective(&cluster, cluster.num_threads());
    let (rank, i) = (cluster.block_rank(), this_thread_block().thread_rank());
    cluster.map_shared_rank(&sums, 0)[rank][i] = input[i];
    cluster.map_shared_rank(&arrived, 0).arrive();
    if rank == 0 {
        arrived.wait_parity(false);
    }
    out[cluster.thread_rank()] = sums[0][i] + sums[1][i];
}

/// Half of the counters are set to zero before all of them count.
#[cluster_kernel(block = 64)]
fn half_of_the_counters(keys: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let counts = shared_array::<u32, 256>();
    for b in (i..128).step_by(64) {
        counts[b] = 0;
    }
    block.sync();
    for k in (i..n).step_by(64) {
        counts.atomic(keys[k] % 256).fetch_add(1, Relaxed);
    }
    block.sync();
    for b in (i..256).step_by(64) {
        out[b] = counts[b];
    }
}
