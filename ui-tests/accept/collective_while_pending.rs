//! A smaller group's collective inside a larger group's phase, and helpers that do no more.

use phalanx::prelude::*;

#[device]
fn reverse(block: &ThreadBlock, array: &SharedArray<u32, 32>) {
    let rank = block.thread_rank();
    let mine = array[rank];
    block.sync();
    array[31 - rank] = mine;
    block.sync();
}

#[cluster_kernel(block = 32)]
fn block_sync_between(output: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    array[block.thread_rank()] = block.thread_rank();
    let token = cluster.barrier_arrive();
    block.sync();
    reverse(&block, &array);
    cluster.barrier_wait(token);
    output[cluster.thread_rank()] = array[block.thread_rank()];
}

#[cluster_kernel]
fn behind_the_wait() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    cluster.sync();
}

/// The larger group's phase is open; the smaller one's is closed inside of it.
#[cluster_kernel(block = 64)]
fn nested_the_right_way_round() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let outer = cluster.barrier_arrive();
    let inner = block.barrier_arrive();
    block.barrier_wait(inner);
    cluster.barrier_wait(outer);
}

#[cluster_kernel(block = 64)]
fn work_of_warps(values: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let token = block.barrier_arrive();
    out[warp.meta_group_rank()] = warp.reduce(values[block.thread_rank()], op::Plus);
    block.barrier_wait(token);
}

#[cluster_kernel]
fn on_the_other_path(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 4 {
        pending = Some(cluster.barrier_arrive());
    } else {
        cluster.sync();
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<block_sync_between>,
    phalanx::Program::of::<behind_the_wait>,
    phalanx::Program::of::<nested_the_right_way_round>,
    phalanx::Program::of::<work_of_warps>,
    phalanx::Program::of::<on_the_other_path>,
];
