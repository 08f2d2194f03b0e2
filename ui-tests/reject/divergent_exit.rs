//! Threads that leave before a collective that needs them.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn the_guard_of_every_cuda_kernel(data: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = this_grid().thread_rank();
    if i >= data.len() {
        return;
    }
    tile[block.thread_rank()] = data[i];
    block.sync();
    out[i] = tile[63 - block.thread_rank()];
    block.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_block_of_a_cluster(n: usize) {
    let cluster = this_cluster();
    if this_grid().block_rank() >= n {
        return;
    }
    cluster.sync();
}

#[device]
fn protocol(block: &ThreadBlock, value: u32) {
    if value + block.thread_rank() == 0 {
        return;
    }
    block.sync();
}

fn main() {}
