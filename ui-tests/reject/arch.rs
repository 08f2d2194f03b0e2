//! What the architecture of the attribute lacks.

use phalanx::prelude::*;

#[cluster_kernel(block = 64, arch = "sm_80")]
fn copies_in_bulk(input: &[f32], output: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 64);
    if block.thread_rank() == 0 {
        full.expect_tx(256);
        bulk_copy_async(&tile, &input[..64], &full);
    }
    full.arrive_and_wait();
    output[this_grid().thread_rank()] = tile[block.thread_rank()];
}

#[cluster_kernel(block = 64, arch = "sm_89")]
fn meets(output: &mut [u32]) {
    let cluster = this_cluster();
    cluster.sync();
    output[this_grid().thread_rank()] = cluster.block_rank();
}

#[cluster_kernel(cluster = 2, block = 64, arch = "sm_80")]
fn has_clusters(output: &mut [u32]) {
    output[this_grid().thread_rank()] = 1;
}

#[cluster_kernel(block = 128, arch = "sm_100a")]
fn leaves_registers(output: &mut [u32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    warpgroup.decrease_registers::<40>();
    output[block.thread_rank()] = 1;
}

#[cluster_kernel(arch = "ampere")]
fn no_architecture() {}

#[cluster_kernel(arch = "sm_75")]
fn too_old() {}

fn main() {}
