//! Convolutions: separable, with channels, causal over a sequence that a cluster shares.

use phalanx::prelude::*;

use super::reals;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Convolves the rows of an image, zero outside: a tile with a halo of `R` on each side (the CUDA sample `convolutionSeparable`).
#[cluster_kernel(block = (64, 4))]
pub(super) fn rows<const R: usize>(image: &[f32], out: &mut [f32], weights: &[f32], width: u32, height: u32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 96], 4>(); // a radius of up to 16
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let (radius, left) = (R as u32, at.x * 64);
    let y = at.y * 4 + thread.y;
    for i in (thread.x..64 + 2 * radius).step_by(64) {
        // An index that wraps below zero is not a column either.
        let x = (left + i).wrapping_sub(radius);
        tile[thread.y][i] = if x < width && y < height { image[y * width + x] } else { 0.0 };
    }
    block.sync();
    let x = left + thread.x;
    if x >= width || y >= height {
        return;
    }
    let mut sum = 0.0;
    for k in 0..=2 * R {
        sum = weights[k].mul_add(tile[thread.y][thread.x as usize + k], sum);
    }
    out[y * width + x] = sum;
}

/// Convolves the columns of an image in the same way.
#[cluster_kernel(block = (16, 16))]
pub(super) fn columns<const R: usize>(image: &[f32], out: &mut [f32], weights: &[f32], width: u32, height: u32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 17], 48>();
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let (radius, top) = (R as u32, at.y * 16);
    let x = at.x * 16 + thread.x;
    for i in (thread.y..16 + 2 * radius).step_by(16) {
        let y = (top + i).wrapping_sub(radius);
        tile[i][thread.x] = if x < width && y < height { image[y * width + x] } else { 0.0 };
    }
    block.sync();
    let y = top + thread.y;
    if x >= width || y >= height {
        return;
    }
    let mut sum = 0.0;
    for k in 0..=2 * R {
        sum = weights[k].mul_add(tile[thread.y as usize + k][thread.x], sum);
    }
    out[y * width + x] = sum;
}

/// Returns a pixel of a plane, zero outside.
#[device]
fn pixel(planes: &[f32], plane: u32, y: u32, x: u32, height: u32, width: u32) -> Option<f32> {
    if y < height && x < width { Some(planes[(plane * height + y) * width + x]) } else { None }
}

/// A 3 by 3 convolution with channels and stride `S`, padded by one, a thread a result (Caffe2's and PyTorch's direct
/// convolution for few channels).
#[cluster_kernel(block = 128)]
fn direct<const S: u32>(input: &[f32], weights: &[f32], out: &mut [f32], channels: u32, height: u32, width: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= out.len() as u32 {
        return;
    }
    let (rows, columns) = ((height - 1) / S + 1, (width - 1) / S + 1);
    let (x, y, filter) = (i % columns, i / columns % rows, i / (columns * rows));
    let mut sum = 0.0;
    for channel in 0..channels {
        for k in 0..9 {
            let (from_y, from_x) = ((y * S + k / 3).wrapping_sub(1), (x * S + k % 3).wrapping_sub(1));
            if let Some(value) = pixel(input, channel, from_y, from_x, height, width) {
                sum = weights[(filter * channels + channel) * 9 + k].mul_add(value, sum);
            }
        }
    }
    out[i] = sum;
}

const BLOCK: usize = 64;
const TAPS: usize = 4;

/// A causal convolution of four taps along a sequence (Mamba's `causal_conv1d`): a block reads its predecessor's last
/// values from its shared memory, and those of the cluster before from global memory.
#[cluster_kernel(cluster = 4, block = 64)]
pub(super) fn causal(sequence: &[f32], weights: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, BLOCK>();
    let i = this_thread_block().thread_rank();
    let at = this_grid().thread_rank();
    let rank = cluster.block_rank();
    tile[i] = if at < sequence.len() { sequence[at] } else { 0.0 };
    let token = cluster.barrier_arrive();
    let mut sum = weights[TAPS - 1] * if at < sequence.len() { sequence[at] } else { 0.0 };
    let before = cluster.map_shared_rank(&tile, if rank > 0 { rank - 1 } else { 0 });
    cluster.barrier_wait(token);
    for back in 1..TAPS as u32 {
        let value = match i >= back {
            true => tile[i - back],
            false if rank > 0 => before[BLOCK as u32 + i - back],
            false if at >= back as usize => sequence[at - back as usize],
            false => 0.0,
        };
        sum = weights[TAPS as u32 - 1 - back].mul_add(value, sum);
    }
    if at < out.len() {
        out[at] = sum;
    }
    cluster.sync();
}

