//! Phase barriers, where they are used as the language has not got it.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn places() {
    let cluster = this_cluster();
    let block = this_thread_block();
    shared_barrier();
    let bar = shared_barrier();
    let bars = shared_barriers::<4>();
    let other = bar;
    let one = bars[1];
    let few = shared_barriers();
    let some = shared_barrier::<4>();
    let full = shared_barrier(32);
    bar.init_collective(&cluster, 32);
    bar.init_collective(block, 32);
    bars.init(32);
    let sum = bar + 1;
}

#[cluster_kernel(cluster = 2, block = 32)]
fn methods() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_barrier();
    let peers = shared_cluster_barriers::<2>();
    bar.init_collective(&block, 32);
    peers.init_collective(&cluster, 64);
    let token = bar.arrive();
    bar.sync();
    bar.arrive(2);
    bar.wait();
    if bar.try_wait(token) {}
    cluster.map_shared_rank(&bar, 1).arrive();
    cluster.map_shared_rank(&peers, 1).arrive();
    let peer = cluster.map_shared_rank(&peers[0], 1);
    peer.arrive_and_wait();
    cluster.map_shared_rank(&peer, 1).arrive();
    cluster.map_shared_rank(&peers[0], 2).arrive();
    cluster.sync();
}

#[cluster_kernel(block = 32)]
fn counts() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let bars = shared_barriers::<2>();
    if block.thread_rank() == 0 {
        bar.init(0);
    }
    bars.init_collective(&block, 1 << 20);
    bars.init_collective(&block, 1_048_576);
    let _ = bar.arrive_n(0);
}

/// A group's token is waited for at the group, a barrier's at the barrier.
#[cluster_kernel(block = 32)]
fn of_groups() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    let token = block.barrier_arrive();
    bar.wait(token);
    let token = bar.arrive();
    block.barrier_wait(token);
}

#[device]
fn by_value(bar: Barrier) {}

#[device]
fn by_reference(peer: &RemoteBarrier) {}

#[device]
fn no_length(bars: &Barriers) {}

#[device]
fn whose(full: &Barrier, empty: &Barrier, token: ArrivalToken<Barrier>) {}

#[device]
fn of_none() -> ArrivalToken<Barrier> {}

#[device]
fn of_several(bars: &Barriers<4>, token: ArrivalToken<Barriers<4>>) {}

#[device]
fn of_a_peer(token: ArrivalToken<RemoteBarrier>) {}

#[device]
fn escapes(bar: &Barrier, tokens: [ArrivalToken<Barrier>; 2]) {}

#[cluster_kernel]
fn parameter(bar: &Barrier) {}

fn main() {}
