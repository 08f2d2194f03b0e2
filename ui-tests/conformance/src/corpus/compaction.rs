//! Kernels that keep fewer values out of many: compaction, runs, duplicates, differences.

use phalanx::prelude::*;

use super::blocks::block_scan;
use super::{below, random};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// Keeps the values for which `keep` holds, unordered between blocks: one atomic a block (Adinets, "Optimized Filtering
/// with Warp-Aggregated Atomics", 2014, by blocks).
#[device]
fn compact(input: &[u32], out: &mut [u32], count: &mut [u32], keep: impl Fn(u32) -> bool) {
    let block = this_thread_block();
    let scratch = shared_array::<u32, BLOCK>();
    let first = shared_array::<u32, 1>();
    let i = this_grid().thread_rank();
    let value = if i < input.len() { Some(input[i]) } else { None };
    let kept = match value {
        Some(value) => keep(value),
        None => false,
    };
    let place = block_scan(&block, &scratch, kept as u32, |a, b| a + b);
    if block.thread_rank() == BLOCK as u32 - 1 {
        first[0] = count.atomic(0).fetch_add(place, Relaxed);
    }
    block.sync();
    if let Some(value) = value {
        if kept {
            out[first[0] + place - 1] = value;
        }
    }
}

/// Keeps the values of a range.
#[cluster_kernel(block = 128)]
fn between(input: &[u32], out: &mut [u32], count: &mut [u32], low: u32, high: u32) {
    compact(input, out, count, |value| value >= low && value < high);
}

/// Keeps the values with an odd number of ones.
#[cluster_kernel(block = 128)]
fn odd(input: &[u32], out: &mut [u32], count: &mut [u32]) {
    compact(input, out, count, |value| value.count_ones() % 2 == 1);
}

/// Finds runs of equal values, as values and starts, in order (CUB's `RunLengthEncode`; Balevic, "Parallel Variable-Length
/// Encoding on GPGPUs", 2009), by one cluster: totals of blocks go to the blocks behind through their shared memory.
#[cluster_kernel(cluster = 4, block = 128)]
fn runs<T: Number>(input: &[T], values: &mut [T], starts: &mut [u32], count: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let scratch = shared_array::<u32, BLOCK>();
    let totals = shared_array::<[u32; 4], 2>();
    let rank = cluster.block_rank();
    let len = input.len() as u32;
    let mut before = 0; // runs of earlier rounds
    let mut round = 0u32;
    cluster.sync(); // all blocks run
    for start in (0..len).step_by(4 * BLOCK) {
        let i = start + cluster.thread_rank();
        let head = i < len && (i == 0 || input[i] != input[i - 1]);
        let place = block_scan(&block, &scratch, head as u32, |a, b| a + b);
        // One thread for each peer, including its own block. There are two buffers, because a peer may be an iteration behind.
        if block.thread_rank() < cluster.num_blocks() {
            let peer = cluster.map_shared_rank(&totals, block.thread_rank());
            peer[round % 2][rank] = scratch[BLOCK - 1];
        }
        cluster.sync();
        let mut offset = before;
        for other in 0..cluster.num_blocks() {
            let total = totals[round % 2][other];
            if other < rank {
                offset += total;
            }
            before += total;
        }
        if head {
            values[offset + place - 1] = input[i];
            starts[offset + place - 1] = i;
        }
        round += 1;
    }
    if cluster.thread_rank() == 0 {
        count[0] = before;
        starts[before] = len;
    }
}

/// Differences from the value before, to unsigned numbers that are small for small differences (Parquet's delta
/// encoding), and how many bits a block of them needs.
#[cluster_kernel(block = 128)]
pub(super) fn deltas(input: &[i32], out: &mut [u32], widths: &mut [u32]) {
    let block = this_thread_block();
    let width = shared_array::<u32, 1>();
    let i = this_grid().thread_rank();
    if block.thread_rank() == 0 {
        width[0] = 0;
    }
    block.sync();
    if i < input.len() {
        let before = if i > 0 { input[i - 1] } else { 0 };
        let delta = input[i].wrapping_sub(before);
        let zigzag = (delta << 1 ^ delta >> 31) as u32;
        out[i] = zigzag;
        width.atomic(0).fetch_max(32 - zigzag.leading_zeros(), Relaxed);
    }
    block.sync();
    if block.thread_rank() == 0 {
        widths[this_grid().block_rank()] = width[0];
    }
}

