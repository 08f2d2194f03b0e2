//! The epilogues of a product, which are applied to the sums of a tile before they are stored: a factor alone, or what a layer of a network adds.
//! They are device traits, so that each makes a kernel of its own; `persistent` has the kernels.

use phalanx::prelude::*;

/// A number that becomes an `f32`.
#[device]
pub(super) trait Real {
    fn real(self) -> f32;
}

#[device]
impl Real for f32 {
    fn real(self) -> f32 {
        self
    }
}

#[device]
impl Real for i32 {
    fn real(self) -> f32 {
        self as f32
    }
}

/// The last step of a product: it makes elements of the result of two neighbours of a sum.
#[device]
pub(super) trait Epilogue {
    /// Loads what is added to the neighbours in row `y` and from column `x` on: of the bias, and of the residual.
    fn load(bias: &[[bf16; 2]], residual: &[[bf16; 2]], y: u32, x: u32) -> [[bf16; 2]; 2];
    fn of(two: [f32; 2], scale: f32, added: [[bf16; 2]; 2]) -> [f32; 2];
}

pub(super) struct Scaled;

#[device]
impl Epilogue for Scaled {
    fn load(_bias: &[[bf16; 2]], _residual: &[[bf16; 2]], _y: u32, _x: u32) -> [[bf16; 2]; 2] {
        [[bf16::ZERO; 2]; 2]
    }
    fn of(two: [f32; 2], scale: f32, _added: [[bf16; 2]; 2]) -> [f32; 2] {
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

/// Loads a layer's bias and residual. What lies outside of the result is not stored: for it, the last ones are loaded, without a branch.
#[device]
fn of_layer(bias: &[[bf16; 2]], residual: &[[bf16; 2]], y: u32, x: u32) -> [[bf16; 2]; 2] {
    let column = (x as usize / 2).min(bias.len() - 1);
    let at = (y as usize * bias.len() + column).min(residual.len() - 1);
    [bias[column], residual[at]]
}

/// `activation(scale * two + bias) + residual`
#[device]
fn fused(two: [f32; 2], scale: f32, added: [[bf16; 2]; 2], activation: impl Fn(f32) -> f32) -> [f32; 2] {
    let [bias, residual] = added;
    [
        activation(two[0].mul_add(scale, bias[0].to_f32())) + residual[0].to_f32(),
        activation(two[1].mul_add(scale, bias[1].to_f32())) + residual[1].to_f32(),
    ]
}

pub(super) struct Gelu;

#[device]
impl Epilogue for Gelu {
    fn load(bias: &[[bf16; 2]], residual: &[[bf16; 2]], y: u32, x: u32) -> [[bf16; 2]; 2] {
        of_layer(bias, residual, y, x)
    }
    fn of(two: [f32; 2], scale: f32, added: [[bf16; 2]; 2]) -> [f32; 2] {
        fused(two, scale, added, |sum| gelu(sum))
    }
}

pub(super) struct Silu;

#[device]
impl Epilogue for Silu {
    fn load(bias: &[[bf16; 2]], residual: &[[bf16; 2]], y: u32, x: u32) -> [[bf16; 2]; 2] {
        of_layer(bias, residual, y, x)
    }
    fn of(two: [f32; 2], scale: f32, added: [[bf16; 2]; 2]) -> [f32; 2] {
        fused(two, scale, added, |sum| silu(sum))
    }
}
// ANCHOR_END: layer
