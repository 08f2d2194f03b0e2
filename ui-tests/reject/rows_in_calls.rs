//! A device function touches more than the row that a parameter names, or the row that a peer still reads.

use phalanx::prelude::*;

#[device]
fn load(tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32, x: u32) {
    tile[stage][i] = x;
}

#[device]
fn fetch(cluster: &Cluster, tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32) -> u32 {
    cluster.map_shared_rank(tile, 1 - cluster.block_rank())[stage][63 - i]
}

/// The parameter is not the row's number any more.
#[device]
fn load_other(tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32, x: u32) {
    let mut stage = stage;
    stage = 1 - stage;
    tile[stage][i] = x;
}

#[device]
fn load_both(tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32, x: u32) {
    tile[stage][i] = x;
    tile[1 - stage][i] = x;
}

/// One that it calls does more.
#[device]
fn load_by_another(tile: &SharedArray<[u32; 64], 2>, stage: u32, i: u32, x: u32) {
    tile[stage][i] = x;
    load(tile, 0, i, x);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn one_row(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load(&tile, 1, i, x);
        cluster.sync();
        sum += peer[1][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn two_rows(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load(&tile, round % 2, i, x);
        cluster.sync();
        sum += fetch(&cluster, &tile, 0, i);
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn any_row(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load(&tile, i % 2, i, x);
        cluster.sync();
        sum += fetch(&cluster, &tile, round % 2, i);
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn the_other_row(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load_other(&tile, round % 2, i, x);
        cluster.sync();
        sum += peer[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn both_rows(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load_both(&tile, round % 2, i, x);
        cluster.sync();
        sum += peer[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn by_another(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        let x = input[round * 64 + i];
        load_by_another(&tile, round % 2, i, x);
        cluster.sync();
        sum += peer[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

fn main() {}
