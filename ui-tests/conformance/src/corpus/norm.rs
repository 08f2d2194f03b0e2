//! Normalisation, activations and positions of transformers, in single and half precision.

use phalanx::prelude::*;

use super::blocks::{block_reduce, halves};
use super::reals;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// Root mean square normalisation of half-precision rows with sums in single (vLLM's `rms_norm_kernel`).
#[cluster_kernel(block = 128)]
fn rms_norm(rows: &[f16], weights: &[f16], out: &mut [f16], columns: u32, epsilon: f32) {
    let block = this_thread_block();
    let scratch = shared_array::<f32, BLOCK>();
    let start = this_grid().block_rank() as u32 * columns;
    let mut sum = 0.0;
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        let x = rows[start + column].to_f32();
        sum = x.mul_add(x, sum);
    }
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    let scale = (sum / columns as f32 + epsilon).sqrt().recip();
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        out[start + column] = f16::from_f32(rows[start + column].to_f32() * scale) * weights[column];
    }
}

/// Combines the count, mean and sum of squared differences of two parts (Chan, Golub and LeVeque 1979).
#[device]
fn welford(a: (f32, f32, f32), b: (f32, f32, f32)) -> (f32, f32, f32) {
    let ((a_count, a_mean, a_squares), (b_count, b_mean, b_squares)) = (a, b);
    let count = a_count + b_count;
    if count == 0.0 {
        return a;
    }
    let delta = b_mean - a_mean;
    let share = b_count / count;
    (count, delta.mul_add(share, a_mean), a_squares + b_squares + delta * delta * a_count * share)
}

/// Layer normalisation by Welford's moments (NVIDIA Apex's fused layer norm), two blocks of a cluster a row, that exchange
/// their moments through distributed shared memory.
#[cluster_kernel(cluster = 2, block = 128)]
fn layer_norm(rows: &[f32], gain: &[f32], shift: &[f32], out: &mut [f32], columns: u32, epsilon: f32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let moments = shared_array::<[f32; 3], BLOCK>();
    let i = block.thread_rank();
    let start = this_grid().cluster_rank() as u32 * columns;
    let mut own = (0.0, 0.0, 0.0);
    for column in (cluster.thread_rank()..columns).step_by(2 * BLOCK) {
        own = welford(own, (1.0, rows[start + column], 0.0));
    }
    let mut half = BLOCK as u32 / 2;
    while half > 0 {
        let (count, mean, squares) = own;
        moments[i] = [count, mean, squares];
        block.sync();
        if i < half {
            let [count, mean, squares] = moments[i + half];
            own = welford(own, (count, mean, squares));
        }
        block.sync();
        half /= 2;
    }
    if i == 0 {
        let (count, mean, squares) = own;
        moments[0] = [count, mean, squares];
    }
    cluster.sync();
    // In the order of the blocks, so that both get the same result.
    let first = cluster.map_shared_rank(&moments, 0)[0];
    let second = cluster.map_shared_rank(&moments, 1)[0];
    let token = cluster.barrier_arrive(); // both are read
    let (count, mean, squares) = welford((first[0], first[1], first[2]), (second[0], second[1], second[2]));
    let scale = 1.0 / (squares / count + epsilon).sqrt();
    for column in (cluster.thread_rank()..columns).step_by(2 * BLOCK) {
        out[start + column] = ((rows[start + column] - mean) * scale).mul_add(gain[column], shift[column]);
    }
    cluster.barrier_wait(token);
}

/// The gate of Llama's MLP, `silu(x) * y`, in bf16, with a single rounding (vLLM's `silu_and_mul`).
#[cluster_kernel(block = 64)]
fn silu_and_mul(gate_and_up: &[bf16], out: &mut [bf16], width: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= out.len() as u32 {
        return;
    }
    let (row, column) = (i / width, i % width);
    let gate = gate_and_up[row * 2 * width + column].to_f32();
    let up = gate_and_up[row * 2 * width + width + column].to_f32();
    out[i] = bf16::from_f32(gate / (1.0 + (-gate).exp()) * up);
}

/// GELU by its exact and by its fast formula (PyTorch's `gelu` with `approximate='tanh'`).
#[cluster_kernel(block = 64)]
fn gelu(x: &[f32], y: &mut [f32]) {
    const FACTOR: f32 = 0.797_884_56;
    let i = this_grid().thread_rank();
    if i < x.len() {
        let x = x[i];
        y[i] = 0.5 * x * (1.0 + (FACTOR * (0.044715 * x * x).mul_add(x, x)).tanh());
    }
}

/// Rotary position embeddings, halves of a head against each other (Su and others 2021; vLLM's `rotary_embedding`, with
/// the angles computed here).
#[cluster_kernel(block = (16, 4))]
fn rotary(heads: &mut [f32], positions: &[u32], tokens: u32, width: u32, base: f32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (pair, token) = (at.x * 16 + thread.x, at.y * 4 + thread.y);
    let half = width / 2;
    if pair >= half || token >= tokens {
        return;
    }
    let frequency = base.powf(-(pair as f32) / half as f32);
    let (sin, cos) = (positions[token] as f32 * frequency).sin_cos();
    let (first, second) = (token * width + pair, token * width + half + pair);
    let (x, y) = (heads[first], heads[second]);
    heads[first] = x * cos - y * sin;
    heads[second] = y * cos + x * sin;
}

