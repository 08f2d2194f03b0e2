//! Elected waiters: all threads of a group arrive, some wait and use what the others have left, the others forget their
//! token and end.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

const BLOCK: usize = 96;
const BLOCKS: usize = 8;

/// One thread of each block adds what the others wrote to shared memory.
#[cluster_kernel(block = BLOCK)]
fn one_thread(values: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let shared = shared_array::<u32, 96>();
    let i = block.thread_rank();
    shared[i] = values[this_grid().thread_rank()];
    let token = block.barrier_arrive();
    if i != 40 {
        token.forget();
        return;
    }
    block.barrier_wait(token);
    let mut sum = 0;
    for j in 0..BLOCK {
        sum += shared[j];
    }
    out[this_grid().block_rank()] = sum;
}

/// The second warp of a cluster's first block adds what the cluster wrote to global memory.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn one_warp(values: &[u32], squares: &mut [u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let grid = this_grid();
    let warp = tiled_partition::<32>(&this_thread_block());
    let i = grid.thread_rank();
    squares[i] = values[i] * values[i];
    let token = cluster.barrier_arrive();
    if cluster.block_rank() == 0 && warp.meta_group_rank() == 1 {
        cluster.barrier_wait(token);
        let first = grid.cluster_rank() * 4 * BLOCK;
        let mut sum = 0;
        for j in 0..4 * BLOCK / 32 {
            sum += squares[first + 32 * j + warp.thread_rank() as usize];
        }
        let sum = warp.reduce(sum, op::Plus);
        if warp.thread_rank() == 0 {
            out[grid.cluster_rank()] = sum;
        }
    } else {
        token.forget();
    }
}

/// The last block adds the blocks' sums.
#[cluster_kernel(block = BLOCK)]
fn one_block(values: &[u32], sums: &mut [u32], out: &mut [u32]) {
    let block = this_thread_block();
    let grid = this_grid();
    sums.atomic(grid.block_rank()).fetch_add(values[grid.thread_rank()], Relaxed);
    let token = grid.barrier_arrive();
    if grid.block_rank() + 1 == grid.num_blocks() {
        grid.barrier_wait(token);
        if block.thread_rank() < grid.num_blocks() as u32 {
            out.atomic(0).fetch_add(sums[block.thread_rank()], Relaxed);
        }
        block.sync();
    } else {
        token.forget();
    }
}

fn values() -> Vec<u32> {
    (0..(BLOCK * BLOCKS) as u32).map(|i| i * 7 % 1_000).collect()
}

fn thread_waits(device: &Device) -> Outcome {
    let values = values();
    let input = device.upload(&values)?;
    let got = read!(device, BLOCKS, |out| one_thread(&input, out).grid(BLOCKS as u32));
    equal(&got, &values.chunks(BLOCK).map(|block| block.iter().sum()).collect::<Vec<u32>>())
}

fn warp_waits(device: &Device) -> Outcome {
    let values = values();
    let (input, mut squares) = (device.upload(&values)?, device.zeros(BLOCK * BLOCKS)?);
    let got = read!(device, BLOCKS / 4, |out| one_warp(&input, &mut squares, out).grid(BLOCKS as u32));
    equal(&got, &values.chunks(4 * BLOCK).map(|cluster| cluster.iter().map(|x| x * x).sum()).collect::<Vec<u32>>())
}

fn block_waits(device: &Device) -> Outcome {
    let values = values();
    let (input, mut sums) = (device.upload(&values)?, device.zeros(BLOCKS)?);
    let got = read!(device, 1, |out| one_block(&input, &mut sums, out).grid(BLOCKS as u32));
    equal(&got, &[values.iter().sum::<u32>()])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![thread_waits, warp_waits, block_waits];
    let kernels = kernel_list![one_thread, one_warp, one_block];
    vec![Module { name: "forgotten", checks, kernels }]
}
