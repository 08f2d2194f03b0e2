//! The neighbours of `reject/mapped_in_calls.rs`: a device function maps a peer's memory itself, and a barrier is between.

use phalanx::prelude::*;

#[device]
fn put(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32, x: u32) {
    cluster.map_shared_rank(array, 1 - cluster.block_rank())[i] = x;
}

#[device]
fn get(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    cluster.map_shared_rank(array, 1 - cluster.block_rank())[i]
}

#[device]
fn get_next(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    get(cluster, array, (i + 1) % 32)
}

#[device]
fn get_and_set(cluster: &Cluster, from: &SharedArray<u32, 32>, to: &SharedArray<u32, 32>, i: u32) {
    to[i] = get(cluster, from, i);
}

#[device]
fn neighbour_of(cluster: &Cluster, i: u32, x: u32) -> u32 {
    let values = shared_array::<u32, 32>();
    values[i] = x;
    cluster.sync();
    get_next(cluster, &values, i)
}

#[cluster_kernel(cluster = 2, block = 32)]
fn put_after_it_is_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    cluster.sync();
    out[i] = array[i];
    let read = cluster.barrier_arrive();
    cluster.barrier_wait(read);
    put(&cluster, &array, i, 1);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn got_when_it_is_published(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    cluster.sync();
    out[i] = array[i] + get(&cluster, &array, i);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_before_it_is_overwritten(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let mut x = input[i];
    for _ in 0..rounds {
        array[i] = x;
        cluster.sync();
        x += get_next(&cluster, &array, i);
        cluster.sync();
    }
    out[i] = x;
}

#[cluster_kernel(cluster = 2, block = 32)]
fn two_arrays(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let from = shared_array::<u32, 32>();
    let to = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    from[i] = input[i];
    cluster.sync();
    get_and_set(&cluster, &from, &to, i);
    out[i] = to[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn called_again(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let x = neighbour_of(&cluster, i, input[i]);
    cluster.sync();
    out[i] = neighbour_of(&cluster, i, x);
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<put_after_it_is_read>,
    phalanx::Program::of::<got_when_it_is_published>,
    phalanx::Program::of::<read_before_it_is_overwritten>,
    phalanx::Program::of::<two_arrays>,
    phalanx::Program::of::<called_again>,
];
