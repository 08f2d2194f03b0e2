//! A block's barrier that a peer is to arrive at, and a peer's that a thread is to wait at.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn of_the_block() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    cluster.sync();
    cluster.map_shared_rank(&bar, 1).arrive();
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn of_an_array() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    cluster.sync();
    let peer = cluster.map_shared_rank(&bars[1], 0);
    peer.arrive();
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn waits_there() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    cluster.map_shared_rank(&bar, 0).arrive_and_wait();
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn asks_there() {
    let cluster = this_cluster();
    let bars = shared_cluster_barriers::<2>();
    bars.init_collective(&cluster, 64);
    let peer = cluster.map_shared_rank(&bars[0], 0);
    peer.arrive();
    while !peer.try_wait_parity(false) {}
    cluster.sync();
}

#[device]
fn initialises_there(peer: RemoteBarrier) {
    peer.init(1);
}

fn main() {}
