//! Losses, norms and optimizers of neural networks, with a row for each warp or block.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "losses", about: "losses, norms and optimizers in `f32`", cases };

/// The cross entropy of rows and their labels; rows whose label is negative are left out. A warp for each row.
#[cluster_kernel(block = 256)]
fn cross_entropy(logits: &[f32], labels: &[i32], out: &mut [f32], columns: u32) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().thread_rank() as u32 / 32;
    let lane = warp.thread_rank();
    let label = labels[row];
    let mut most = f32::NEG_INFINITY;
    for column in (lane..columns).step_by(32) {
        most = most.max(logits[row * columns + column]);
    }
    let most = warp.reduce(most, op::Max);
    let mut sum = 0.0;
    for column in (lane..columns).step_by(32) {
        sum += fast::exp(logits[row * columns + column] - most);
    }
    let sum = warp.reduce(sum, op::Plus);
    if lane == 0 {
        out[row] = if label >= 0 { fast::ln(sum) + most - logits[row * columns + label as u32] } else { 0.0 };
    }
}

/// The gradient of the cross entropy: the probabilities, less one at the label.
#[cluster_kernel(block = 256)]
fn cross_entropy_gradient(logits: &[f32], labels: &[i32], sums: &[[f32; 2]], out: &mut [f32], columns: u32) {
    let i = this_grid().thread_rank() as u32;
    let (row, column) = (i / columns, i % columns);
    let [most, sum] = sums[row];
    let mut p = fast::exp(logits[i] - most) / sum;
    if labels[row] as u32 == column {
        p -= 1.0;
    }
    out[i] = p;
}

/// One step of Adam with decoupled decay of weights (Loshchilov and Hutter, 2017).
#[cluster_kernel(block = 256)]
fn adam(gradients: &[f32], weights: &mut [f32], first: &mut [f32], second: &mut [f32], rate: f32) {
    let i = this_grid().thread_rank() * 4;
    if i >= weights.len() {
        return;
    }
    let g = gradients.load_vec::<4>(i);
    let (mut w, mut m, mut v) = (weights.load_vec::<4>(i), first.load_vec::<4>(i), second.load_vec::<4>(i));
    for k in 0..4 {
        m[k] = 0.9f32.mul_add(m[k] - g[k], g[k]);
        v[k] = 0.999f32.mul_add(v[k] - g[k] * g[k], g[k] * g[k]);
        w[k] -= rate * (m[k] / (v[k].sqrt() + 1e-8) + 0.01 * w[k]);
    }
    weights.store_vec(i, w);
    first.store_vec(i, m);
    second.store_vec(i, v);
}

/// The sum and a square sum of a warp's threads, in all of a block.
#[device]
fn of_block(pair: (f32, f32), of_warps: &SharedSlice<[f32; 2]>) -> (f32, f32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (a, b) = (warp.reduce(pair.0, op::Plus), warp.reduce(pair.1, op::Plus));
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = [a, b];
    }
    block.sync();
    let mut total = (0.0, 0.0);
    for k in 0..8 {
        total = (total.0 + of_warps[k][0], total.1 + of_warps[k][1]);
    }
    total
}

/// The gradient of layer norm with respect to its input; a block for each row of 1,024 columns.
#[cluster_kernel(block = 256)]
fn norm_gradient(input: &[f32], upstream: &[f32], weight: &[f32], out: &mut [f32]) {
    let of_warps = shared_array::<[f32; 2], 8>();
    let more = shared_array::<[f32; 2], 8>();
    let i = this_thread_block().thread_rank() as usize * 4;
    let row = this_grid().block_rank() * 1024;
    let (x, g, w) = (input.load_vec::<4>(row + i), upstream.load_vec::<4>(row + i), weight.load_vec::<4>(i));
    let (mut sum, mut squares) = (0.0, 0.0);
    for k in 0..4 {
        sum += x[k];
        squares = x[k].mul_add(x[k], squares);
    }
    let (sum, squares) = of_block((sum, squares), &of_warps);
    let mean = sum / 1024.0;
    let scale = fast::rsqrt(squares / 1024.0 - mean * mean + 1e-5);
    let (mut a, mut b) = (0.0, 0.0);
    for k in 0..4 {
        a = g[k].mul_add(w[k], a);
        b = (g[k] * w[k]).mul_add((x[k] - mean) * scale, b);
    }
    let (a, b) = of_block((a, b), &more);
    let mut result = Vector::<f32, 4>::splat(0.0);
    for k in 0..4 {
        let normal = (x[k] - mean) * scale;
        result[k] = scale * (g[k] * w[k] - (a + normal * b) / 1024.0);
    }
    out.store_vec(row + i, result);
}

