//! Atomic operations.

use phalanx::prelude::*;

use std::sync::atomic::Ordering;

#[cluster_kernel]
fn atomics(output: &mut [u32], n: u32) {
    output.atomic(0);
    output.atomic(0).fetch_add(1, Ordering::SeqCst);
    output.atomic(0).fetch_nand(1, Relaxed);
    output.atomic(0).fetch_add(1);
    output.atomic(0, 1).fetch_add(1, Relaxed);
    n.atomic(0).fetch_add(1, Relaxed);
}

fn main() {}
