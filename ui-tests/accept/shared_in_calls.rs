//! Halves of a protocol in device functions, joined by rustc.

use phalanx::prelude::*;

#[device]
fn read_peer(peer: &RemoteArray<u32, 32>, i: u32) -> u32 {
    peer[i]
}

#[device]
fn fill(array: &SharedArray<u32, 32>, i: u32, x: u32) {
    array[i] = x;
}

#[device]
fn publish(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32, x: u32) -> ArrivalToken<Cluster> {
    array[i] = x;
    cluster.barrier_arrive()
}

#[device]
fn wait_and_read(cluster: &Cluster, token: ArrivalToken<Cluster>, peer: &RemoteArray<u32, 32>, i: u32) -> u32 {
    cluster.barrier_wait(token);
    peer[i]
}

#[device]
fn cluster_sum(cluster: &Cluster, block: &ThreadBlock, x: u32) -> u32 {
    let parts = shared_array::<u32, 1>();
    if block.thread_rank() == 0 {
        parts[0] = x;
    }
    cluster.sync();
    let mut sum = 0;
    for rank in 0..cluster.num_blocks() {
        sum += cluster.map_shared_rank(&parts, rank)[0];
    }
    cluster.sync();
    sum
}

#[cluster_kernel(cluster = 2, block = 32)]
fn halves(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    for round in 0..4 {
        let token: ArrivalToken<Cluster> = publish(&cluster, &array, i, input[i] + round);
        out[i] += input[31 - i];
        out[i] += wait_and_read(&cluster, token, &peer, i);
        cluster.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 32)]
fn filled_and_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    fill(&array, i, input[i]);
    cluster.sync();
    out[i] = read_peer(&peer, i);
    cluster.sync();
    fill(&array, i, 0);
}

#[cluster_kernel(cluster = 2, block = 32)]
fn summed_in_a_loop(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    for round in 0..4 {
        out[round] = cluster_sum(&cluster, &block, round);
    }
}

/// The function has the barrier that the kernel needs.
#[device]
fn enter(cluster: &Cluster) {
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn entered_by_a_function(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[i] = input[i];
    enter(&cluster);
    out[i] = peer[i];
    enter(&cluster);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<halves>,
    phalanx::Program::of::<filled_and_read>,
    phalanx::Program::of::<summed_in_a_loop>,
    phalanx::Program::of::<entered_by_a_function>,
];