/// The largest element of each row, and where it is: a warp for each row.
#[cluster_kernel(block = 256)]
fn largest(input: &[f32], out: &mut [u32], columns: usize) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().thread_rank() / 32;
    let values = &input[row * columns..(row + 1) * columns];
    let (mut best, mut at) = (f32::NEG_INFINITY, 0u32);
    for column in (warp.thread_rank() as usize..columns).step_by(32) {
        if values[column] > best {
            (best, at) = (values[column], column as u32);
        }
    }
    let (_, at) = warp.reduce((best, at), |a, b| if a.0 > b.0 || (a.0 == b.0 && a.1 < b.1) { a } else { b });
    if warp.thread_rank() == 0 {
        out[row] = at;
    }
}

const TWINS: &str = include_str!("../../twins/losses.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let (rows, columns): (usize, usize) = scale.pick((1 << 18, 512), (64, 64));
    let len = rows * columns;
    let logits = move || data::reals(100, len);
    let pair = |entry, grid: usize| Pair::new(entry, TWINS, (columns as u64, "columns"), grid as u32, 256);
    let labels = move || data::random(101, rows, |bits| (bits >> 32) as i32 % (2 * columns as i32) % columns as i32);
    let weights: usize = scale.pick(1 << 26, 1 << 12);
    let normed: usize = scale.pick(1 << 16, 8);
    vec![
        pair("cross_entropy", rows / 8).bytes(4 * len).case(logits, rows, move |device| {
            let labels = Memory::upload(device, &labels())?;
            let twin = vec![Argument::Word(labels.address()), Argument::Number(columns as u32)];
            launch(twin, move |device, input, out| {
                cross_entropy(input, &labels.buffer, out, columns as u32).grid(rows as u32 / 8).enqueue(device)
            })
        }),
        pair("cross_entropy_gradient", len / 256).bytes(8 * len).case(logits, len, move |device| {
            let labels = Memory::upload(device, &labels())?;
            let sums = Memory::upload(device, &vec![[1.0f32, columns as f32]; rows])?;
            let words = [labels.address(), sums.address()].map(Argument::Word);
            let twin = [&words[..], &[Argument::Number(columns as u32)]].concat();
            launch(twin, move |device, input, out| {
                let call = cross_entropy_gradient(input, &labels.buffer, &sums.buffer, out, columns as u32);
                call.grid((len / 256) as u32).enqueue(device)
            })
        }),
        pair("adam", weights / 1024).adds().bytes(28 * weights).case(
            move || data::reals(102, weights),
            weights,
            move |device| {
                let mut m = Memory::upload(device, &vec![0.0f32; weights])?;
                let mut v = Memory::upload(device, &vec![0.0f32; weights])?;
                let words = [m.address(), v.address(), weights as u64].map(Argument::Word);
                launch([&words[..], &[Argument::Real(0.0)]].concat(), move |device, input, out| {
                    let call = adam(input, out, &mut m.buffer, &mut v.buffer, 0.0);
                    call.grid((weights / 1024) as u32).enqueue(device)
                })
            },
        ),
        pair("norm_gradient", normed).bytes(12 * 1024 * normed).case(
            move || data::reals(103, 1024 * normed),
            1024 * normed,
            move |device| {
                let g = Memory::upload(device, &data::reals(104, 1024 * normed))?;
                let w = Memory::upload(device, &data::reals(105, 1024))?;
                let words = [g.address(), w.address()].map(Argument::Word);
                launch(words, move |device, input, out| {
                    norm_gradient(input, &g.buffer, &w.buffer, out).grid(normed as u32).enqueue(device)
                })
            },
        ),
        pair("largest", rows / 8).bytes(4 * len).case(logits, rows, move |_| {
            launch(vec![Argument::Word(columns as u64)], move |device, input, out| {
                largest(input, out, columns).grid(rows as u32 / 8).enqueue(device)
            })
        }),
    ]
}
