//! Blocks that touch one array at once, each where its rank puts it, and some meet.

use phalanx::prelude::*;

const BLOCKS: usize = 4;

/// The part that it reads is the one that the block before writes in this step.
#[cluster_kernel(cluster = 4, block = 64)]
fn ring(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[f32; 64], 4>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = input[part * 64 + i];
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % blocks;
        cluster.sync();
        parts[part][i] += before[(part + blocks - 1) % blocks][i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = parts[(rank + 1) % blocks][i];
}

/// There is one part less than blocks: that of the last block is the first one's too.
#[cluster_kernel(cluster = N, block = 64)]
fn ring_of_too_few<const N: usize>(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[f32; 64], N>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), N as u32);
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = input[part * 64 + i];
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % (blocks - 1);
        cluster.sync();
        parts[part][i] += before[part][i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = parts[(rank + 1) % blocks][i];
}

/// The part that is read is the one that its owner sums.
#[cluster_kernel(cluster = BLOCKS, block = 64)]
fn in_place(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<f32, { 64 * BLOCKS }>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    for part in 0..blocks {
        parts[part * 64 + i] = input[part * 64 + i];
    }
    cluster.sync();
    let mine = rank * 64 + i;
    let mut sum = parts[mine];
    for turn in 1..blocks {
        let peer = (rank + turn) % blocks;
        sum += cluster.map_shared_rank(&parts, peer)[peer * 64 + i];
    }
    parts[mine] = sum;
    cluster.sync();
    out[this_grid().thread_rank()] = parts[mine];
}

/// A block reads the other half in its peer, which writes that one.
#[cluster_kernel(cluster = 2, block = 64)]
fn halves(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let halves = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let rank = cluster.block_rank();
    halves[0][i] = input[i];
    halves[1][i] = input[i + 64];
    cluster.sync();
    let sum = halves[1 - rank][i] + cluster.map_shared_rank(&halves, rank ^ 1)[rank][i];
    halves[1 - rank][i] = sum;
    cluster.sync();
    out[this_grid().thread_rank()] = sum + cluster.map_shared_rank(&halves, rank ^ 1)[rank][i];
    cluster.sync();
}

/// Two slots for four senders, and the owner.
#[cluster_kernel(cluster = 4, block = 32)]
fn slots(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u32; 32], 2>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    cluster.sync();
    cluster.map_shared_rank(&inbox, (rank + 2) % blocks)[rank % 2][i] = input[32 + i];
    inbox[rank % 2][i] = input[i];
    cluster.sync();
    for from in 0..2 {
        out[from * 32 + i] = inbox[from][i];
    }
}

/// A part is written where the next block's reader still is.
#[device]
fn gather_round(cluster: &Cluster, parts: &SharedArray<[u32; 32], BLOCKS>, i: u32) {
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let next = cluster.map_shared_rank(parts, (rank + 1) % blocks);
    for step in 1..blocks {
        cluster.sync();
        let part = (rank + step) % blocks;
        parts[(part + blocks - 1) % blocks][i] = next[part][i];
    }
}

fn main() {}
