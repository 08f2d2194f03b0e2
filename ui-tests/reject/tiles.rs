//! Tiles and coalesced groups: sizes, what they are made of, what they have, operators.

use phalanx::prelude::*;

#[cluster_kernel]
fn sizes() {
    let block = this_thread_block();
    let cluster = this_cluster();
    let tile = tiled_partition::<12>(&block);
    let tile = tiled_partition::<64>(&block);
    let tile = tiled_partition(&block);
    let tile = tiled_partition::<32>(block);
    let tile = tiled_partition::<32>(&cluster);
    let tile = tiled_partition::<32>(&coalesced_threads());
    let tile = tiled_partition::<32>();
}

#[device]
fn takes(tile: &Tile, other: &Tile<3>, moved: Tile<32>) {}

#[device]
fn gives(token: ArrivalToken<Tile<32>>) {}

#[cluster_kernel]
fn partitions(x: f32) {
    let block = this_thread_block();
    let tile = tiled_partition::<32>(&block);
    let group = labeled_partition(&block, 1);
    let group = labeled_partition(&tile);
    let group = labeled_partition(tile, 1);
    let group = binary_partition(&tile, tile);
    let group = coalesced_threads(1);
}

#[cluster_kernel]
fn methods(x: u32, y: f32) {
    let tile = tiled_partition::<16>(&this_thread_block());
    let group = coalesced_threads();
    let token = tile.barrier_arrive();
    group.barrier_wait(x);
    group.shfl_xor(x, 1);
    tile.shuffle(x, 1);
    tile.shfl(x);
    tile.reduce(x);
    tile.reduce(x, Plus2);
    tile.reduce(x, 1);
    this_thread_block().reduce(x, op::Plus);
    tile.invoke_one();
    tile.invoke_one(|a| {});
    tile.invoke_one_broadcast();
    tile.invoke_one_broadcast(|a| a);
    tile.invoke_one_broadcast(x);
    tile.invoke_one_broadcast(|| group.thread_rank() + tile.shfl(x, 1));
    this_thread_block().invoke_one_broadcast(|| x);
    loop {
        tile.invoke_one(|| {
            break;
        });
        tile.invoke_one(|| {
            if x > 1 {
                return;
            }
            this_thread_block().sync();
        });
    }
}

#[cluster_kernel]
fn alone() {
    let cluster = this_cluster();
    let tile = tiled_partition::<16>(&this_thread_block());
    let token = cluster.barrier_arrive();
    tile.invoke_one(|| {
        cluster.barrier_wait(token);
    });
    tile.reduce(1, |a, b| tile.shfl(a, b));
}

#[cluster_kernel(block = 256)]
fn of_a_warpgroup(out: &mut [u32]) {
    let group = tiled_partition::<128>(&this_thread_block());
    group.sync();
    out[0] = group.reduce(1, op::Plus);
}

fn main() {}
