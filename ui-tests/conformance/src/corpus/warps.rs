//! Kernels of warps: reductions, scans, votes, matches and exchanges without shared memory.

use phalanx::prelude::*;

use super::{below, random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// A warp a row: sums of rows by shuffles (Luitjens, "Faster Parallel Reductions on Kepler", 2014).
#[cluster_kernel(block = 128)]
pub(super) fn row_sums(matrix: &[f32], out: &mut [f32], columns: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let row = this_grid().block_rank() as u32 * 4 + warp.meta_group_rank();
    if row >= out.len() as u32 {
        return;
    }
    let mut sum = 0.0;
    for column in (warp.thread_rank()..columns).step_by(32) {
        sum += matrix[row * columns + column];
    }
    let total = warp.reduce(sum, op::Plus);
    if warp.thread_rank() == 0 {
        out[row] = total;
    }
}

/// Computes a block's prefix sums from those of its warps (CUB's `BlockScanWarpScans`).
#[device]
fn scan_by_warps(block: &ThreadBlock, warp: &Tile<32>, totals: &SharedArray<u32, 4>, value: u32) -> u32 {
    let mut sum = warp.inclusive_scan(value, op::Plus);
    if warp.thread_rank() == 31 {
        totals[warp.meta_group_rank()] = sum;
    }
    block.sync();
    for before in 0..warp.meta_group_rank() {
        sum += totals[before];
    }
    block.sync();
    sum
}

/// Prefix sums over a cluster: warps, then blocks, then peers' totals.
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn scan(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let totals = shared_array::<u32, 4>();
    let blocks = shared_array::<u32, 1>();
    let at = this_grid().thread_rank();
    let value = if at < input.len() { input[at] } else { 0 };
    let mut sum = scan_by_warps(&block, &warp, &totals, value);
    if block.thread_rank() == BLOCK as u32 - 1 {
        blocks[0] = sum;
    }
    cluster.sync();
    // Each lane asks a peer.
    let lane = warp.thread_rank();
    let theirs = if lane < cluster.block_rank() { cluster.map_shared_rank(&blocks, lane)[0] } else { 0 };
    let token = cluster.barrier_arrive();
    sum += warp.reduce(theirs, op::Plus);
    if at < out.len() {
        out[at] = sum;
    }
    cluster.barrier_wait(token);
}

/// Keeps what is positive, in no order: one atomic for the lanes that keep something (Adinets, "Optimized Filtering with
/// Warp-Aggregated Atomics", 2014).
#[cluster_kernel(block = 128)]
pub(super) fn filter(input: &[i32], out: &mut [i32], count: &mut [u32]) {
    let grid = this_grid();
    for i in (grid.thread_rank()..input.len()).step_by(grid.num_threads()) {
        let value = input[i];
        if value > 0 {
            let active = coalesced_threads();
            let mut first = 0;
            if active.thread_rank() == 0 {
                first = count.atomic(0).fetch_add(active.num_threads(), Relaxed);
            }
            out[active.shfl(first, 0) + active.thread_rank()] = value;
        }
    }
}

/// A histogram whose lanes with the same digit count together (Onesweep's ranks by `match_any`: Adinets and Merrill, 2022).
#[cluster_kernel(block = 128)]
pub(super) fn digits(keys: &[u32], counts: &mut [u32], ranks: &mut [u32], shift: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bins = shared_array::<u32, 256>();
    for bin in (block.thread_rank()..256).step_by(BLOCK) {
        bins[bin] = 0;
    }
    block.sync();
    let at = this_grid().thread_rank();
    let digit = if at < keys.len() { keys[at] >> shift & 255 } else { 256 };
    let peers = warp.match_any(digit);
    let below = peers & ((1 << warp.thread_rank()) - 1);
    if at < keys.len() {
        if below == 0 {
            bins.atomic(digit).fetch_add(peers.count_ones(), Relaxed);
        }
        ranks[at] = below.count_ones();
    }
    block.sync();
    for bin in (block.thread_rank()..256).step_by(BLOCK) {
        if bins[bin] > 0 {
            counts.atomic(bin).fetch_add(bins[bin], Relaxed);
        }
    }
}

/// Sorts 32 keys of a warp by a bitonic network of exchanges (like faiss's warp selection: Johnson, Douze and Jégou 2017).
#[device]
fn sorted(warp: &Tile<32>, key: f32) -> f32 {
    let lane = warp.thread_rank();
    let mut mine = key;
    let mut size = 2;
    while size <= 32 {
        let mut stride = size / 2;
        while stride > 0 {
            let theirs = warp.shfl_xor(mine, stride);
            let low = (lane & stride == 0) == (lane & size == 0);
            mine = if low { mine.min(theirs) } else { mine.max(theirs) };
            stride /= 2;
        }
        size *= 2;
    }
    mine
}

/// The `k` smallest of each row in order, up to 32, a warp a row: each 32 are sorted and merged with the best so far.
#[cluster_kernel(block = 64)]
pub(super) fn smallest(rows: &[f32], out: &mut [f32], columns: u32, k: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let lane = warp.thread_rank();
    let row = this_grid().block_rank() as u32 * 2 + warp.meta_group_rank();
    if row * k >= out.len() as u32 {
        return;
    }
    let mut best = f32::INFINITY;
    for start in (0..columns).step_by(32) {
        let column = start + lane;
        let value = if column < columns { rows[row * columns + column] } else { f32::INFINITY };
        let worst = warp.shfl(best, 31);
        if !warp.any(value < worst) {
            continue;
        }
        // The best ascend and the new ones descend: the smaller of each pair are the 32 smallest.
        let descending = warp.shfl(sorted(&warp, value), 31 - lane);
        best = sorted(&warp, best.min(descending));
    }
    if lane < k {
        out[row * k + lane] = best;
    }
}

/// Sparse rows by groups of `LANES` lanes (Bell and Garland's vector kernel with tiles).
#[cluster_kernel(block = 128)]
fn sparse<const LANES: u32>(starts: &[u32], columns: &[u32], values: &[f64], x: &[f64], y: &mut [f64]) {
    let block = this_thread_block();
    let tile = tiled_partition::<LANES>(&block);
    let row = this_grid().block_rank() as u32 * (BLOCK as u32 / LANES) + tile.meta_group_rank();
    if row >= y.len() as u32 {
        return;
    }
    let mut sum = 0.0;
    for at in (starts[row] + tile.thread_rank()..starts[row + 1]).step_by(LANES as usize) {
        sum += values[at] * x[columns[at]];
    }
    sum = tile.reduce(sum, op::Plus);
    tile.invoke_one(|| {
        y[row] = sum;
    });
}

/// Adds in the order of a reduction: neighbours first.
fn neighbours(values: &[f64]) -> f64 {
    match values {
        [value] => *value,
        values => neighbours(&values[..values.len() / 2]) + neighbours(&values[values.len() / 2..]),
    }
}

fn sums(device: &Device) -> Outcome {
    for (rows, columns) in [(8, 64), (5, 77), (3, 3)] {
        // Integers, so that the order of adding does not show.
        let matrix: Vec<f32> = below(1000, 321, rows * columns).into_iter().map(|value| value as f32).collect();
        let input = device.upload(&matrix)?;
        let got = read!(device, rows, |out| row_sums(&input, out, columns as u32).grid(rows.div_ceil(4) as u32));
        let want: Vec<f32> = matrix.chunks(columns).map(|row| row.iter().sum()).collect();
        same(&got, &want, |i| format!("row {i} of {rows}"))?;
    }
    Ok(())
}

fn scans(device: &Device) -> Outcome {
    for len in [1024, 700] {
        let values = below(1 << 20, 322, len);
        let input = device.upload(&values)?;
        let got = read!(device, len, |out| scan(&input, out).grid(len.div_ceil(512) as u32 * 4));
        let prefix = |part: &[u32]| (0..part.len()).map(|i| part[..=i].iter().sum()).collect::<Vec<u32>>();
        same(&got, &values.chunks(512).flat_map(prefix).collect::<Vec<_>>(), |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn filtered(device: &Device) -> Outcome {
    for len in [500, 33] {
        let values: Vec<i32> = random(323, len).into_iter().map(|value| value as i32).collect();
        let (input, mut count) = (device.upload(&values)?, device.zeros(1)?);
        let mut got = read!(device, len, |out| filter(&input, out, &mut count).grid(2));
        let mut want: Vec<i32> = values.into_iter().filter(|value| *value > 0).collect();
        same(&count.read()?, &[want.len() as u32], |_| format!("count of {len}"))?;
        got.truncate(want.len());
        got.sort_unstable();
        want.sort_unstable();
        same(&got, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn counted(device: &Device) -> Outcome {
    for (len, limit) in [(256, 7), (300, 1 << 16)] {
        let keys = below(limit, 324, len);
        let (input, mut ranks) = (device.upload(&keys)?, device.zeros(len)?);
        let got = read!(device, 256, |out| digits(&input, out, &mut ranks, 0).grid(len.div_ceil(BLOCK) as u32));
        let mut want = vec![0; 256];
        keys.iter().for_each(|key| want[*key as usize & 255] += 1);
        same(&got, &want, |i| format!("digit {i} of {len}"))?;
        let rank = |i: usize| keys[i / 32 * 32..i].iter().filter(|key| **key & 255 == keys[i] & 255).count() as u32;
        same(&ranks.read()?, &(0..len).map(rank).collect::<Vec<_>>(), |i| format!("rank of {i} of {len}"))?;
    }
    Ok(())
}

fn selected(device: &Device) -> Outcome {
    for (rows, columns, k) in [(2, 64, 32), (3, 333, 10), (1, 5, 3)] {
        let values = reals(325, rows * columns);
        let input = device.upload(&values)?;
        let got = read!(device, rows * k, |out| {
            smallest(&input, out, columns as u32, k as u32).grid(rows.div_ceil(2) as u32)
        });
        let top = |row: &[f32]| {
            let mut row = row.to_vec();
            row.sort_by(f32::total_cmp);
            row.truncate(k);
            row
        };
        same(&got, &values.chunks(columns).flat_map(top).collect::<Vec<_>>(), |i| format!("{i} of {columns} columns"))?;
    }
    Ok(())
}

fn sparse_rows(device: &Device) -> Outcome {
    for rows in [32, 45] {
        let mut starts = vec![0u32];
        below(30, 326, rows).iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
        let count = starts[rows] as usize;
        let wide = |seed, len| reals(seed, len).into_iter().map(f64::from).collect::<Vec<f64>>();
        let (columns, values, x) = (below(50, 327, count), wide(328, count), wide(329, 50));
        let (a, b, c, d) =
            (device.upload(&starts)?, device.upload(&columns)?, device.upload(&values)?, device.upload(&x)?);
        let got = read!(device, rows, |y| sparse::<8>(&a, &b, &c, &d, y).grid(rows.div_ceil(16) as u32));
        let row = |row: usize| {
            let (from, to) = (starts[row] as usize, starts[row + 1] as usize);
            let lane = |lane| (from + lane..to).step_by(8).fold(0.0, |sum, i| sum + values[i] * x[columns[i] as usize]);
            neighbours(&(0..8).map(lane).collect::<Vec<f64>>())
        };
        same(&got, &(0..rows).map(row).collect::<Vec<_>>(), |i| format!("row {i} of {rows}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::warps",
        checks: check_list![sums, scans, filtered, counted, selected, sparse_rows],
        kernels: kernel_list![row_sums, scan, filter, digits, smallest, sparse<8>],
    }
}
