//! A kernel that races in global memory.

use phalanx::prelude::*;

/// Smooths values in place, which is wrong: a neighbour may have written its result already.
#[cluster_kernel(block = 64)]
pub(crate) fn smooth(values: &mut [f32]) {
    let i = this_grid().thread_rank();
    if i > 0 && i + 1 < values.len() {
        values[i] = (values[i - 1] + values[i] + values[i + 1]) / 3.0;
    }
}

pub(crate) fn run(device: &Device) -> phalanx::Result<()> {
    let mut values = device.upload(&[1.0; 64])?;
    smooth(&mut values).grid(1).launch(device)
}
