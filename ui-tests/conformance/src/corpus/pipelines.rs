//! Clusters as pipelines: collectives of NCCL's kind in distributed shared memory, with early arrivals and late waits.

use phalanx::prelude::*;

use super::{random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const CHUNK: usize = 64;
const BLOCKS: usize = 4;

/// Adds up the vectors of the blocks of a cluster, and leaves the sum in each: around the ring once to add, once to share
/// (NCCL's ring all-reduce; Patarasu and Yuan 2009). A step's chunk is copied while the others arrive.
#[cluster_kernel(cluster = 4, block = 64)]
fn all_reduce(vectors: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[f32; CHUNK], BLOCKS>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let base = this_grid().block_rank() * CHUNK * BLOCKS;
    let before = cluster.map_shared_rank(&parts, (rank + blocks - 1) % blocks);
    for part in 0..blocks {
        parts[part][i] = vectors[base + (part as usize * CHUNK) + i as usize];
    }
    // In step s, the block adds its predecessor's chunk rank - 1 - s to its own.
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - 1 - step) % blocks;
        let token = cluster.barrier_arrive();
        let own = parts[part][i];
        cluster.barrier_wait(token);
        parts[part][i] = before[part][i] + own;
    }
    for step in 0..blocks - 1 {
        let part = (rank + 2 * blocks - step) % blocks;
        let token = cluster.barrier_arrive();
        let place = base + part as usize * CHUNK + i as usize;
        cluster.barrier_wait(token);
        let sum = before[part][i];
        parts[part][i] = sum;
        out[place] = sum;
    }
    let last = (rank + 1) % blocks; // the chunk whose sum this block has made
    out[base + last as usize * CHUNK + i as usize] = parts[last][i];
    cluster.sync();
}

/// Each block sends a chunk to each other one (NCCL's all-to-all, as expert parallelism uses it): writes to peers, one
/// barrier.
#[cluster_kernel(cluster = 4, block = 64)]
fn all_to_all(input: &[u64], out: &mut [u64]) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u64; CHUNK], BLOCKS>();
    let i = this_thread_block().thread_rank() as usize;
    let base = this_grid().block_rank() * CHUNK * BLOCKS;
    cluster.sync(); // all blocks run
    for turn in 0..BLOCKS {
        // Each begins with its neighbour, so that no inbox is full of senders.
        let to = (cluster.block_rank() + 1 + turn as u32) % cluster.num_blocks();
        cluster.map_shared_rank(&inbox, to)[cluster.block_rank()][i] = input[base + to as usize * CHUNK + i];
    }
    cluster.sync();
    for from in 0..BLOCKS {
        out[base + from * CHUNK + i] = inbox[from][i];
    }
}

