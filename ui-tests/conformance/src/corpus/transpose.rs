//! Transposes and permutations of axes: tiles in shared memory, tiles that blocks of a cluster exchange.

use phalanx::prelude::*;

use super::{random, reals};
use crate::{Bits, Module, Outcome, check_list, kernel_list, read, same};

/// Tiles of 32 by 32 with a padded row, four rows a thread (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in
/// CUDA", 2009; the CUDA sample `transpose`).
#[cluster_kernel(block = (32, 8))]
pub(super) fn transpose<T: Number>(input: &[T], output: &mut [T], width: u32, height: u32) {
    let block = this_thread_block();
    let tile = shared_array::<[T; 33], 32>();
    let thread = block.thread_index();
    let corner = this_grid().block_index();
    let x = corner.x * 32 + thread.x;
    for row in (thread.y..32).step_by(8) {
        let y = corner.y * 32 + row;
        if x < width && y < height {
            tile[row][thread.x] = input[y * width + x];
        }
    }
    block.sync();
    let x = corner.y * 32 + thread.x;
    for row in (thread.y..32).step_by(8) {
        let y = corner.x * 32 + row;
        if x < height && y < width {
            output[y * height + x] = tile[thread.x][row];
        }
    }
}

/// A transpose in place: block (i, j) of a cluster reads its tile's mirror image from block (j, i), and no block writes
/// before all have read (what `transpose` needs a second buffer for).
#[cluster_kernel(cluster = (2, 2), block = (16, 16))]
fn transpose_in_place(matrix: &mut [u16], width: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<[u16; 18], 16>();
    let thread = block.thread_index();
    let corner = this_grid().block_index();
    let x = corner.x * 16 + thread.x;
    let y = corner.y * 16 + thread.y;
    let inside = x < width && y < width;
    tile[thread.y][thread.x] = if inside { matrix[y * width + x] } else { 0 };
    let token = cluster.barrier_arrive();
    let at = cluster.block_index();
    let mirror = cluster.map_shared_rank(&tile, at.x * 2 + at.y);
    cluster.barrier_wait(token);
    if inside {
        matrix[y * width + x] = mirror[thread.x][thread.y];
    }
    cluster.sync();
}

/// Channels first to channels last, a plane a block row, as cuDNN's layout conversions do.
#[cluster_kernel(block = (32, 4))]
pub(super) fn channels_last(input: &[f32], output: &mut [f32], channels: u32, pixels: u32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 33], 32>();
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let image = at.z * channels * pixels;
    let pixel = at.x * 32 + thread.x;
    for c in (thread.y..32).step_by(4) {
        let channel = at.y * 32 + c;
        if pixel < pixels && channel < channels {
            tile[c][thread.x] = input[image + channel * pixels + pixel];
        }
    }
    block.sync();
    let channel = at.y * 32 + thread.x;
    for p in (thread.y..32).step_by(4) {
        let pixel = at.x * 32 + p;
        if pixel < pixels && channel < channels {
            output[image + pixel * channels + channel] = tile[thread.x][p];
        }
    }
}

fn transposed<T: phalanx::Number + Bits>(device: &Device, values: &[T], width: usize) -> Outcome {
    let height = values.len() / width;
    let input = device.upload(values)?;
    let grid = (width.div_ceil(32) as u32, height.div_ceil(32) as u32);
    let got = read!(device, values.len(), |out| transpose(&input, out, width as u32, height as u32).grid(grid));
    let want: Vec<T> = (0..values.len()).map(|i| values[i % height * width + i / height]).collect();
    same(&got, &want, |i| format!("{width} wide, {i}"))
}

fn transposes(device: &Device) -> Outcome {
    transposed(device, &reals(41, 64 * 32), 64)?;
    transposed(device, &random(42, 50 * 37), 50)?;
    let wide: Vec<u64> = random(43, 33).into_iter().map(|value| u64::from(value) << 20).collect();
    transposed(device, &wide, 1)
}

fn transposes_in_place(device: &Device) -> Outcome {
    for width in [32, 27] {
        let values: Vec<u16> = random(44, width * width).into_iter().map(|value| value as u16).collect();
        let mut matrix = device.upload(&values)?;
        transpose_in_place(&mut matrix, width as u32).grid((2, 2)).launch(device)?;
        let want: Vec<u16> = (0..values.len()).map(|i| values[i % width * width + i / width]).collect();
        same(&matrix.read()?, &want, |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

fn layouts(device: &Device) -> Outcome {
    for (images, channels, pixels) in [(1, 32, 64), (3, 7, 45)] {
        let values = reals(45, images * channels * pixels);
        let input = device.upload(&values)?;
        let grid = (pixels.div_ceil(32) as u32, channels.div_ceil(32) as u32, images as u32);
        let got = read!(device, values.len(), |out| {
            channels_last(&input, out, channels as u32, pixels as u32).grid(grid)
        });
        let image =
            |image: &[f32]| (0..image.len()).map(|i| image[i % channels * pixels + i / channels]).collect::<Vec<_>>();
        let want: Vec<f32> = values.chunks(channels * pixels).flat_map(image).collect();
        same(&got, &want, |i| format!("{channels} channels, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::transpose",
        checks: check_list![transposes, transposes_in_place, layouts],
        kernels: kernel_list![transpose<f32>, transpose<u32>, transpose<u64>, transpose_in_place, channels_last],
    }
}
