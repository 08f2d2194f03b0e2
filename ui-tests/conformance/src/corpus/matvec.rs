//! Matrices times vectors, and their quantised forms.

use phalanx::prelude::*;

use super::blocks::{block_reduce, halves};
use super::{random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// Multiplies with a block per row (cuBLAS's `gemvT` for wide matrices).
#[cluster_kernel(block = 128)]
pub(super) fn gemv(matrix: &[f32], x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let scratch = shared_array::<f32, BLOCK>();
    let row = this_grid().block_rank();
    let mut sum = 0.0;
    for column in (block.thread_rank() as usize..x.len()).step_by(BLOCK) {
        sum = matrix[row * x.len() + column].mul_add(x[column], sum);
    }
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    if block.thread_rank() == 0 {
        y[row] = sum;
    }
}

/// Four blocks share a row's columns; each sends its sum to the first block's shared memory, where one thread adds up
/// (the split product of decoding, with a cluster in place of a second launch: as in FlashDecoding++).
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn cluster_gemv(matrix: &[f32], x: &[f32], y: &mut [f32], rows: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<f32, BLOCK>();
    let sums = shared_array::<[f32; 4], 2>(); // one row is added up while the next is computed
    let leader = cluster.map_shared_rank(&sums, 0);
    let columns = x.len() as u32;
    let mut pending = None;
    let mut buffer = 0u32;
    let mut last = rows;
    for row in (grid.cluster_rank() as u32..rows).step_by(grid.num_clusters()) {
        let mut sum = 0.0;
        for column in (cluster.thread_rank()..columns).step_by(4 * BLOCK) {
            sum = matrix[row * columns + column].mul_add(x[column], sum);
        }
        sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
        if let Some(token) = pending {
            cluster.barrier_wait(token); // the sums of the row before are there
            if cluster.thread_rank() == 0 {
                let [a, b, c, d] = sums[1 - buffer];
                y[last] = (a + b) + (c + d);
            }
        } else {
            cluster.sync(); // all blocks run
        }
        if block.thread_rank() == 0 {
            leader[buffer][cluster.block_rank()] = sum;
        }
        pending = Some(cluster.barrier_arrive());
        buffer = 1 - buffer;
        last = row;
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
        if cluster.thread_rank() == 0 {
            let [a, b, c, d] = sums[1 - buffer];
            y[last] = (a + b) + (c + d);
        }
    }
}

/// Rounds to the nearest, halves away from zero.
#[device]
fn rounded(x: f32) -> i32 {
    (if x < 0.0 { x - 0.5 } else { x + 0.5 }) as i32
}

/// Rows to 8 bits by their largest magnitude (the dynamic quantisation of LLM.int8() and of vLLM's
/// `dynamic_scaled_int8_quant`).
#[cluster_kernel(block = 128)]
pub(super) fn quantise(rows: &[f32], out: &mut [i8], scales: &mut [f32], columns: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<f32, BLOCK>();
    let row = this_grid().block_rank() as u32;
    let mut largest = 0.0;
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        largest = rows[row * columns + column].abs().max(largest);
    }
    largest = block_reduce(&block, &scratch, largest, |a, b| a.max(b));
    let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        let i = row * columns + column;
        out[i] = rounded(rows[i] * inverse).max(-127).min(127) as i8;
    }
    if block.thread_rank() == 0 {
        scales[row] = largest / 127.0;
    }
}

/// Returns four products of signed bytes, and their sum: CUDA's `__dp4a`.
#[device]
fn dot4(a: u32, b: u32, sum: i32) -> i32 {
    let mut total = sum;
    for k in 0..4 {
        total += (a >> (8 * k)) as i8 as i32 * (b >> (8 * k)) as i8 as i32;
    }
    total
}

/// A product of bytes with a scale a row and one for the vector, four a word (GGML's `mul_mat_vec_q`).
#[cluster_kernel(block = (32, 4))]
pub(super) fn quantised_gemv(matrix: &[u32], scales: &[f32], x: &[u32], x_scale: f32, y: &mut [f32]) {
    let block = this_thread_block();
    let sums = shared_array::<i32, BLOCK>();
    let (lane, i) = (block.thread_index().x, block.thread_rank());
    let row = this_grid().block_rank() as u32 * 4 + block.thread_index().y;
    let (inside, words) = (row < y.len() as u32, x.len() as u32);
    let mut sum = 0;
    if inside {
        for word in (lane..words).step_by(32) {
            sum = dot4(matrix[row * words + word], x[word], sum);
        }
    }
    sums[i] = sum;
    block.sync();
    if inside && lane == 0 {
        for k in 1..32 {
            sum += sums[i + k];
        }
        y[row] = sum as f32 * (scales[row] * x_scale);
    }
}

/// Weights of 4 bits, eight a word, with a scale and a zero a group (AWQ's and GPTQ's `dequantize`), times a function.
#[cluster_kernel(block = 64)]
fn unpack4<const GROUP: u32>(words: &[u32], scales: &[f32], zeros: &[u8], out: &mut [f32]) {
    let grid = this_grid();
    for word in (grid.thread_rank() as u32..words.len() as u32).step_by(grid.num_threads()) {
        let packed = words[word];
        for k in 0..8 {
            let i = word * 8 + k;
            let group = i / GROUP;
            let level = (packed >> (4 * k) & 15) as i32 - zeros[group] as i32;
            out[i] = level as f32 * scales[group];
        }
    }
}

