//! A stage that is filled while it is in use.

use phalanx::prelude::*;

/// The producer does not wait for an empty stage.
#[cluster_kernel(block = 96)]
fn not_acquired(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
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

/// A reader says that it has read before it has.
#[cluster_kernel(block = 96)]
fn released_too_early(input: &[u32], out: &mut [u32], chunks: u32) {
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
            let _ = empty[k % 2].arrive();
            sum += stages[k % 2][i];
        }
        out[i] = sum;
    }
}

/// Two copies fill the same stage.
#[cluster_kernel(block = 96)]
fn filled_twice(input: &[u32], out: &mut [u32], chunks: u32) {
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
            full[k % 2].expect_tx(512);
            bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
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
fn not_acquired_of_three(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
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
fn not_acquired_of_four(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 4>();
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
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
fn not_acquired_by_masks(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
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
fn not_acquired_in_a_larger_block(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 127 {
        for k in 0..chunks {
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

/// The readers release a stage that threads fill before they have read it.
#[cluster_kernel(block = 64)]
fn released_before_it_is_read(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 32);
    if i < 32 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            stages[k % 2][i] = input[k * 32 + i];
            let _ = full[k % 2].arrive();
        }
    } else {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let _ = empty[k % 2].arrive();
            sum += stages[k % 2][i - 32];
        }
        out[i - 32] = sum;
    }
}

/// One lane releases a stage for its warp, whose others may still read it.
#[cluster_kernel(block = 160)]
fn released_by_one_lane(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 128], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if i == 128 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(512);
            bulk_copy_async(&stages[k % 2], &input[k * 128..(k + 1) * 128], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 128 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][127 - i];
            if warp.thread_rank() == 0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = sum;
    }
}

/// Threads of four warps write a tile for a bulk copy, and only the one that begins it knows when it has read the tile.
#[cluster_kernel(block = 160)]
fn tile_that_a_copy_still_reads(input: &[f32], out: &mut [f32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 128], 2>();
    let result = shared_array::<f32, 128>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    let written = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 128);
    written.init_collective(&block, 128);
    if i == 128 {
        for k in 0..tiles {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(512);
            bulk_copy_async(&stages[k % 2], &input[k * 128..(k + 1) * 128], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 128 {
        for k in 0..tiles {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let x = stages[k % 2][127 - i];
            let _ = empty[k % 2].arrive();
            if i == 0 {
                bulk_wait_group_read::<0>();
            }
            result[i] = x;
            written.arrive_and_wait();
            if i == 0 {
                bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &result);
            }
        }
        if i == 0 {
            bulk_wait_group_read::<0>();
        }
    }
}

/// The row of two rounds before is written while others may still read it: the token in the `Option` is of the round before.
#[cluster_kernel(block = 64)]
fn option_of_a_token_and_two_rows(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[u32; 64], 2>();
    let bar = shared_barrier();
    bar.init_collective(&block, block.num_threads());
    let mut pending = None;
    let mut sum = 0;
    for k in 0..rounds {
        rows[k % 2][i] = input[k * 64 + i];
        if let Some(token) = pending.take() {
            bar.wait(token);
            sum += rows[(k + 1) % 2][63 - i] * k;
        }
        pending = Some(bar.arrive());
    }
    if let Some(token) = pending.take() {
        bar.wait(token);
    }
    out[i] = sum;
}

/// The tile is uniform by its own word; the stage is given back before it is read.
#[cluster_kernel(block = 96)]
fn released_early_in_a_tile_of_a_queue(next: &mut [u32], data: &[[u32; 64]], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[u32; 64], 2>();
    let slot = shared_array::<u32, 1>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut n = 0;
    loop {
        if i == 0 {
            slot[0] = next.atomic(0).fetch_add(1, Relaxed);
        }
        block.sync();
        let tile = block.uniform(slot[0]);
        block.sync();
        if tile >= tiles {
            break;
        }
        let mut sum = 0;
        for k in 0..4 {
            let s = n % 2;
            if i == 64 {
                empty[s].wait_parity(n / 2 % 2 == 0);
                full[s].expect_tx(256);
                bulk_copy_async(&rows[s], &data[tile * 4 + k], &full[s]);
                let _ = full[s].arrive();
            } else if i < 64 {
                full[s].wait_parity(n / 2 % 2 == 1);
                let _ = empty[s].arrive();
                sum += rows[s][i] * 3;
            }
            n += 1;
        }
        if i < 64 {
            out[tile * 64 + i] = sum;
        }
    }
}

/// A tile of keys, or of values.
type Rows = [Swizzled<bf16, 64>; 64];

/// The product of registers still reads the values, which are fewer tiles than those of the other product.
#[cluster_kernel(block = 256)]
fn values_released_early(k: &TensorMap<Rows>, v: &TensorMap<Rows>, out: &mut [f32], parts: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let (keys, values) = (shared_array::<Rows, 2>(), shared_array::<Rows, 2>());
    let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    let (v_full, v_empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    v_full.init_collective(&block, 1);
    v_empty.init_collective(&block, 4);
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for part in 0..parts {
                let stage = part % 2;
                empty[stage].wait_parity(part / 2 % 2 == 0);
                k.load_async([0, part as i32 * 64], &keys[stage], &full[stage]);
                let _ = full[stage].arrive();
                v_empty[stage].wait_parity(part / 2 % 2 == 0);
                v.load_async([0, part as i32 * 64], &values[stage], &v_full[stage]);
                let _ = v_full[stage].arrive();
            }
        }
    } else {
        let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
        for part in 0..parts {
            let stage = part % 2;
            full[stage].wait_parity(part / 2 % 2 == 1);
            let both = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &keys[stage], &keys[stage]);
            v_full[stage].wait_parity(part / 2 % 2 == 1);
            let weights = MatrixA::<bf16, 64, 64>::splat(bf16::from_f32(1.0));
            let weighted = warpgroup.mma_async(sum, weights, values[stage].transposed());
            let scores = warpgroup.wait_mma_except_last(both);
            if rank % 32 == 0 {
                let _ = empty[stage].arrive();
            }
            if rank % 32 == 0 {
                let _ = v_empty[stage].arrive();
            }
            sum = warpgroup.wait_mma(weighted);
            sum[0] += scores[0];
        }
        out[rank] = sum[0];
    }
}

fn main() {}
