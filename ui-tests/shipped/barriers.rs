//! Bugs of phase barriers that others shipped: how they begin, who arrives, and which phase is waited for.

use phalanx::prelude::*;

/// <https://github.com/NVIDIA/Fuser/pull/1769>: threads arrive before they know that the barrier has begun.
#[cluster_kernel(block = 128)]
fn fuser_1769(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 128>();
    let bar = shared_barrier();
    if i == 0 {
        bar.init(128);
    }
    tile[i] = input[i];
    let token = bar.arrive();
    bar.wait(token);
    out[i] = tile[127 - i];
}

/// <https://github.com/facebookexperimental/triton/pull/1240>: a barrier for the whole cluster that only its own block has been
/// told of.
#[cluster_kernel(cluster = 2, block = 64)]
fn facebook_triton_1240(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    if block.thread_rank() == 0 {
        bar.init(64);
    }
    block.sync();
    cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
    bar.wait_parity(false);
    out[this_grid().thread_rank()] = 1;
    cluster.sync();
}

/// <https://github.com/NVIDIA/cccl/pull/2701>: nobody has begun it.
#[cluster_kernel(block = 32)]
fn cccl_2701(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 32>();
    let bar = shared_barrier();
    memcpy_async(&block, &tile, &input[..32], &bar);
    let token = bar.arrive();
    bar.wait(token);
    out[block.thread_rank()] = tile[block.thread_rank()];
}

/// <https://github.com/NVIDIA/cutlass/issues/2364>: a function whose name promised to initialize a barrier arrives at it, and tells it
/// of bytes.
#[cluster_kernel(block = 128)]
fn cutlass_2364(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 0 {
        bar.expect_tx(16);
        let _ = bar.arrive();
    }
    block.sync();
    out[block.thread_rank()] = 1;
}

/// Its mend: the barrier begins, and the bytes that it is told of come.
#[cluster_kernel(block = 128)]
fn mend_of_cutlass_2364(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 4>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        bar.expect_tx(16);
        bulk_copy_async(&tile, &input[..4], &bar);
        let _ = bar.arrive();
    }
    bar.wait_parity(false);
    out[block.thread_rank()] = tile[block.thread_rank() % 4];
}

/// <https://github.com/triton-lang/triton/pull/9498>: one arrival is expected, and all lanes of a warp arrive.
#[cluster_kernel(block = 32)]
fn triton_9498(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    let _ = bar.arrive();
    bar.wait_parity(false);
    out[block.thread_rank()] = 1;
}

/// <https://github.com/facebookexperimental/triton/pull/1024>: each block waits at its own barrier, and only the first block's
/// expects anything.
#[cluster_kernel(cluster = 2, block = 32)]
fn facebook_triton_1024(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let answer = shared_array::<u32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if cluster.block_rank() == 0 && i == 0 {
        full.expect_tx(128);
        bulk_copy_async(&answer, &input[..32], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[this_grid().thread_rank()] = answer[i];
}

/// <https://github.com/tile-ai/tilelang/issues/2566>: the bytes are announced and come, and nobody arrives.
#[cluster_kernel(block = 32)]
fn tilelang_2566(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(128);
        bulk_copy_async(&tile, &input[..32], &full);
    }
    full.wait_parity(false);
    out[block.thread_rank()] = tile[block.thread_rank()];
}

/// <https://github.com/NVIDIA/cutlass/issues/2418>: a stage is released by one arrival, and has 64 readers.
#[cluster_kernel(block = 96)]
fn cutlass_2418(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(256);
            bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

/// <https://github.com/tile-ai/tilelang/issues/2927>: the parity follows the loop, and each round has a barrier of its own.
#[cluster_kernel(block = 64)]
fn tilelang_2927(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tiles = shared_array::<[u32; 64], 4>();
    let full = shared_barriers::<4>();
    full.init_collective(&block, 1);
    let mut sum = 0;
    for k in 0..4 {
        if i == 0 {
            full[k].expect_tx(256);
            bulk_copy_async(&tiles[k], &input[k * 64..(k + 1) * 64], &full[k]);
            let _ = full[k].arrive();
        }
        full[k].wait_parity(k % 2 == 1);
        sum += tiles[k][i];
    }
    out[i] = sum;
}

/// <https://github.com/triton-lang/triton/pull/10035>: one thread releases a stage for the others, some of which still wait for
/// it.
#[cluster_kernel(block = 96)]
fn triton_10035(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(256);
            bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            if i == 0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = sum;
    }
}

/// <https://github.com/triton-lang/triton/pull/3858>: the words of a barrier begin another one before the first has ended.
#[cluster_kernel(block = 32)]
fn triton_3858(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    for round in 0..2 {
        bar.init_collective(&block, 32);
        let token = bar.arrive();
        bar.wait(token);
        out[block.thread_rank()] = round;
    }
}

/// <https://github.com/tile-ai/tilelang/issues/2644>: the barrier is told of twice the bytes that come.
#[cluster_kernel(block = 32)]
fn tilelang_2644(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(256);
        bulk_copy_async(&tile, &input[..32], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[i] = tile[i];
}

/// Its mend: the bytes are those of the tile.
#[cluster_kernel(block = 32)]
fn mend_of_tilelang_2644(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(128);
        bulk_copy_async(&tile, &input[..32], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[i] = tile[i];
}

/// <https://github.com/triton-lang/triton/pull/9046>: what a checker did not count. Two copies share a barrier, which expects the bytes
/// of three. (The bug is ConSan's, which reported two copies as a deadlock, and took any number of bytes for right after that.)
#[cluster_kernel(block = 32)]
fn triton_9046(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let (left, right) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(384);
        bulk_copy_async(&left, &input[..32], &full);
        bulk_copy_async(&right, &input[32..64], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[i] = left[i] + right[i];
}

/// What ConSan refused: the bytes are those of both copies.
#[cluster_kernel(block = 32)]
fn mend_of_triton_9046(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let (left, right) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(256);
        bulk_copy_async(&left, &input[..32], &full);
        bulk_copy_async(&right, &input[32..64], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[i] = left[i] + right[i];
}

/// <https://github.com/deepseek-ai/DeepGEMM/pull/415>: the blocks of a cluster go through different numbers of rounds, and each
/// round needs the peer's arrival.
#[cluster_kernel(cluster = 2, block = 32)]
fn deepgemm_415(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let own = rounds + cluster.block_rank();
    for k in 0..own {
        cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
        let _ = bar.arrive();
        bar.wait_parity(k % 2 == 1);
    }
    out[this_grid().thread_rank()] = own;
    cluster.sync();
}

/// Its mend: the blocks go through the same number of rounds.
#[cluster_kernel(cluster = 2, block = 32)]
fn mend_of_deepgemm_415(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    for k in 0..rounds {
        cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive();
        let _ = bar.arrive();
        bar.wait_parity(k % 2 == 1);
    }
    out[this_grid().thread_rank()] = rounds;
    cluster.sync();
}

fn main() {}
