//! Relaxed arrivals at the cluster's barrier, with nothing to order and with the fences that do, and `.aligned` barriers:
//! by themselves, by name, and where a rule is off so that they are not.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read, same};

const BLOCK: u32 = 96;
const BLOCKS: u32 = 4;

/// The peers have started; then each writes into the next one's memory.
#[cluster_kernel(cluster = BLOCKS, block = BLOCK)]
fn entry(out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 96>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&inbox, (cluster.block_rank() + 1) % BLOCKS);
    let started = cluster.barrier_arrive_relaxed();
    let value = cluster.thread_rank() * 3;
    cluster.barrier_wait(started);
    next[i] = value;
    cluster.sync();
    out[this_grid().thread_rank()] = inbox[i];
}

fn that_peers_have_started(device: &Device) -> Outcome {
    let got = read!(device, 2 * (BLOCKS * BLOCK) as usize, |out| entry(out).grid(2 * BLOCKS));
    let all = BLOCKS * BLOCK;
    let want = (0..2 * all).map(|t| (t % all + all - BLOCK) % all * 3);
    equal(&got, &want.collect::<Vec<u32>>())
}

/// A value goes round the cluster: written, fenced, read from the block before, fenced.
#[cluster_kernel(cluster = BLOCKS, block = BLOCK)]
fn fenced_ring(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cell = shared_array::<u32, 96>();
    let i = this_thread_block().thread_rank();
    let before = cluster.map_shared_rank(&cell, (cluster.block_rank() + BLOCKS - 1) % BLOCKS);
    let mut value = cluster.thread_rank();
    for round in 0..rounds {
        cell[i] = value + round;
        fence(AcqRel, Scope::Cluster);
        let written = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(written);
        value = before[i];
        fence(AcqRel, Scope::Cluster);
        let read = cluster.barrier_arrive_relaxed_aligned();
        cluster.barrier_wait_aligned(read);
    }
    out[this_grid().thread_rank()] = value;
}

/// The ring with one fence per block.
#[cluster_kernel(cluster = BLOCKS, block = BLOCK)]
fn one_fence_a_block(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let cells = shared_array::<[u32; 96], 2>();
    let i = block.thread_rank();
    let before = cluster.map_shared_rank(&cells, (cluster.block_rank() + BLOCKS - 1) % BLOCKS);
    let mut value = cluster.thread_rank();
    for round in 0..rounds {
        cells[round % 2][i] = value + round;
        block.sync();
        if i == 0 {
            fence(AcqRel, Scope::Cluster);
        }
        let written = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(written);
        value = before[round % 2][i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = value;
}

fn what_is_fenced_is_published(device: &Device) -> Outcome {
    let all = BLOCKS * BLOCK;
    for rounds in [1, 4, 101] {
        let sum = (0..rounds).sum::<u32>();
        let want: Vec<u32> = (0..all).map(|t| (t + all * rounds - BLOCK * rounds) % all + sum).collect();
        let ring = read!(device, all as usize, |out| fenced_ring(out, rounds).grid(BLOCKS));
        same(&ring, &want, |t| format!("each thread's fences, {rounds} rounds, thread {t}"))?;
        let one = read!(device, all as usize, |out| one_fence_a_block(out, rounds).grid(BLOCKS));
        same(&one, &want, |t| format!("one fence a block, {rounds} rounds, thread {t}"))?;
    }
    Ok(())
}

#[device]
fn sum_of_block(block: &ThreadBlock, cells: &SharedArray<u32, 96>, value: u32) -> u32 {
    cells[block.thread_rank()] = value;
    block.sync();
    let mut sum = 0;
    for i in 0..BLOCK {
        sum += cells[i];
    }
    block.sync();
    sum
}

/// Loops and branches for which no assembler sees that all threads take them: `.aligned` says so.
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn aligned_in_loops(rounds: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let cells = shared_array::<u32, 96>();
    let mut value = block.thread_rank();
    for round in 0..rounds[0] {
        if rounds[1 + round] % 2 == 0 {
            value = sum_of_block(&block, &cells, value % 7) + block.thread_rank();
            block.sync_aligned();
        } else {
            cluster.sync_aligned();
            let token = cluster.barrier_arrive_aligned();
            value += round;
            cluster.barrier_wait_aligned(token);
        }
    }
    out[this_grid().thread_rank()] = value;
}

/// The same kernel with barriers that are not `.aligned`.
#[cluster_kernel(cluster = 2, block = BLOCK, unchecked(divergent_collective))]
fn not_aligned(rounds: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let cells = shared_array::<u32, 96>();
    let i = block.thread_rank();
    let mut value = i;
    // All threads hold the same, but no check can see that.
    for round in 0..rounds[i % 1] {
        if rounds[1 + round + i % 1] % 2 == 0 {
            value = sum_of_block(&block, &cells, value % 7) + i;
            block.sync();
        } else {
            cluster.sync();
            let token = cluster.barrier_arrive();
            value += round;
            cluster.barrier_wait(token);
        }
    }
    out[this_grid().thread_rank()] = value;
}

fn aligned_or_not(device: &Device) -> Outcome {
    let rounds = [6, 2, 3, 5, 8, 1, 4];
    let mut want: Vec<u32> = (0..BLOCK).collect();
    for (round, kind) in rounds[1..].iter().enumerate() {
        let sum: u32 = want.iter().map(|value| value % 7).sum();
        for (i, value) in want.iter_mut().enumerate() {
            *value = if kind % 2 == 0 { sum + i as u32 } else { *value + round as u32 };
        }
    }
    let want = [&want[..], &want[..]].concat();
    let rounds = device.upload(&rounds)?;
    let aligned = read!(device, 2 * BLOCK as usize, |out| aligned_in_loops(&rounds, out).grid(2));
    same(&aligned, &want, |t| format!("aligned, thread {t}"))?;
    // SAFETY: all threads read the same words, so that they reach each barrier together.
    let not = read!(device, 2 * BLOCK as usize, |out| unsafe { not_aligned(&rounds, out) }.grid(2));
    same(&not, &want, |t| format!("not aligned, thread {t}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "relaxed",
        checks: check_list![that_peers_have_started, what_is_fenced_is_published, aligned_or_not],
        kernels: kernel_list![entry, fenced_ring, one_fence_a_block, aligned_in_loops, not_aligned],
    }]
}
