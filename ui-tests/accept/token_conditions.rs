//! Tokens under conditions, each of which is waited for.

use phalanx::prelude::*;

#[device]
fn even(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn returned(cluster: &Cluster, x: u32) -> Option<u32> {
    let token = cluster.barrier_arrive();
    let half = even(x);
    cluster.barrier_wait(token);
    Some(half? + 1)
}

#[device]
fn pending(cluster: &Cluster, x: u32) -> Option<ArrivalToken<Cluster>> {
    even(x)?;
    Some(cluster.barrier_arrive())
}

#[cluster_kernel(cluster = 2)]
fn row(n: u32, out: &mut [u32]) {
    let cluster = this_cluster();
    if let Some(x) = returned(&cluster, n)
        && x > 2
    {
        out[0] = x;
    }
    let mut pending = Some(cluster.barrier_arrive());
    if n > 3
        && let Some(token) = pending.take()
    {
        cluster.barrier_wait(token);
    } else if let Some(token) = pending.take() {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel(cluster = 2)]
fn guard(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    match n {
        1 if let Some(half) = even(n)
            && half > 3 =>
        {
            cluster.barrier_wait(token)
        }
        _ => cluster.barrier_wait(token),
    }
}

#[cluster_kernel(cluster = 2)]
fn attempted(n: u32) {
    let cluster = this_cluster();
    let token: Option<ArrivalToken<Cluster>> = pending(&cluster, n);
    if let Some(token) = token {
        cluster.barrier_wait(token);
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<row>, phalanx::Program::of::<guard>, phalanx::Program::of::<attempted>];
