//! A stage that is read before it is full.

use phalanx::prelude::*;

/// The readers wait for the phase before that of their round.
#[cluster_kernel(block = 96)]
fn waits_for_the_phase_before(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k % 2].wait_parity(k / 2 % 2 == 0);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

/// The readers do not wait.
#[cluster_kernel(block = 96)]
fn does_not_wait(input: &[u32], out: &mut [u32], chunks: u32) {
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
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

/// The bytes are expected in the phase after the one that they complete.
#[cluster_kernel(block = 96)]
fn expects_too_late(input: &[u32], out: &mut [u32], chunks: u32) {
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
            let _ = full[k % 2].arrive();
            full[k % 2].expect_tx(256);
            bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
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
fn waits_for_the_phase_before_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k % 3].wait_parity(k / 3 % 2 == 0);
            sum += stages[k % 3][i];
            let _ = empty[k % 3].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn waits_for_the_phase_before_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k % 4].wait_parity(k / 4 % 2 == 0);
            sum += stages[k % 4][i];
            let _ = empty[k % 4].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 96)]
fn waits_for_the_phase_before_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k & 1].wait_parity((k >> 1 & 1) == 0);
            sum += stages[k & 1][i];
            let _ = empty[k & 1].arrive();
        }
        out[i] = sum;
    }
}

#[cluster_kernel(block = 128)]
fn waits_for_the_phase_before_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k % 2].wait_parity(k / 2 % 2 == 0);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

/// The parities begin anew in the second pass, while one stage has had an odd number of rounds.
#[cluster_kernel(block = 64)]
fn parities_begin_anew(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 32);
    for pass in 0..2u32 {
        if i < 32 {
            for k in 0..3u32 {
                empty[k % 2].wait_parity(k / 2 % 2 == 0);
                stages[k % 2][i] = input[(pass * 3 + k) * 32 + i];
                let _ = full[k % 2].arrive();
            }
        } else {
            for k in 0..3u32 {
                full[k % 2].wait_parity(k / 2 % 2 == 1);
                out[(pass * 3 + k) * 32 + i - 32] = stages[k % 2][i - 32];
                let _ = empty[k % 2].arrive();
            }
        }
    }
}

/// The bytes are those of numbers of 32 bits.
#[cluster_kernel(cluster = 2, block = 32)]
fn half_of_the_bytes(out: &mut [u32]) {
    let cluster = this_cluster();
    let t = this_thread_block().thread_rank();
    let inbox = shared_array::<u64, 32>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 1);
    let to = 1 - cluster.block_rank();
    if t == 0 {
        bar.expect_tx(32 * 4);
        let _ = bar.arrive();
    }
    cluster.map_shared_rank(&inbox, to).store_async(t, 5, &cluster.map_shared_rank(&bar, to));
    bar.wait_parity(false);
    out[cluster.thread_rank()] = inbox[31 - t] as u32;
    cluster.sync();
}

/// No bytes are expected, so that the arrival alone completes the phase.
#[cluster_kernel(block = 64)]
fn no_bytes(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let weights = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    if i == 0 {
        bulk_copy_async(&weights, &input[..64], &bar);
        let _ = bar.arrive();
    }
    bar.wait_parity(false);
    out[i] = weights[i];
}

/// Only the thread that begins the copy waits for it.
#[cluster_kernel(block = 64)]
fn only_one_waits(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let weights = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 1);
    if i == 0 {
        bar.expect_tx(256);
        bulk_copy_async(&weights, &input[..64], &bar);
        let _ = bar.arrive();
        bar.wait_parity(false);
    }
    out[i] = weights[i];
}

/// One lane waits for its warp, which does not meet before it reads.
#[cluster_kernel(block = 64)]
fn a_lane_waits(input: &[f32], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (i, lane) = (block.thread_rank(), warp.thread_rank());
    let rows = shared_array::<[f32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    if i == 32 {
        for round in 0..rounds {
            let stage = round % 2;
            empty[stage].wait_parity(round / 2 % 2 == 0);
            full[stage].expect_tx(128);
            bulk_copy_async(&rows[stage], &input[round * 32..(round + 1) * 32], &full[stage]);
            let _ = full[stage].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for round in 0..rounds {
            let stage = round % 2;
            if lane == 0 {
                full[stage].wait_parity(round / 2 % 2 == 1);
            }
            sum += rows[stage][lane];
            warp.sync();
            if lane == 0 {
                let _ = empty[stage].arrive();
            }
        }
        out[i] = sum;
    }
}

fn main() {}
