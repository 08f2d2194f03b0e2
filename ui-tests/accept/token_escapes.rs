//! A token in a variable, in an `Option`, on its way through a function.

use phalanx::prelude::*;

#[device]
fn pass(token: ArrivalToken<Cluster>) -> ArrivalToken<Cluster> {
    token
}

#[cluster_kernel]
fn in_variables() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let moved = token;
    let pending = Some(moved);
    if let Some(token) = pending {
        let token: ArrivalToken<Cluster> = pass(token);
        cluster.barrier_wait(token);
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<in_variables>];
