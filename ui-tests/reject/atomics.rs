//! Atomic operations.

use phalanx::prelude::*;

use std::sync::atomic::Ordering;

#[cluster_kernel]
fn atomics(output: &mut [u32], input: &[u32], n: u32) {
    output.atomic(0);
    output.atomic(0).scope(Scope::Block);
    output.atomic(0).fetch_add(1, Ordering::Sequential);
    output.atomic(0).load(Ordering::Release);
    output.atomic(0).store(1, Acquire);
    output.atomic(0).compare_exchange(1, 2, AcqRel, Release).is_ok();
    output.atomic(0).scope(Scope::Warp).fetch_add(1, Relaxed);
    output.atomic(0).scope().fetch_add(1, Relaxed);
    output.atomic(0).fetch_update(Relaxed, Relaxed, |x| Some(x));
    output.atomic(0).fetch_add(1);
    output.atomic(0, 1).fetch_add(1, Relaxed);
    input.atomic(0).fetch_add(1, Relaxed);
    input[2..].atomic(0).fetch_add(1, Relaxed);
    n.atomic(0).fetch_add(1, Relaxed);
    output[0].fetch_add(1, Relaxed);
    let counter = &output[1];
    counter.compare_exchange(1, 2, AcqRel, Relaxed).is_ok();
    let named = output.atomic(2);
    named.fetch_add(1, Relaxed);
    fence(Relaxed, Scope::Cluster);
    fence(AcqRel);
}

fn main() {}
