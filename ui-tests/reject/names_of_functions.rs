//! The user's own functions with the names of the language's: the kernel would call the language's.

use others::{
    binary_partition, bulk_copy_async, bulk_wait_group, bulk_wait_group_read, coalesced_threads, dynamic_shared,
    dynamic_shared_slice, fence, labeled_partition, launch_dependents, memcpy_async, nanosleep, shared_array, shared_barrier,
    shared_barriers, shared_cluster_barrier, shared_cluster_barriers, this_cluster, this_grid, this_thread_block,
    tiled_partition, wait_previous,
};
use phalanx::prelude::*;

mod others {
    pub fn binary_partition() {}
    pub fn bulk_copy_async() {}
    pub fn bulk_wait_group() {}
    pub fn bulk_wait_group_read() {}
    pub fn coalesced_threads() {}
    pub fn dynamic_shared() {}
    pub fn dynamic_shared_slice() {}
    pub fn fence() {}
    pub fn labeled_partition() {}
    pub fn launch_dependents() {}
    pub fn memcpy_async() {}
    pub fn nanosleep() {}
    pub fn shared_array() {}
    pub fn shared_barrier() {}
    pub fn shared_barriers() {}
    pub fn shared_cluster_barrier() {}
    pub fn shared_cluster_barriers() {}
    pub fn this_cluster() {}
    pub fn this_grid() {}
    pub fn this_thread_block() {}
    pub fn tiled_partition() {}
    pub fn wait_previous() {}
}

#[cluster_kernel(block = 32)]
fn groups() {
    let block = this_thread_block();
    this_cluster().sync();
    this_grid().sync();
    coalesced_threads().sync();
    let tile = tiled_partition::<32>(&block);
    labeled_partition(&tile, 0).sync();
    binary_partition(&tile, true).sync();
    fence(AcqRel, Scope::Cluster);
    nanosleep(1);
    launch_dependents();
    wait_previous();
}

#[cluster_kernel(block = 32)]
fn memory() {
    let array = shared_array::<u32, 32>();
    let dynamic = dynamic_shared::<u32>();
    let slice = dynamic_shared_slice::<u32>(0, 1);
    let one = shared_barrier();
    let several = shared_barriers::<2>();
    let of_cluster = shared_cluster_barrier();
    let several_of_cluster = shared_cluster_barriers::<2>();
}

#[cluster_kernel(block = 32)]
fn copies(input: &[u32], output: &mut [u32]) {
    let block = phalanx::this_thread_block();
    let array = phalanx::shared_array::<u32, 32>();
    memcpy_async(&block, &array, &input[0..32]);
    block.wait_async();
    block.sync();
    if block.thread_rank() == 0 {
        bulk_copy_async(&mut output[0..32], &array);
        bulk_wait_group_read::<0>();
        bulk_wait_group::<0>();
    }
}

#[device]
fn in_paths(a: &mut u32, b: &mut u32) {
    others::fence(AcqRel, Scope::Cluster);
}

mod std {
    pub mod mem {
        pub use crate::own::swap;
        pub fn replace() {}
        pub fn take() {}
    }
    pub mod array {
        pub fn from_fn() {}
    }
}

#[device]
fn exchanged(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    std::mem::swap(&mut a, &mut b);
    let c: [u32; 2] = std::array::from_fn(|i| i as u32);
    let d = std::mem::take(&mut b);
    std::mem::replace(&mut a, b)
}

mod own {
    pub fn swap(a: &mut u32, b: &mut u32) {}
}

/// A function that is imported by a path like that of Rust's.
#[device]
fn imported(a: u32, b: u32) -> u32 {
    use std::mem::swap;
    let (mut a, mut b) = (a, b);
    swap(&mut a, &mut b);
    a - b
}

fn main() {}
