//! No other collective of the group may stand between arrive and wait, nor one of a group that contains it.

use phalanx::prelude::*;

#[cluster_kernel]
fn sync_between() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.sync();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn of_a_containing_group() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = block.barrier_arrive();
    cluster.sync();
    block.barrier_wait(token);
}

#[cluster_kernel]
fn arrival_of_a_containing_group() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let inner = block.barrier_arrive();
    let outer = cluster.barrier_arrive();
    block.barrier_wait(inner);
    cluster.barrier_wait(outer);
}

#[cluster_kernel]
fn on_some_path(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 4 {
        pending = Some(cluster.barrier_arrive());
    }
    cluster.sync();
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

/// The token goes round the loop, and the barrier stands in it.
#[cluster_kernel]
fn round_a_loop(n: u32) {
    let cluster = this_cluster();
    let mut token = cluster.barrier_arrive();
    for _ in 0..n {
        cluster.sync();
        cluster.barrier_wait(token);
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
}

#[cluster_kernel(block = 64)]
fn of_the_block_in_a_phase_of_the_block(values: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    tile[block.thread_rank()] = values[block.thread_rank()];
    let token = block.barrier_arrive();
    block.sync();
    out[block.thread_rank()] = tile[63 - block.thread_rank()];
    block.barrier_wait(token);
}

fn main() {}
