//! Kernels whose threads meet at barriers, where whole warps make the tests of accesses together: the thread that fails is the one that
//! is reported, nobody waits for the warp that left, and a warp that is not full has no other tests. A comment with the kernel's name
//! stands before each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Check, Kernel, Module, Outcome, fails, find, same};

const SOURCE: &str = include_str!("whole_warps.rs");

/// The threads of a block: its last warp is not full.
const THREADS: usize = 72;

/// One access before a barrier.
#[cluster_kernel(cluster = 2, block = 72)]
fn before_a_barrier(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 72>();
    let i = block.thread_rank();
    tile[i] = /* before_a_barrier */ input[this_grid().thread_rank()];
    block.sync();
    out[this_grid().thread_rank()] = tile[71 - i];
}

/// A loop with barriers, whose test holds for all of its rounds, or for none.
#[cluster_kernel(cluster = 1, block = 72)]
fn rounds_of_a_block(input: &[u32], out: &mut [u32], rounds: usize) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 72>();
    let i = block.thread_rank() as usize;
    let mut sum = 0;
    for round in 0..rounds {
        tile[i] = /* rounds_of_a_block */ input[round * THREADS + i];
        block.sync();
        for k in 0..8 {
            sum += tile[(i + k) % THREADS];
        }
        block.sync();
    }
    out[this_grid().thread_rank()] = sum;
}

/// The same for blocks that exchange by the cluster's barrier, in a `while` that counts.
#[cluster_kernel(cluster = 2, block = 72)]
fn rounds_of_a_cluster(input: &[u32], out: &mut [u32], rounds: usize) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 72>();
    let i = this_thread_block().thread_rank() as usize;
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    let mut round = 0;
    while round < rounds {
        tile[i] = /* rounds_of_a_cluster */ input[(round * 2 + cluster.block_rank() as usize) * THREADS + i];
        cluster.sync();
        sum += peer[THREADS - 1 - i];
        cluster.sync();
        round += 1;
    }
    out[this_grid().thread_rank()] = sum;
}

/// A loop that is printed twice, between two barriers: all threads of a warp run the same copy.
#[cluster_kernel(cluster = 1, block = 72)]
fn between_barriers(input: &[u32], out: &mut [u32], count: usize) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 72>();
    let i = block.thread_rank() as usize;
    let mut sum = 0;
    for k in 0..count {
        sum += /* between_barriers */ input[k * THREADS + i];
    }
    tile[i] = sum;
    block.sync();
    let eight = tiled_partition::<8>(&block);
    sum = eight.reduce(tile[i], op::Plus);
    out[i] = sum;
}

#[device]
fn exchanged(eight: &Tile<8>, x: u32) -> u32 {
    eight.shfl_xor(x, 3)
}

/// A loop around a function in which threads meet: each thread has a test of its own, and there is one copy of the loop.
#[cluster_kernel(cluster = 1, block = 72)]
fn around_a_function(input: &[u32], out: &mut [u32], count: usize) {
    let block = this_thread_block();
    let eight = tiled_partition::<8>(&block);
    let i = block.thread_rank() as usize;
    let mut sum = 0;
    for k in 0..count {
        sum += exchanged(&eight, /* around_a_function */ input[k * THREADS + i]);
    }
    out[i] = eight.reduce(sum, op::Plus);
}

/// Values of an input that has one element too few for the last thread of the last round, and what holds of all others.
fn values(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * 7 % 31).collect()
}

fn one_before_a_barrier(device: &Device) -> Outcome {
    let input = values(4 * THREADS);
    let mut out = device.zeros(4 * THREADS)?;
    before_a_barrier(&device.upload(&input)?, &mut out).grid(4).launch(device)?;
    let want: Vec<u32> = (0..4 * THREADS).map(|i| input[i / THREADS * THREADS + THREADS - 1 - i % THREADS]).collect();
    same(&out.read()?, &want, |i| format!("out[{i}]"))?;
    let short = device.upload(&input[..4 * THREADS - 1])?;
    let result = before_a_barrier(&short, &mut out).grid(4).launch(device);
    let cause = "index 287 out of bounds for length 287";
    fails(result, cause, &find(file!(), SOURCE, "before_a_barrier"), (3, 0, 0), (71, 0, 0))?;
    still_works(device)
}

