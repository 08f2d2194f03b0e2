//! The same through device functions: they say what they need, and give back what they know.

use phalanx::prelude::*;

#[device]
fn publish(cluster: &Cluster) {
    cluster.sync();
}

#[device]
fn through_another(cluster: &Cluster) {
    publish(cluster);
}

#[device]
fn if_set(block: &ThreadBlock, flag: bool) {
    if flag {
        block.sync();
    }
}

#[device]
fn passed_on(block: &ThreadBlock, x: u32) {
    if_set(block, x > 3);
}

#[device]
fn own_rank(block: &ThreadBlock) -> u32 {
    block.thread_rank()
}

#[device]
fn first(x: u32, _y: u32) -> u32 {
    x
}

#[cluster_kernel(cluster = 2, block = 64)]
fn called_by_some() {
    let cluster = this_cluster();
    if cluster.block_rank() == 0 {
        through_another(&cluster);
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn argument_of_a_thread(data: &[u32]) {
    let block = this_thread_block();
    passed_on(&block, data[block.thread_rank()]);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn result_of_a_thread() {
    let block = this_thread_block();
    if own_rank(&block) > 4 {
        block.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn result_of_an_argument(n: u32) {
    let block = this_thread_block();
    if first(block.thread_rank(), n) > 4 {
        block.sync();
    }
}

#[device]
fn of_any_size<const N: u32>(tile: &Tile<N>, flag: bool) {
    if flag {
        tile.sync();
    }
}

#[device]
fn own_tiles<const N: u32>(block: &ThreadBlock) {
    tiled_partition::<N>(block).sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_part_of_a_tile() {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let tile = tiled_partition::<16>(&block);
    of_any_size(&tile, rank / 16 == 1);
    of_any_size(&tile, rank / 8 == 1);
    if rank < 16 {
        of_any_size(&tile, true);
        own_tiles::<16>(&block);
    }
}

fn main() {}
