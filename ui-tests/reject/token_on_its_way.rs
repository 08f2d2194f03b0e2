//! A token that no variable holds yet, or never does, is followed too.

use phalanx::prelude::*;

#[device]
fn maybe(cluster: &Cluster) -> Option<ArrivalToken<Cluster>> {
    Some(cluster.barrier_arrive())
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>, n: u32) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn looked_at(n: u32) {
    let cluster = this_cluster();
    let mut pending = Some(cluster.barrier_arrive());
    if pending.take().is_some() {}
}

#[cluster_kernel]
fn asked_for() {
    let cluster = this_cluster();
    let arrived = Some(cluster.barrier_arrive()).is_some();
}

#[cluster_kernel]
fn asked_in_a_loop() {
    let cluster = this_cluster();
    let mut pending = Some(cluster.barrier_arrive());
    while pending.take().is_some() {}
}

#[cluster_kernel]
fn matched_with_none() {
    let cluster = this_cluster();
    let mut pending = Some(cluster.barrier_arrive());
    if let None = pending.take() {}
}

#[cluster_kernel]
fn return_between_operands(n: u32) {
    let cluster = this_cluster();
    finish(&cluster, cluster.barrier_arrive(), {
        if n == 0 {
            return;
        }
        1
    });
}

#[device]
fn question_between_operands(cluster: &Cluster, n: Option<u32>) -> Option<u32> {
    finish(cluster, cluster.barrier_arrive(), n?);
    n
}

#[cluster_kernel]
fn break_between_operands(n: u32) {
    let cluster = this_cluster();
    loop {
        finish(&cluster, cluster.barrier_arrive(), {
            if n == 0 {
                break;
            }
            1
        });
    }
}

#[cluster_kernel]
fn continue_between_operands(n: u32) {
    let cluster = this_cluster();
    for i in 0..n {
        finish(&cluster, cluster.barrier_arrive(), {
            if i == 3 {
                continue;
            }
            1
        });
    }
}

#[cluster_kernel]
fn never_taken(n: u32) {
    let cluster = this_cluster();
    let pending;
    if n == 1 {
        pending = Some(cluster.barrier_arrive());
    } else {
        pending = None;
    }
}

#[cluster_kernel]
fn result_of_a_branch(n: u32) {
    let cluster = this_cluster();
    let pending: Option<ArrivalToken<Cluster>> = if n == 1 { maybe(&cluster) } else { None };
    cluster.sync();
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

fn main() {}
