//! Filters of images: a row of pixels for each warp, eight rows for each block.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase = Showcase {
    name: "images",
    about: "filters of `f32` and `u8` pixels, whose neighbours are read through the cache",
    cases,
};

/// Returns the pixel of a thread: blocks take tiles of 32 by 8, row after row.
#[device]
fn pixel(width: u32) -> (u32, u32) {
    let i = this_thread_block().thread_rank();
    let rank = this_grid().block_rank() as u32;
    let tiles = width / 32;
    (rank % tiles * 32 + i % 32, rank / tiles * 8 + i / 32)
}

/// A 5 by 5 filter; beyond the border lies the outermost pixel again.
#[cluster_kernel(block = 256)]
fn blur(input: &[f32], weights: &[f32], out: &mut [f32], width: u32, height: u32) {
    let (x, y) = pixel(width);
    let mut sum = 0.0;
    for dy in 0..5 {
        let row = (y + dy).saturating_sub(2).min(height - 1);
        for dx in 0..5 {
            let column = (x + dx).saturating_sub(2).min(width - 1);
            sum = weights[dy * 5 + dx].mul_add(input[row * width + column], sum);
        }
    }
    out[y * width + x] = sum;
}

/// A 3 by 3 filter; beyond the border lie zeros.
#[cluster_kernel(block = 256)]
fn convolution(input: &[f32], weights: &[f32], out: &mut [f32], width: i32, height: i32) {
    let (x, y) = pixel(width as u32);
    let (x, y) = (x as i32, y as i32);
    let mut sum = 0.0;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let (column, row) = (x + dx, y + dy);
            if column >= 0 && column < width && row >= 0 && row < height {
                let weight = weights[((dy + 1) * 3 + dx + 1) as usize];
                sum = weight.mul_add(input[(row * width + column) as usize], sum);
            }
        }
    }
    out[(y * width + x) as usize] = sum;
}

/// The length of the gradient by Sobel's operator; the border stays zero.
#[cluster_kernel(block = 256)]
fn sobel(input: &[u8], out: &mut [f32], width: u32, height: u32) {
    let (x, y) = pixel(width);
    let at = |dx: u32, dy: u32| i32::from(input[(y + dy - 1) * width + x + dx - 1]);
    let mut length = 0.0;
    if x > 0 && y > 0 && x + 1 < width && y + 1 < height {
        let across = at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2);
        let down = at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0);
        length = ((across * across + down * down) as f32).sqrt();
    }
    out[y * width + x] = length;
}

/// Exchanges two values so that the smaller one is first.
#[device]
fn order(values: &mut [f32; 9], a: usize, b: usize) {
    let (low, high) = (values[a].min(values[b]), values[a].max(values[b]));
    values[a] = low;
    values[b] = high;
}

/// The exchanges that bring the median of nine values to the middle (Devillard, "Fast median search", 1998).
const EXCHANGES: [(usize, usize); 19] = [
    (1, 2),
    (4, 5),
    (7, 8),
    (0, 1),
    (3, 4),
    (6, 7),
    (1, 2),
    (4, 5),
    (7, 8),
    (0, 3),
    (5, 8),
    (4, 7),
    (3, 6),
    (1, 4),
    (2, 5),
    (4, 7),
    (4, 2),
    (6, 4),
    (4, 2),
];

/// The median of 3 by 3 pixels; beyond the border lies the outermost pixel again.
#[cluster_kernel(block = 256)]
fn median(input: &[f32], out: &mut [f32], width: u32, height: u32) {
    let (x, y) = pixel(width);
    let columns = [x.saturating_sub(1), x, (x + 1).min(width - 1)];
    let rows = [y.saturating_sub(1), y, (y + 1).min(height - 1)];
    let mut values = [0.0; 9];
    #[unroll]
    for k in 0..9 {
        values[k] = input[rows[k / 3] * width + columns[k % 3]];
    }
    #[unroll]
    for k in 0..19 {
        order(&mut values, EXCHANGES[k].0, EXCHANGES[k].1);
    }
    out[y * width + x] = values[4];
}

