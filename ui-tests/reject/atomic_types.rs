//! Types without atomics, floats without bits, and pairs that are not exchanged whole: rustc's to refuse.

use phalanx::prelude::*;

#[cluster_kernel]
fn small(output: &mut [u8]) {
    output.atomic(0).fetch_add(1, Relaxed);
}

#[cluster_kernel]
fn bits(output: &mut [f32]) {
    output.atomic(0).fetch_or(1.0, Relaxed);
}

#[cluster_kernel]
fn pairs(output: &mut [f16x2]) {
    output.atomic(0).swap(f16x2::splat(f16::ONE), Relaxed);
}

#[cluster_kernel]
fn vectors(output: &mut [f32x2]) {
    output.atomic(0).fetch_add(f32x2::splat(1.0), Relaxed);
}

fn main() {}
