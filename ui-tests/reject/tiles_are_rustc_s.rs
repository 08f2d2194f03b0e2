//! Errors of rustc about tiles, in the user's own source: sizes and operators have types.

use phalanx::prelude::*;

struct Plus;

#[device]
fn of_a_warp(tile: &Tile<32>) -> u32 {
    tile.thread_rank()
}

#[cluster_kernel]
fn types(x: u32, y: f32, p: bool) {
    let block = this_thread_block();
    let tile = tiled_partition::<16>(&block);
    let rank = of_a_warp(&tile);
    let sum = tile.reduce(y, op::And);
    let sum = tile.reduce(p, op::Plus);
    let sum = tile.reduce(x, Plus);
    let moved = tile.shfl(y, 1.0);
    let any = tile.any(x);
    tile.invoke_one(|| { x });
    tile.invoke_one(|| x);
    tile.reduce(x, |a| a);
    tile.reduce(x, |a, b| a > b);
}

fn main() {}
