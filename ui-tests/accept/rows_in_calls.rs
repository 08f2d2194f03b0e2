//! A device function accesses one row of its argument, which a parameter names: the other row is free.

use phalanx::prelude::*;

#[device]
fn load(tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32, x: u32) {
    tile[stage][i] = x;
}

#[device]
fn fetch(cluster: &Cluster, tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32) -> u32 {
    cluster.map_shared_rank(tile, 1 - cluster.block_rank())[stage][63 - i]
}

#[cluster_kernel(cluster = 2, block = 64)]
fn loaded(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load(&tile, round % 2, i, x);
        cluster.sync();
        sum += peer[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn fetched(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        tile[round % 2][i] = x;
        cluster.sync();
        sum += fetch(&cluster, &tile, round % 2, i);
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn both(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load(&tile, round % 2, i, x);
        cluster.sync();
        sum += fetch(&cluster, &tile, round % 2, i);
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// A part of the ring that the block's rank chooses.
#[device]
fn add(parts: &SharedArray<[u32; 64], 4>, part: u32, i: u32, x: u32) {
    parts[part][i] += x;
}

#[cluster_kernel(cluster = 4, block = 64)]
fn around(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[u32; 64], 4>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = input[part * 64 + i];
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % blocks;
        cluster.sync();
        add(&parts, part, i, before[part][i]);
    }
    cluster.sync();
    out[this_grid().thread_rank()] = parts[(rank + 1) % blocks][i];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<loaded>,
    phalanx::Program::of::<fetched>,
    phalanx::Program::of::<both>,
    phalanx::Program::of::<around>,
];
