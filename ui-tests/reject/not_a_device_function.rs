//! Functions that kernels cannot call: rustc says which, and what to write.

use phalanx::prelude::*;

fn plain(x: u32) -> u32 {
    x
}

mod other {
    pub fn generic<T>(x: T) -> T {
        x
    }
}

#[cluster_kernel]
fn kernel(output: &mut [u32]) {}

#[cluster_kernel]
fn calls(output: &mut [u32], n: u32) {
    output[0] = plain(3) + other::generic(n);
    output[1] = other::generic::<u32>(n);
    output[2] = std::hint::black_box(3);
    drop(n);
    kernel(output);
}

#[cluster_kernel]
fn while_pending(output: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    output[0] = plain(3);
    cluster.barrier_wait(token);
}

fn main() {}