fn rms_norms(device: &Device) -> Outcome {
    for (rows, columns) in [(3, 256), (2, 77)] {
        let half = |seed, len| reals(seed, len).into_iter().map(f16::from_f32).collect::<Vec<f16>>();
        let (values, weights) = (half(261, rows * columns), half(262, columns));
        let (input, gain) = (device.upload(&values)?, device.upload(&weights)?);
        let got =
            read!(device, values.len(), |out| { rms_norm(&input, &gain, out, columns as u32, 1e-5).grid(rows as u32) });
        let row = |row: &[f16]| {
            let squares =
                |t| (t..columns).step_by(BLOCK).fold(0.0f32, |sum, i| row[i].to_f32().mul_add(row[i].to_f32(), sum));
            let sum = halves(&(0..BLOCK).map(squares).collect::<Vec<_>>(), |a, b| a + b);
            let scale = 1.0 / (sum / columns as f32 + 1e-5).sqrt();
            (0..columns).map(|i| f16::from_f32(row[i].to_f32() * scale) * weights[i]).collect::<Vec<_>>()
        };
        let bits = |values: Vec<f16>| values.into_iter().map(f16::to_bits).collect::<Vec<u16>>();
        same(&bits(got), &bits(values.chunks(columns).flat_map(row).collect()), |i| format!("{columns} columns, {i}"))?;
    }
    Ok(())
}

fn layer_norms(device: &Device) -> Outcome {
    for (rows, columns) in [(2, 512), (3, 131), (1, 5)] {
        let values: Vec<f32> = reals(263, rows * columns).into_iter().map(|x| x + 100.0).collect();
        let (gain, shift) = (reals(264, columns), reals(265, columns));
        let (input, a, b) = (device.upload(&values)?, device.upload(&gain)?, device.upload(&shift)?);
        let got = read!(device, values.len(), |out| {
            layer_norm(&input, &a, &b, out, columns as u32, 1e-5).grid(2 * rows as u32)
        });
        for (i, got) in got.iter().enumerate() {
            let row = &values[i / columns * columns..][..columns];
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / columns as f64;
            let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / columns as f64;
            let scaled = (f64::from(values[i]) - mean) / (variance + 1e-5).sqrt();
            let want = scaled * f64::from(gain[i % columns]) + f64::from(shift[i % columns]);
            // The values are 100, their differences 1: two digits are gone from the start.
            if (f64::from(*got) - want).abs() > 1e-4 {
                return Err(format!("{columns} columns, {i}: got {got}, want {want}").into());
            }
        }
    }
    Ok(())
}

fn activations(device: &Device) -> Outcome {
    let (rows, width) = (3usize, 50usize);
    let values: Vec<bf16> = reals(266, rows * 2 * width).into_iter().map(|x| bf16::from_f32(x * 8.0)).collect();
    let input = device.upload(&values)?;
    let got = read!(device, rows * width, |out| silu_and_mul(&input, out, width as u32).grid(3));
    for (i, got) in got.iter().enumerate() {
        let at = i / width * 2 * width + i % width;
        let (gate, up) = (values[at].to_f64(), values[at + width].to_f64());
        let want = gate / (1.0 + (-gate).exp()) * up;
        // Half an ulp of 8 bits, and what the exponential is off.
        if (got.to_f64() - want).abs() > want.abs() * 0.00391 {
            return Err(format!("silu {i}: got {got}, want {want}").into());
        }
    }
    let x: Vec<f32> = reals(267, 333).into_iter().map(|x| x * 6.0).collect();
    let input = device.upload(&x)?;
    let got = read!(device, 333, |y| gelu(&input, y).grid(6));
    for (x, got) in x.iter().zip(got) {
        let x = f64::from(*x);
        let want = 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
        if (f64::from(got) - want).abs() > 1e-6 {
            return Err(format!("gelu {x}: got {got}, want {want}").into());
        }
    }
    Ok(())
}

fn rotations(device: &Device) -> Outcome {
    for (tokens, width) in [(4usize, 32usize), (7, 50)] {
        let values = reals(268, tokens * width);
        let positions: Vec<u32> = (0..tokens as u32).map(|token| token * 37).collect();
        let (mut heads, at) = (device.upload(&values)?, device.upload(&positions)?);
        let grid = ((width / 2).div_ceil(16) as u32, tokens.div_ceil(4) as u32);
        rotary(&mut heads, &at, tokens as u32, width as u32, 10_000.0).grid(grid).launch(device)?;
        for (i, got) in heads.read()?.iter().enumerate() {
            let (token, column, half) = (i / width, i % width, width / 2);
            let frequency = 10_000f64.powf(-((column % half) as f64) / half as f64);
            let (sin, cos) = (f64::from(positions[token]) * frequency).sin_cos();
            let value = |column: usize| f64::from(values[token * width + column]);
            let want = match column < half {
                true => value(column) * cos - value(column + half) * sin,
                false => value(column) * cos + value(column - half) * sin,
            };
            // An angle of 222 has been rounded to 24 bits, from a frequency that was.
            if (f64::from(*got) - want).abs() > 2e-4 {
                return Err(format!("{width} wide, {i}: got {got}, want {want}").into());
            }
        }
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::norm",
        checks: check_list![rms_norms, layer_norms, activations, rotations],
        kernels: kernel_list![rms_norm, layer_norm, silu_and_mul, gelu, rotary],
    }
}
