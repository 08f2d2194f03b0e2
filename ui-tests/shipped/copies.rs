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

/// <https://github.com/NVIDIA/TransformerEngine/pull/3417>: a store of a tile is waited for by a thread that did not begin it, for which
/// nothing is in flight. The block may exit while its memory is still read.
#[cluster_kernel(block = 64)]
fn transformer_engine_3417(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    tile[i] = input[i] + 1;
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &tile);
    }
    if i == 32 {
        bulk_wait_group_read::<0>();
    }
}

/// Its mend: the thread that began the store waits for it.
#[cluster_kernel(block = 64)]
fn mend_of_transformer_engine_3417(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 64>();
    tile[i] = input[i] + 1;
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &tile);
        bulk_wait_group_read::<0>();
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

/// <https://github.com/triton-lang/triton/issues/11047>: two warpgroups multiply what one copy brought. Each waits for its own product alone before the next copy to the
/// same memory begins.
#[cluster_kernel(block = 256)]
fn triton_11047(a: &TensorMap<[Swizzled<bf16, 64>; 128]>, out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let (i, which) = (block.thread_rank(), warpgroup.meta_group_rank());
    let tile = shared_array::<Swizzled<bf16, 64>, 128>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let mut sum = Accumulator::<f32, 64, 128>::splat(0.0);
    for round in 0..rounds {
        if i == 0 {
            a.load_async([round as i32 * 128, 0], &tile, &full);
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        let product = warpgroup.mma_async(sum, &tile[which * 64..which * 64 + 64], &tile);
        sum = warpgroup.wait_mma(product);
    }
    out[i] = sum[0];
}

/// Its mend: the warpgroups meet before the next copy.
#[cluster_kernel(block = 256)]
fn mend_of_triton_11047(a: &TensorMap<[Swizzled<bf16, 64>; 128]>, out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let (i, which) = (block.thread_rank(), warpgroup.meta_group_rank());
    let tile = shared_array::<Swizzled<bf16, 64>, 128>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let mut sum = Accumulator::<f32, 64, 128>::splat(0.0);
    for round in 0..rounds {
        if i == 0 {
            a.load_async([round as i32 * 128, 0], &tile, &full);
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        let product = warpgroup.mma_async(sum, &tile[which * 64..which * 64 + 64], &tile);
        sum = warpgroup.wait_mma(product);
        block.sync();
    }
    out[i] = sum[0];
}

/// <https://github.com/triton-lang/triton/pull/3106>: there is one buffer, and its next contents are loaded before the product that reads it has been waited for.
#[cluster_kernel(block = 128)]
fn triton_3106(a: &TensorMap<[Swizzled<bf16, 64>; 128]>, out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let i = block.thread_rank();
    let tile = shared_array::<Swizzled<bf16, 64>, 128>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        a.load_async([0, 0], &tile, &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    let mut product = warpgroup.mma_async(Accumulator::<f32, 64, 128>::splat(0.0), &tile[0..64], &tile);
    for round in 1..rounds {
        if i == 0 {
            a.load_async([round as i32 * 128, 0], &tile, &full);
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        product = warpgroup.mma_async(product, &tile[0..64], &tile);
        warpgroup.wait_mma_prior::<1>();
    }
    let sum = warpgroup.wait_mma(product);
    out[i] = sum[0];
}

/// <https://github.com/inclusionAI/humming/pull/54>, <https://github.com/inclusionAI/humming/pull/56>: a cluster's first block sends the next tile to both when its own
/// threads have read the last one.
#[cluster_kernel(cluster = 2, block = 64)]
fn humming_56(input: &TensorMap<[[f32; 32]; 8]>, out: &mut [f32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let tile = shared_array::<[[f32; 32]; 8], 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    let mut sum = 0.0;
    for round in 0..rounds {
        if i == 0 {
            input.expect_multicast(&tile[0], &full);
            if cluster.block_rank() == 0 {
                input.multicast_async([round as i32 * 8, 0], &tile[0], &full, &cluster);
            }
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        sum += tile[0][i / 32][i % 32];
        block.sync();
    }
    out[cluster.thread_rank()] = sum;
    cluster.sync();
}

/// Its mend: the blocks meet before the next tile is sent.
#[cluster_kernel(cluster = 2, block = 64)]
fn mend_of_humming_56(input: &TensorMap<[[f32; 32]; 8]>, out: &mut [f32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let tile = shared_array::<[[f32; 32]; 8], 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    let mut sum = 0.0;
    for round in 0..rounds {
        if i == 0 {
            input.expect_multicast(&tile[0], &full);
            if cluster.block_rank() == 0 {
                input.multicast_async([round as i32 * 8, 0], &tile[0], &full, &cluster);
            }
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        sum += tile[0][i / 32][i % 32];
        cluster.sync();
    }
    out[cluster.thread_rank()] = sum;
    cluster.sync();
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
