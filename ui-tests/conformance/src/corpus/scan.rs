//! Prefix sums of a block, of a cluster, of a grid in one pass, of segments.

use phalanx::prelude::*;

use super::blocks::block_scan;
use super::{below, random};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;
const TILE: usize = 2 * BLOCK;

/// Sums of all before, by a tree up and down (Blelloch; "Parallel Prefix Sum with CUDA", GPU Gems 3, chapter 39), with
/// its padding against bank conflicts.
#[cluster_kernel(block = 128)]
pub(super) fn blelloch(input: &[i32], out: &mut [i32]) {
    let block = this_thread_block();
    let tree = shared_array::<i32, { TILE + TILE / 32 }>();
    let padded = |i: u32| i + i / 32;
    let i = block.thread_rank();
    let base = this_grid().block_rank() * TILE;
    for part in 0..2 {
        let at = i + part * BLOCK as u32;
        let from = base + at as usize;
        tree[padded(at)] = if from < input.len() { input[from] } else { 0 };
    }
    let mut offset = 1;
    let mut pairs = BLOCK as u32;
    while pairs > 0 {
        block.sync();
        if i < pairs {
            let left = padded(offset * (2 * i + 1) - 1);
            let right = padded(offset * (2 * i + 2) - 1);
            tree[right] += tree[left];
        }
        offset *= 2;
        pairs /= 2;
    }
    block.sync();
    if i == 0 {
        tree[padded(TILE as u32 - 1)] = 0;
    }
    pairs = 1;
    while pairs <= BLOCK as u32 {
        offset /= 2;
        block.sync();
        if i < pairs {
            let left = padded(offset * (2 * i + 1) - 1);
            let right = padded(offset * (2 * i + 2) - 1);
            let (down, sum) = (tree[right], tree[left] + tree[right]);
            tree[left] = down;
            tree[right] = sum;
        }
        pairs *= 2;
    }
    block.sync();
    for part in 0..2 {
        let at = i + part * BLOCK as u32;
        let to = base + at as usize;
        if to < out.len() {
            out[to] = tree[padded(at)];
        }
    }
}

/// Sums up to each value over a cluster: blocks scan, publish their totals to all peers behind them, and add what came.
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn cluster_scan(input: &[u64], out: &mut [u64]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let scratch = shared_array::<u64, BLOCK>();
    let totals = shared_array::<u64, 4>();
    let i = this_grid().thread_rank();
    let rank = cluster.block_rank();
    let started = cluster.barrier_arrive();
    let value = if i < input.len() { input[i] } else { 0 };
    let mut sum = block_scan(&block, &scratch, value, |a, b| a + b);
    cluster.barrier_wait(started); // all blocks run
    let to = block.thread_rank();
    if to > rank && to < cluster.num_blocks() {
        cluster.map_shared_rank(&totals, to)[rank] = scratch[BLOCK - 1];
    }
    cluster.sync();
    for before in 0..rank {
        sum += totals[before];
    }
    if i < out.len() {
        out[i] = sum;
    }
}

const EMPTY: u64 = 0;
const PARTIAL: u64 = 1 << 62;
const COMPLETE: u64 = 2 << 62;
const VALUE: u64 = PARTIAL - 1;

/// Returns the sum of all tiles before: looks back until a tile knows its whole prefix.
#[device]
fn look_back(states: &mut [u64], tile: u32) -> u64 {
    let mut sum = 0;
    let mut before = tile;
    while before > 0 {
        let state = states.atomic(before - 1).load(Relaxed);
        match state & !VALUE {
            COMPLETE => return sum + (state & VALUE),
            PARTIAL => {
                sum += state & VALUE;
                before -= 1;
            }
            _ => {}
        }
    }
    sum
}

/// A scan of the whole grid in one pass (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
/// Look-back", 2016; CUB's `DeviceScan`). Tiles are taken in order, so that a tile waits for running blocks only.
#[cluster_kernel(block = 128)]
pub(super) fn decoupled_scan(input: &[u32], out: &mut [u64], states: &mut [u64], next: &mut [u32]) {
    let block = this_thread_block();
    let scratch = shared_array::<u64, BLOCK>();
    let shared_tile = shared_array::<u32, 1>();
    let prefix = shared_array::<u64, 1>();
    let leader = block.thread_rank() == 0;
    if leader {
        shared_tile[0] = next.atomic(0).fetch_add(1, Relaxed);
    }
    block.sync();
    let tile = shared_tile[0];
    let i = tile as usize * BLOCK + block.thread_rank() as usize;
    let value = if i < input.len() { input[i] as u64 } else { 0 };
    let sum = block_scan(&block, &scratch, value, |a, b| a + b);
    if leader {
        let total = scratch[BLOCK - 1];
        let state = if tile == 0 { COMPLETE } else { PARTIAL };
        states.atomic(tile).store(state | total, Relaxed);
        let before = look_back(states, tile);
        states.atomic(tile).store(COMPLETE | (before + total), Relaxed);
        prefix[0] = before;
    }
    block.sync();
    if i < out.len() {
        out[i] = prefix[0] + sum;
    }
}

