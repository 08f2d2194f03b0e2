//! Reductions of a grid, of a cluster, of pairs, of columns.

use phalanx::prelude::*;

use super::blocks::{block_reduce, halves};
use super::{random, reals};
use crate::{Bits, Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// A block's sum of squared differences, one partial result a block (the first half of `reduce` in the CUDA samples).
#[cluster_kernel(block = 128)]
pub(super) fn squared_error(a: &[f32], b: &[f32], partial: &mut [f32]) {
    let grid = this_grid();
    let block = this_thread_block();
    let scratch = shared_array::<f32, BLOCK>();
    let mut sum = 0.0;
    for i in (grid.thread_rank()..a.len()).step_by(grid.num_threads()) {
        let difference = a[i] - b[i];
        sum = difference.mul_add(difference, sum);
    }
    let sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    if block.thread_rank() == 0 {
        partial[grid.block_rank()] = sum;
    }
}

/// The smallest, the largest and the sum of a cluster's share, through the leader's shared memory (the cluster reduction
/// of the CUDA C++ Programming Guide's chapter on distributed shared memory).
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn extremes<T: Number>(values: &[T], out: &mut [T]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<T, BLOCK>();
    let gathered = shared_array::<[T; 3], 4>();
    let start = grid.thread_rank();
    let mut low = values[start];
    let mut high = low;
    let mut sum = low;
    for i in (start + grid.num_threads()..values.len()).step_by(grid.num_threads()) {
        let value = values[i];
        low = low.min(value);
        high = high.max(value);
        sum += value;
    }
    low = block_reduce(&block, &scratch, low, |a, b| a.min(b));
    high = block_reduce(&block, &scratch, high, |a, b| a.max(b));
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    cluster.sync(); // all blocks run
    if block.thread_rank() == 0 {
        let leader = cluster.map_shared_rank(&gathered, 0);
        leader[cluster.block_rank()] = [low, high, sum];
    }
    cluster.sync(); // all have written
    if cluster.thread_rank() == 0 {
        for rank in 1..cluster.num_blocks() {
            let [peer_low, peer_high, peer_sum] = gathered[rank];
            low = low.min(peer_low);
            high = high.max(peer_high);
            sum += peer_sum;
        }
        let at = grid.cluster_rank() * 3;
        out[at] = low;
        out[at + 1] = high;
        out[at + 2] = sum;
    }
}

/// Adds with the rounding error of the sum so far (Kahan and Babuska), as deterministic reductions do.
#[device]
fn two_sum(sum: f64, error: f64, value: f64) -> (f64, f64) {
    let total = sum + value;
    let lost = if sum.abs() >= value.abs() { (sum - total) + value } else { (value - total) + sum };
    (total, error + lost)
}

/// Column sums of a matrix, with compensation, a thread a column: coalesced, as in cuDF's segmented sums.
#[cluster_kernel(block = 64)]
pub(super) fn column_sums(matrix: &[f64], out: &mut [f64], columns: u32) {
    let column = this_grid().thread_rank() as u32;
    if column >= columns {
        return;
    }
    let (mut sum, mut error) = (0.0, 0.0);
    for i in (column..matrix.len() as u32).step_by(columns as usize) {
        (sum, error) = two_sum(sum, error, matrix[i]);
    }
    out[column] = sum + error;
}

/// A whole reduction in one launch: the block that finishes last adds up (the CUDA sample `threadFenceReduction`, with
/// an atomic sum in place of its fence).
#[cluster_kernel(block = 128)]
pub(super) fn sum_by_the_last(values: &[u32], total: &mut [u64], ticket: &mut [u32], out: &mut [u64]) {
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<u64, BLOCK>();
    let mut sum = 0;
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        sum += values[i] as u64;
    }
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    if block.thread_rank() == 0 {
        let before = total.atomic(0).fetch_add(sum, Relaxed);
        out.atomic(0).fetch_max(before + sum, Relaxed);
        let finished = ticket.atomic(0).fetch_add(1, Relaxed);
        if finished as usize == grid.num_blocks() - 1 {
            ticket.atomic(0).store(0, Relaxed); // ready for the next launch; relaxed adds order no plain write
        }
    }
}

