//! The largest of many: radix selection, and an argmax over a cluster.

use phalanx::prelude::*;

use super::{below, random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// The `k` largest of each row, in no order: digits of 8 bits from the top narrow the threshold down (PyTorch's
/// `sbtopk::radixSelect`; Alabi and others, "Fast K-selection Algorithms for GPUs", 2012).
#[cluster_kernel(block = 128)]
pub(super) fn top_k(rows: &[u32], out: &mut [u32], columns: u32, k: u32) {
    let block = this_thread_block();
    let bins = shared_array::<u32, 256>();
    let found = shared_array::<u32, 3>(); // the digit, how many are still wanted, places taken
    let i = block.thread_rank();
    let row = this_grid().block_rank() as u32;
    let start = row * columns;
    let (mut prefix, mut mask, mut wanted) = (0u32, 0u32, k);
    for pass in 0..4 {
        let shift = 24 - 8 * pass;
        for bin in (i..256).step_by(BLOCK) {
            bins[bin] = 0;
        }
        block.sync();
        for column in (i..columns).step_by(BLOCK) {
            let value = rows[start + column];
            if value & mask == prefix {
                bins.atomic(value >> shift & 255).fetch_add(1, Relaxed);
            }
        }
        block.sync();
        if i == 0 {
            let mut left = wanted;
            for digit in (0..256u32).rev() {
                if bins[digit] >= left {
                    found[0] = digit;
                    found[1] = left;
                    break;
                }
                left -= bins[digit];
            }
            found[2] = 0;
        }
        block.sync();
        prefix |= found[0] << shift;
        mask |= 255 << shift;
        wanted = found[1];
    }
    // All values above the threshold, and as many equal to it as are still wanted.
    for column in (i..columns).step_by(BLOCK) {
        let value = rows[start + column];
        if value > prefix {
            let place = found.atomic(2).fetch_add(1, Relaxed);
            out[row * k + place] = value;
        }
    }
    for place in (k - wanted + i..k).step_by(BLOCK) {
        out[row * k + place] = prefix;
    }
}

/// Returns the better of two candidates; of equal ones the first.
#[device]
fn better(a: (f32, u32), b: (f32, u32)) -> (f32, u32) {
    match (a, b) {
        ((x, _), (y, _)) if x > y => a,
        ((x, i), (y, j)) if x == y && i < j => a,
        _ => b,
    }
}

/// Finds where each row is largest, a cluster a row, as a language model takes its next token from a wide vocabulary
/// (vLLM's greedy sampler), with the blocks' candidates in distributed shared memory.
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn argmax(rows: &[f32], out: &mut [u32], columns: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let values = shared_array::<f32, BLOCK>();
    let indices = shared_array::<u32, BLOCK>();
    let i = block.thread_rank();
    let row = this_grid().cluster_rank() as u32;
    let mut best = (-f32::INFINITY, u32::MAX);
    for column in (cluster.thread_rank()..columns).step_by(4 * BLOCK) {
        best = better(best, (rows[row * columns + column], column));
    }
    let mut half = BLOCK as u32 / 2;
    while half > 0 {
        let (value, index) = best;
        values[i] = value;
        indices[i] = index;
        block.sync();
        if i < half {
            best = better(best, (values[i + half], indices[i + half]));
        }
        block.sync();
        half /= 2;
    }
    if i == 0 {
        let (value, index) = best;
        values[0] = value;
        indices[0] = index;
    }
    cluster.sync();
    if cluster.thread_rank() == 0 {
        for rank in 1..cluster.num_blocks() {
            let peer_values = cluster.map_shared_rank(&values, rank);
            let peer_indices = cluster.map_shared_rank(&indices, rank);
            best = better(best, (peer_values[0], peer_indices[0]));
        }
        let (_, index) = best;
        out[row] = index;
    }
    cluster.sync();
}

fn largest(device: &Device) -> Outcome {
    for (columns, k, limit) in [(500, 10, u32::MAX), (129, 129, u32::MAX), (1000, 64, 30)] {
        let rows = 3;
        let values = below(limit, 61, rows * columns);
        let input = device.upload(&values)?;
        let mut got = read!(device, rows * k, |out| top_k(&input, out, columns as u32, k as u32).grid(rows as u32));
        got.chunks_mut(k).for_each(|row| row.sort_unstable());
        let top = |row: &[u32]| {
            let mut row = row.to_vec();
            row.sort_unstable();
            row.split_off(columns - k)
        };
        let want: Vec<u32> = values.chunks(columns).flat_map(top).collect();
        same(&got, &want, |i| format!("{k} of {columns}, {i}"))?;
    }
    Ok(())
}

fn argmaxima(device: &Device) -> Outcome {
    for columns in [2000, 513, 3] {
        let rows = 5;
        let mut values = reals(62, rows * columns);
        values[2 * columns..3 * columns].fill(0.5); // all the same: the first
        let special = random(63, 1)[0] as usize % columns;
        values[special] = 7.0;
        let input = device.upload(&values)?;
        let got = read!(device, rows, |out| argmax(&input, out, columns as u32).grid(4 * rows as u32));
        let best = |row: &[f32]| (0..columns).reduce(|a, b| if row[b] > row[a] { b } else { a }).unwrap_or(0) as u32;
        same(&got, &values.chunks(columns).map(best).collect::<Vec<_>>(), |i| format!("{columns} columns, row {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module { name: "corpus::topk", checks: check_list![largest, argmaxima], kernels: kernel_list![top_k, argmax] }
}