fn separable_of<const R: usize>(device: &Device, width: usize, height: usize) -> Outcome {
    let (image, weights) = (reals(81, width * height), reals(82, 2 * R + 1));
    let (input, factors) = (device.upload(&image)?, device.upload(&weights)?);
    let (w, h) = (width as u32, height as u32);
    let got = read!(device, image.len(), |out| {
        rows::<R>(&input, out, &factors, w, h).grid((w.div_ceil(64), h.div_ceil(4)))
    });
    let along = |i: usize, size: usize, step: usize| {
        let at = i / step % size;
        let taps = (0..=2 * R).filter(|k| at + k >= R && at + k < size + R);
        taps.fold(0.0, |sum, k| weights[k].mul_add(image[i + k * step - R * step], sum))
    };
    let want: Vec<f32> = (0..image.len()).map(|i| along(i, width, 1)).collect();
    same(&got, &want, |i| format!("rows, radius {R}, {i}"))?;
    let got = read!(device, image.len(), |out| {
        columns::<R>(&input, out, &factors, w, h).grid((w.div_ceil(16), h.div_ceil(16)))
    });
    let want: Vec<f32> = (0..image.len()).map(|i| along(i, height, width)).collect();
    same(&got, &want, |i| format!("columns, radius {R}, {i}"))
}

fn separable(device: &Device) -> Outcome {
    separable_of::<1>(device, 64, 16)?;
    separable_of::<8>(device, 75, 35)
}

fn direct_of<const S: u32>(device: &Device, (channels, height, width): (usize, usize, usize)) -> Outcome {
    let (filters, step) = (3, S as usize);
    let (image, weights) = (reals(83, channels * height * width), reals(84, filters * channels * 9));
    let (rows, columns) = ((height - 1) / step + 1, (width - 1) / step + 1);
    let len = filters * rows * columns;
    let (input, factors) = (device.upload(&image)?, device.upload(&weights)?);
    let got = read!(device, len, |out| {
        direct::<S>(&input, &factors, out, channels as u32, height as u32, width as u32).grid(len.div_ceil(128) as u32)
    });
    let result = |i: usize| {
        let (x, y, filter) = (i % columns * step, i / columns % rows * step, i / (columns * rows));
        let mut sum = 0.0;
        for (channel, k) in (0..channels).flat_map(|channel| (0..9).map(move |k| (channel, k))) {
            let (from_y, from_x) = (y + k / 3, x + k % 3);
            if (1..=height).contains(&from_y) && (1..=width).contains(&from_x) {
                let value: f32 = image[(channel * height + from_y - 1) * width + from_x - 1];
                sum = weights[(filter * channels + channel) * 9 + k].mul_add(value, sum);
            }
        }
        sum
    };
    same(&got, &(0..len).map(result).collect::<Vec<_>>(), |i| format!("stride {S}, {i}"))
}

fn with_channels(device: &Device) -> Outcome {
    direct_of::<1>(device, (2, 8, 16))?;
    direct_of::<2>(device, (3, 11, 13))
}

fn causal_sequences(device: &Device) -> Outcome {
    for len in [512, 300] {
        let (sequence, weights) = (reals(85, len), reals(86, TAPS));
        let (input, factors) = (device.upload(&sequence)?, device.upload(&weights)?);
        let got = read!(device, len, |out| causal(&input, &factors, out).grid(8));
        let result = |i: usize| {
            let first = weights[TAPS - 1] * sequence[i];
            (1..TAPS).fold(first, |sum, back| {
                weights[TAPS - 1 - back].mul_add(if i >= back { sequence[i - back] } else { 0.0 }, sum)
            })
        };
        same(&got, &(0..len).map(result).collect::<Vec<_>>(), |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::convolution",
        checks: check_list![separable, with_channels, causal_sequences],
        kernels: kernel_list![rows<1>, rows<8>, columns<1>, columns<8>, direct<1>, direct<2>, causal],
    }
}
