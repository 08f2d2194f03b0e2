//! Functions that call each other in a circle: rustc finds it, because each knows the collectives of those it calls.

use phalanx::prelude::*;

#[device]
fn even(n: u32) -> u32 {
    if n == 0 { 1 } else { odd(n - 1) }
}

#[device]
fn odd(n: u32) -> u32 {
    if n == 0 { 0 } else { even(n - 1) }
}

#[cluster_kernel]
fn kernel(output: &mut [u32], n: u32) {
    output[0] = even(n);
}

fn main() {}
