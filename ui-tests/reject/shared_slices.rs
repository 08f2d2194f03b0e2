//! Slices of the dynamic shared memory that have bytes in common, or may have.

use phalanx::prelude::*;

/// One slice under two names.
#[cluster_kernel(cluster = 2, block = 32)]
fn the_same_bytes(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u32>(0, 32);
    let read = dynamic_shared_slice::<u32>(0, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// The first slice ends where the second has begun.
#[cluster_kernel(cluster = 2, block = 32)]
fn the_last_bytes(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u32>(0, 32);
    let read = dynamic_shared_slice::<u32>(31 * 4, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// A slice is a part of the whole: their elements are not counted from one place.
#[cluster_kernel(cluster = 2, block = 32)]
fn all_of_it(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared::<u32>();
    let read = dynamic_shared_slice::<u32>(20, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// As many elements, and each takes more.
#[cluster_kernel(cluster = 2, block = 32)]
fn of_larger_elements(out: &mut [u32], n: usize) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u64>(0, n);
    let read = dynamic_shared_slice::<u32>(n * 4, n);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// Nothing says that the one is beyond the other.
#[cluster_kernel(cluster = 2, block = 32)]
fn two_parameters(out: &mut [u32], n: usize, m: usize) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u32>(m, n);
    let read = dynamic_shared_slice::<u32>(0, n);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// Another one in each block.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_rank(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u32>(cluster.block_rank() * 128, 32);
    let read = dynamic_shared_slice::<u32>(128, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// The second iteration uses the part that the peers read.
#[cluster_kernel(cluster = 2, block = 32)]
fn in_turn(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let read = dynamic_shared_slice::<u32>(128, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    for round in 0..2 {
        let written = dynamic_shared_slice::<u32>(round * 128, 32);
        written[5] = 2;
    }
    cluster.sync();
}

fn main() {}
