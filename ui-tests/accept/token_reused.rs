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

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<shadowed>, phalanx::Program::of::<in_a_loop>];
