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

fn main() {}
