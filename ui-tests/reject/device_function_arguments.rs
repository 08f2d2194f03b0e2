//! A device function called wrongly: rustc's messages.

use phalanx::prelude::*;

#[device]
fn twice(x: u32) -> u32 {
    x * 2
}

#[cluster_kernel]
fn wrong(output: &mut [u32], x: f32) {
    output[0] = twice(x);
    output[0] = twice(1, 2);
}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn token_without_a_type() {
    let cluster = this_cluster();
    arrive(&cluster);
}

fn main() {}
