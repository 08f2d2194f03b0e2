//! A device function that uses the group is called where the token may have been forgotten.

use phalanx::prelude::*;

#[device]
fn meet(cluster: &Cluster) {
    cluster.sync();
}

#[device]
fn outer(cluster: &Cluster) {
    meet(cluster);
}

#[cluster_kernel]
fn direct(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        token.forget();
    } else {
        cluster.barrier_wait(token);
    }
    meet(&cluster);
}

#[cluster_kernel]
fn through_another() {
    let cluster = this_cluster();
    let token = this_thread_block().barrier_arrive();
    token.forget();
    outer(&cluster);
}

fn main() {}
