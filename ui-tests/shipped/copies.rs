//! Bugs of asynchronous copies that others shipped: memory that is used while a copy still reads or writes it.

use phalanx::prelude::*;

/// <https://github.com/deepseek-ai/DeepEP/issues/657>: with two stages, the wait leaves the newest copy in flight, which is the
/// one that reads the stage to be filled next.
#[cluster_kernel(block = 32)]
fn deepep_657(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let stage = shared_array::<u32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(128);
        bulk_copy_async(&stage, &input[..32], &full);
        let _ = full.arrive();
        full.wait_parity(false);
        bulk_copy_async(&mut out[..32], &stage);
        bulk_wait_group_read::<1>();
        full.expect_tx(128);
        bulk_copy_async(&stage, &input[32..64], &full);
        let _ = full.arrive();
        full.wait_parity(true);
        bulk_copy_async(&mut out[32..64], &stage);
        bulk_wait_group_read::<0>();
    }
}

/// <https://github.com/NVIDIA/Fuser/pull/5448>: a loop writes a tile and begins to copy it; the only wait comes after the loop.
#[cluster_kernel(block = 64)]
fn fuser_5448(input: &[u32], out: &mut [u32], rows: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    for row in 0..rows {
        tile[i] = input[row * 64 + i] + 1;
        block.sync();
        if i == 0 {
            bulk_copy_async(&mut out[row * 64..(row + 1) * 64], &tile);
        }
        block.sync();
    }
    if i == 0 {
        bulk_wait_group::<0>();
    }
}

/// <https://github.com/NVIDIA/Fuser/pull/3423>: the elements are used with no wait for the copy.
#[cluster_kernel(block = 64)]
fn fuser_3423(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<u32, 64>();
    memcpy_async(&block, &row, &input[..64]);
    block.sync();
    out[i] = row[63 - i];
    block.wait_async();
}

/// <https://github.com/tile-ai/tilelang/issues/2668>: the copy for the next round begins while threads still read this round's
/// elements, in the same buffer.
#[cluster_kernel(block = 64)]
fn tilelang_2668(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
    block.wait_async();
    let mut sum = 0;
    for round in 1..rounds {
        memcpy_async(&block, &tile, &input[round * 64..(round + 1) * 64]);
        sum += tile[63 - i];
        block.wait_async();
    }
    out[i] = sum;
}

/// <https://github.com/xinhao-luo/ClusterFusion/blob/1adf53640ce19511b53f2e19b1152fdd97441eb2/include/dsm.cuh>: a ring adds what arrived to a buffer that its own copy to
/// the next block still reads.
#[cluster_kernel(cluster = 2, block = 64)]
fn cluster_fusion(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let sum = shared_array::<u32, 64>();
    let inbox = shared_array::<u32, 64>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    sum[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let next = 1 - cluster.block_rank();
    if i == 0 {
        full.expect_tx(256);
        let _ = full.arrive();
        bulk_copy_async(&cluster.map_shared_rank(&inbox, next), &sum, &cluster.map_shared_rank(&full, next));
    }
    full.wait_parity(false);
    sum[i] += inbox[i];
    out[this_grid().thread_rank()] = sum[i];
    cluster.sync();
}

fn main() {}
