//! Tokens in rows of conditions, in guards, and where `?` returns.

use phalanx::prelude::*;

#[device]
fn even(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn returned(cluster: &Cluster, x: u32) -> Option<u32> {
    let token = cluster.barrier_arrive();
    let half = even(x)?;
    cluster.barrier_wait(token);
    Some(half)
}

#[cluster_kernel(cluster = 2)]
fn row(n: u32) {
    let cluster = this_cluster();
    let mut pending = Some(cluster.barrier_arrive());
    if let Some(token) = pending.take() && n > 3 {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel(cluster = 2)]
fn unnamed(n: u32) {
    let cluster = this_cluster();
    if let Some(_) = Some(cluster.barrier_arrive()) && let Some(m) = even(n) && m > 1 {}
}

#[cluster_kernel(cluster = 2)]
fn guard(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    match n {
        1 if let Some(half) = even(n) && half > 3 => cluster.barrier_wait(token),
        _ => {}
    }
}

fn main() {}
