//! A kernel is launched, not called.

use phalanx::prelude::*;

#[cluster_kernel]
fn inner() {}

#[cluster_kernel]
fn outer() {
    inner();
}

fn main() {}
