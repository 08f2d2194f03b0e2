//! The closest kernels in which peers arrive, and each block's threads wait at their own barrier.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn of_the_cluster() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    cluster.map_shared_rank(&bar, 1).arrive();
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn of_an_array() {
    let cluster = this_cluster();
    let bars = shared_cluster_barriers::<2>();
    bars.init_collective(&cluster, 64);
    let peer = cluster.map_shared_rank(&bars[1], 0);
    peer.arrive();
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn waits_here() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    for rank in 0..2 {
        cluster.map_shared_rank(&bar, rank).arrive();
    }
    bar.wait_parity(false);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn asks_here() {
    let cluster = this_cluster();
    let bars = shared_cluster_barriers::<2>();
    bars.init_collective(&cluster, 32);
    let peer = cluster.map_shared_rank(&bars[0], 1 - cluster.block_rank());
    peer.arrive();
    while !bars[0].try_wait_parity(false) {}
    cluster.sync();
}

#[device]
fn arrives_there(peer: RemoteBarrier) {
    peer.arrive_n(32);
}

#[cluster_kernel(cluster = 2, block = 32)]
fn by_a_function() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 32);
    let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
    if this_thread_block().thread_rank() == 0 {
        arrives_there(peer);
    }
    bar.wait_parity(false);
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<of_the_cluster>,
    phalanx::Program::of::<of_an_array>,
    phalanx::Program::of::<waits_here>,
    phalanx::Program::of::<asks_here>,
    phalanx::Program::of::<by_a_function>,
];
