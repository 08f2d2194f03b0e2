//! A token is waited for at its own group: rustc's E0308, in the user's own source.

use phalanx::prelude::*;

#[cluster_kernel]
fn block_token_at_cluster() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = block.barrier_arrive();
    cluster.barrier_wait(token);
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn block_token_to_a_helper() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = block.barrier_arrive();
    finish(&cluster, token);
}

fn main() {}
