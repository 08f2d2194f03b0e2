//! Bugs of divergence that others shipped: barriers and shuffles that some of their threads do not reach.

use phalanx::prelude::*;

/// <https://github.com/pytorch/pytorch/pull/172554>: threads without work return before the barriers of the reduction.
#[cluster_kernel(block = 64)]
fn pytorch_172554(input: &[f32], out: &mut [f32], channels: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let sums = shared_array::<f32, 64>();
    if i >= channels {
        return;
    }
    sums[i] = input[i];
    block.sync();
    out[i] = sums[channels - 1 - i];
}

/// <https://github.com/acts-project/acts/pull/307>: a barrier under a condition on the thread's rank.
#[cluster_kernel(block = 64)]
fn acts_307(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let counts = shared_array::<u32, 64>();
    counts[i] = input[i];
    if i < 32 {
        block.sync();
        out[i] = counts[i] + counts[i + 32];
    }
}

/// <https://github.com/1bit-MONSTER/1bit-MONSTER/issues/1262>: what a thread reads has it skip a round with a barrier in it.
#[cluster_kernel(block = 128)]
fn monster_1262(experts: &[i32], weights: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 128>();
    let mut sum = 0.0;
    for k in 0..4u32 {
        let expert = experts[k * 128 + i];
        if expert < 0 {
            continue;
        }
        tile[i] = weights[expert as u32];
        block.sync();
        sum += tile[127 - i];
        block.sync();
    }
    out[i] = sum;
}

/// <https://github.com/numba/numba/issues/2655>: an error path of some threads leaves, past the barrier.
#[cluster_kernel(block = 32)]
fn numba_2655(pad: &mut [i32]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    if t < 14 && pad[t] + 1 == 0 {
        pad[40] = 1;
        return;
    }
    if t == 1 {
        pad[32] = 5;
    }
    block.sync();
    if t == 17 {
        pad[33] = pad[32];
    }
}

/// <https://github.com/uzh-rpg/vilib/pull/5>: a shuffle of a warp that only some of its threads come to.
#[cluster_kernel(block = 32)]
fn vilib_5(input: &[f32], out: &mut [f32], count: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = warp.thread_rank();
    if i < count {
        let mut best = input[i];
        best = best.max(warp.shfl_down(best, 16));
        out[i] = best;
    }
}

fn main() {}
