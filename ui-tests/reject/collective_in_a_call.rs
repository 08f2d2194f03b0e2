//! A device function that synchronizes a group is a collective of it.

use phalanx::prelude::*;

#[device]
fn publish(cluster: &Cluster) {
    cluster.sync();
}

#[device]
fn outer(cluster: &Cluster) {
    publish(cluster);
}

#[cluster_kernel]
fn direct() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    publish(&cluster);
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn through_another() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    outer(&cluster);
    cluster.barrier_wait(token);
}

fn main() {}
