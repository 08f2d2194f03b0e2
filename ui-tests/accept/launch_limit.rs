//! The limits themselves.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 8)]
fn portable() {}

#[cluster_kernel(cluster = (4, 4), non_portable)]
fn non_portable() {}

#[cluster_kernel(block = (4, 4, 64))]
fn deepest() {}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<portable>, phalanx::Program::of::<non_portable>, phalanx::Program::of::<deepest>];
