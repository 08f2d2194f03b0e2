//! Ranks that are constants, in clusters of constant sizes: rustc compares them.

use phalanx::prelude::*;

const BLOCKS: u32 = 4;
const LAST: u32 = BLOCKS;
const LIMIT: usize = 3;

#[cluster_kernel(cluster = BLOCKS, block = 64)]
fn by_name(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, LAST)[i];
    cluster.sync();
}

#[cluster_kernel(cluster = (2, BLOCKS), block = 64)]
fn by_number(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 8)[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn by_sum(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, LIMIT as u32 + 1)[i];
    cluster.sync();
}

fn main() {}
