//! Blocks that access disjoint parts of one array concurrently, chosen by their ranks, without a barrier between.

use phalanx::prelude::*;

const BLOCKS: usize = 4;

/// Around the ring: each step adds the part that the block before has just summed.
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
        parts[part][i] += before[part][i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = parts[(rank + 1) % blocks][i];
}

/// The ring works for clusters of any size.
#[cluster_kernel(cluster = N, block = 64)]
fn ring_of_any_size<const N: usize>(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[f32; 64], N>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), N as u32);
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = input[part * 64 + i];
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % blocks;
        cluster.sync();
        parts[part][i] += before[part][i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = parts[(rank + 1) % blocks][i];
}

/// Each block sums one part of all, in place: who reads it elsewhere reads another block's.
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
        sum += cluster.map_shared_rank(&parts, (rank + turn) % blocks)[mine];
    }
    parts[mine] = sum;
    cluster.sync();
    for part in 0..blocks {
        out[(rank * blocks + part) * 64 + i] = cluster.map_shared_rank(&parts, part)[part * 64 + i];
    }
    cluster.sync();
}

/// Each of two blocks works on its half and reads it in the other.
#[cluster_kernel(cluster = 2, block = 64)]
fn halves(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let halves = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let rank = cluster.block_rank();
    halves[0][i] = input[i];
    halves[1][i] = input[i + 64];
    cluster.sync();
    let sum = halves[1 - rank][i] + cluster.map_shared_rank(&halves, rank ^ 1)[1 - rank][i];
    halves[1 - rank][i] = sum;
    cluster.sync();
    out[this_grid().thread_rank()] = sum + cluster.map_shared_rank(&halves, rank ^ 1)[rank][i];
    cluster.sync();
}

/// Each sender has a slot of its own, and the owner too.
#[cluster_kernel(cluster = 4, block = 32)]
fn slots(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u32; 32], 4>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    cluster.sync();
    for turn in 1..blocks {
        cluster.map_shared_rank(&inbox, (rank + turn) % blocks)[rank][i] = input[turn * 32 + i];
    }
    inbox[rank][i] = input[i];
    cluster.sync();
    for from in 0..blocks {
        out[from * 32 + i] = inbox[from][i];
    }
}

/// In a device function, which does not know how many blocks there are.
#[device]
fn gather_round(cluster: &Cluster, parts: &SharedArray<[u32; 32], BLOCKS>, i: u32) {
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let next = cluster.map_shared_rank(parts, (rank + 1) % blocks);
    for step in 1..blocks {
        cluster.sync();
        let part = (rank + step) % blocks;
        parts[part][i] = next[part][i];
    }
}

#[cluster_kernel(cluster = 4, block = 32)]
fn by_a_device_function(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[u32; 32], BLOCKS>();
    let i = this_thread_block().thread_rank();
    parts[cluster.block_rank()][i] = input[this_grid().thread_rank()];
    gather_round(&cluster, &parts, i);
    cluster.sync();
    out[this_grid().thread_rank()] = parts[0][i];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<ring>,
    phalanx::Program::of::<ring_of_any_size<3>>,
    phalanx::Program::of::<in_place>,
    phalanx::Program::of::<halves>,
    phalanx::Program::of::<slots>,
    phalanx::Program::of::<by_a_device_function>,
];
