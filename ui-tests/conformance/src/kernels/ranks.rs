//! Parts of shared memory that blocks choose by their ranks, with no barrier between blocks whose parts are disjoint:
//! rings, slots and sums in place, for clusters of several sizes.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

const THREADS: usize = 64;

/// A device function that hands the parts on: afterwards each block has all.
#[device]
fn gather<const N: usize>(cluster: &Cluster, parts: &SharedArray<[u32; THREADS], N>, i: u32) {
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let next = cluster.map_shared_rank(parts, (rank + 1) % blocks);
    for step in 1..blocks {
        cluster.sync();
        let part = (rank + step) % blocks;
        parts[part][i] = next[part][i];
    }
}

/// Sums the blocks' vectors: around the ring once to add, once more to share. One barrier a step.
#[cluster_kernel(cluster = N, block = THREADS)]
fn ring<const N: usize>(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[u32; THREADS], N>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), N as u32);
    let base = this_grid().block_rank() * (N * THREADS);
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = input[base + part as usize * THREADS + i as usize];
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % blocks;
        cluster.sync();
        parts[part][i] += before[part][i];
    }
    // The block has the sum of the part after its own: hand it on as its own.
    let sum = parts[(rank + 1) % blocks][i];
    cluster.sync();
    parts[rank][i] = sum;
    gather(&cluster, &parts, i);
    for part in 0..blocks {
        out[base + part as usize * THREADS + i as usize] = parts[(part + blocks - 1) % blocks][i];
    }
    cluster.sync();
}

/// Adds up in two barriers: each block sums one part of all in its own memory, and reads the others'.
#[cluster_kernel(cluster = N, block = THREADS)]
fn in_place<const N: usize>(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let parts = dynamic_shared::<u32>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let base = this_grid().block_rank() * (N * THREADS);
    for part in 0..blocks {
        let k = part * THREADS as u32 + i;
        parts[k] = input[base + k as usize];
    }
    cluster.sync();
    let mine = rank * THREADS as u32 + i;
    let mut sum = parts[mine];
    for turn in 1..blocks {
        sum += cluster.map_shared_rank(parts, (rank + turn) % blocks)[mine];
    }
    parts[mine] = sum;
    cluster.sync();
    for part in 0..blocks {
        let k = part * THREADS as u32 + i;
        out[base + k as usize] = cluster.map_shared_rank(parts, part)[k];
    }
    cluster.sync();
}

/// Adds up by halves, between two blocks.
#[cluster_kernel(cluster = 2, block = THREADS)]
fn by_halves(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let halves = shared_array::<[u32; THREADS], 2>();
    let i = this_thread_block().thread_rank() as usize;
    let rank = cluster.block_rank();
    let base = this_grid().block_rank() * (2 * THREADS);
    let peer = cluster.map_shared_rank(&halves, rank ^ 1);
    halves[0][i] = input[base + i];
    halves[1][i] = input[base + THREADS + i];
    cluster.sync();
    halves[1 - rank][i] += peer[1 - rank][i];
    cluster.sync();
    out[base + (1 - rank) as usize * THREADS + i] = halves[1 - rank][i];
    out[base + rank as usize * THREADS + i] = peer[rank][i];
    cluster.sync();
}

/// Each sender has a slot in each inbox, and the owner too.
#[cluster_kernel(cluster = N, block = THREADS)]
fn slots<const N: usize>(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u32; THREADS], N>();
    let i = this_thread_block().thread_rank() as usize;
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let base = this_grid().block_rank() * (N * THREADS);
    cluster.sync();
    inbox[rank][i] = input[base + rank as usize * THREADS + i];
    for turn in 1..blocks {
        let to = (rank + turn) % blocks;
        cluster.map_shared_rank(&inbox, to)[rank][i] = input[base + to as usize * THREADS + i];
    }
    cluster.sync();
    let mut sum = 0;
    for from in 0..N {
        sum += inbox[from][i];
    }
    out[this_grid().thread_rank()] = sum;
}

/// Returns what each block of a cluster of `blocks` has at the end: the sum of their vectors.
fn sums(input: &[u32], blocks: usize) -> Vec<u32> {
    let width = blocks * THREADS;
    let sum = |i: usize| {
        let cluster = i / (width * blocks) * (width * blocks);
        (0..blocks).fold(0u32, |sum, block| sum.wrapping_add(input[cluster + block * width + i % width]))
    };
    (0..input.len()).map(sum).collect()
}

fn of_size<const N: usize>(device: &Device) -> Outcome {
    let (grid, len) = (2 * N as u32, 2 * N * N * THREADS);
    let values: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let input = device.upload(&values)?;
    let want = sums(&values, N);
    let got = read!(device, len, |out| ring::<N>(&input, out).grid(grid));
    same(&got, &want, |i| format!("around the ring of {N}, {i}"))?;
    let bytes = N * THREADS * size_of::<u32>();
    let got = read!(device, len, |out| in_place::<N>(&input, out).grid(grid).shared_bytes(bytes));
    same(&got, &want, |i| format!("in place, {N} blocks, {i}"))?;
    let got = read!(device, 2 * N * THREADS, |out| slots::<N>(&input, out).grid(grid));
    // A block gets from each what it has for it.
    let of_block = |i: usize| want[i / THREADS * N * THREADS + i / THREADS % N * THREADS + i % THREADS];
    same(&got, &(0..2 * N * THREADS).map(of_block).collect::<Vec<_>>(), |i| format!("{N} slots, {i}"))
}

fn two(device: &Device) -> Outcome {
    of_size::<2>(device)
}

fn three(device: &Device) -> Outcome {
    of_size::<3>(device)
}

fn eight(device: &Device) -> Outcome {
    of_size::<8>(device)
}

fn halves(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..8 * THREADS as u32).map(|i| i.wrapping_mul(0x85eb_ca6b)).collect();
    let input = device.upload(&values)?;
    let got = read!(device, values.len(), |out| by_halves(&input, out).grid(4));
    same(&got, &sums(&values, 2), |i| format!("{i}"))
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "ranks",
        checks: check_list![two, three, eight, halves],
        kernels: kernel_list![
            ring<2>,
            ring<3>,
            ring<8>,
            in_place<2>,
            in_place<3>,
            in_place<8>,
            slots<2>,
            slots<3>,
            slots<8>,
            by_halves
        ],
    }]
}
