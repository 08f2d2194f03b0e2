//! Tokens that are not Rust: rustc says so, and neither the macro nor a caller says more.

use phalanx::prelude::*;

#[cluster_kernel]
fn shift(output: &mut [u64], n: u32) {
    output[0] = n as u64 << 3;
}

#[device]
fn missing(x: u32) -> u32 {
    x +
}

#[device]
fn parameter(x: u32, y) -> u32 {
    x
}

#[cluster_kernel]
fn calls(output: &mut [u32]) {
    output[0] = missing(3);
}

fn launch(output: &mut Buffer<u64>) {
    shift(output, 3).grid(1);
}

fn main() {}
