//! Sparse matrices times vectors, in three formats.

use phalanx::prelude::*;

use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const LANES: u32 = 8;
const ROWS: u32 = 16;

/// Compressed rows, `LANES` threads a row (Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
/// Throughput-Oriented Processors", 2009: the vector kernel).
#[cluster_kernel(block = (8, 16))]
fn rows(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let sums = shared_array::<f32, 128>();
    let (lane, i) = (block.thread_index().x, block.thread_rank());
    let row = this_grid().block_rank() as u32 * ROWS + block.thread_index().y;
    let inside = row < y.len() as u32;
    let mut sum = 0.0;
    if inside {
        for at in (starts[row] + lane..starts[row + 1]).step_by(LANES as usize) {
            sum = values[at].mul_add(x[columns[at]], sum);
        }
    }
    sums[i] = sum;
    let mut half = LANES / 2;
    while half > 0 {
        block.sync();
        if lane < half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    if inside && lane == 0 {
        y[row] = sums[i];
    }
}

const NONE: u32 = u32::MAX;

/// The same width for all rows, column after column, so that neighbours read neighbours (the same paper's ELL kernel).
#[cluster_kernel(block = 64)]
fn ellpack(columns: &[u32], values: &[f64], x: &[f64], y: &mut [f64], width: u32) {
    let row = this_grid().thread_rank() as u32;
    let rows = y.len() as u32;
    if row >= rows {
        return;
    }
    let mut sum = 0.0;
    for k in 0..width {
        let at = k * rows + row;
        let column = columns[at];
        if column == NONE {
            break;
        }
        sum += values[at] * x[column];
    }
    y[row] = sum;
}

/// Triplets in any order, by atomic sums (cuSPARSE's COO, for integers, so that the order does not show).
#[cluster_kernel(block = 64)]
pub(super) fn triplets(rows: &[u16], columns: &[u16], values: &[i32], x: &[i32], y: &mut [i64]) {
    let grid = this_grid();
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        let product = values[i] as i64 * x[columns[i] as u32] as i64;
        y.atomic(rows[i] as u32).fetch_add(product, Relaxed);
    }
}

/// Returns a matrix: the start of each row, and its columns, with lengths from 0 to 39.
fn matrix(rows: usize, columns: u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    below(40, 101, rows).iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
    let count = starts[rows] as usize;
    (starts, below(columns, 102, count))
}

fn compressed_rows(device: &Device) -> Outcome {
    for (height, width) in [(16, 64), (75, 33)] {
        let (starts, columns) = matrix(height, width);
        let (values, x) = (reals(103, columns.len()), reals(104, width as usize));
        let (a, b, c, d) =
            (device.upload(&starts)?, device.upload(&columns)?, device.upload(&values)?, device.upload(&x)?);
        let got = read!(device, height, |y| rows(&a, &b, &c, &d, y).grid(height.div_ceil(16) as u32));
        let row = |row: usize| {
            let (from, to) = (starts[row] as usize, starts[row + 1] as usize);
            let lane =
                |lane| (from + lane..to).step_by(8).fold(0.0, |sum, i| values[i].mul_add(x[columns[i] as usize], sum));
            super::blocks::halves(&(0..8).map(lane).collect::<Vec<f32>>(), |a, b| a + b)
        };
        same(&got, &(0..height).map(row).collect::<Vec<_>>(), |i| format!("row {i} of {height}"))?;
    }
    Ok(())
}

fn padded_rows(device: &Device) -> Outcome {
    let (height, width) = (75, 50);
    let (starts, of_rows) = matrix(height, width as u32);
    let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize;
    let x: Vec<f64> = reals(105, width).into_iter().map(f64::from).collect();
    let (mut columns, mut values) = (vec![NONE; longest * height], vec![0.0; longest * height]);
    let mut want = vec![0.0; height];
    for row in 0..height {
        for (k, at) in (starts[row] as usize..starts[row + 1] as usize).enumerate() {
            (columns[k * height + row], values[k * height + row]) = (of_rows[at], at as f64 * 0.1);
            want[row] += at as f64 * 0.1 * x[of_rows[at] as usize];
        }
    }
    let (a, b, c) = (device.upload(&columns)?, device.upload(&values)?, device.upload(&x)?);
    let got = read!(device, height, |y| ellpack(&a, &b, &c, y, longest as u32).grid(2));
    same(&got, &want, |i| format!("row {i}"))
}

fn sums_of_triplets(device: &Device) -> Outcome {
    let (len, height, width) = (1500, 40, 30);
    let small = |limit, seed| below(limit, seed, len).into_iter().map(|value| value as u16).collect::<Vec<_>>();
    let signed = |seed, len| super::random(seed, len).into_iter().map(|value| value as i32).collect::<Vec<_>>();
    let (rows, columns, values, x) =
        (small(height, 106), small(width, 107), signed(108, len), signed(109, width as usize));
    let (a, b, c, d) = (device.upload(&rows)?, device.upload(&columns)?, device.upload(&values)?, device.upload(&x)?);
    let got = read!(device, height as usize, |y| triplets(&a, &b, &c, &d, y).grid(3));
    let mut want = vec![0; height as usize];
    for i in 0..len {
        want[usize::from(rows[i])] += i64::from(values[i]) * i64::from(x[usize::from(columns[i])]);
    }
    same(&got, &want, |i| format!("row {i}"))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::sparse",
        checks: check_list![compressed_rows, padded_rows, sums_of_triplets],
        kernels: kernel_list![rows, ellpack, triplets],
    }
}
