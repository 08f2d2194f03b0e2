//! A kernel that races in global memory.

use phalanx::prelude::*;

/// Adds to each value the one that comes next, in place, which is wrong: that one may have its sum already.
#[cluster_kernel(block = 64)]
pub(crate) fn add_next(next: &[u32], values: &mut [f32]) {
    let i = this_grid().thread_rank();
    values[i] = values[i] + values[next[i]];
}

pub(crate) fn run(device: &Device) -> phalanx::Result<()> {
    let next = device.upload(&Vec::from_iter((0..64).map(|i| (i + 1) % 64)))?;
    let mut values = device.upload(&[1.0; 64])?;
    add_next(&next, &mut values).grid(1).launch(device)
}
