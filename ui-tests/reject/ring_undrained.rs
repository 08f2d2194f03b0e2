//! A copy that lands after its block has exited.

use phalanx::prelude::*;

/// The last stage is filled, and nobody waits for it.
#[cluster_kernel(block = 96)]
fn one_round_less(input: &[u32], out: &mut [u32], chunks: u32) {
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
        for k in 1..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn one_round_less_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
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
        for k in 1..chunks {
            full[k % 3].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % 3][i];
            let _ = empty[k % 3].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn one_round_less_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
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
        for k in 1..chunks {
            full[k % 4].wait_parity(k / 4 % 2 == 1);
            sum += stages[k % 4][i];
            let _ = empty[k % 4].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn one_round_less_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
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
        for k in 1..chunks {
            full[k & 1].wait_parity((k >> 1 & 1) == 1);
            sum += stages[k & 1][i];
            let _ = empty[k & 1].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 128)]
fn one_round_less_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
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
        for k in 1..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

/// The readers count down, and stop one round too early.
#[cluster_kernel(block = 96)]
fn counts_down_to_one(input: &[u32], out: &mut [u32], chunks: u32) {
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
        let mut left = chunks;
        let mut k = 0u32;
        while left > 1 {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
            left -= 1;
            k += 1;
        }
        out[i] = sum;
    }
}

fn main() {}
