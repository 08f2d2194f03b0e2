//! Histograms: sub-histograms of a block, and bins that are spread over a cluster.

use phalanx::prelude::*;

use super::{below, random};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const WARPS: usize = 4;

/// Counts bytes, four a word, in a histogram of each warp, so that warps do not wait for each other's atomics (Podlozhnyuk,
/// "Histogram calculation in CUDA", 2007; the CUDA sample `histogram`).
#[cluster_kernel(block = 128)]
pub(super) fn bytes(words: &[u32], counts: &mut [u32]) {
    let block = this_thread_block();
    let grid = this_grid();
    let bins = shared_array::<u32, { 256 * WARPS }>();
    let i = block.thread_rank();
    for bin in (i..bins.len() as u32).step_by(128) {
        bins[bin] = 0;
    }
    block.sync();
    let own = i / 32 * 256;
    for at in (grid.thread_rank()..words.len()).step_by(grid.num_threads()) {
        let mut word = words[at];
        for _ in 0..4 {
            bins.atomic(own + (word & 255)).fetch_add(1, Relaxed);
            word >>= 8;
        }
    }
    block.sync();
    for bin in (i..256).step_by(128) {
        let mut count = 0;
        for warp in 0..WARPS as u32 {
            count += bins[warp * 256 + bin];
        }
        if count > 0 {
            counts.atomic(bin).fetch_add(count, Relaxed);
        }
    }
}

const LEVELS: u32 = 128;
const PART: usize = (LEVELS * LEVELS / 4) as usize;

/// Counts pairs of grey values of two images, 64 KiB of bins over four blocks (image registration by mutual information,
/// as Shams and Kennedy put it on GPUs in 2007, with distributed shared memory for the bins).
#[cluster_kernel(cluster = 4, block = 128)]
pub(super) fn joint(first: &[u8], second: &[u8], counts: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let grid = this_grid();
    let bins = shared_array::<u32, PART>();
    for bin in (block.thread_rank()..PART as u32).step_by(128) {
        bins[bin] = 0;
    }
    cluster.sync();
    for i in (grid.thread_rank()..first.len()).step_by(grid.num_threads()) {
        let pair = (first[i] >> 1) as u32 * LEVELS + (second[i] >> 1) as u32;
        let owner = cluster.map_shared_rank(&bins, pair / PART as u32);
        owner.atomic(pair % PART as u32).fetch_add(1, Relaxed);
    }
    cluster.sync();
    let base = cluster.block_rank() * PART as u32;
    for bin in (block.thread_rank()..PART as u32).step_by(128) {
        let count = bins[bin];
        if count > 0 {
            counts.atomic(base + bin).fetch_add(count, Relaxed);
        }
    }
}

fn counted_bytes(device: &Device) -> Outcome {
    for (len, grid) in [(1000, 2), (333, 5), (1, 1)] {
        let words = random(91, len);
        let input = device.upload(&words)?;
        let got = read!(device, 256, |out| bytes(&input, out).grid(grid));
        let mut want = vec![0; 256];
        words.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| want[usize::from(byte)] += 1);
        same(&got, &want, |i| format!("{len} words, byte {i}"))?;
    }
    Ok(())
}

fn counted_pairs(device: &Device) -> Outcome {
    for len in [4096, 1001] {
        let image = |seed| below(256, seed, len).into_iter().map(|value| value as u8).collect::<Vec<u8>>();
        let (a, b) = (image(92), image(93));
        let (first, second) = (device.upload(&a)?, device.upload(&b)?);
        let got = read!(device, 4 * PART, |out| joint(&first, &second, out).grid(8));
        let mut want = vec![0; 4 * PART];
        a.iter().zip(&b).for_each(|(&a, &b)| want[usize::from(a >> 1) * LEVELS as usize + usize::from(b >> 1)] += 1);
        same(&got, &want, |i| format!("{len} pixels, pair {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::histogram",
        checks: check_list![counted_bytes, counted_pairs],
        kernels: kernel_list![bytes, joint],
    }
}
