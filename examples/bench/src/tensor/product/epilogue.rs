//! What becomes of the sums of a product before they are stored: nothing but a factor, or what a layer of a network adds. The epilogues are
//! device traits, so that each makes a kernel of its own; `persistent` has the kernels.

use phalanx::prelude::*;

/// The last step of a product: it makes elements of the result of two neighbours of a sum, in row `y` and from column `x` on.
#[device]
pub(super) trait Epilogue {
    fn of(two: [f32; 2], scale: f32, bias: &[bf16], residual: &[bf16], y: u32, x: u32) -> [f32; 2];
}

pub(super) struct Scaled;

#[device]
impl Epilogue for Scaled {
    fn of(two: [f32; 2], scale: f32, _bias: &[bf16], _residual: &[bf16], _y: u32, _x: u32) -> [f32; 2] {
        [two[0] * scale, two[1] * scale]
    }
}

// ANCHOR: layer
/// `x` times the probability that a normal number is less, by the usual approximation (Hendrycks and Gimpel 2016).
#[device]
fn gelu(x: f32) -> f32 {
    let inner = x * (x * x).mul_add(0.044_715, 1.0) * (2.0 * 0.797_884_6);
    x * fast::recip(1.0 + fast::exp(-inner))
}

#[device]
fn silu(x: f32) -> f32 {
    x * fast::recip(1.0 + fast::exp(-x))
}

/// `activation(scale * two + bias) + residual`; what lies outside of the result is not stored.
#[device]
fn fused(
    two: [f32; 2],
    scale: f32,
    bias: &[bf16],
    residual: &[bf16],
    y: u32,
    x: u32,
    activation: impl Fn(f32) -> f32,
) -> [f32; 2] {
    // No branch, so that many loads are in flight: what is loaded for a place outside is that of the last one.
    let column = (x as usize).min(bias.len() - 2);
    let at = (y as usize * bias.len() + column).min(residual.len() - 2);
    let (bias, residual) = (bias.load_vec::<2>(column), residual.load_vec::<2>(at));
    [
        activation(two[0].mul_add(scale, bias[0].to_f32())) + residual[0].to_f32(),
        activation(two[1].mul_add(scale, bias[1].to_f32())) + residual[1].to_f32(),
    ]
}

pub(super) struct Gelu;

#[device]
impl Epilogue for Gelu {
    fn of(two: [f32; 2], scale: f32, bias: &[bf16], residual: &[bf16], y: u32, x: u32) -> [f32; 2] {
        fused(two, scale, bias, residual, y, x, |sum| gelu(sum))
    }
}

pub(super) struct Silu;

#[device]
impl Epilogue for Silu {
    fn of(two: [f32; 2], scale: f32, bias: &[bf16], residual: &[bf16], y: u32, x: u32) -> [f32; 2] {
        fused(two, scale, bias, residual, y, x, |sum| silu(sum))
    }
}
// ANCHOR_END: layer
