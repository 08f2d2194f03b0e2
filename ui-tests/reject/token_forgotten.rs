//! A group is not used again where its token may have been forgotten.

use phalanx::prelude::*;

#[cluster_kernel]
fn on_some_path(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        token.forget();
    } else {
        cluster.barrier_wait(token);
    }
    cluster.sync();
}

#[cluster_kernel]
fn arrives_again() {
    let block = this_thread_block();
    let token = block.barrier_arrive();
    token.forget();
    let second = block.barrier_arrive();
    block.barrier_wait(second);
}

#[cluster_kernel]
fn in_a_loop(n: u32) {
    let block = this_thread_block();
    for _ in 0..n {
        let token = block.barrier_arrive();
        token.forget();
    }
}

#[cluster_kernel]
fn a_larger_group() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let outer = cluster.barrier_arrive();
    let token = block.barrier_arrive();
    token.forget();
    cluster.barrier_wait(outer);
}

/// One thread waits: its warp does not.
#[cluster_kernel(cluster = 4, block = 64)]
fn elected_thread() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = cluster.barrier_arrive();
    if block.thread_rank() == 0 {
        cluster.barrier_wait(token);
    } else {
        token.forget();
    }
}

/// One warp waits: its block does not.
#[cluster_kernel(block = 64)]
fn elected_warp_of_a_grid() {
    let grid = this_grid();
    let token = grid.barrier_arrive();
    if this_thread_block().thread_rank() / 32 != 0 {
        token.forget();
        return;
    }
    grid.barrier_wait(token);
}

/// The elected threads wait for the others once, and no more.
#[cluster_kernel(block = 64)]
fn waiters_meet_again(out: &mut [u32]) {
    let block = this_thread_block();
    let token = block.barrier_arrive();
    if block.thread_rank() < 32 {
        block.barrier_wait(token);
        block.sync();
    } else {
        token.forget();
    }
}

/// A thread that forgets its token does not know that the peers have started.
#[cluster_kernel(cluster = 2, block = 64)]
fn not_entered(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let token = cluster.barrier_arrive();
    token.forget();
    out[cluster.thread_rank()] = peer[i];
}

/// The block may exit while its peer reads.
#[cluster_kernel(cluster = 2, block = 64)]
fn exits(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    array[i] = i;
    cluster.sync();
    out[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    let token = cluster.barrier_arrive();
    token.forget();
}

/// Only a kernel forgets.
#[device]
fn leave(token: ArrivalToken<Cluster>) {
    token.forget();
}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn of_a_function() {
    let cluster = this_cluster();
    let token: ArrivalToken<Cluster> = arrive(&cluster);
    token.forget();
}

#[cluster_kernel]
fn arguments(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    token.forget(n);
}

fn main() {}
