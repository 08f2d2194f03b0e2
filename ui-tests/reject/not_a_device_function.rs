//! A plain function, and a device function called wrongly: rustc's messages.

use phalanx::prelude::*;

fn plain(x: u32) -> u32 {
    x
}

#[device]
fn twice(x: u32) -> u32 {
    x * 2
}

#[cluster_kernel]
fn calls_a_plain_function(output: &mut [u32]) {
    output[0] = plain(3);
}

fn main() {}
