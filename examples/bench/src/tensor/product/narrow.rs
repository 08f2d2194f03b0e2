//! A product with few rows, as a language model's layers compute for a few sequences: the time is that of reading the other operand, so that
//! the columns of the result are the rows of the tensor cores' tiles. A stage is two neighbouring parts of the sum, which memory delivers
//! faster together than one by one; a few stages are enough to keep it busy.

use phalanx::prelude::*;

use super::{Case, Size, case};
use crate::case::Scale;

/// The most rows of the result.
const ROWS: usize = 16;
/// The columns of the result that a block computes.
const COLUMNS: usize = 64;
/// A part of the sum, in rows of 128 bytes.
const DEPTH: usize = 64;
/// The parts of a stage.
const PARTS: usize = 2;
const STAGES: usize = 4;

type Few = [Swizzled<bf16, DEPTH>; ROWS];
type Many = [Swizzled<bf16, DEPTH>; COLUMNS];

/// Computes `a * b`, where the columns of `b` are contiguous, in `steps` stages.
#[cluster_kernel(block = 256)]
fn few_rows(a: &TensorMap<Few>, b: &TensorMap<Many>, c: &mut [bf16], rows: u32, columns: u32, steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let a_tiles = shared_array::<Few, { STAGES * PARTS }>();
    let b_tiles = shared_array::<Many, { STAGES * PARTS }>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4); // a lane of each warp that multiplies
    let left = block.group_index().x * COLUMNS as u32;
    let rank = warpgroup.thread_rank();
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                #[unroll]
                for part in 0..PARTS as u32 {
                    let (tile, start) = (stage * PARTS as u32 + part, (step * PARTS as u32 + part) * DEPTH as u32);
                    b.load_async([left as i32, start as i32], &b_tiles[tile], &full[stage]);
                    a.load_async([0, start as i32], &a_tiles[tile], &full[stage]);
                }
                let _ = full[stage].arrive();
            }
        }
    } else {
        let mut sum = Accumulator::<f32, COLUMNS, ROWS>::splat(0.0);
        for step in 0..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            #[unroll]
            for part in 0..PARTS as u32 {
                let tile = stage * PARTS as u32 + part;
                let product = warpgroup.mma_async(sum, &b_tiles[tile], &a_tiles[tile]);
                sum = warpgroup.wait_mma(product);
            }
            if rank % 32 == 0 {
                let _ = empty[stage].arrive();
            }
        }
        #[unroll]
        for i in 0..sum.len() as u32 {
            let (column, row) = (left + sum.row(rank, i), sum.column(rank, i));
            if row < rows && column < columns {
                c[row * columns + column] = bf16::from_f32(sum[i]);
            }
        }
    }
}

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let size = scale.pick([16, 8_192, 8_192], [13, 150, 1_600]);
    vec![case::<bf16>("bf16 GEMM of few rows", size, scale, 1.0, |device, a, b, c, Size { m, n, k, .. }, _| {
        few_rows(&a.tensor([m, k])?, &b.tensor([n, k])?, c, m as u32, n as u32, k.div_ceil(DEPTH * PARTS) as u32)
            .grid(n.div_ceil(COLUMNS) as u32)
            .enqueue(device)
    })]
}
