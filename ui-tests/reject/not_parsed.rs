//! A body that is no Rust: rustc says so first, and the macro adds what it saw.

use phalanx::prelude::*;

#[cluster_kernel]
fn shift(output: &mut [u64], n: u32) {
    output[0] = n as u64 << 3;
}

fn main() {}
