//! Limits of constants, which rustc evaluates.

use phalanx::prelude::*;

const BLOCKS: usize = 9;
const THREADS: u32 = 2_000;
const NEGATIVE: i32 = -1;
const HALF: f32 = 0.5;

#[cluster_kernel(cluster = BLOCKS)]
fn not_portable() {}

#[cluster_kernel(cluster = (BLOCKS, 2), non_portable)]
fn cluster_too_large() {}

#[cluster_kernel(block = THREADS)]
fn block_too_large() {}

#[cluster_kernel(block = NEGATIVE)]
fn below_zero() {}

#[cluster_kernel(block = (1, 1, THREADS / 20))]
fn block_too_deep() {}

#[cluster_kernel(block = HALF)]
fn not_an_integer() {}

#[cluster_kernel(block = THREADS / 2, min_blocks = 3)]
fn too_many_threads() {}

#[cluster_kernel(block = THREADS / 2, max_registers = 128)]
fn too_many_registers() {}

#[cluster_kernel(max_registers = THREADS)]
fn no_such_registers() {}

#[cluster_kernel(shared_bytes = THREADS * 1_000)]
fn too_much_memory() {}

#[cluster_kernel(block = NO_SUCH_CONSTANT)]
fn unknown_constant() {}

fn main() {}
