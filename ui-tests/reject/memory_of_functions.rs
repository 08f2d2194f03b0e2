//! Shared memory that device functions name without being given it, and that closures access between a function's barriers.

use phalanx::prelude::*;

/// The protocol is complete except for its last barrier.
#[device]
fn cluster_sum(x: u32) -> u32 {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let parts = shared_array::<u32, 1>();
    if block.thread_rank() == 0 {
        parts[0] = x;
    }
    cluster.sync();
    cluster.map_shared_rank(&parts, 1 - cluster.block_rank())[0]
}

#[device]
fn one_more(x: u32) -> u32 {
    cluster_sum(x) + 1
}

#[device]
fn doubled(x: u32) -> u32 {
    2 * cluster_sum(x)
}

mod renamed {
    pub(super) use super::cluster_sum as total;
}
use renamed::total;

#[cluster_kernel(cluster = 2, block = 32)]
fn through_two_functions(out: &mut [u32]) {
    let cluster = this_cluster();
    let first = one_more(1);
    out[0] = first + doubled(2);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn under_two_names(out: &mut [u32]) {
    let cluster = this_cluster();
    let first = cluster_sum(1);
    out[0] = first + total(2);
    cluster.sync();
}

#[device]
fn fill(i: u32, x: u32) {
    let cells = dynamic_shared::<u32>();
    cells[i] = x;
}

#[device]
fn read_peer(i: u32) -> u32 {
    let cluster = this_cluster();
    let cells = dynamic_shared::<u32>();
    cluster.map_shared_rank(cells, 1 - cluster.block_rank())[i]
}

#[device]
fn enter() {
    this_cluster().sync();
}

/// Both functions name the dynamic memory.
#[cluster_kernel(cluster = 2, block = 32)]
fn dynamic_of_two_functions(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    fill(i, 1);
    enter();
    out[i] = read_peer(i);
    fill(i, 2);
    enter();
}

/// The kernel names it, too.
#[cluster_kernel(cluster = 2, block = 32)]
fn dynamic_of_kernel_and_function(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = dynamic_shared_slice::<u32>(0, 32);
    cells[i] = 1;
    cluster.sync();
    out[i] = read_peer(i);
    cells[i] = 2;
    cluster.sync();
}

#[device]
fn exchange(cells: &SharedSlice<u32>, i: u32, x: u32) -> u32 {
    let cluster = this_cluster();
    let all = dynamic_shared::<u32>();
    cells[i] = x;
    cluster.map_shared_rank(all, 1 - cluster.block_rank())[i]
}

/// The parameter is a part of what the function names.
#[cluster_kernel(cluster = 2, block = 32)]
fn dynamic_as_a_parameter(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = dynamic_shared_slice::<u32>(0, 32);
    cells[i] = 1;
    cluster.sync();
    out[i] = exchange(cells, i, 2);
    cluster.sync();
}

/// Writes and reads between its barriers, where the closure is called.
#[device]
fn between(cells: &SharedArray<u32, 32>, i: u32, value: impl Fn(u32) -> u32) -> u32 {
    let cluster = this_cluster();
    cluster.sync();
    cells[i] = i;
    let sum = value(i);
    cluster.sync();
    sum
}

#[device]
fn twice_between(cells: &SharedArray<u32, 32>, i: u32, value: impl Fn(u32) -> u32) -> u32 {
    between(cells, i, value) + 1
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_by_a_closure(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = shared_array::<u32, 32>();
    cells[i] = 1;
    cluster.sync();
    let peer = cluster.map_shared_rank(&cells, 1 - cluster.block_rank());
    out[i] = between(&cells, i, |k| peer[k]);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_by_a_closure_that_is_passed_on(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = shared_array::<u32, 32>();
    cells[i] = 1;
    cluster.sync();
    let peer = cluster.map_shared_rank(&cells, 1 - cluster.block_rank());
    out[i] = twice_between(&cells, i, |k| peer[k]);
    cluster.sync();
}

/// No function writes to it.
#[cluster_kernel(cluster = 2, block = 32)]
fn never_written(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    enter();
    let cells = dynamic_shared::<u32>();
    out[i] = cells[i];
}

/// Leaves its barrier in use.
#[device]
fn meet() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(32);
    }
    block.sync();
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 32)]
fn meet_in_a_loop() {
    for _ in 0..2 {
        meet();
    }
}

/// Each thread ends the life of the function's own barrier.
#[device]
fn ended_by_all() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    bar.arrive_and_wait();
    block.sync();
    bar.invalidate();
}

fn main() {}
