//! A pipeline of bulk copies.

use phalanx::prelude::*;

const ROW: usize = 256;

/// Sums rows: a thread of the second warp fetches two rows ahead, and the first warp adds.
#[cluster_kernel(block = 64)]
pub(crate) fn row_sums(matrix: &[u32], out: &mut [u32], rows: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[u32; ROW], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    let mut pipeline = Pipeline::<2>::new();
    if warp.meta_group_rank() == 1 {
        if warp.thread_rank() == 0 {
            for row in 0..rows as usize {
                let stage = pipeline.producer_acquire(&empty);
                full[stage].expect_tx(ROW as u32 * 4);
                bulk_copy_async(&stages[stage], &matrix[row * ROW..(row + 1) * ROW], &full[stage]);
                pipeline.producer_commit(&full);
            }
        }
    } else {
        for row in 0..rows as usize {
            let stage = pipeline.consumer_wait(&full);
            let mut own = 0;
            for part in 0..ROW / 32 {
                own += stages[stage][part * 32 + warp.thread_rank() as usize];
            }
            let sum = warp.reduce(own, op::Plus);
            warp.sync(); // all threads have read the stage
            if warp.thread_rank() == 0 {
                out[row] = sum;
                let _ = empty[stage].arrive();
            }
            pipeline.advance();
        }
    }
}
