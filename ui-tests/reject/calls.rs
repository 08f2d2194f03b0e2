//! Calls that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
fn calls(output: &mut [u32], n: u32) {
    (n)(3);
    <u32>::max(1, 2);
    Vec::new();
    output[0](3);
    vec![n];
    this_cluster(1);
    shared_array(3);
    let a = shared_array::<u32>();
    let b = dynamic_shared();
    Some(1, 2);
    output[0] = std::cmp::min_by_key(n, 3, |x| x);
    let token = this_cluster().barrier_arrive();
    drop(token);
}

/// One fault, although the token is not waited for.
#[cluster_kernel(cluster = 2)]
fn dropped() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    drop(token);
}

#[cluster_kernel(block = 64)]
fn in_tuples(x: &mut [f32], y: &mut [f32]) {
    let block = this_thread_block();
    let both = (x, y);
    let at = (block.group_index(), block.thread_rank());
    both.1[at.1] = both.0[at.1];
}

type Grid = [f32; 4];

#[cluster_kernel(block = 64)]
fn named_as_a_group(output: &mut [f32]) {
    let tiles = shared_array::<Grid, 4>();
    tiles[0][0] = 1.0;
    output[0] = tiles[0][0];
}

fn main() {}
