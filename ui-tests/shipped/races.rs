//! Data races of the threads of a block in shared memory that others shipped.

use phalanx::prelude::*;

/// <https://github.com/tile-ai/tilelang/issues/2613>: both halves of a block read a tile, and the next round writes it with no
/// barrier in between.
#[cluster_kernel(block = 64)]
fn tilelang_2613(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    let mut sum = 0;
    for round in 0..3 {
        tile[i] = input[round * 64 + i];
        block.sync();
        sum += if i < 32 { tile[63 - i] } else { 2 * tile[i - 32] };
    }
    out[i] = sum;
}

/// Its mend: the threads meet before the next round writes the tile.
#[cluster_kernel(block = 64)]
fn mend_of_tilelang_2613(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    let mut sum = 0;
    for round in 0..3 {
        tile[i] = input[round * 64 + i];
        block.sync();
        sum += if i < 32 { tile[63 - i] } else { 2 * tile[i - 32] };
        block.sync();
    }
    out[i] = sum;
}

/// <https://github.com/ORNL/HeCBench/issues/253>: all threads read all of a tile, which the next round replaces.
#[cluster_kernel(block = 64)]
fn hecbench_253(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    let mut nearest = u32::MAX;
    for start in (0..128).step_by(64) {
        tile[i] = input[start + i];
        block.sync();
        for k in 0..64 {
            nearest = nearest.min(tile[k].abs_diff(i));
        }
    }
    out[i] = nearest;
}

/// <https://github.com/NVIDIA/Fuser/issues/678>: a thread without work resets the sum for the next row before the others have
/// stored this row's.
#[cluster_kernel(block = 32)]
fn fuser_678(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let sum = shared_array::<u32, 1>();
    for row in 0..3 {
        if i == 31 {
            sum[0] = 0;
        }
        block.sync();
        if i < 5 {
            sum.atomic(0).fetch_add(input[row * 5 + i], Relaxed);
        }
        block.sync();
        if i == 0 {
            out[row] = sum[0];
        }
    }
}

/// <https://github.com/dirac-institute/kbmod/pull/108>: what other threads wrote is read with no barrier after the writes.
#[cluster_kernel(block = 64)]
fn kbmod_108(input: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let candidates = shared_array::<u32, 64>();
    candidates[i] = input[i];
    let mut least = u32::MAX;
    for k in 0..64 {
        least = least.min(candidates[k]);
    }
    out[i] = least;
}

/// <https://github.com/CanReader/FastNN/issues/8>: the threads of a warp add in shared memory as if they ran in lockstep.
#[cluster_kernel(block = 32)]
fn fastnn_8(input: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let sums = shared_array::<u32, 64>();
    sums[i] = input[i];
    sums[i + 32] = input[i + 32];
    for step in [32, 16, 8, 4, 2, 1] {
        if i < step {
            sums[i] += sums[i + step];
        }
    }
    if i == 0 {
        out[0] = sums[0];
    }
}

fn main() {}
