//! The limits themselves.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 8)]
fn portable() {}

#[cluster_kernel(cluster = (4, 4), non_portable)]
fn non_portable() {}

#[cluster_kernel(block = (4, 4, 64))]
fn deepest() {}

#[cluster_kernel(block = (32, 2), min_blocks = 32)]
fn most_blocks() {}

#[cluster_kernel(block = 1024, max_registers = 64)]
fn registers_of_a_block() {}

#[cluster_kernel(max_registers = 24)]
fn fewest_registers() {}

#[cluster_kernel(max_registers = 255)]
fn most_registers() {}

#[cluster_kernel(shared_bytes = 232_448)]
fn most_memory() {}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<portable>,
    phalanx::Program::of::<non_portable>,
    phalanx::Program::of::<deepest>,
    phalanx::Program::of::<most_blocks>,
    phalanx::Program::of::<registers_of_a_block>,
    phalanx::Program::of::<fewest_registers>,
    phalanx::Program::of::<most_registers>,
    phalanx::Program::of::<most_memory>,
];