/// Enlarges an image to twice its width and height by bilinear interpolation.
#[cluster_kernel(block = 256)]
fn resize(input: &[f32], out: &mut [f32], width: u32, height: u32) {
    let (x, y) = pixel(2 * width);
    let place = |at: u32| ((at as f32 + 0.5) * 0.5 - 0.5).max(0.0);
    let (across, down) = (place(x), place(y));
    let (left, top) = (across as u32, down as u32);
    let (right, bottom) = ((left + 1).min(width - 1), (top + 1).min(height - 1));
    let (a, b) = (across - left as f32, down - top as f32);
    let mix = |from: f32, to: f32, part: f32| part.mul_add(to - from, from);
    let upper = mix(input[top * width + left], input[top * width + right], a);
    let lower = mix(input[bottom * width + left], input[bottom * width + right], a);
    out[y * (2 * width) + x] = mix(upper, lower, b);
}

/// The mean of 9 by 9 pixels by a tile in shared memory; beyond the border lie zeros.
#[cluster_kernel(block = 256)]
fn mean(input: &[f32], out: &mut [f32], width: i32, height: i32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 40], 16>();
    let i = block.thread_rank() as i32;
    let rank = this_grid().block_rank() as i32;
    let tiles = width / 32;
    let (left, top) = (rank % tiles * 32 - 4, rank / tiles * 8 - 4);
    for at in (i..40 * 16).step_by(256) {
        let (x, y) = (left + at % 40, top + at / 40);
        let inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[(at / 40) as usize][(at % 40) as usize] = if inside { input[(y * width + x) as usize] } else { 0.0 };
    }
    block.sync();
    let (x, y) = ((i % 32) as usize, (i / 32) as usize);
    let mut sum = 0.0;
    for dy in 0..9 {
        for dx in 0..9 {
            sum += tile[y + dy][x + dx];
        }
    }
    out[((top + 4 + i / 32) * width + left + 4 + i % 32) as usize] = sum / 81.0;
}

const TWINS: &str = include_str!("../../twins/images.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let (width, height): (u32, u32) = scale.pick((1 << 13, 1 << 13), (64, 16));
    let len = (width * height) as usize;
    let grid = width * height / 256;
    let size = [Argument::Number(width), Argument::Number(height)];
    let pair = |entry| Pair::new(entry, TWINS, (width.into(), "columns"), grid, 256);
    let pixels = move || data::reals(41, len);
    let (w, h) = (width as i32, height as i32);
    vec![
        pair("blur").bytes(8 * len).case(pixels, len, move |device| {
            let weights = Memory::upload(device, &data::reals(40, 25))?;
            let twin = [&[Argument::Word(weights.address())], &size[..]].concat();
            launch(twin, move |device, input, out| {
                blur(input, &weights.buffer, out, width, height).grid(grid).enqueue(device)
            })
        }),
        pair("convolution").bytes(8 * len).case(pixels, len, move |device| {
            let weights = Memory::upload(device, &data::reals(40, 9))?;
            let twin = [&[Argument::Word(weights.address())], &size[..]].concat();
            launch(twin, move |device, input, out| {
                convolution(input, &weights.buffer, out, w, h).grid(grid).enqueue(device)
            })
        }),
        pair("sobel").bytes(5 * len).case(
            move || data::random(42, len, |bits| bits as u8),
            len,
            move |_| {
                launch(size, move |device, input, out| sobel(input, out, width, height).grid(grid).enqueue(device))
            },
        ),
        pair("median").bytes(8 * len).case(pixels, len, move |_| {
            launch(size, move |device, input, out| median(input, out, width, height).grid(grid).enqueue(device))
        }),
        pair("resize").grid(4 * grid).bytes(20 * len).case(pixels, 4 * len, move |_| {
            launch(size, move |device, input, out| resize(input, out, width, height).grid(4 * grid).enqueue(device))
        }),
        pair("mean").bytes(8 * len).case(pixels, len, move |_| {
            launch(size, move |device, input, out| mean(input, out, w, h).grid(grid).enqueue(device))
        }),
    ]
}
