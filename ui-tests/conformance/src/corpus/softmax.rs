//! Softmax: online, over a cluster, its loss; and sampling from it.

use phalanx::prelude::*;

use super::blocks::block_reduce;
use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// Joins two pairs of the largest value so far, and the sum of the exponentials of all values less it.
#[device]
fn joined(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    let ((a_largest, a_sum), (b_largest, b_sum)) = (a, b);
    let largest = a_largest.max(b_largest);
    if largest == f32::NEG_INFINITY {
        return (largest, 0.0);
    }
    (largest, a_sum * (a_largest - largest).exp() + b_sum * (b_largest - largest).exp())
}

/// Returns the largest and the sum of a block's threads, in one pass over the row (Milakov and Gimelshein, "Online
/// normalizer calculation for softmax", 2018). All threads get both.
#[device]
fn block_normaliser(block: &ThreadBlock, scratch: &SharedArray<[f32; 2], BLOCK>, own: (f32, f32)) -> (f32, f32) {
    let i = block.thread_rank();
    let (mut largest, mut sum) = own;
    scratch[i] = [largest, sum];
    let mut half = BLOCK as u32 / 2;
    while half > 0 {
        block.sync();
        if i < half {
            let [other_largest, other_sum] = scratch[i + half];
            (largest, sum) = joined((largest, sum), (other_largest, other_sum));
            scratch[i] = [largest, sum];
        }
        half /= 2;
    }
    block.sync();
    let [largest, sum] = scratch[0];
    block.sync();
    (largest, sum)
}

/// A block a row (FasterTransformer's and PyTorch's softmax of rows).
#[cluster_kernel(block = 128)]
fn softmax(rows: &[f32], out: &mut [f32], columns: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<[f32; 2], BLOCK>();
    let start = this_grid().block_rank() as u32 * columns;
    let mut own = (f32::NEG_INFINITY, 0.0);
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        own = joined(own, (rows[start + column], 1.0));
    }
    let (largest, sum) = block_normaliser(&block, &scratch, own);
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        out[start + column] = (rows[start + column] - largest).exp() / sum;
    }
}

/// A cluster a row, which its blocks keep in shared memory between the passes (QuACK's softmax of long rows, Tri Dao's
/// group, 2025): each block's largest and sum go to all its peers.
#[cluster_kernel(cluster = 4, block = 128)]
fn cluster_softmax<const PART: usize>(rows: &[f32], out: &mut [f32], columns: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let part = shared_array::<f32, PART>();
    let scratch = shared_array::<[f32; 2], BLOCK>();
    let normalisers = shared_array::<[f32; 2], 4>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let first = rank * PART as u32;
    let start = this_grid().cluster_rank() as u32 * columns + first;
    let here = columns.saturating_sub(first).min(PART as u32);
    let mut own = (f32::NEG_INFINITY, 0.0);
    let token = cluster.barrier_arrive();
    for column in (i..here).step_by(BLOCK) {
        let value = rows[start + column];
        part[column] = value;
        own = joined(own, (value, 1.0));
    }
    let (largest, sum) = block_normaliser(&block, &scratch, own);
    cluster.barrier_wait(token); // all blocks run
    if i < cluster.num_blocks() {
        cluster.map_shared_rank(&normalisers, i)[rank] = [largest, sum];
    }
    cluster.sync();
    let mut all = (f32::NEG_INFINITY, 0.0);
    for k in 0..cluster.num_blocks() {
        let [largest, sum] = normalisers[k];
        all = joined(all, (largest, sum));
    }
    let (largest, sum) = all;
    for column in (i..here).step_by(BLOCK) {
        out[start + column] = (part[column] - largest).exp() / sum;
    }
}

/// The loss of each row's label, and the gradient (Liger Kernel's fused cross entropy).
#[cluster_kernel(block = 128)]
fn cross_entropy(logits: &[f32], labels: &[u32], losses: &mut [f32], gradients: &mut [f32], columns: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<[f32; 2], BLOCK>();
    let row = this_grid().block_rank() as u32;
    let start = row * columns;
    let label = labels[row];
    assert!(label < columns, "row {row} has label {label} of {columns}");
    let mut own = (f32::NEG_INFINITY, 0.0);
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        own = joined(own, (logits[start + column], 1.0));
    }
    let (largest, sum) = block_normaliser(&block, &scratch, own);
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        let probability = (logits[start + column] - largest).exp() / sum;
        gradients[start + column] = probability - if column == label { 1.0 } else { 0.0 };
    }
    if block.thread_rank() == 0 {
        losses[row] = sum.ln() + largest - logits[start + label];
    }
}