fn rounds_with_a_block_barrier(device: &Device) -> Outcome {
    let input = values(5 * THREADS);
    let mut out = device.zeros(THREADS)?;
    rounds_of_a_block(&device.upload(&input)?, &mut out, 5).grid(1).launch(device)?;
    let sum = |i: usize| {
        (0..5)
            .flat_map(|round| (0..8).map(move |k| (round, k)))
            .fold(0, |sum, (round, k)| sum + input[round * THREADS + (i + k) % THREADS])
    };
    same(&out.read()?, &(0..THREADS).map(sum).collect::<Vec<u32>>(), |i| format!("out[{i}]"))?;
    let short = device.upload(&input[..4 * THREADS + 71])?;
    let result = rounds_of_a_block(&short, &mut out, 5).grid(1).launch(device);
    let cause = "index 359 out of bounds for length 359";
    fails(result, cause, &find(file!(), SOURCE, "rounds_of_a_block"), (0, 0, 0), (71, 0, 0))?;
    still_works(device)
}

fn rounds_with_a_cluster_barrier(device: &Device) -> Outcome {
    let input = values(6 * THREADS);
    let mut out = device.zeros(2 * THREADS)?;
    rounds_of_a_cluster(&device.upload(&input)?, &mut out, 3).grid(2).launch(device)?;
    let sum = |i: usize| {
        let (peer, at) = (1 - i / THREADS, THREADS - 1 - i % THREADS);
        (0..3).map(|round| input[(round * 2 + peer) * THREADS + at]).sum()
    };
    same(&out.read()?, &(0..2 * THREADS).map(sum).collect::<Vec<u32>>(), |i| format!("out[{i}]"))?;
    let short = device.upload(&input[..6 * THREADS - 1])?;
    let result = rounds_of_a_cluster(&short, &mut out, 3).grid(2).launch(device);
    let cause = "index 431 out of bounds for length 431";
    fails(result, cause, &find(file!(), SOURCE, "rounds_of_a_cluster"), (1, 0, 0), (71, 0, 0))?;
    still_works(device)
}

fn a_loop_between_barriers(device: &Device) -> Outcome {
    let input = values(5 * THREADS);
    let mut out = device.zeros(THREADS)?;
    between_barriers(&device.upload(&input)?, &mut out, 5).grid(1).launch(device)?;
    let own = |i: usize| (0..5).map(|k| input[k * THREADS + i]).sum::<u32>();
    let sum = |i: usize| (i / 8 * 8..i / 8 * 8 + 8).map(own).sum();
    same(&out.read()?, &(0..THREADS).map(sum).collect::<Vec<u32>>(), |i| format!("out[{i}]"))?;
    let short = device.upload(&input[..5 * THREADS - 1])?;
    let result = between_barriers(&short, &mut out, 5).grid(1).launch(device);
    let cause = "index 359 out of bounds for length 359";
    fails(result, cause, &find(file!(), SOURCE, "between_barriers"), (0, 0, 0), (71, 0, 0))?;
    still_works(device)
}

fn a_loop_around_a_function(device: &Device) -> Outcome {
    let input = values(5 * THREADS);
    let mut out = device.zeros(THREADS)?;
    around_a_function(&device.upload(&input)?, &mut out, 5).grid(1).launch(device)?;
    let own = |i: usize| (0..5).map(|k| input[k * THREADS + i]).sum::<u32>();
    let sum = |i: usize| (i / 8 * 8..i / 8 * 8 + 8).map(own).sum();
    same(&out.read()?, &(0..THREADS).map(sum).collect::<Vec<u32>>(), |i| format!("out[{i}]"))?;
    let short = device.upload(&input[..5 * THREADS - 1])?;
    let result = around_a_function(&short, &mut out, 5).grid(1).launch(device);
    let cause = "index 359 out of bounds for length 359";
    fails(result, cause, &find(file!(), SOURCE, "around_a_function"), (0, 0, 0), (71, 0, 0))?;
    still_works(device)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = vec![
        Check { name: "one_before_a_barrier", run: one_before_a_barrier },
        Check { name: "rounds_with_a_block_barrier", run: rounds_with_a_block_barrier },
        Check { name: "rounds_with_a_cluster_barrier", run: rounds_with_a_cluster_barrier },
        Check { name: "a_loop_between_barriers", run: a_loop_between_barriers },
        Check { name: "a_loop_around_a_function", run: a_loop_around_a_function },
    ];
    let kernels = vec![
        Kernel::of::<before_a_barrier>("before_a_barrier"),
        Kernel::of::<rounds_of_a_block>("rounds_of_a_block"),
        Kernel::of::<rounds_of_a_cluster>("rounds_of_a_cluster"),
        Kernel::of::<between_barriers>("between_barriers"),
        Kernel::of::<around_a_function>("around_a_function"),
    ];
    vec![Module { name: "whole_warps", checks, kernels }]
}
