//! Types without atomics, and floats without bits: rustc's to refuse.

use phalanx::prelude::*;

#[cluster_kernel]
fn small(output: &mut [u8]) {
    output.atomic(0).fetch_add(1, Relaxed);
}

#[cluster_kernel]
fn bits(output: &mut [f32]) {
    output.atomic(0).fetch_or(1.0, Relaxed);
}

fn main() {}
