//! Threads that exit where no collective follows, or all together.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn behind_the_last_collective(data: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = this_grid().thread_rank();
    if i < data.len() {
        tile[block.thread_rank()] = data[i];
    }
    block.sync();
    if i >= data.len() {
        return;
    }
    out[i] = tile[block.thread_rank()];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn whole_clusters(n: usize) {
    let cluster = this_cluster();
    if this_grid().cluster_rank() >= n {
        return;
    }
    cluster.sync();
}

/// A thread that returns from a function comes back to its caller.
#[device]
fn clamped(x: u32) -> u32 {
    if x > 9 {
        return 9;
    }
    x
}

#[cluster_kernel(cluster = 2, block = 64)]
fn from_a_function(out: &mut [u32]) {
    let block = this_thread_block();
    out[block.thread_rank()] = clamped(block.thread_rank());
    block.sync();
}

/// Either all threads of the block have found it, or none.
#[cluster_kernel(cluster = 2, block = 64)]
fn in_the_middle_of_a_loop(keys: &[u32], wanted: u32, out: &mut [u32]) {
    let block = this_thread_block();
    let window = shared_array::<u32, 64>();
    for round in 0..8 {
        window[block.thread_rank()] = keys[round * 64 + block.thread_rank()];
        block.sync();
        if window[5] == wanted {
            out[0] = round;
            return;
        }
        block.sync();
    }
}

/// A warp that leaves is missing in no collective of its own.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_warp(values: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    block.sync();
    if warp.meta_group_rank() > 0 {
        return;
    }
    out[block.thread_rank()] = warp.reduce(values[block.thread_rank()], op::Plus);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<behind_the_last_collective>,
    phalanx::Program::of::<whole_clusters>,
    phalanx::Program::of::<from_a_function>,
    phalanx::Program::of::<in_the_middle_of_a_loop>,
    phalanx::Program::of::<a_warp>,
];
