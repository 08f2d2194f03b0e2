//! Elementwise kernels: activations, optimisers, broadcasts.

use phalanx::prelude::*;

use super::{below, random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Applies a function to all values, whatever the grid (the grid-stride loop of NVIDIA's "CUDA Pro Tip").
#[device]
fn map(x: &[f32], y: &mut [f32], grid: &Grid, f: impl Fn(f32) -> f32) {
    for i in (grid.thread_rank()..x.len()).step_by(grid.num_threads()) {
        y[i] = f(x[i]);
    }
}

/// Leaky ReLU, after PyTorch's elementwise kernels.
#[cluster_kernel(block = 256)]
pub(super) fn leaky_relu(x: &[f32], y: &mut [f32], slope: f32) {
    let grid = this_grid();
    map(x, y, &grid, |x| if x > 0.0 { x } else { x * slope });
}

/// Hard swish (MobileNetV3), as cuDNN fuses it.
#[cluster_kernel(block = 256)]
pub(super) fn hard_swish(x: &[f32], y: &mut [f32]) {
    let grid = this_grid();
    map(x, y, &grid, |x| x * (x + 3.0).max(0.0).min(6.0) / 6.0);
}

/// The epilogue of a matrix product, as in CUTLASS: `alpha * x + bias` of the column, never below zero.
#[cluster_kernel(block = (32, 8))]
pub(super) fn bias_relu(x: &[f32], bias: &[f32], y: &mut [f32], columns: u32, rows: u32, alpha: f32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let column = at.x * 32 + thread.x;
    let row = at.y * 8 + thread.y;
    if column >= columns || row >= rows {
        return;
    }
    let i = row * columns + column;
    y[i] = x[i].mul_add(alpha, bias[column]).max(0.0);
}

/// A step of Adam with decoupled weight decay (Loshchilov and Hutter 2019), fused as in NVIDIA's Apex.
#[cluster_kernel(block = 128)]
pub(super) fn adam(
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradients: &[f32],
    rate: f32,
    step: &[f32],
) {
    const BETA1: f32 = 0.9;
    const BETA2: f32 = 0.999;
    const EPSILON: f32 = 1e-8;
    const DECAY: f32 = 0.01;
    let grid = this_grid();
    for i in (grid.thread_rank()..weights.len()).step_by(grid.num_threads()) {
        let gradient = gradients[i];
        let m = BETA1 * first[i] + (1.0 - BETA1) * gradient;
        let v = BETA2 * second[i] + (1.0 - BETA2) * gradient * gradient;
        let update = (m / step[0]) / ((v / step[1]).sqrt() + EPSILON);
        weights[i] -= rate * (update + DECAY * weights[i]);
        first[i] = m;
        second[i] = v;
    }
}

/// Packed RGBA to luma by fixed-point weights (ITU-R BT.601), as NPP's colour conversions do.
#[cluster_kernel(block = 256)]
pub(super) fn luma(pixels: &[u32], out: &mut [u8]) {
    let i = this_grid().thread_rank();
    if i < pixels.len() {
        let pixel = pixels[i];
        let (red, green, blue) = (pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255);
        out[i] = ((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8;
    }
}

/// Selects by a class, like `torch.where` and masked fills with more than two choices.
#[cluster_kernel(block = 64)]
pub(super) fn choose(classes: &[u8], a: &[i64], b: &[i64], out: &mut [i64]) {
    let i = this_grid().thread_rank();
    if i >= classes.len() {
        return;
    }
    out[i] = match (classes[i], a[i], b[i]) {
        (0, a, _) => a,
        (1, _, b) => b,
        (2 | 3, a, b) if a < b => b - a,
        (2..=9, a, b) => a.max(b),
        (class, ..) => -(class as i64),
    };
}

fn activations(device: &Device) -> Outcome {
    for len in [1, 255, 5000] {
        let x: Vec<f32> = reals(1, len).into_iter().map(|x| x * 8.0).collect();
        let input = device.upload(&x)?;
        let got = read!(device, len, |y| leaky_relu(&input, y, 0.125).grid(3));
        let want: Vec<f32> = x.iter().map(|&x| if x > 0.0 { x } else { x * 0.125 }).collect();
        same(&got, &want, |i| format!("leaky {} of {len}", x[i]))?;
        let got = read!(device, len, |y| hard_swish(&input, y).grid(3));
        let want: Vec<f32> = x.iter().map(|&x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0).collect();
        same(&got, &want, |i| format!("swish {} of {len}", x[i]))?;
    }
    Ok(())
}

fn epilogues(device: &Device) -> Outcome {
    for (columns, rows) in [(64, 16), (45, 19)] {
        let (x, bias) = (reals(2, columns * rows), reals(3, columns));
        let (input, biases) = (device.upload(&x)?, device.upload(&bias)?);
        let (grid, size) = ((columns.div_ceil(32) as u32, rows.div_ceil(8) as u32), (columns as u32, rows as u32));
        let got = read!(device, x.len(), |y| bias_relu(&input, &biases, y, size.0, size.1, 1.5).grid(grid));
        let want: Vec<f32> = (0..x.len()).map(|i| x[i].mul_add(1.5, bias[i % columns]).max(0.0)).collect();
        same(&got, &want, |i| format!("{columns} columns, {i}"))?;
    }
    Ok(())
}

fn optimiser(device: &Device) -> Outcome {
    let len = 777;
    let (mut w, mut m, mut v) = (reals(4, len), vec![0.0f32; len], vec![0.0f32; len]);
    let (mut weights, mut first, mut second) = (device.upload(&w)?, device.upload(&m)?, device.upload(&v)?);
    for step in 1..=3 {
        let g = reals(4 + step, len);
        let correction = [1.0 - 0.9f32.powi(step as i32), 1.0 - 0.999f32.powi(step as i32)];
        let gradients = device.upload(&g)?;
        let corrections = device.upload(&correction)?;
        adam(&mut weights, &mut first, &mut second, &gradients, 0.01, &corrections).grid(2).launch(device)?;
        for i in 0..len {
            m[i] = 0.9 * m[i] + (1.0 - 0.9) * g[i];
            v[i] = 0.999 * v[i] + (1.0 - 0.999) * g[i] * g[i];
            let update = (m[i] / correction[0]) / ((v[i] / correction[1]).sqrt() + 1e-8);
            w[i] -= 0.01 * (update + 0.01 * w[i]);
        }
    }
    same(&weights.read()?, &w, |i| format!("weight {i}"))?;
    same(&second.read()?, &v, |i| format!("second moment {i}"))
}

fn pixels(device: &Device) -> Outcome {
    let values = random(5, 1023);
    let input = device.upload(&values)?;
    let got = read!(device, 1023, |out| luma(&input, out).grid(4));
    let part = |value: u32, shift: u32| value >> shift & 255;
    let luma = |&v: &u32| ((77 * part(v, 0) + 150 * part(v, 8) + 29 * part(v, 16) + 128) >> 8) as u8;
    same(&got, &values.iter().map(luma).collect::<Vec<_>>(), |i| format!("{:08x}", values[i]))
}

fn selections(device: &Device) -> Outcome {
    let classes: Vec<u8> = below(12, 6, 300).into_iter().map(|class| class as u8).collect();
    let wide = |seed| random(seed, 300).into_iter().map(i64::from).collect::<Vec<_>>();
    let (a, b) = (wide(7), wide(8));
    let (class, x, y) = (device.upload(&classes)?, device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, 300, |out| choose(&class, &x, &y, out).grid(5));
    let want: Vec<i64> = (0..300)
        .map(|i| match classes[i] {
            0 => a[i],
            1 => b[i],
            2 | 3 if a[i] < b[i] => b[i] - a[i],
            2..=9 => a[i].max(b[i]),
            class => -i64::from(class),
        })
        .collect();
    same(&got, &want, |i| format!("class {}, {i}", classes[i]))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::elementwise",
        checks: check_list![activations, epilogues, optimiser, pixels, selections],
        kernels: kernel_list![leaky_relu, hard_swish, bias_relu, adam, luma, choose],
    }
}
