//! Each rule switched off where it is broken.

use phalanx::prelude::*;

#[cluster_kernel(unchecked(token_never_waited))]
fn dropped() {
    let token = this_cluster().barrier_arrive();
}

#[cluster_kernel(unchecked(token_never_waited, arrive_while_pending))]
fn two_of_two() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = cluster.barrier_arrive();
}

#[device(unchecked(collective_while_pending))]
fn needed_in_a_device_function(cluster: &Cluster) {
    let token = cluster.barrier_arrive();
    cluster.sync();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn caller() {
    let cluster = this_cluster();
    unsafe { needed_in_a_device_function(&cluster) }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<dropped>, phalanx::Program::of::<two_of_two>, phalanx::Program::of::<caller>];
