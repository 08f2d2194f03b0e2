//! Sequences: operations along the time, with the channels side by side.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "sequences", about: "steps of sequence models, along the time and along the channels", cases };

/// A causal convolution of four taps for each channel. A thread takes a channel and 64 steps.
#[cluster_kernel(block = 128)]
fn causal(input: &[f32], weights: &[[f32; 4]], out: &mut [f32], channels: usize, steps: usize) {
    let block = this_thread_block();
    let parts = channels / 128;
    let rank = this_grid().block_rank();
    let channel = rank % parts * 128 + block.thread_rank() as usize;
    let first = rank / parts * 64;
    let weight = weights[channel];
    let mut last = [0.0; 3];
    for k in 0..3 {
        if first + k >= 3 {
            last[k] = input[(first + k - 3) * channels + channel];
        }
    }
    for step in first..(first + 64).min(steps) {
        let x = input[step * channels + channel];
        let mut sum = weight[3] * x;
        for k in 0..3 {
            sum = weight[k].mul_add(last[k], sum);
        }
        last = [last[1], last[2], x];
        out[step * channels + channel] = sum;
    }
}

/// Rotates pairs of channels by angles that depend on the step (Su et al., "RoFormer", 2021).
#[cluster_kernel(block = 256)]
fn rotary(input: &[f32], cosines: &[f32], sines: &[f32], out: &mut [f32], heads: u32, half: u32) {
    let i = this_grid().thread_rank() as u32;
    let (pair, row) = (i % half, i / half);
    let step = row / heads;
    let (c, s) = (cosines[step * half + pair], sines[step * half + pair]);
    let at = row * (2 * half) + pair;
    let (a, b) = (input[at], input[at + half]);
    out[at] = a * c - b * s;
    out[at + half] = b.mul_add(c, a * s);
}

/// Exponential averages along the time, a channel for each thread.
#[cluster_kernel(block = 64)]
fn averages(input: &[f32], out: &mut [f32], channels: u32, steps: u32, decay: f32) {
    let channel = this_grid().thread_rank() as u32;
    if channel >= channels {
        return;
    }
    let mut state = 0.0;
    for step in 0..steps {
        state = decay.mul_add(state - input[step * channels + channel], input[step * channels + channel]);
        out[step * channels + channel] = state;
    }
}

/// Quantizes rows to eight bits: a warp finds the largest value of its row, then rounds all values.
#[cluster_kernel(block = 256)]
fn quantized(input: &[f32], out: &mut [i8], scales: &mut [f32], columns: usize) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().thread_rank() / 32;
    let lane = warp.thread_rank() as usize;
    let values = &input[row * columns..(row + 1) * columns];
    let to = &mut out[row * columns..(row + 1) * columns];
    let mut most = 0.0f32;
    for column in (lane * 4..columns).step_by(128) {
        let v = values.load_vec::<4>(column);
        for k in 0..4 {
            most = most.max(v[k].abs());
        }
    }
    let most = warp.reduce(most, op::Max);
    let scale = if most > 0.0 { 127.0 / most } else { 0.0 };
    if lane == 0 {
        scales[row] = most / 127.0;
    }
    for column in (lane * 4..columns).step_by(128) {
        let v = values.load_vec::<4>(column);
        let mut rounded = Vector::<i8, 4>::splat(0);
        for k in 0..4 {
            rounded[k] = (v[k] * scale).round_ties_even() as i8;
        }
        to.store_vec(column, rounded);
    }
}

/// The gated unit of a transformer: `silu(a) * b` of rows that hold `a` and then `b`.
#[cluster_kernel(block = 256)]
fn gated(input: &[f32], out: &mut [f32], width: usize) {
    let grid = this_grid();
    for i in (grid.thread_rank()..out.len()).step_by(grid.num_threads()) {
        let (row, column) = (i / width, i % width);
        let (a, b) = (input[row * 2 * width + column], input[row * 2 * width + width + column]);
        out[i] = a / (1.0 + fast::exp(-a)) * b;
    }
}

const TWINS: &str = include_str!("../../twins/sequences.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let (channels, steps): (usize, usize) = scale.pick((4096, 16384), (128, 128));
    let len = channels * steps;
    let values = move || data::reals(50, len);
    let pair = |entry, grid: usize, block| Pair::new(entry, TWINS, (channels as u64, "channels"), grid as u32, block);
    let (words, wide) = ([Argument::Word(channels as u64), Argument::Word(steps as u64)], channels as u32);
    let blocks = channels / 128 * steps / 64;
    let half: usize = 64;
    let heads = channels / (2 * half);
    vec![
        pair("causal", blocks, 128).bytes(8 * len).case(values, len, move |device| {
            let weights: Vec<[f32; 4]> = data::reals(51, 4 * channels).as_chunks().0.into();
            let weights = Memory::upload(device, &weights)?;
            let twin = [&[Argument::Word(weights.address())], &words[..]].concat();
            launch(twin, move |device, input, out| {
                causal(input, &weights.buffer, out, channels, steps).grid(blocks as u32).enqueue(device)
            })
        }),
        pair("rotary", len / 512, 256).bytes(8 * len).case(values, len, move |device| {
            let angles = data::reals(52, steps * half);
            let of = |f: fn(f32) -> f32| Memory::upload(device, &angles.iter().map(|&x| f(x)).collect::<Vec<_>>());
            let (c, s) = (of(f32::cos)?, of(f32::sin)?);
            let twin = [c.address(), s.address()].map(Argument::Word);
            let numbers = [Argument::Number(heads as u32), Argument::Number(half as u32)];
            launch([twin, numbers].concat(), move |device, input, out| {
                let (grid, heads) = ((len / 512) as u32, heads as u32);
                rotary(input, &c.buffer, &s.buffer, out, heads, half as u32).grid(grid).enqueue(device)
            })
        }),
        pair("averages", channels / 64, 64).bytes(8 * len).case(values, len, move |_| {
            let twin = vec![Argument::Number(wide), Argument::Number(steps as u32), Argument::Real(0.9)];
            launch(twin, move |device, input, out| {
                averages(input, out, wide, steps as u32, 0.9).grid(channels as u32 / 64).enqueue(device)
            })
        }),
        pair("quantized", steps / 8, 256).bytes(5 * len).case(values, len, move |device| {
            let mut scales = Memory::<f32>::zeros(device, steps)?;
            let twin = vec![Argument::Word(scales.address()), words[0]];
            launch(twin, move |device, input, out| {
                quantized(input, out, &mut scales.buffer, channels).grid(steps as u32 / 8).enqueue(device)
            })
        }),
        pair("gated", scale.pick(132 * 8, 4), 256).bytes(6 * len).case(values, len / 2, move |_| {
            let twin = vec![Argument::Word(len as u64 / 2), Argument::Word(channels as u64 / 2)];
            launch(twin, move |device, input, out| {
                gated(input, out, channels / 2).grid(scale.pick(132 * 8, 4)).enqueue(device)
            })
        }),
    ]
}
