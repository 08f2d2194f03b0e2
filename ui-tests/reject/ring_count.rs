//! A phase with more arrivals than it expects.

use phalanx::prelude::*;

/// One arrival less is expected than there are readers.
#[cluster_kernel(block = 96)]
fn one_too_few(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
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

/// The index goes beyond the last stage.
#[cluster_kernel(block = 96)]
fn no_such_stage(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 3].wait_parity(k / 2 % 2 == 0);
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

#[cluster_kernel(block = 96)]
fn one_too_few_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 3].wait_parity(k / 3 % 2 == 0);
            full[k % 3].expect_tx(256);
            bulk_copy_async(&stages[k % 3], &input[k * 64..(k + 1) * 64], &full[k % 3]);
            let _ = full[k % 3].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 3].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % 3][i];
            let _ = empty[k % 3].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn one_too_few_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 4>();
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 4].wait_parity(k / 4 % 2 == 0);
            full[k % 4].expect_tx(256);
            bulk_copy_async(&stages[k % 4], &input[k * 64..(k + 1) * 64], &full[k % 4]);
            let _ = full[k % 4].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 4].wait_parity(k / 4 % 2 == 1);
            sum += stages[k % 4][i];
            let _ = empty[k % 4].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn one_too_few_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
    if i == 64 {
        for k in 0..chunks {
            empty[k & 1].wait_parity((k >> 1 & 1) == 0);
            full[k & 1].expect_tx(256);
            bulk_copy_async(&stages[k & 1], &input[k * 64..(k + 1) * 64], &full[k & 1]);
            let _ = full[k & 1].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k & 1].wait_parity((k >> 1 & 1) == 1);
            sum += stages[k & 1][i];
            let _ = empty[k & 1].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 128)]
fn one_too_few_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
    if i == 127 {
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

/// The second half of the bytes never comes.
#[cluster_kernel(cluster = 2, block = 64)]
fn half_of_the_bytes(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let full = shared_cluster_barrier();
    let parity = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    if i == 0 {
        parity[0] = 0;
    }
    full.init_collective(&cluster, 1);
    if i == 0 {
        full.expect_tx(512);
        let _ = full.arrive();
    }
    let peer = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&full, peer);
    cluster.map_shared_rank(&inbox, peer).store_async(i, input[i], &there);
    full.wait_parity(parity.atomic(0).load(Relaxed) == 1);
    out[cluster.thread_rank()] = inbox[i];
    cluster.sync();
}

/// Half of the bytes are waited for.
#[cluster_kernel(cluster = 2, block = 64)]
fn too_few_bytes(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let full = shared_cluster_barrier();
    let parity = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    if i == 0 {
        parity[0] = 0;
    }
    full.init_collective(&cluster, 1);
    if i == 0 {
        full.expect_tx(128);
        let _ = full.arrive();
    }
    let peer = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&full, peer);
    cluster.map_shared_rank(&inbox, peer).store_async(i, input[i], &there);
    full.wait_parity(parity.atomic(0).load(Relaxed) == 1);
    out[cluster.thread_rank()] = inbox[i];
    cluster.sync();
}

/// The bytes go to the next block, and the barrier of the previous one is told of them.
#[cluster_kernel(cluster = 4, block = 64)]
fn barrier_of_another_block(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let rank = cluster.block_rank();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<f32, 64>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let to = (rank + 1) % 4;
    let from = (rank + 3) % 4;
    if i == 0 {
        ready.expect_tx(256);
        let _ = ready.arrive();
    }
    let there = cluster.map_shared_rank(&ready, from);
    cluster.map_shared_rank(&inbox, to).store_async(i, input[cluster.thread_rank()], &there);
    ready.wait_parity(false);
    out[cluster.thread_rank()] = inbox[i];
    cluster.sync();
}

/// The barrier is the block's own, by its rank.
#[cluster_kernel(cluster = 4, block = 64)]
fn barrier_of_the_sender(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let rank = cluster.block_rank();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<f32, 64>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let to = (rank + 1) % 4;
    let from = (rank + 3) % 4;
    if i == 0 {
        ready.expect_tx(256);
        let _ = ready.arrive();
    }
    let there = cluster.map_shared_rank(&ready, rank);
    cluster.map_shared_rank(&inbox, to).store_async(i, input[cluster.thread_rank()], &there);
    ready.wait_parity(false);
    out[cluster.thread_rank()] = inbox[i] + from as f32;
    cluster.sync();
}

/// In the first round, there is no round before: `k - 1` wraps around to a multiple of 3.
#[cluster_kernel(block = 64)]
fn before_the_first_round(x: &[f32], out: &mut [f32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 32], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        for k in 0..n {
            empty[k % 3].wait_parity(k / 3 % 2 == 0);
            full[k % 3].expect_tx(128);
            bulk_copy_async(&stages[k % 3], &x[k * 32..k * 32 + 32], &full[k % 3]);
            let _ = full[k % 3].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for k in 0..n {
            full[k % 3].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % 3][31 - i];
            let _ = empty[(k - 1) % 3].arrive();
        }
        out[i] = sum;
    }
}

fn main() {}