/// Returns what a grid of `threads` combines of `values`, a value a thread.
fn strided<T: Copy>(values: &[T], threads: usize, first: T, combine: impl Fn(T, T) -> T) -> Vec<T> {
    let thread = |t| values.iter().skip(t).step_by(threads).fold(first, |a, &b| combine(a, b));
    (0..threads).map(thread).collect()
}

fn squared_errors(device: &Device) -> Outcome {
    for (len, blocks) in [(1000, 2), (77, 1), (4001, 5)] {
        let (a, b) = (reals(11, len), reals(12, len));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let got = read!(device, blocks, |out| squared_error(&x, &y, out).grid(blocks as u32));
        let difference: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let sums = strided(&difference, blocks * BLOCK, 0.0, |sum, d| d.mul_add(d, sum));
        let want: Vec<f32> = sums.chunks(BLOCK).map(|sums| halves(sums, |a, b| a + b)).collect();
        same(&got, &want, |i| format!("{len} values, block {i}"))?;
    }
    Ok(())
}

fn extremes_of<T>(device: &Device, values: &[T], smaller: fn(T, T) -> T, larger: fn(T, T) -> T) -> Outcome
where
    T: phalanx::Number + Bits + std::ops::Add<Output = T>,
{
    let clusters = 2;
    let threads = clusters * 4 * BLOCK;
    let input = device.upload(values)?;
    let got = read!(device, clusters * 3, |out| extremes(&input, out).grid(clusters as u32 * 4));
    let mut want = Vec::new();
    let by = |combine: &dyn Fn(T, T) -> T| {
        let threads: Vec<T> = (0..threads)
            .map(|t| values.iter().skip(t).step_by(threads).copied().reduce(combine).expect("a value a thread"))
            .collect();
        let blocks: Vec<T> = threads.chunks(BLOCK).map(|block| halves(block, combine)).collect();
        blocks.chunks(4).map(|cluster| cluster.iter().copied().reduce(combine).expect("four")).collect::<Vec<T>>()
    };
    let all = [by(&smaller), by(&larger), by(&|a, b| a + b)];
    for cluster in 0..clusters {
        want.extend(all.iter().map(|of| of[cluster]));
    }
    same(&got, &want, |i| format!("result {i}"))
}

fn extremes_of_clusters(device: &Device) -> Outcome {
    extremes_of::<f32>(device, &reals(13, 5003), f32::min, f32::max)?;
    let small: Vec<i64> = random(14, 1024).into_iter().map(|value| i64::from(value as i32)).collect();
    extremes_of::<i64>(device, &small, i64::min, i64::max)
}

fn sums_of_columns(device: &Device) -> Outcome {
    for (columns, rows) in [(64, 50), (37, 81)] {
        let values: Vec<f64> = reals(15, columns * rows).iter().map(|&x| f64::from(x).powi(9) * 1e6).collect();
        let input = device.upload(&values)?;
        let got = read!(device, columns, |out| column_sums(&input, out, columns as u32).grid(1));
        let want: Vec<f64> = (0..columns)
            .map(|column| {
                let (mut sum, mut error) = (0.0f64, 0.0);
                for &value in values.iter().skip(column).step_by(columns) {
                    let total = sum + value;
                    error += if sum.abs() >= value.abs() { (sum - total) + value } else { (value - total) + sum };
                    sum = total;
                }
                sum + error
            })
            .collect();
        same(&got, &want, |i| format!("column {i} of {columns}"))?;
    }
    Ok(())
}

fn sums_in_one_launch(device: &Device) -> Outcome {
    let values = random(16, 3333);
    let input = device.upload(&values)?;
    let (mut ticket, want) = (device.zeros(1)?, values.iter().map(|&value| u64::from(value)).sum::<u64>());
    for blocks in [1, 7] {
        let mut total = device.zeros(1)?;
        let got = read!(device, 1, |out| sum_by_the_last(&input, &mut total, &mut ticket, out).grid(blocks));
        same(&got, &[want], |_| format!("{blocks} blocks"))?;
        same(&ticket.read()?, &[0], |_| "ticket".into())?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::reduce",
        checks: check_list![squared_errors, extremes_of_clusters, sums_of_columns, sums_in_one_launch],
        kernels: kernel_list![squared_error, extremes<f32>, extremes<i64>, column_sums, sum_by_the_last],
    }
}
