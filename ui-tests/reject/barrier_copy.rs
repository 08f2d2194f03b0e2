//! A second name for a barrier in shared memory.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn another_name() {
    let bar = shared_barrier();
    let other = bar;
}

#[cluster_kernel(block = 32)]
fn one_of_an_array() {
    let bars = shared_barriers::<2>();
    let one = bars[1];
}

#[cluster_kernel(block = 32)]
fn an_array() {
    let bars = shared_barriers::<2>();
    let others = bars;
}

#[cluster_kernel(cluster = 2, block = 32)]
fn of_the_cluster() {
    let bar = shared_cluster_barrier();
    let other = bar;
}

#[device]
fn of_a_parameter(bar: &Barrier) {
    let other = bar;
}

fn main() {}
