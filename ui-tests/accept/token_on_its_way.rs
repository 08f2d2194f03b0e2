//! Tokens that are moved, and reach their wait.

use phalanx::prelude::*;

#[device]
fn maybe(cluster: &Cluster, n: u32) -> Option<ArrivalToken<Cluster>> {
    if n == 1 { Some(cluster.barrier_arrive()) } else { None }
}

#[device]
fn again(cluster: &Cluster, n: u32) -> Option<ArrivalToken<Cluster>> {
    if n == 1 { maybe(cluster, n) } else { None }
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>, n: u32) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn looked_at(n: u32) {
    let cluster = this_cluster();
    let pending: Option<ArrivalToken<Cluster>> = if n > 3 { again(&cluster, n) } else { None };
    if pending.is_some() {
        assert!(n == 1);
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn deferred(n: u32) {
    let cluster = this_cluster();
    let pending;
    if n == 1 {
        pending = Some(cluster.barrier_arrive());
    } else {
        pending = None;
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn between_operands(n: u32) {
    let cluster = this_cluster();
    finish(&cluster, cluster.barrier_arrive(), if n == 0 { 2 } else { 1 });
}

#[cluster_kernel]
fn never_there(output: &mut [u32], n: u32) {
    let r#struct = n + 1;
    let x: u32 = if n == 0 { return } else { return };
    output[0] = x + r#struct;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<looked_at>,
    phalanx::Program::of::<deferred>,
    phalanx::Program::of::<between_operands>,
    phalanx::Program::of::<never_there>,
];
