//! The closest kernels without the fault.

use phalanx::prelude::*;

#[cluster_kernel(block = 96)]
fn as_many_as_readers(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
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

#[cluster_kernel(block = 96)]
fn as_many_as_readers_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
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
fn as_many_as_readers_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 4>();
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
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
fn as_many_as_readers_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
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
fn as_many_as_readers_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
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

/// Full and empty barriers are elements of one array, and the stages are in dynamic shared memory.
#[cluster_kernel(block = 96)]
fn barriers_of_one_array(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = dynamic_shared::<u32>();
    let bars = shared_barriers::<4>();
    if i == 0 {
        for s in 0..2 {
            bars[s].init(1);
            bars[2 + s].init(64);
        }
    }
    block.sync();
    if i == 64 {
        for k in 0..chunks {
            let s = k % 2;
            bars[2 + s].wait_parity(k / 2 % 2 == 0);
            bars[s].expect_tx(256);
            bulk_copy_async(&stages[s * 64..s * 64 + 64], &input[k * 64..(k + 1) * 64], &bars[s]);
            let _ = bars[s].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            let s = k % 2;
            bars[s].wait_parity(k / 2 % 2 == 1);
            sum += stages[s * 64 + i];
            let _ = bars[2 + s].arrive();
        }
        out[i] = sum;
    }
}

/// The bytes and the barrier are of the next block.
#[cluster_kernel(cluster = 4, block = 64)]
fn barrier_of_the_receiver(input: &[f32], out: &mut [f32]) {
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
    let there = cluster.map_shared_rank(&ready, to);
    cluster.map_shared_rank(&inbox, to).store_async(i, input[cluster.thread_rank()], &there);
    ready.wait_parity(false);
    out[cluster.thread_rank()] = inbox[i] + from as f32;
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<as_many_as_readers>,
    phalanx::Program::of::<as_many_as_readers_of_three>,
    phalanx::Program::of::<as_many_as_readers_of_four>,
    phalanx::Program::of::<as_many_as_readers_by_masks>,
    phalanx::Program::of::<as_many_as_readers_in_a_larger_block>,
    phalanx::Program::of::<barriers_of_one_array>,
    phalanx::Program::of::<barrier_of_the_receiver>,
];
