//! Arrivals that are waited for on every path, as in deployed kernels.

use phalanx::prelude::*;

#[cluster_kernel]
fn every_path(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        cluster.barrier_wait(token);
        return;
    }
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn wait_before_break(n: u32) {
    let cluster = this_cluster();
    for i in 0..n {
        let token = cluster.barrier_arrive();
        if i == 7 {
            cluster.barrier_wait(token);
            break;
        }
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn optional(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 4 {
        pending = Some(cluster.barrier_arrive());
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn optional_with_else(n: u32) {
    let cluster = this_cluster();
    let pending = if n > 4 { Some(cluster.barrier_arrive()) } else { None };
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    } else {
        cluster.sync();
    }
}

#[cluster_kernel]
fn taken_in_a_loop(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    for _ in 0..n {
        if let Some(token) = pending.take() {
            cluster.barrier_wait(token);
        }
        pending = Some(cluster.barrier_arrive());
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn carried_round_a_loop(n: u32) {
    let cluster = this_cluster();
    let mut token = cluster.barrier_arrive();
    for _ in 0..n {
        cluster.barrier_wait(token);
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn declared_first(n: u32) {
    let cluster = this_cluster();
    let token;
    if n > 2 {
        token = cluster.barrier_arrive();
    } else {
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn value_of_an_if(n: u32) {
    let cluster = this_cluster();
    let token = if n > 2 { cluster.barrier_arrive() } else { cluster.barrier_arrive() };
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn value_of_a_block() {
    let cluster = this_cluster();
    let token = {
        let token = cluster.barrier_arrive();
        token
    };
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn at_once() {
    let cluster = this_cluster();
    cluster.barrier_wait(cluster.barrier_arrive());
}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn halves_in_helpers() {
    let cluster = this_cluster();
    let token: ArrivalToken<Cluster> = arrive(&cluster);
    finish(&cluster, token);
    cluster.barrier_wait(arrive(&cluster));
}

#[cluster_kernel]
fn a_failed_thread_owes_nothing(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        panic!("nothing to do");
    }
    cluster.barrier_wait(token);
}

/// The condition does not change, and all threads of the cluster test it alike.
#[cluster_kernel]
fn under_one_condition(on: bool) {
    let cluster = this_cluster();
    let mut token = None;
    if on {
        token = Some(cluster.barrier_arrive());
    }
    if on {
        cluster.barrier_wait(token.expect("an arrival under the same condition"));
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<every_path>,
    phalanx::Program::of::<wait_before_break>,
    phalanx::Program::of::<optional>,
    phalanx::Program::of::<optional_with_else>,
    phalanx::Program::of::<taken_in_a_loop>,
    phalanx::Program::of::<carried_round_a_loop>,
    phalanx::Program::of::<declared_first>,
    phalanx::Program::of::<value_of_an_if>,
    phalanx::Program::of::<value_of_a_block>,
    phalanx::Program::of::<at_once>,
    phalanx::Program::of::<halves_in_helpers>,
    phalanx::Program::of::<a_failed_thread_owes_nothing>,
    phalanx::Program::of::<under_one_condition>,
];
