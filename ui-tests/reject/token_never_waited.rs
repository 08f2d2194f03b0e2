//! Each arrival of a group is waited for, on every path.

use phalanx::prelude::*;

#[cluster_kernel]
fn dropped() {
    let cluster = this_cluster();
    cluster.barrier_arrive();
}

#[cluster_kernel]
fn discarded() {
    let cluster = this_cluster();
    let _ = cluster.barrier_arrive();
}

#[cluster_kernel]
fn end_of_scope() {
    let block = this_thread_block();
    let _token = block.barrier_arrive();
}

#[cluster_kernel]
fn overwritten() {
    let cluster = this_cluster();
    let mut token = cluster.barrier_arrive();
    token = this_cluster().barrier_arrive();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn early_return(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        return;
    }
    cluster.barrier_wait(token);
}

#[device]
fn early_question(cluster: &Cluster, n: Option<u32>) -> Option<u32> {
    let token = cluster.barrier_arrive();
    let n = n?;
    cluster.barrier_wait(token);
    Some(n)
}

#[cluster_kernel]
fn early_break(n: u32) {
    let cluster = this_cluster();
    for i in 0..n {
        let token = cluster.barrier_arrive();
        if i == 7 {
            break;
        }
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn outer_continue(n: u32) {
    let cluster = this_cluster();
    'outer: for i in 0..n {
        let token = cluster.barrier_arrive();
        for j in 0..n {
            if i == j {
                continue 'outer;
            }
        }
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn one_arm(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n > 4 {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn option_not_taken(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 4 {
        pending = Some(cluster.barrier_arrive());
    }
    if n > 5 {
        if let Some(token) = pending {
            cluster.barrier_wait(token);
        }
    }
}

#[cluster_kernel]
fn last_round(n: u32) {
    let cluster = this_cluster();
    let mut token = cluster.barrier_arrive();
    for _ in 0..n {
        cluster.barrier_wait(token);
        token = cluster.barrier_arrive();
    }
}

#[device]
fn lost_parameter(token: ArrivalToken<Cluster>) {}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn lost_result() {
    let cluster = this_cluster();
    let token: ArrivalToken<Cluster> = arrive(&cluster);
}

#[cluster_kernel]
fn option_overwritten(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    for _ in 0..n {
        pending = Some(cluster.barrier_arrive());
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

fn main() {}
