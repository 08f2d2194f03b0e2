//! A device function that synchronises, called by one thread of the group alone.

use phalanx::prelude::*;

#[device]
fn synchronises(tile: &Tile<16>) {
    tile.sync();
}

#[cluster_kernel]
fn alone() {
    let tile = tiled_partition::<16>(&this_thread_block());
    tile.invoke_one(|| {
        synchronises(&tile);
    });
}

fn main() {}
