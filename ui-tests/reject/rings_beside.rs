//! Rings with mistakes, and beside them what cannot matter to a ring.

use phalanx::prelude::*;

/// Each thread keeps a running maximum; the producer begins with the wrong parity.
#[cluster_kernel(block = 96)]
fn keeps_a_maximum(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
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
        let mut best = 0.0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let x = stages[k % 2][i];
            if x > best {
                best = x;
            }
            let _ = empty[k % 2].arrive();
        }
        out[i] = best;
    }
}

/// What a thread has summed decides about its result.
#[cluster_kernel(block = 96)]
fn tests_the_sum(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
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
        let mut best = 0.0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let x = stages[k % 2][i];
            best += x;
            let _ = empty[k % 2].arrive();
        }
        if best > 5.0 {
            out[i] = best;
        }
    }
}

/// Four lanes add up what they read.
#[cluster_kernel(block = 96)]
fn adds_by_quads(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let quad = tiled_partition::<4>(&block);
    let stages = shared_array::<[f32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i >= 64 {
        if i == 64 {
            for k in 0..chunks {
                empty[k % 2].wait_parity(k / 2 % 2 == 1);
                full[k % 2].expect_tx(256);
                bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
                let _ = full[k % 2].arrive();
            }
        }
    } else {
        let mut best = 0.0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let x = stages[k % 2][i];
            best += quad.reduce(x, |a, b| a + b);
            let _ = empty[k % 2].arrive();
        }
        out[i] = best;
    }
}

/// Two copies fill a stage, and two threads release it, of which three are expected.
#[cluster_kernel(block = 96)]
fn fills_by_halves(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let which = i / 32;
    let stages = shared_array::<[f32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 3);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(256);
            bulk_copy_async(&stages[k % 2][0..32], &input[k * 64..k * 64 + 32], &full[k % 2]);
            bulk_copy_async(&stages[k % 2][32..64], &input[k * 64 + 32..(k + 1) * 64], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i == 0 || i == 32 {
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            out[k * 2 + which] = stages[k % 2][which * 32];
            let _ = empty[k % 2].arrive();
        }
    }
}

/// What a thread has summed decides whether it releases the stage.
#[cluster_kernel(block = 96)]
fn saturates(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
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
        let mut sum = 0.0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            if sum < 100.0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = sum;
    }
}

/// A stage is released only if what is in it is more than nothing.
#[cluster_kernel(block = 96)]
fn waits_for_more(input: &[f32], out: &mut [f32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
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
        let mut sum = 0.0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            if stages[k % 2][i] > 0.0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = sum;
    }
}

fn main() {}
