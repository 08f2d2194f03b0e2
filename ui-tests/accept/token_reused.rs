//! A new token under the same name.

use phalanx::prelude::*;

#[cluster_kernel]
fn shadowed() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn in_a_loop(n: u32) {
    let cluster = this_cluster();
    for _ in 0..n {
        let token = cluster.barrier_arrive();
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn on_either_path(n: u32) {
    let block = this_thread_block();
    let token = block.barrier_arrive();
    if n > 1 {
        block.barrier_wait(token);
    } else {
        block.barrier_wait(token);
    }
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn by_a_call() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    finish(&cluster, token);
    cluster.sync();
}

#[cluster_kernel]
fn under_another_name() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let other = token;
    cluster.barrier_wait(other);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<shadowed>,
    phalanx::Program::of::<in_a_loop>,
    phalanx::Program::of::<on_either_path>,
    phalanx::Program::of::<by_a_call>,
    phalanx::Program::of::<under_another_name>,
];
