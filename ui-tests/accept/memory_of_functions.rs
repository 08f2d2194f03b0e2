//! Shared memory that device functions name without being given it, with the barriers that it needs.

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

/// Another function with an array of the same name.
#[device]
fn cluster_product(x: u32) -> u32 {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let parts = shared_array::<u32, 1>();
    if block.thread_rank() == 0 {
        parts[0] = x;
    }
    cluster.sync();
    x * cluster.map_shared_rank(&parts, 1 - cluster.block_rank())[0]
}

#[device]
fn one_more(x: u32) -> u32 {
    cluster_sum(x) + 1
}

/// A barrier comes before the inner call.
#[device]
fn doubled(x: u32) -> u32 {
    enter();
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
    cluster.sync();
    out[0] = first + total(2);
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn of_two_functions(out: &mut [u32]) {
    let cluster = this_cluster();
    let first = cluster_sum(1);
    out[0] = first + cluster_product(2);
    cluster.sync();
}

/// Scratch memory of a block, which no peer accesses, needs no barrier of the cluster.
#[device]
fn block_sum(x: u32) -> u32 {
    let block = this_thread_block();
    let scratch = shared_array::<u32, 32>();
    block.sync();
    scratch[block.thread_rank()] = x;
    block.sync();
    scratch[0] + scratch[1]
}

#[cluster_kernel(cluster = 2, block = 32)]
fn sums_of_blocks(out: &mut [u32]) {
    let first = block_sum(1);
    out[0] = first + block_sum(2);
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
    enter();
    fill(i, 2);
}

/// The kernel names it, too, and reads what only a function has written.
#[cluster_kernel(cluster = 2, block = 32)]
fn dynamic_of_kernel_and_function(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let cells = dynamic_shared_slice::<u32>(0, 32);
    fill(i, 1);
    cluster.sync();
    out[i] = read_peer(i) + cells[31 - i];
    cluster.sync();
    cells[i] = 2;
}

#[device]
fn exchange(cells: &SharedSlice<u32>, peer: &RemoteSlice<u32>, i: u32, x: u32) -> u32 {
    cells[i] = x;
    peer[i]
}

/// The functions name no dynamic memory: their parts of it are disjoint.
#[cluster_kernel(cluster = 2, block = 32)]
fn parts_of_dynamic(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = dynamic_shared_slice::<u32>(0, 32);
    let others = dynamic_shared_slice::<u32>(32 * 4, 32);
    others[i] = 1;
    let peer = cluster.map_shared_rank(others, 1 - cluster.block_rank());
    cluster.sync();
    out[i] = exchange(cells, &peer, i, 2) + exchange(cells, &peer, i, 3);
    cluster.sync();
}

/// Writes between its barriers, where the closure is called.
#[device]
fn between(cells: &SharedArray<u32, 32>, i: u32, value: impl Fn(u32) -> u32) -> u32 {
    let cluster = this_cluster();
    cluster.sync();
    cells[i] = i;
    let sum = value(i);
    cluster.sync();
    sum
}

/// The closure writes what peers read behind the next barrier.
#[device]
fn filled_by(cells: &SharedArray<u32, 32>, i: u32, fill: impl Fn(u32)) -> u32 {
    let cluster = this_cluster();
    fill(i);
    cluster.sync();
    let x = cluster.map_shared_rank(cells, 1 - cluster.block_rank())[i];
    cluster.sync();
    x
}

#[cluster_kernel(cluster = 2, block = 32)]
fn closures(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let cells = shared_array::<u32, 32>();
    let others = shared_array::<u32, 32>();
    others[i] = 1;
    cluster.sync();
    let peer = cluster.map_shared_rank(&others, 1 - cluster.block_rank());
    out[i] = between(&cells, i, |k| peer[k]);
    cluster.sync();
    out[i] += filled_by(&cells, i, |k| cells[k] = k);
}

/// The barrier's life ends with the call.
#[device]
fn meet() {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.init(32);
    }
    block.sync();
    bar.arrive_and_wait();
    block.sync();
    if block.thread_rank() == 0 {
        bar.invalidate();
    }
    block.sync();
}

#[cluster_kernel(block = 32)]
fn meet_in_a_loop() {
    for _ in 0..2 {
        meet();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<through_two_functions>,
    phalanx::Program::of::<under_two_names>,
    phalanx::Program::of::<of_two_functions>,
    phalanx::Program::of::<sums_of_blocks>,
    phalanx::Program::of::<dynamic_of_two_functions>,
    phalanx::Program::of::<dynamic_of_kernel_and_function>,
    phalanx::Program::of::<parts_of_dynamic>,
    phalanx::Program::of::<closures>,
    phalanx::Program::of::<meet_in_a_loop>,
];
