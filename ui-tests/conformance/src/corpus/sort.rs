//! Sorts: networks in shared memory and across a cluster, radix passes.

use phalanx::prelude::*;

use super::blocks::block_scan;
use super::{below, random};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;
const TILE: usize = 2 * BLOCK;
const CLUSTER: usize = 4;

/// Exchanges two pairs that are in the wrong order.
#[device]
fn order(keys: &SharedArray<u32, TILE>, values: &SharedArray<u32, TILE>, low: u32, high: u32, ascending: bool) {
    let (a, b) = (keys[low], keys[high]);
    if (a > b) == ascending {
        keys[low] = b;
        keys[high] = a;
        let value = values[low];
        values[low] = values[high];
        values[high] = value;
    }
}

/// Pairs in each tile by a bitonic network (Batcher 1968; the CUDA sample `sortingNetworks`).
#[cluster_kernel(block = 128)]
pub(super) fn bitonic(keys: &mut [u32], values: &mut [u32]) {
    let block = this_thread_block();
    let tile_keys = shared_array::<u32, TILE>();
    let tile_values = shared_array::<u32, TILE>();
    let i = block.thread_rank();
    let base = (this_grid().block_rank() * TILE) as u32;
    let len = keys.len() as u32;
    for k in (i..TILE as u32).step_by(BLOCK) {
        let inside = base + k < len;
        tile_keys[k] = if inside { keys[base + k] } else { u32::MAX };
        tile_values[k] = if inside { values[base + k] } else { 0 };
    }
    let mut size = 2;
    while size <= TILE as u32 {
        let ascending = i & (size / 2) == 0 || size == TILE as u32;
        let mut stride = size / 2;
        while stride > 0 {
            block.sync();
            let low = 2 * i - (i & (stride - 1));
            order(&tile_keys, &tile_values, low, low + stride, ascending);
            stride /= 2;
        }
        size *= 2;
    }
    block.sync();
    for k in (i..TILE as u32).step_by(BLOCK) {
        if base + k < len {
            keys[base + k] = tile_keys[k];
            values[base + k] = tile_values[k];
        }
    }
}

/// The bitonic network over a cluster, a key a thread: far partners are read from a peer's shared memory.
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn cluster_bitonic<T: Number>(input: &[T], out: &mut [T], last: T) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let front = shared_array::<T, BLOCK>();
    let back = shared_array::<T, BLOCK>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let place = cluster.thread_rank();
    let at = this_grid().thread_rank();
    let mut key = if at < input.len() { input[at] } else { last };
    let mut size = 2;
    cluster.sync(); // all blocks run
    while size <= (BLOCK * CLUSTER) as u32 {
        let mut stride = size / 2;
        while stride > 0 {
            let partner = if stride >= BLOCK as u32 {
                front[i] = key;
                cluster.sync();
                let theirs = cluster.map_shared_rank(&front, rank ^ stride / BLOCK as u32)[i];
                let token = cluster.barrier_arrive(); // it is read
                back[i] = theirs;
                cluster.barrier_wait(token);
                back[i]
            } else {
                front[i] = key;
                block.sync();
                let theirs = front[i ^ stride];
                block.sync();
                theirs
            };
            let (first, ascending) = (place & stride == 0, place & size == 0);
            key = if first == ascending { key.min(partner) } else { key.max(partner) };
            stride /= 2;
        }
        size *= 2;
    }
    if at < out.len() {
        out[at] = key;
    }
}

/// Counts each digit in each block's keys, digit by digit (Satish, Harris and Garland, "Designing Efficient Sorting
/// Algorithms for Manycore GPUs", 2009).
#[cluster_kernel(block = 128)]
pub(super) fn radix_count(keys: &[u32], counts: &mut [u32], shift: u32) {
    let block = this_thread_block();
    let grid = this_grid();
    let bins = shared_array::<u32, 16>();
    let i = block.thread_rank();
    if i < 16 {
        bins[i] = 0;
    }
    block.sync();
    let at = grid.thread_rank();
    if at < keys.len() {
        bins.atomic(keys[at] >> shift & 15).fetch_add(1, Relaxed);
    }
    block.sync();
    if i < 16 {
        counts[i as usize * grid.num_blocks() + grid.block_rank()] = bins[i];
    }
}

