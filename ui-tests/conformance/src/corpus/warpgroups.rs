//! A matrix product by warpgroups, specialised by warps: one thread loads tiles into a ring by tensor maps, and two warpgroups
//! multiply them, each with one product in flight while it waits for the next tiles (CUTLASS's and DeepGEMM's main loop for
//! Hopper).

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, same};

// ANCHOR: kernel
/// The rows of the result that a warpgroup computes, and the columns.
const ROWS: usize = 64;
const COLUMNS: usize = 128;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 4;

/// A stage of the left operand for one warpgroup, and of the right one, whose columns are rows of the tile.
type Left = [Swizzled<bf16, DEPTH>; ROWS];
type Right = [Swizzled<bf16, DEPTH>; COLUMNS];

/// Computes `a * b` of `bf16`, where the columns of `b` are contiguous, in `steps` parts of the sum, at least one. What lies outside of
/// the operands is zeros, and what lies outside of the result is not stored.
#[cluster_kernel(block = 384)]
fn product(a: &TensorMap<Left>, b: &TensorMap<Right>, c: &mut [f32], rows: usize, columns: usize, steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let a_tiles = shared_array::<Left, { STAGES * CONSUMERS }>();
    let b_tiles = shared_array::<Right, STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
    assert!(steps > 0, "a product of no steps");
    let at = block.group_index();
    let (top, left) = (at.y * (ROWS * CONSUMERS) as u32, at.x * COLUMNS as u32);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    if which == CONSUMERS as u32 {
        if rank == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                let start = (step * DEPTH as u32) as i32;
                for part in 0..CONSUMERS as u32 {
                    let row = (top + part * ROWS as u32) as i32;
                    a.load_async([row, start], &a_tiles[stage * CONSUMERS as u32 + part], &full[stage]);
                }
                b.load_async([left as i32, start], &b_tiles[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        full[0].wait_parity(false);
        let zeros = Accumulator::<f32, ROWS, COLUMNS>::splat(0.0);
        let mut product = warpgroup.mma_async(zeros, &a_tiles[which], &b_tiles[0]);
        for step in 1..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            product = warpgroup.mma_async(product, &a_tiles[stage * CONSUMERS as u32 + which], &b_tiles[stage]);
            warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
            if rank % 32 == 0 {
                let _ = empty[(step - 1) % STAGES as u32].arrive();
            }
        }
        let sum = warpgroup.wait_mma(product);
        #[unroll]
        for pair in 0..COLUMNS as u32 / 4 {
            let i = pair * 2;
            let row = (top + which * ROWS as u32 + sum.row(rank, i)) as usize;
            let column = (left + sum.column(rank, i)) as usize;
            if row < rows && column < columns {
                c.store_vec(row * columns + column, f32x2::new([sum[i], sum[i + 1]]));
            }
        }
    }
}
// ANCHOR_END: kernel

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(128, 128, 64), (128, 128, 448), (150, 138, 104)] {
        let small =
            |seed, len| below(17, seed, len).into_iter().map(|x| bf16::from_f32(x as f32 - 8.0)).collect::<Vec<bf16>>();
        let (a, b) = (small(93, m * k), small(94, n * k));
        let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<f32>(m * n)?);
        let grid = (n.div_ceil(COLUMNS) as u32, m.div_ceil(ROWS * CONSUMERS) as u32);
        let steps = k.div_ceil(DEPTH) as u32;
        product(&x.tensor([m, k])?, &y.tensor([n, k])?, &mut c, m, n, steps).grid(grid).launch(device)?;
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f32() * b[i % n * k + j].to_f32()).sum::<f32>();
        let want: Vec<f32> = (0..m * n).map(element).collect();
        same(&c.read()?, &want, |i| format!("{m} by {n} by {k}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module { name: "corpus::warpgroups", checks: check_list![products], kernels: kernel_list![product] }
}