/// A product with weights that one block after the other loads for all (the weight streaming of a persistent MLP kernel):
/// two buffers, and the token of a round is kept while the next tile is fetched.
#[cluster_kernel(cluster = 4, block = 64)]
fn broadcast_weights(weights: &[i32], x: &[i32], out: &mut [i32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[i32; CHUNK], 2>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let at = this_grid().thread_rank();
    let mut sum = 0;
    if rank == 0 {
        tile[0][i] = weights[i];
    }
    let mut token = cluster.barrier_arrive();
    for t in 0..tiles {
        // Fetched into a register before the wait; into shared memory after it, when the buffer is free.
        let next = t + 1;
        let fetches = next < tiles && next % blocks == rank;
        let fetched = if fetches { Some(weights[next * CHUNK as u32 + i]) } else { None };
        cluster.barrier_wait(token);
        if let Some(value) = fetched {
            tile[next % 2][i] = value;
        }
        let owner = cluster.map_shared_rank(&tile, t % blocks);
        for k in 0..CHUNK as u32 {
            sum += owner[t % 2][k] * x[at as u32 * tiles * CHUNK as u32 + t * CHUNK as u32 + k];
        }
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
    out[at] = sum;
}

/// Sorts the keys of a cluster by exchanges with the neighbours (odd-even transposition, Knuth 5.3.4), a key a thread; at
/// the edges of blocks the neighbour's key is in its block's shared memory.
#[cluster_kernel(cluster = 4, block = 32)]
fn transposition_sort(keys: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let published = shared_array::<[u32; 2], 32>();
    let i = this_thread_block().thread_rank();
    let (rank, place, last) = (cluster.block_rank(), cluster.thread_rank(), cluster.num_threads() - 1);
    let at = this_grid().thread_rank();
    let left = cluster.map_shared_rank(&published, if rank > 0 { rank - 1 } else { rank });
    let right = cluster.map_shared_rank(&published, if place + 32 <= last { (rank + 1).min(3) } else { rank });
    let mut key = keys[at];
    for round in 0..rounds {
        let buffer = round % 2;
        published[i][buffer] = key;
        let token = cluster.barrier_arrive();
        let is_low = (place + round) % 2 == 0;
        cluster.barrier_wait(token);
        key = match (is_low, i) {
            (true, _) if place == last => key,
            (true, 31) => key.min(right[0][buffer]),
            (true, _) => key.min(published[i + 1][buffer]),
            (false, _) if place == 0 => key,
            (false, 0) => key.max(left[31][buffer]),
            (false, _) => key.max(published[i - 1][buffer]),
        };
    }
    keys[at] = key;
    cluster.sync();
}

/// Waits for the pending arrival, if there is one.
#[device]
fn finish(cluster: &Cluster, pending: Option<ArrivalToken<Cluster>>) {
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

/// The moving sum of `window` blocks of a stream, where a block of a cluster gets each fourth: only every `period`-th
/// step publishes, and so an arrival is pending in some steps only.
#[cluster_kernel(cluster = 2, block = 32)]
fn sometimes(input: &[i64], out: &mut [i64], steps: u32, period: u32) {
    let cluster = this_cluster();
    let totals = shared_array::<[i64; 2], 32>();
    let i = this_thread_block().thread_rank();
    let base = this_grid().block_rank() as u32 * steps * 32;
    let peer = cluster.map_shared_rank(&totals, 1 - cluster.block_rank());
    let mut sum = 0;
    let mut buffer = 0u32;
    let mut pending = None;
    for step in 0..steps {
        let value = input[base + step * 32 + i];
        sum += value;
        if step % period == period - 1 {
            finish(&cluster, pending.take());
            totals[i][buffer] = sum;
            cluster.sync();
            sum += peer[i][buffer];
            pending = Some(cluster.barrier_arrive());
            buffer = 1 - buffer;
        }
        out[base + step * 32 + i] = sum;
    }
    finish(&cluster, pending.take());
}

fn all_reduced(device: &Device) -> Outcome {
    let len = 2 * BLOCKS * BLOCKS * CHUNK;
    let vectors = reals(241, len);
    let input = device.upload(&vectors)?;
    let got = read!(device, len, |out| all_reduce(&input, out).grid(8));
    let width = BLOCKS * CHUNK;
    let sum = |i: usize| {
        let (cluster, place) = (i / (width * BLOCKS), i % width);
        // Around the ring, from the block of the chunk's number on.
        let value = |block: usize| vectors[(cluster * BLOCKS + block % BLOCKS) * width + place];
        let first = place / CHUNK;
        (1..BLOCKS).fold(value(first), |sum, step| sum + value(first + step))
    };
    same(&got, &(0..len).map(sum).collect::<Vec<_>>(), |i| format!("{i}"))
}

fn exchanged(device: &Device) -> Outcome {
    let len = BLOCKS * BLOCKS * CHUNK;
    let values: Vec<u64> = random(242, len).into_iter().map(u64::from).collect();
    let input = device.upload(&values)?;
    let got = read!(device, len, |out| all_to_all(&input, out).grid(4));
    let (width, of) = (BLOCKS * CHUNK, |i: usize| (i / (BLOCKS * CHUNK), i / CHUNK % BLOCKS, i % CHUNK));
    let from = |i: usize| {
        let (to, from, k) = of(i);
        values[from * width + to * CHUNK + k]
    };
    same(&got, &(0..len).map(from).collect::<Vec<_>>(), |i| format!("{i}"))
}

fn streamed(device: &Device) -> Outcome {
    for tiles in [1, 6] {
        let signed = |seed, len| random(seed, len).into_iter().map(|value| value as i32 >> 20).collect::<Vec<_>>();
        let (weights, x) = (signed(243, tiles * CHUNK), signed(244, 256 * tiles * CHUNK));
        let (a, b) = (device.upload(&weights)?, device.upload(&x)?);
        let got = read!(device, 256, |out| broadcast_weights(&a, &b, out, tiles as u32).grid(4));
        let row = |row: &[i32]| row.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<i32>();
        same(&got, &x.chunks(tiles * CHUNK).map(row).collect::<Vec<_>>(), |i| format!("{tiles} tiles, {i}"))?;
    }
    Ok(())
}

fn sorted_by_neighbours(device: &Device) -> Outcome {
    let mut keys = random(245, 256);
    let mut buffer = device.upload(&keys)?;
    transposition_sort(&mut buffer, 128).grid(8).launch(device)?;
    keys.chunks_mut(128).for_each(|part| part.sort_unstable());
    same(&buffer.read()?, &keys, |i| format!("{i}"))
}

fn now_and_then(device: &Device) -> Outcome {
    for (steps, period) in [(12, 3), (10, 4), (5, 9), (4, 1)] {
        let len = 2 * 32 * steps as usize;
        let values: Vec<i64> = random(246, len).into_iter().map(i64::from).collect();
        let input = device.upload(&values)?;
        let got = read!(device, len, |out| sometimes(&input, out, steps, period).grid(2));
        let mut want = vec![0; len];
        for i in 0..32 {
            let mut sums = [0i64; 2];
            for step in 0..steps as usize {
                let places = [0, 1].map(|block| (block * steps as usize + step) * 32 + i);
                (0..2).for_each(|block| sums[block] += values[places[block]]);
                if step % period as usize == period as usize - 1 {
                    sums = [sums[0] + sums[1]; 2];
                }
                (0..2).for_each(|block| want[places[block]] = sums[block]);
            }
        }
        same(&got, &want, |i| format!("{steps} steps, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::pipelines",
        checks: check_list![all_reduced, exchanged, streamed, sorted_by_neighbours, now_and_then],
        kernels: kernel_list![all_reduce, all_to_all, broadcast_weights, transposition_sort, sometimes],
    }
}
