//! Images: filters, fractals, resizing, colour statistics.

use phalanx::prelude::*;

use super::{below, random};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Edges by Sobel's operator, with the border repeated (the CUDA sample `SobelFilter`).
#[cluster_kernel(block = (32, 4))]
pub(super) fn sobel(image: &[u8], out: &mut [u8], width: u32, height: u32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (x, y) = ((at.x * 32 + thread.x) as i32, (at.y * 4 + thread.y) as i32);
    let (width, height) = (width as i32, height as i32);
    if x >= width || y >= height {
        return;
    }
    let pixel = |dx: i32, dy: i32| {
        let (x, y) = ((x + dx).max(0).min(width - 1), (y + dy).max(0).min(height - 1));
        image[y * width + x] as i32
    };
    let across = pixel(1, -1) + 2 * pixel(1, 0) + pixel(1, 1) - pixel(-1, -1) - 2 * pixel(-1, 0) - pixel(-1, 1);
    let down = pixel(-1, 1) + 2 * pixel(0, 1) + pixel(1, 1) - pixel(-1, -1) - 2 * pixel(0, -1) - pixel(1, -1);
    out[y * width + x] = (across.abs() + down.abs()).min(255) as u8;
}

#[device]
fn sort_pair<T: Integer>(values: &mut [T; 9], i: usize, j: usize) {
    let (a, b) = (values[i], values[j]);
    values[i] = a.min(b);
    values[j] = a.max(b);
}

/// Returns the median of nine by 19 exchanges (Smith 1996; McGuire, "A Fast, Small-Radius GPU Median Filter", 2008).
#[device]
fn median<T: Integer>(window: [T; 9]) -> T {
    let mut v = window;
    sort_pair(&mut v, 1, 2);
    sort_pair(&mut v, 4, 5);
    sort_pair(&mut v, 7, 8);
    sort_pair(&mut v, 0, 1);
    sort_pair(&mut v, 3, 4);
    sort_pair(&mut v, 6, 7);
    sort_pair(&mut v, 1, 2);
    sort_pair(&mut v, 4, 5);
    sort_pair(&mut v, 7, 8);
    sort_pair(&mut v, 0, 3);
    sort_pair(&mut v, 5, 8);
    sort_pair(&mut v, 4, 7);
    sort_pair(&mut v, 3, 6);
    sort_pair(&mut v, 1, 4);
    sort_pair(&mut v, 2, 5);
    sort_pair(&mut v, 4, 7);
    sort_pair(&mut v, 4, 2);
    sort_pair(&mut v, 6, 4);
    sort_pair(&mut v, 4, 2);
    v[4]
}

/// A median filter; the border stays.
#[cluster_kernel(block = 128)]
pub(super) fn denoise<T: Integer>(image: &[T], out: &mut [T], width: u32, height: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= width * height {
        return;
    }
    let (x, y) = (i % width, i / width);
    if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
        out[i] = image[i];
        return;
    }
    let mut window = [image[i]; 9];
    for k in 0..9 {
        window[k] = image[(y + k as u32 / 3 - 1) * width + x + k as u32 % 3 - 1];
    }
    out[i] = median(window);
}

/// A smaller or larger image by bilinear weights of 8 bits, four channels a word (NPP's and OpenCV's `resize`).
#[cluster_kernel(block = (16, 8))]
pub(super) fn resize(image: &[u32], out: &mut [u32], from_width: u32, from_height: u32, width: u32, height: u32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (x, y) = (at.x * 16 + thread.x, at.y * 8 + thread.y);
    if x >= width || y >= height {
        return;
    }
    let place = |at: u32, from: u32, to: u32| {
        let position = if to > 1 { at * (from - 1) * 256 / (to - 1) } else { 0 };
        (position >> 8, (position >> 8).wrapping_add(1).min(from - 1), position & 255)
    };
    let (left, right, right_weight) = place(x, from_width, width);
    let (top, bottom, bottom_weight) = place(y, from_height, height);
    let corners = [
        (image[top * from_width + left], (256 - right_weight) * (256 - bottom_weight)),
        (image[top * from_width + right], right_weight * (256 - bottom_weight)),
        (image[bottom * from_width + left], (256 - right_weight) * bottom_weight),
        (image[bottom * from_width + right], right_weight * bottom_weight),
    ];
    let mut pixel = 0;
    for channel in 0..4 {
        let mut sum = 1u32 << 15;
        for k in 0..4 {
            let (corner, weight) = corners[k];
            sum += (corner >> (8 * channel) & 255) * weight;
        }
        pixel |= sum >> 16 << (8 * channel);
    }
    out[y * width + x] = pixel;
}