/// Sums before each count, in place, by one block.
#[cluster_kernel(block = 128)]
pub(super) fn radix_offsets(counts: &mut [u32]) {
    let block = this_thread_block();
    let scratch = shared_array::<u32, BLOCK>();
    let len = counts.len() as u32;
    let mut before = 0;
    for start in (0..len).step_by(BLOCK) {
        let i = start + block.thread_rank();
        let count = if i < len { counts[i] } else { 0 };
        let sum = block_scan(&block, &scratch, count, |a, b| a + b);
        if i < len {
            counts[i] = before + sum - count;
        }
        before += scratch[BLOCK - 1];
        block.sync();
    }
}

/// Keys to their places, in the order in which they came: sixteen counters of 8 bits in one number count a block's digits
/// in one scan (CUB's `BlockRadixRank` packs its counters so).
#[cluster_kernel(block = 128)]
pub(super) fn radix_scatter(keys: &[u32], offsets: &[u32], out: &mut [u32], shift: u32) {
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<u128, BLOCK>();
    let at = grid.thread_rank();
    let key = if at < keys.len() { keys[at] } else { u32::MAX };
    let digit = key >> shift & 15;
    let counters = block_scan(&block, &scratch, 1u128 << (8 * digit), |a, b| a + b);
    if at < keys.len() {
        let rank = (counters >> (8 * digit)) as u8 - 1;
        let first = offsets[digit as usize * grid.num_blocks() + grid.block_rank()];
        out[first + rank as u32] = key;
    }
}

fn networks(device: &Device) -> Outcome {
    for len in [512, 300, 1] {
        let keys = random(51, len);
        let values: Vec<u32> = (0..len as u32).collect();
        let (mut sorted, mut moved) = (device.upload(&keys)?, device.upload(&values)?);
        bitonic(&mut sorted, &mut moved).grid(len.div_ceil(TILE) as u32).launch(device)?;
        let tile = |tile: &[u32]| {
            let mut tile = tile.to_vec();
            tile.sort_by_key(|&value| keys[value as usize]);
            tile
        };
        let want: Vec<u32> = values.chunks(TILE).flat_map(tile).collect();
        same(&moved.read()?, &want, |i| format!("value {i} of {len}"))?;
        let want: Vec<u32> = want.into_iter().map(|value| keys[value as usize]).collect();
        same(&sorted.read()?, &want, |i| format!("key {i} of {len}"))?;
    }
    Ok(())
}

fn networks_of_clusters(device: &Device) -> Outcome {
    for len in [512, 77, 1000] {
        let keys: Vec<i32> = random(52, len).into_iter().map(|key| key as i32).collect();
        let input = device.upload(&keys)?;
        let grid = (len.div_ceil(CLUSTER * BLOCK) * CLUSTER) as u32;
        let got = read!(device, len, |out| cluster_bitonic(&input, out, i32::MAX).grid(grid));
        let mut want = keys;
        // Each cluster sorts its own part upwards, so clusters do not alternate in direction.
        want.chunks_mut(CLUSTER * BLOCK).for_each(|part| part.sort_unstable());
        same(&got, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn radix_sorts(device: &Device) -> Outcome {
    for len in [128, 1111] {
        let keys = below(1 << 12, 53, len);
        let blocks = len.div_ceil(BLOCK) as u32;
        let mut from = device.upload(&keys)?;
        for shift in [0, 4, 8] {
            let (mut counts, mut to) = (device.zeros(16 * blocks as usize)?, device.zeros(len)?);
            radix_count(&from, &mut counts, shift).grid(blocks).launch(device)?;
            radix_offsets(&mut counts).grid(1).launch(device)?;
            radix_scatter(&from, &counts, &mut to, shift).grid(blocks).launch(device)?;
            from = to;
        }
        let mut want = keys;
        want.sort_unstable();
        same(&from.read()?, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::sort",
        checks: check_list![networks, networks_of_clusters, radix_sorts],
        kernels: kernel_list![bitonic, cluster_bitonic<i32>, radix_count, radix_offsets, radix_scatter],
    }
}
