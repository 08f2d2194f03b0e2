//! Distributed shared memory through device functions: rustc joins what each does.

use phalanx::prelude::*;

#[device]
fn read_peer(peer: &RemoteArray<u32, 32>, i: u32) -> u32 {
    peer[i]
}

#[device]
fn fill(array: &SharedArray<u32, 32>, i: u32, x: u32) {
    array[i] = x;
}

/// Publishes, and leaves the wait to its caller.
#[device]
fn publish(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32, x: u32) -> ArrivalToken<Cluster> {
    array[i] = x;
    cluster.barrier_arrive()
}

/// Writes where its arrival does not publish it.
#[device]
fn publish_late(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32, x: u32) -> ArrivalToken<Cluster> {
    let token = cluster.barrier_arrive();
    array[i] = x;
    token
}

/// The protocol is complete except for its last barrier.
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
    sum
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_before_entry(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    out[i] = read_peer(&peer, i);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_last(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    cluster.sync();
    out[i] = read_peer(&peer, i);
}

#[cluster_kernel(cluster = 2, block = 32)]
fn filled_in_the_phase_of_the_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    cluster.sync();
    fill(&array, i, input[i]);
    out[i] = read_peer(&peer, i);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn filled_while_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let token: ArrivalToken<Cluster> = publish(&cluster, &array, i, input[i]);
    cluster.barrier_wait(token);
    out[i] = peer[i];
    fill(&array, i, 0);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn published_late(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let token: ArrivalToken<Cluster> = publish_late(&cluster, &array, i, input[i]);
    cluster.barrier_wait(token);
    out[i] = peer[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn summed_twice(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let first = cluster_sum(&cluster, &block, 1);
    out[0] = first + cluster_sum(&cluster, &block, 2);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn summed_in_a_loop(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    for round in 0..4 {
        out[round] = cluster_sum(&cluster, &block, round);
    }
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn summed_last(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    out[0] = cluster_sum(&cluster, &block, 1);
}

/// The access is in a function that a function calls.
#[device]
fn through_two(peer: &RemoteArray<u32, 32>, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    fill(array, i, 1);
    read_peer(peer, i)
}

#[cluster_kernel(cluster = 2, block = 32)]
fn both_in_one(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    cluster.sync();
    let before = peer[i];
    out[i] = through_two(&peer, &array, i) + before;
    cluster.sync();
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Sum(u32);

#[device]
impl Sum {
    fn with_the_first(self, i: u32) -> u32 {
        let cluster = this_cluster();
        let array = shared_array::<u32, 32>();
        array[i] = self.0;
        let first = cluster.map_shared_rank(&array, 0);
        read_peer(&first, i)
    }
}

/// Two parameters are two pieces of memory, to the function itself.
#[device]
fn exchange(peer: &RemoteArray<u32, 32>, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    array[i] = i;
    peer[i]
}

#[device]
fn exchange_all(peer: &RemoteArray<u32, 32>, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    exchange(peer, array, i)
}

#[cluster_kernel(cluster = 2, block = 32)]
fn one_as_two(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let other = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    cluster.sync();
    out[i] = exchange(&peer, &other, i);
    cluster.sync();
    out[i] = exchange(&peer, &array, i);
    cluster.sync();
    out[i] = exchange_all(&peer, &array, i);
    cluster.sync();
}

fn main() {}