/// How soon each point leaves the circle of radius 2 (the CUDA sample `Mandelbrot`, in doubles).
#[cluster_kernel(block = (16, 16))]
pub(super) fn mandelbrot(out: &mut [u16], width: u32, height: u32, left: f64, top: f64, step: f64, limit: u16) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (column, row) = (at.x * 16 + thread.x, at.y * 16 + thread.y);
    if column >= width || row >= height {
        return;
    }
    let c = (left + column as f64 * step, top + row as f64 * step);
    let (real, imaginary) = c;
    let (mut x, mut y) = (0.0, 0.0);
    out[row * width + column] = 'escape: {
        for steps in 0..limit {
            let (xx, yy) = (x * x, y * y);
            if xx + yy > 4.0 {
                break 'escape steps;
            }
            y = 2.0 * x * y + imaginary;
            x = xx - yy + real;
        }
        limit
    };
}

const STRIP: usize = 256;

/// Sums of all pixels to the left and above, first along the rows: a cluster a row, whose blocks hand their totals on
/// (Crow's summed-area tables; the CUDA sample `shfl_integral_image`).
#[cluster_kernel(cluster = 2, block = 256)]
pub(super) fn integral_rows(image: &[u8], out: &mut [u32], width: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let scratch = shared_array::<u32, STRIP>();
    let row = this_grid().cluster_rank() as u32;
    let x = cluster.thread_rank();
    let value = if x < width { image[row * width + x] as u32 } else { 0 };
    let mut sum = super::blocks::block_scan(&block, &scratch, value, |a, b| a + b);
    let token = cluster.barrier_arrive();
    let first = cluster.map_shared_rank(&scratch, 0);
    cluster.barrier_wait(token);
    if cluster.block_rank() == 1 {
        sum += first[STRIP - 1];
    }
    if x < width {
        out[row * width + x] = sum;
    }
    cluster.sync();
}

/// Adds up along the columns, a thread a column.
#[cluster_kernel(block = 64)]
fn integral_columns(sums: &mut [u32], width: u32) {
    let x = this_grid().thread_rank() as u32;
    if x < width {
        let mut sum = 0;
        for i in (x..sums.len() as u32).step_by(width as usize) {
            sum += sums[i];
            sums[i] = sum;
        }
    }
}

const SIZES: [(usize, usize); 2] = [(64, 8), (45, 19)];

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    below(256, seed, len).into_iter().map(|value| value as u8).collect()
}