fn row_sums(matrix: &[f32], x: &[f32], threads: usize) -> Vec<Vec<f32>> {
    let thread = |row: &[f32], t: usize| (t..x.len()).step_by(threads).fold(0.0, |sum, i| row[i].mul_add(x[i], sum));
    matrix.chunks(x.len()).map(|row| (0..threads).map(|t| thread(row, t)).collect()).collect()
}

fn products(device: &Device) -> Outcome {
    for (rows, columns) in [(4, 256), (7, 333), (3, 5)] {
        let (matrix, x) = (reals(211, rows * columns), reals(212, columns));
        let (a, b) = (device.upload(&matrix)?, device.upload(&x)?);
        let got = read!(device, rows, |y| gemv(&a, &b, y).grid(rows as u32));
        let want: Vec<f32> = row_sums(&matrix, &x, BLOCK).iter().map(|sums| halves(sums, |a, b| a + b)).collect();
        same(&got, &want, |i| format!("row {i} of {rows}"))?;
    }
    Ok(())
}

fn products_of_clusters(device: &Device) -> Outcome {
    for (rows, columns) in [(8, 512), (5, 1333), (1, 3)] {
        let (matrix, x) = (reals(213, rows * columns), reals(214, columns));
        let (a, b) = (device.upload(&matrix)?, device.upload(&x)?);
        let got = read!(device, rows, |y| cluster_gemv(&a, &b, y, rows as u32).grid(8));
        let row = |sums: &Vec<f32>| {
            let blocks: Vec<f32> = sums.chunks(BLOCK).map(|block| halves(block, |a, b| a + b)).collect();
            (blocks[0] + blocks[1]) + (blocks[2] + blocks[3])
        };
        let want: Vec<f32> = row_sums(&matrix, &x, 4 * BLOCK).iter().map(row).collect();
        same(&got, &want, |i| format!("row {i} of {rows}"))?;
    }
    Ok(())
}

fn quantised(device: &Device) -> Outcome {
    for (rows, columns) in [(4, 256), (6, 77)] {
        let mut values = reals(215, rows * columns);
        values[..columns].fill(0.0);
        let (input, mut scales) = (device.upload(&values)?, device.zeros(rows)?);
        let got =
            read!(device, values.len(), |out| quantise(&input, out, &mut scales, columns as u32).grid(rows as u32));
        let largest: Vec<f32> = values.chunks(columns).map(|row| row.iter().fold(0.0, |a, b| b.abs().max(a))).collect();
        let level = |i: usize| match largest[i / columns] {
            0.0 => 0,
            largest => rounded(values[i] * (127.0 / largest)).clamp(-127, 127) as i8,
        };
        same(&got, &(0..values.len()).map(level).collect::<Vec<_>>(), |i| format!("{columns} columns, {i}"))?;
        same(&scales.read()?, &largest.iter().map(|x| x / 127.0).collect::<Vec<_>>(), |i| format!("scale {i}"))?;
    }
    Ok(())
}

fn quantised_products(device: &Device) -> Outcome {
    for (rows, words) in [(8, 64), (5, 37)] {
        let (matrix, scales, x) = (random(216, rows * words), reals(217, rows), random(218, words));
        let (a, b, c) = (device.upload(&matrix)?, device.upload(&scales)?, device.upload(&x)?);
        let got = read!(device, rows, |y| quantised_gemv(&a, &b, &c, 0.01, y).grid(rows.div_ceil(4) as u32));
        let bytes = |word: &u32| word.to_le_bytes().map(|byte| i32::from(byte as i8));
        let row = |i: usize| {
            let pairs = matrix[i * words..][..words].iter().flat_map(bytes).zip(x.iter().flat_map(bytes));
            pairs.map(|(a, b)| a * b).sum::<i32>() as f32 * (scales[i] * 0.01)
        };
        same(&got, &(0..rows).map(row).collect::<Vec<_>>(), |i| format!("row {i} of {rows}"))?;
    }
    Ok(())
}

fn unpacked_of<const GROUP: u32>(device: &Device, words: usize) -> Outcome {
    let groups = (words * 8).div_ceil(GROUP as usize);
    let (packed, scales) = (random(219, words), reals(220, groups));
    let zeros: Vec<u8> = super::below(16, 221, groups).into_iter().map(|zero| zero as u8).collect();
    let (a, b, c) = (device.upload(&packed)?, device.upload(&scales)?, device.upload(&zeros)?);
    let got = read!(device, words * 8, |out| unpack4::<GROUP>(&a, &b, &c, out).grid(2));
    let weight = |i: usize| {
        let group = i / GROUP as usize;
        ((packed[i / 8] >> (i % 8 * 4) & 15) as i32 - i32::from(zeros[group])) as f32 * scales[group]
    };
    same(&got, &(0..words * 8).map(weight).collect::<Vec<_>>(), |i| format!("groups of {GROUP}, {i}"))
}

fn unpacked(device: &Device) -> Outcome {
    unpacked_of::<128>(device, 256)?;
    unpacked_of::<32>(device, 77)
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::matvec",
        checks: check_list![products, products_of_clusters, quantised, quantised_products, unpacked],
        kernels: kernel_list![gemv, cluster_gemv, quantise, quantised_gemv, unpack4<128>, unpack4<32>],
    }
}
