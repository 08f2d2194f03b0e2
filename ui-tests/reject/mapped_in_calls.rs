//! A device function that is given an array of the block maps a peer's itself: what it does is done to both.

use phalanx::prelude::*;

#[device]
fn put(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32, x: u32) {
    cluster.map_shared_rank(array, 1 - cluster.block_rank())[i] = x;
}

#[device]
fn get(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    cluster.map_shared_rank(array, 1 - cluster.block_rank())[i]
}

/// Through one more function.
#[device]
fn get_next(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> u32 {
    get(cluster, array, (i + 1) % 32)
}

/// Right, unless both are one array.
#[device]
fn get_and_set(cluster: &Cluster, from: &SharedArray<u32, 32>, to: &SharedArray<u32, 32>, i: u32) {
    to[i] = get(cluster, from, i);
}

/// The array of the callee could not be used by a second call.
#[device]
fn neighbour_of(cluster: &Cluster, i: u32, x: u32) -> u32 {
    let values = shared_array::<u32, 32>();
    values[i] = x;
    cluster.sync();
    get_next(cluster, &values, i)
}

#[cluster_kernel(cluster = 2, block = 32)]
fn put_where_it_is_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    cluster.sync();
    out[i] = array[i];
    put(&cluster, &array, i, 1);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn got_before_it_is_published(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    array[i] = input[i];
    out[i] = get(&cluster, &array, i);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn overwritten_while_it_is_got(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let mut x = input[i];
    for _ in 0..rounds {
        array[i] = x;
        cluster.sync();
        x += get_next(&cluster, &array, i);
    }
    out[i] = x;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn both_are_one(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    cluster.sync();
    get_and_set(&cluster, &array, &array, i);
    cluster.sync();
    out[i] = array[i];
}

#[cluster_kernel(cluster = 2, block = 32)]
fn called_again(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let x = neighbour_of(&cluster, i, input[i]);
    out[i] = neighbour_of(&cluster, i, x);
    cluster.sync();
}

fn main() {}
