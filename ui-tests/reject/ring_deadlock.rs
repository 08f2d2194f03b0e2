//! A phase that is never completed.

use phalanx::prelude::*;

/// The first wait for an empty stage is for a phase that nobody completes.
#[cluster_kernel(block = 96)]
fn waits_for_the_first_phase(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 1);
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

/// The consumers do not say that a stage is empty.
#[cluster_kernel(block = 96)]
fn never_released(input: &[u32], out: &mut [u32], chunks: u32) {
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
        }
        out[i] = sum;
    }
}

/// One arrival more is expected than there are readers.
#[cluster_kernel(block = 96)]
fn one_too_many(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 65);
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
fn waits_for_the_first_phase_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 3].wait_parity(k / 3 % 2 == 1);
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
fn waits_for_the_first_phase_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 4>();
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 4].wait_parity(k / 4 % 2 == 1);
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
fn waits_for_the_first_phase_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k & 1].wait_parity((k >> 1 & 1) == 1);
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
fn waits_for_the_first_phase_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 127 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 1);
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

/// The phase expects the bytes of half of the copy.
#[cluster_kernel(block = 64)]
fn half_of_the_bytes(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let weights = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    if i == 0 {
        bar.expect_tx(128);
        bulk_copy_async(&weights, &input[..64], &bar);
        let _ = bar.arrive();
    }
    bar.wait_parity(false);
    out[i] = weights[i];
}

/// A thread releases the stage only if its own weight is positive.
#[cluster_kernel(block = 64)]
fn released_by_own_data(x: &[f32], weights: &[f32], out: &mut [f32], n: u32) {
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
            if weights[i] > 0.0 {
                let _ = empty[k % 3].arrive();
            }
        }
        out[i] = sum;
    }
}

fn main() {}
