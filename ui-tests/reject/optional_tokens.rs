//! Device functions that take or return an optional token: they may not wait, or may not arrive.

use phalanx::prelude::*;

#[device]
fn finish(cluster: &Cluster, token: Option<ArrivalToken<Cluster>>) {
    if let Some(token) = token {
        cluster.barrier_wait(token);
    }
}

#[device]
fn start(cluster: &Cluster, on: bool) -> Option<ArrivalToken<Cluster>> {
    if on { Some(cluster.barrier_arrive()) } else { None }
}

/// An optional token may be none: then the call waits for nobody.
#[cluster_kernel(cluster = 2, block = 64)]
fn not_finished(output: &mut [u32]) {
    let cluster = this_cluster();
    let rank = this_thread_block().thread_rank();
    let array = shared_array::<u32, 64>();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[rank] = rank;
    finish(&cluster, None);
    output[cluster.thread_rank()] = peer[rank];
    cluster.sync();
}

/// The call may not have arrived.
#[cluster_kernel(cluster = 2, block = 64)]
fn not_started(on: u32, output: &mut [u32]) {
    let cluster = this_cluster();
    let rank = this_thread_block().thread_rank();
    let array = shared_array::<u32, 64>();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[rank] = rank;
    cluster.sync();
    output[cluster.thread_rank()] = peer[rank];
    let token: Option<ArrivalToken<Cluster>> = start(&cluster, on > 3);
    if let Some(token) = token {
        cluster.barrier_wait(token);
    }
}

fn main() {}
