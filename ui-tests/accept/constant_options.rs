//! The limits themselves, as constants.

use phalanx::prelude::*;

const BLOCKS: usize = 8;
const THREADS: u32 = 1_000;
const BYTES: i64 = 232_448;

#[cluster_kernel(cluster = BLOCKS)]
fn portable() {}

#[cluster_kernel(cluster = (BLOCKS, 2), non_portable)]
fn non_portable() {}

#[cluster_kernel(block = (THREADS))]
fn parenthesised() {}

#[cluster_kernel(block = (4, { const TWO: u32 = 2; 2 * TWO }, THREADS / 20 + 14))]
fn deepest() {}

#[cluster_kernel(block = THREADS / 2, min_blocks = 4)]
fn many_threads() {}

#[cluster_kernel(block = THREADS / 2, max_registers = u8::MAX / 2)]
fn many_registers() {}

#[cluster_kernel(shared_bytes = BYTES)]
fn much_memory() {}

#[cluster_kernel(block = (N, M), min_blocks = M)]
fn generic<const N: usize, const M: u8>() {}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<portable>,
    phalanx::Program::of::<non_portable>,
    phalanx::Program::of::<parenthesised>,
    phalanx::Program::of::<deepest>,
    phalanx::Program::of::<many_threads>,
    phalanx::Program::of::<many_registers>,
    phalanx::Program::of::<much_memory>,
    phalanx::Program::of::<generic<64, 2>>,
];