fn compacted(device: &Device) -> Outcome {
    for len in [512, 777] {
        let values = random(231, len);
        let (input, grid) = (device.upload(&values)?, len.div_ceil(BLOCK) as u32);
        let check = |name: &str, mut got: Vec<u32>, count: Vec<u32>, keep: &dyn Fn(u32) -> bool| {
            let mut want: Vec<u32> = values.iter().copied().filter(|&value| keep(value)).collect();
            same(&count, &[want.len() as u32], |_| format!("{name} of {len}, count"))?;
            got.truncate(want.len());
            got.sort_unstable();
            want.sort_unstable();
            same(&got, &want, |i| format!("{name} of {len}, {i}"))
        };
        let mut count = device.zeros(1)?;
        let got = read!(device, len, |out| between(&input, out, &mut count, 1 << 29, 3 << 29).grid(grid));
        check("between", got, count.read()?, &|value| (1 << 29..3 << 29).contains(&value))?;
        let mut count = device.zeros(1)?;
        let got = read!(device, len, |out| odd(&input, out, &mut count).grid(grid));
        check("odd", got, count.read()?, &|value| value.count_ones() % 2 == 1)?;
    }
    Ok(())
}

fn runs_of<T: phalanx::Number + crate::Bits>(device: &Device, input: &[T]) -> Outcome {
    let len = input.len();
    let (values_in, mut starts) = (device.upload(input)?, device.zeros(len + 1)?);
    let mut count = device.zeros(1)?;
    let mut values = read!(device, len, |values| runs(&values_in, values, &mut starts, &mut count).grid(4));
    let heads: Vec<usize> = (0..len).filter(|&i| i == 0 || input[i] != input[i - 1]).collect();
    same(&count.read()?, &[heads.len() as u32], |_| format!("runs of {len}"))?;
    values.truncate(heads.len());
    same(&values, &heads.iter().map(|&i| input[i]).collect::<Vec<_>>(), |i| format!("value {i} of {len}"))?;
    let mut starts = starts.read()?;
    starts.truncate(heads.len() + 1);
    same(&starts, &heads.iter().copied().chain([len]).map(|i| i as u32).collect::<Vec<_>>(), |i| format!("start {i}"))
}

fn run_lengths(device: &Device) -> Outcome {
    runs_of(device, &below(3, 232, 512))?;
    runs_of(device, &vec![7.5f32; 1300])?;
    let bytes: Vec<u8> = below(2, 233, 1999).into_iter().map(|value| value as u8).collect();
    runs_of(device, &bytes)?;
    runs_of(device, &[1u8])
}

fn differences(device: &Device) -> Outcome {
    for len in [256, 300] {
        let values: Vec<i32> = below(1000, 234, len).into_iter().map(|value| value as i32 - 500).collect();
        let (input, blocks) = (device.upload(&values)?, len.div_ceil(BLOCK));
        let mut widths = device.zeros(blocks)?;
        let got = read!(device, len, |out| deltas(&input, out, &mut widths).grid(blocks as u32));
        let zigzag = |i: usize| {
            let delta = values[i] - if i > 0 { values[i - 1] } else { 0 };
            if delta < 0 { 2 * delta.unsigned_abs() - 1 } else { 2 * delta.unsigned_abs() }
        };
        let want: Vec<u32> = (0..len).map(zigzag).collect();
        same(&got, &want, |i| format!("{i} of {len}"))?;
        let width = |block: &[u32]| block.iter().map(|delta| 32 - delta.leading_zeros()).max().unwrap_or(0);
        same(&widths.read()?, &want.chunks(BLOCK).map(width).collect::<Vec<_>>(), |i| format!("block {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::compaction",
        checks: check_list![compacted, run_lengths, differences],
        kernels: kernel_list![between, odd, runs<u32>, runs<f32>, runs<u8>, deltas],
    }
}
