//! Helpers that use a larger group's collective outside of its phases.

use phalanx::prelude::*;

#[device]
fn publish(cluster: &Cluster) {
    cluster.sync();
}

#[cluster_kernel]
fn before_and_after() {
    let cluster = this_cluster();
    publish(&cluster);
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    publish(&cluster);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<before_and_after>];
