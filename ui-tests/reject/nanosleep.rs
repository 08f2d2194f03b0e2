//! A sleep: one duration, which is a `u32`, and at most 1 ms.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn sleeps(output: &mut [u32]) {
    nanosleep();
    nanosleep(1, 2);
    nanosleep(1_000_001);
    nanosleep(output);
    nanosleep(this_thread_block());
    let slept = nanosleep(100);
    nanosleep(slept);
    output[0] = nanosleep(100);
}

fn main() {}
