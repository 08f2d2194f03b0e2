//! Limits that no device exceeds.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 0)]
fn no_blocks() {}

#[cluster_kernel(block = (32, 0))]
fn no_threads() {}

#[cluster_kernel(cluster = 9)]
fn not_portable() {}

#[cluster_kernel(cluster = (4, 4, 2), non_portable)]
fn cluster_too_large() {}

#[cluster_kernel(block = 1025)]
fn block_too_large() {}

#[cluster_kernel(block = (1, 1, 65))]
fn block_too_deep() {}

fn main() {}
