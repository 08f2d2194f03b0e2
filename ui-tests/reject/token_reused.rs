//! A token is consumed by its wait: rustc's E0382, in the user's own source.

use phalanx::prelude::*;

#[cluster_kernel]
fn twice() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn in_a_loop() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    loop {
        cluster.barrier_wait(token);
    }
}

#[cluster_kernel]
fn on_one_path(n: u32) {
    let block = this_thread_block();
    let token = block.barrier_arrive();
    if n > 1 {
        block.barrier_wait(token);
    }
    block.barrier_wait(token);
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn behind_a_call() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    finish(&cluster, token);
    cluster.barrier_wait(token);
}

/// There is no copy of a token.
#[cluster_kernel]
fn under_two_names() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let other = token;
    cluster.barrier_wait(other);
    cluster.barrier_wait(token);
}

fn main() {}
