//! Variables, memory and groups by reference: as arguments, and by a name of their own.

use phalanx::prelude::*;

#[device]
fn add(total: &mut u32, x: &u32) {
    *total += *x;
    more(total);
}

#[device]
fn more(total: &mut u32) {
    *total = total.wrapping_mul(3);
}

#[cluster_kernel]
fn borrows(output: &mut [u32], n: u32) {
    let mut total = output[0];
    add(&mut total, &n);
    output[0] = total;
    let (chosen, read, all) = (&mut total, &n, &mut output[..]);
    *chosen += *read;
    all[1] = total;
}

#[device]
fn meet(block: &ThreadBlock, mean: &SharedArray<f32, 32>) -> f32 {
    block.sync();
    mean[31 - block.thread_rank()]
}

#[cluster_kernel(cluster = 2, block = 32)]
fn names(output: &mut [f32], n: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let mut sums = [[0.0; 4]; 2];
    for i in 0..4 {
        let row = &mut sums[i % 2];
        row[i] += i as f32;
        let sum = &mut sums[1][i];
        *sum = sum.max(n as f32);
    }
    let (values, group) = (shared_array::<f32, 32>(), &block);
    let own = &values;
    own[block.thread_rank()] = sums[0][1] + sums[1][2];
    let mut from = &values;
    if n == 0 {
        from = own;
    }
    let sum = meet(group, own);
    cluster.sync();
    let peer = cluster.map_shared_rank(own, 1 - cluster.block_rank());
    let first = &peer[0];
    cluster.sync();
    output[this_grid().thread_rank()] = sum + *first + from[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<borrows>, phalanx::Program::of::<names>];
