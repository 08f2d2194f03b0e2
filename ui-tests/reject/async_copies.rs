//! Copies that there are not: other forms, other kinds of memory, other barriers.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn forms(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let bar = shared_barrier();
    memcpy_async(&block, &tile);
    memcpy_async(&cluster, &tile, &input[..64]);
    memcpy_async(block, &tile, &input[..64], &bar);
    memcpy_async(&block, &tile, 5, &bar);
    bulk_copy_async(&tile);
    bulk_copy_async(&tile, &input[..64]);
    bulk_copy_async(&mut out[..64], &tile, &bar);
    bulk_wait_group();
    bulk_wait_group_read::<0>(1);
    block.wait_prior();
    block.wait_async(1);
    cluster.wait_async();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn ends(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let bar = shared_cluster_barrier();
    let bars = shared_barriers::<2>();
    let peer = cluster.map_shared_rank(&tile, 1);
    let told = cluster.map_shared_rank(&bar, 1);
    memcpy_async(&block, &tile, &tile);
    bulk_copy_async(&mut out[..64], &input[..64]);
    bulk_copy_async(&input[..64], &tile);
    memcpy_async(&block, &tile, &input[..64], &bars);
    memcpy_async(&block, &tile, &input[..64], bar);
    memcpy_async(&block, &tile, &input[..64], &told);
    bulk_copy_async(&peer, &tile, &bar);
    tile.store_async(0, 1.0, &told);
    peer.store_async(0, 1.0);
}

/// All threads of the block call it together.
#[cluster_kernel(block = 64)]
fn divergent(input: &[f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    if block.thread_rank() < 32 {
        memcpy_async(&block, &tile, &input[..64]);
    }
    block.wait_async();
}

fn main() {}
