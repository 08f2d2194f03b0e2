//! Slices that may be missing.

use phalanx::prelude::*;

#[device]
fn helper(bias: Option<&[f32]>) {}

#[cluster_kernel]
fn optional(bias: Option<&[f32]>, trace: Option<&mut [u32]>, out: &mut [f32]) {
    out[0] = bias[0];
    out[1] = bias.unwrap()[0];
    if let Some(bias) = bias {
        bias[0] = 1.0;
    }
    if let Some([x, y]) = bias {}
    let x = bias + 1;
}

fn main() {}
