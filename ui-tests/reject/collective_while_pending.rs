//! Between arrive and wait: no other collective of the group, nor of one that contains it.

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

fn main() {}