fn edges(device: &Device) -> Outcome {
    for (width, height) in SIZES {
        let image = bytes(141, width * height);
        let input = device.upload(&image)?;
        let grid = (width.div_ceil(32) as u32, height.div_ceil(4) as u32);
        let got = read!(device, image.len(), |out| sobel(&input, out, width as u32, height as u32).grid(grid));
        let result = |i: usize| {
            let pixel = |dx: usize, dy: usize| {
                let (x, y) = ((i % width + dx).clamp(1, width) - 1, (i / width + dy).clamp(1, height) - 1);
                i32::from(image[y * width + x])
            };
            let across = pixel(2, 0) + 2 * pixel(2, 1) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(0, 1) - pixel(0, 2);
            let down = pixel(0, 2) + 2 * pixel(1, 2) + pixel(2, 2) - pixel(0, 0) - 2 * pixel(1, 0) - pixel(2, 0);
            (across.abs() + down.abs()).min(255) as u8
        };
        same(&got, &(0..image.len()).map(result).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

fn denoised<T: phalanx::Integer + crate::Bits>(device: &Device, image: &[T], width: usize) -> Outcome {
    let height = image.len() / width;
    let input = device.upload(image)?;
    let grid = image.len().div_ceil(128) as u32;
    let got = read!(device, image.len(), |out| denoise(&input, out, width as u32, height as u32).grid(grid));
    let result = |i: usize| {
        let (x, y) = (i % width, i / width);
        if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
            return image[i];
        }
        let mut window: Vec<T> = (0..9).map(|k| image[(y + k / 3 - 1) * width + x + k % 3 - 1]).collect();
        window.sort_unstable();
        window[4]
    };
    same(&got, &(0..image.len()).map(result).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))
}

fn medians(device: &Device) -> Outcome {
    for (width, height) in SIZES {
        denoised(device, &bytes(142, width * height), width)?;
        let wide: Vec<i16> = random(143, width * height).into_iter().map(|value| value as i16).collect();
        denoised(device, &wide, width)?;
    }
    Ok(())
}

fn resized(device: &Device) -> Outcome {
    for ((from_width, from_height), (width, height)) in [((16, 8), (37, 20)), ((45, 19), (16, 8)), ((3, 1), (5, 1))] {
        let image = random(144, from_width * from_height);
        let input = device.upload(&image)?;
        let size = (width as u32, height as u32);
        let got = read!(device, width * height, |out| {
            resize(&input, out, from_width as u32, from_height as u32, size.0, size.1)
                .grid((size.0.div_ceil(16), size.1.div_ceil(8)))
        });
        let place = |at: usize, from: usize, to: usize| if to > 1 { at * (from - 1) * 256 / (to - 1) } else { 0 };
        let result = |i: usize| {
            let (x, y) = (place(i % width, from_width, width), place(i / width, from_height, height));
            let mut pixel = 0;
            for channel in 0..4 {
                let corner = |dx: usize, dy: usize| {
                    let (column, row) = ((x / 256 + dx).min(from_width - 1), (y / 256 + dy).min(from_height - 1));
                    let weight = |part: usize, d: usize| if d == 1 { part % 256 } else { 256 - part % 256 };
                    (image[row * from_width + column] >> (8 * channel) & 255) * (weight(x, dx) * weight(y, dy)) as u32
                };
                pixel |= ((1 << 15) + corner(0, 0) + corner(1, 0) + corner(0, 1) + corner(1, 1)) >> 16 << (8 * channel);
            }
            pixel
        };
        same(&got, &(0..width * height).map(result).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

fn fractals(device: &Device) -> Outcome {
    for (width, height) in [(32u32, 16u32), (37, 21)] {
        let (left, top, step, limit) = (-2.0, -1.2, 0.07, 200);
        let got = read!(device, (width * height) as usize, |out| {
            mandelbrot(out, width, height, left, top, step, limit).grid((width.div_ceil(16), height.div_ceil(16)))
        });
        let steps = |i: u32| {
            let (real, imaginary) = (left + f64::from(i % width) * step, top + f64::from(i / width) * step);
            let (mut x, mut y) = (0.0, 0.0);
            for steps in 0..limit {
                let (xx, yy): (f64, f64) = (x * x, y * y);
                if xx + yy > 4.0 {
                    return steps;
                }
                y = 2.0 * x * y + imaginary;
                x = xx - yy + real;
            }
            limit
        };
        same(&got, &(0..width * height).map(steps).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

fn integrals(device: &Device) -> Outcome {
    for (width, height) in [(512, 3), (300, 7)] {
        let image = bytes(145, width * height);
        let (input, mut sums) = (device.upload(&image)?, device.zeros(width * height)?);
        integral_rows(&input, &mut sums, width as u32).grid(2 * height as u32).launch(device)?;
        integral_columns(&mut sums, width as u32).grid(width.div_ceil(64) as u32).launch(device)?;
        let mut want = vec![0u32; width * height];
        for y in 0..height {
            let mut row = 0;
            for x in 0..width {
                row += u32::from(image[y * width + x]);
                want[y * width + x] = row + if y > 0 { want[(y - 1) * width + x] } else { 0 };
            }
        }
        same(&sums.read()?, &want, |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::image",
        checks: check_list![edges, medians, resized, fractals, integrals],
        kernels: kernel_list![sobel, denoise<u8>, denoise<i16>, resize, mandelbrot, integral_rows, integral_columns],
    }
}
