//! A thread arrives once a phase.

use phalanx::prelude::*;

#[cluster_kernel]
fn twice() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(first);
    cluster.barrier_wait(second);
}

#[cluster_kernel]
fn through_another_name() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = this_cluster().barrier_arrive();
    cluster.barrier_wait(first);
    cluster.barrier_wait(second);
}

#[cluster_kernel]
fn maybe_pending(n: u32) {
    let block = this_thread_block();
    let mut pending = None;
    if n > 1 {
        pending = Some(block.barrier_arrive());
    }
    let token = block.barrier_arrive();
    block.barrier_wait(token);
    if let Some(token) = pending {
        block.barrier_wait(token);
    }
}

#[cluster_kernel]
fn round_a_loop(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    for _ in 0..n {
        let token = cluster.barrier_arrive();
        pending = Some(token);
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[device]
fn held_by_a_parameter(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    cluster.barrier_wait(second);
}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn held_from_a_call() {
    let cluster = this_cluster();
    let first: ArrivalToken<Cluster> = arrive(&cluster);
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(first);
    cluster.barrier_wait(second);
}

/// Each thread counts once a phase.
#[cluster_kernel(block = 64)]
fn at_a_phase_barrier() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    let first = bar.arrive();
    let second = bar.arrive();
    bar.wait(first);
    bar.wait(second);
}

#[cluster_kernel(block = 64)]
fn in_each_round_of_a_loop(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    for _ in 0..rounds {
        let _ = bar.arrive();
    }
}

fn main() {}
