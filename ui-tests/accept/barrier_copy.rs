//! The closest kernels in which a barrier has one name.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn one_name() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    bar.arrive_and_wait();
}

#[cluster_kernel(block = 32)]
fn by_its_index(n: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    let one = n % 2;
    bars[one].arrive_and_wait();
}

#[device]
fn lent(bar: &Barrier) {
    bar.arrive_and_wait();
}

#[device]
fn lent_on(bars: &Barriers<2>, which: u32) {
    bars[which].arrive_and_wait();
}

/// A device function takes it by reference.
#[cluster_kernel(block = 32)]
fn by_reference() {
    let block = this_thread_block();
    let bar = shared_barrier();
    let bars = shared_barriers::<2>();
    bar.init_collective(&block, 32);
    bars.init_collective(&block, 32);
    lent(&bar);
    lent_on(&bars, 1);
}

/// The name of a peer's barrier is no second name of the block's own.
#[cluster_kernel(cluster = 2, block = 32)]
fn of_a_peer() {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let peer = cluster.map_shared_rank(&bar, 1);
    let same = peer;
    same.arrive();
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<one_name>,
    phalanx::Program::of::<by_its_index>,
    phalanx::Program::of::<by_reference>,
    phalanx::Program::of::<of_a_peer>,
];
