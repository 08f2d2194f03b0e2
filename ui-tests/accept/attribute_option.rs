//! Attributes with every option, in each of its forms.

use phalanx::prelude::*;

#[cluster_kernel(cluster = (2, 2), block = (8, 4, 2))]
fn extents() {}

#[cluster_kernel(block = 1_024, cluster = 16, non_portable)]
fn largest() {}

#[cluster_kernel]
fn left_to_the_launch() {}

#[cluster_kernel(block = (32, 4), min_blocks = 8, shared_bytes = 4_096, fmad, fence = "full",)]
fn one_of_each(x: f32) {}

#[cluster_kernel(max_registers = 0x40, fast_math, fence = "inferred")]
fn registers(x: f32) {}

#[cluster_kernel]
#[cfg(any())]
fn left_out(x: NoSuchType) {}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<extents>,
    phalanx::Program::of::<largest>,
    phalanx::Program::of::<left_to_the_launch>,
    phalanx::Program::of::<one_of_each>,
    phalanx::Program::of::<registers>,
];