/// The exact entropy of each row's distribution after a temperature, as monitoring of language models computes it.
#[cluster_kernel(block = 128)]
fn entropy(logits: &[f64], out: &mut [f64], columns: u32, temperature: f64) {
    let block = this_thread_block();
    let scratch = shared_array::<f64, BLOCK>();
    let start = this_grid().block_rank() as u32 * columns;
    let mut largest = f64::NEG_INFINITY;
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        largest = largest.max(logits[start + column] / temperature);
    }
    largest = block_reduce(&block, &scratch, largest, |a, b| a.max(b));
    let (mut sum, mut weighted) = (0.0, 0.0);
    for column in (block.thread_rank()..columns).step_by(BLOCK) {
        let shifted = logits[start + column] / temperature - largest;
        let weight = shifted.exp();
        sum += weight;
        weighted += weight * shifted;
    }
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    weighted = block_reduce(&block, &scratch, weighted, |a, b| a + b);
    if block.thread_rank() == 0 {
        out[this_grid().block_rank()] = sum.ln() - weighted / sum;
    }
}

/// Checks that all of `got` is within `bound` of `want`, relative to what is larger than one.
fn close(got: &[f32], want: &[f64], bound: f64, describe: impl Fn(usize) -> String) -> Outcome {
    same(&[got.len()], &[want.len()], |_| "results".into())?;
    for i in 0..got.len() {
        let error = (f64::from(got[i]) - want[i]).abs() / want[i].abs().max(1.0);
        if error.is_nan() || error > bound {
            return Err(format!("{}: got {}, want {}", describe(i), got[i], want[i]).into());
        }
    }
    Ok(())
}

fn softmax_of(row: &[f32]) -> Vec<f64> {
    let exponentials: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|x| x / sum).collect()
}

/// The bound: a few roundings of numbers of at most one.
const BOUND: f64 = 1e-6;

fn softmaxes(device: &Device) -> Outcome {
    for (rows, columns) in [(3, 256), (2, 77), (1, 1000)] {
        let values: Vec<f32> = reals(251, rows * columns).into_iter().map(|x| x * 20.0).collect();
        let input = device.upload(&values)?;
        let want: Vec<f64> = values.chunks(columns).flat_map(softmax_of).collect();
        let got = read!(device, values.len(), |out| softmax(&input, out, columns as u32).grid(rows as u32));
        close(&got, &want, BOUND, |i| format!("{columns} columns, {i}"))?;
        let got = read!(device, values.len(), |out| {
            cluster_softmax::<256>(&input, out, columns as u32).grid(4 * rows as u32)
        });
        close(&got, &want, BOUND, |i| format!("cluster, {columns} columns, {i}"))?;
    }
    Ok(())
}

fn losses(device: &Device) -> Outcome {
    for (rows, columns) in [(4, 128), (3, 301)] {
        let values: Vec<f32> = reals(252, rows * columns).into_iter().map(|x| x * 10.0).collect();
        let labels = below(columns as u32, 253, rows);
        let (logits, wanted) = (device.upload(&values)?, device.upload(&labels)?);
        let mut gradients = device.zeros(values.len())?;
        let got = read!(device, rows, |out| {
            cross_entropy(&logits, &wanted, out, &mut gradients, columns as u32).grid(rows as u32)
        });
        let all: Vec<Vec<f64>> = values.chunks(columns).map(softmax_of).collect();
        let want: Vec<f64> = (0..rows).map(|row| -all[row][labels[row] as usize].ln()).collect();
        close(&got, &want, 1e-5, |i| format!("loss {i} of {columns} columns"))?;
        let label = |i: usize| if i % columns == labels[i / columns] as usize { 1.0 } else { 0.0 };
        let want: Vec<f64> = all.concat().iter().enumerate().map(|(i, p)| p - label(i)).collect();
        close(&gradients.read()?, &want, BOUND, |i| format!("gradient {i} of {columns} columns"))?;
    }
    Ok(())
}

fn entropies(device: &Device) -> Outcome {
    let (rows, columns) = (3, 200);
    let values: Vec<f64> = reals(254, rows * columns).into_iter().map(|x| f64::from(x) * 9.0).collect();
    let input = device.upload(&values)?;
    let got = read!(device, rows, |out| entropy(&input, out, columns as u32, 1.5).grid(rows as u32));
    let of = |row: &[f64]| {
        let sum: f64 = row.iter().map(|x| (x / 1.5).exp()).sum();
        -row.iter().map(|x| (x / 1.5).exp() / sum * (x / 1.5 - sum.ln())).sum::<f64>()
    };
    for (got, row) in got.iter().zip(values.chunks(columns)) {
        if (got - of(row)).abs() > 1e-12 {
            return Err(format!("entropy {got}, and not {}", of(row)).into());
        }
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::softmax",
        checks: check_list![softmaxes, losses, entropies],
        kernels: kernel_list![softmax, cluster_softmax<256>, cross_entropy, entropy],
    }
}
