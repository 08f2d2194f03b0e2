//! A sleep's duration is a `u32`, as in CUDA: rustc reports any other.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn sleeps(output: &mut [i32], n: u64) {
    nanosleep(n);
    nanosleep(output[0]);
    nanosleep(-1);
}

fn main() {}
