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

#[cluster_kernel(block = 99_999_999_999_999_999_999)]
fn beyond_64_bits() {}

#[cluster_kernel(block = 32, min_blocks = 33)]
fn too_many_blocks() {}

#[cluster_kernel(block = 32, min_blocks = 0)]
fn no_block_at_all() {}

#[cluster_kernel(block = (32, 32), min_blocks = 3)]
fn too_many_threads() {}

#[cluster_kernel(max_registers = 16)]
fn too_few_registers() {}

#[cluster_kernel(max_registers = 256)]
fn too_many_registers() {}

#[cluster_kernel(block = 1024, max_registers = 128)]
fn registers_of_a_block() {}

#[cluster_kernel(shared_bytes = 300_000)]
fn too_much_memory() {}

fn main() {}