/// A scan that starts again at each flag (Sengupta, Harris, Zhang and Owens, "Scan Primitives for GPU Computing", 2007).
#[cluster_kernel(block = 128)]
pub(super) fn segmented_scan(values: &[f32], heads: &[bool], out: &mut [f32]) {
    let block = this_thread_block();
    let sums = shared_array::<f32, BLOCK>();
    let flags = shared_array::<bool, BLOCK>();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    let (mut sum, mut flag) = if at < values.len() { (values[at], heads[at]) } else { (0.0, true) };
    let mut distance = 1;
    while distance < BLOCK as u32 {
        sums[i] = sum;
        flags[i] = flag;
        block.sync();
        if i >= distance {
            if !flag {
                sum = sums[i - distance] + sum;
            }
            flag |= flags[i - distance];
        }
        block.sync();
        distance *= 2;
    }
    if at < out.len() {
        out[at] = sum;
    }
}

fn sums_before(device: &Device) -> Outcome {
    for len in [1, 256, 700] {
        let values: Vec<i32> = random(21, len).into_iter().map(|value| value as i32 / 1000).collect();
        let input = device.upload(&values)?;
        let got = read!(device, len, |out| blelloch(&input, out).grid(len.div_ceil(TILE) as u32));
        let sums = |tile: &[i32]| (0..tile.len()).map(|i| tile[..i].iter().sum()).collect::<Vec<i32>>();
        let want: Vec<i32> = values.chunks(TILE).flat_map(sums).collect();
        same(&got, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

/// Returns the sums up to each value, from the start of each `tile`.
fn inclusive(values: &[u64], tile: usize) -> Vec<u64> {
    let sums = |tile: &[u64]| {
        let add = |sum: &mut u64, value: &u64| {
            *sum += value;
            Some(*sum)
        };
        tile.iter().scan(0, add).collect::<Vec<_>>()
    };
    values.chunks(tile).flat_map(sums).collect()
}

fn sums_of_clusters(device: &Device) -> Outcome {
    for len in [1024, 100, 1111] {
        let values: Vec<u64> = random(22, len).into_iter().map(u64::from).collect();
        let input = device.upload(&values)?;
        let got = read!(device, len, |out| cluster_scan(&input, out).grid(len.div_ceil(4 * BLOCK) as u32 * 4));
        same(&got, &inclusive(&values, 4 * BLOCK), |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn sums_of_the_grid(device: &Device) -> Outcome {
    for len in [129, 5000] {
        let values = below(1 << 30, 23, len);
        let tiles = len.div_ceil(BLOCK);
        let (input, mut next) = (device.upload(&values)?, device.zeros(1)?);
        let mut states = device.upload(&vec![EMPTY; tiles])?;
        let got = read!(device, len, |out| decoupled_scan(&input, out, &mut states, &mut next).grid(tiles as u32));
        let wide: Vec<u64> = values.into_iter().map(u64::from).collect();
        same(&got, &inclusive(&wide, len), |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn sums_of_segments(device: &Device) -> Outcome {
    for len in [128, 300] {
        // Integers, so that every order of adding gives the same sum.
        let values: Vec<f32> = below(1000, 24, len).into_iter().map(|value| value as f32).collect();
        let heads: Vec<bool> = below(9, 25, len).into_iter().map(|value| value == 0).collect();
        let (input, flags) = (device.upload(&values)?, device.upload(&heads)?);
        let got = read!(device, len, |out| segmented_scan(&input, &flags, out).grid(len.div_ceil(BLOCK) as u32));
        let mut want = values.clone();
        for i in (0..len).filter(|i| i % BLOCK != 0) {
            if !heads[i] {
                want[i] += want[i - 1];
            }
        }
        same(&got, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::scan",
        checks: check_list![sums_before, sums_of_clusters, sums_of_the_grid, sums_of_segments],
        kernels: kernel_list![blelloch, cluster_scan, decoupled_scan, segmented_scan],
    }
}
