//! A block that leaves takes its shared memory with it, while a peer may still touch it.

use phalanx::prelude::*;

/// The Programming Guide's example, without its last line.
#[cluster_kernel(cluster = 2, block = 64)]
fn no_last_barrier(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[i];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn the_block_s_barrier(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[63 - i];
    this_thread_block().sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn on_one_path(input: &[u32], out: &mut [u32], last: u32) {
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
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn an_early_return(input: &[f32], out: &mut [f32], wanted: u32) {
    let cluster = this_cluster();
    let most = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    most[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let other = cluster.map_shared_rank(&most, 1 - cluster.block_rank())[i];
    if wanted == 0 {
        return;
    }
    out[this_grid().thread_rank()] = other.max(most[i]);
    cluster.sync();
}

/// Left in the middle of a round.
#[cluster_kernel(cluster = 4, block = 64)]
fn a_break_before_the_barrier(input: &[u32], out: &mut [u32], rounds: u32) {
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
        if round == rounds {
            break;
        }
        round += 1;
    }
    out[this_grid().thread_rank()] = sum;
}

/// A write into a peer, and an atomic one, are no better.
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
}

fn main() {}

/// The block waits for what its peer sends, but for half as many bytes.
#[cluster_kernel(cluster = 2, block = 64)]
fn other_bytes(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let i = this_thread_block().thread_rank();
    if i == 0 {
        ready.expect_tx(64 * 2);
        let _ = ready.arrive();
    }
    let other = 1 - cluster.block_rank();
    cluster.map_shared_rank(&inbox, other).store_async(i, input[i], &cluster.map_shared_rank(&ready, other));
    ready.wait_parity(false);
    out[this_grid().thread_rank()] = inbox[i];
}

/// Blocks tell block 0 that they are done with its memory, which only some of its threads wait for.
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
    if i < 32 {
        arrived.wait_parity(false);
        out[i] = own + slots[1][i] + slots[2][i] + slots[3][i];
    }
}
