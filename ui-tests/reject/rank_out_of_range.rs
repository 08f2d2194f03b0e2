//! A rank that no block of the cluster has.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn one_too_many(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 2)[i];
    cluster.sync();
}

/// A cluster of 2 by 2 has ranks up to 3.
#[cluster_kernel(cluster = (2, 2), block = 64)]
fn of_a_plane(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    let corner = cluster.map_shared_rank(&tile, 4);
    out[i] = corner[i];
    cluster.sync();
}

/// The only block has rank 0.
#[cluster_kernel(cluster = 1, block = 64)]
fn of_one_block(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[i] = cluster.map_shared_rank(&tile, 1)[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn counted_by_nobody(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let count = shared_array::<u32, 1>();
    if this_thread_block().thread_rank() == 0 {
        count[0] = 0;
    }
    cluster.sync();
    cluster.map_shared_rank(&count, 7).atomic(0).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = count[0];
}

/// Two in one kernel; the type of a literal says nothing.
#[cluster_kernel(cluster = (1, 2), block = 64)]
fn two_of_them(out: &mut [f32]) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = 0.5;
    cluster.sync();
    let first = cluster.map_shared_rank(&tile, 2_u32);
    let second = cluster.map_shared_rank(&tile, 0x10);
    out[this_grid().thread_rank()] = first[i] + second[i];
    cluster.sync();
}

/// The last block has no next one.
#[cluster_kernel(cluster = 4, block = 64)]
fn of_the_last_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    let next = cluster.map_shared_rank(&tile, cluster.block_rank() + 1);
    out[i] = next[i];
    cluster.sync();
}

/// The first block has none before it.
#[cluster_kernel(cluster = 4, block = 64)]
fn of_the_first_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    let previous = cluster.block_rank() - 1;
    out[i] = cluster.map_shared_rank(&tile, previous)[i];
    cluster.sync();
}

/// One round too many.
#[cluster_kernel(cluster = 4, block = 64)]
fn of_a_loop(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    let mut sum = 0;
    for rank in 1..=cluster.num_blocks() {
        sum += cluster.map_shared_rank(&tile, rank)[i];
    }
    out[i] = sum;
    cluster.sync();
}

fn main() {}
