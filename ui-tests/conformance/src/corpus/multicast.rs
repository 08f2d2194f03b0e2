//! A matrix product by clusters of two blocks that share their columns: each block loads half of the right operand and sends it to both
//! by multicast, so that a cluster reads it from global memory once (CUTLASS's and DeepGEMM's multicast).

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, same};

/// The rows of the result that a block computes.
const ROWS: usize = 64;
/// The columns of the result that one of the blocks loads for both.
const HALF: usize = 64;
const BLOCKS: usize = 2;
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 4;
/// The warps that multiply in a cluster.
const CONSUMERS: u32 = 4 * BLOCKS as u32;

/// A stage of the left operand, and of half of the right one, whose columns are rows of the tile.
type Left = [Swizzled<bf16, DEPTH>; ROWS];
type Right = [Swizzled<bf16, DEPTH>; HALF];

/// Computes `a * b` of `bf16`, where the columns of `b` are contiguous, in `steps` parts of the sum. What lies outside of the operands is
/// zeros, and what lies outside of the result is not stored.
#[cluster_kernel(cluster = (1, 2), block = 256)]
fn product(a: &TensorMap<Left>, b: &TensorMap<Right>, c: &mut [f32], rows: usize, columns: usize, steps: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let a_tiles = shared_array::<Left, STAGES>();
    let b_tiles = shared_array::<Right, { STAGES * BLOCKS }>();
    let full = shared_cluster_barriers::<STAGES>();
    let empty = shared_cluster_barriers::<STAGES>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, CONSUMERS);
    let at = block.group_index();
    let (top, left) = (at.y * ROWS as u32, at.x * (HALF * BLOCKS) as u32);
    let (which, rank) = (cluster.block_rank(), warpgroup.thread_rank());
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0); // both blocks have read the stage
                let start = (step * DEPTH as u32) as i32;
                a.load_async([top as i32, start], &a_tiles[stage], &full[stage]);
                for half in 0..BLOCKS as u32 {
                    b.expect_multicast(&b_tiles[stage * BLOCKS as u32 + half], &full[stage]);
                }
                let column = (left + which * HALF as u32) as i32;
                b.multicast_async([column, start], &b_tiles[stage * BLOCKS as u32 + which], &full[stage], &cluster);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let mut first = Accumulator::<f32, ROWS, HALF>::splat(0.0);
        let mut second = Accumulator::<f32, ROWS, HALF>::splat(0.0);
        for step in 0..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            let left_half = warpgroup.mma_async(first, &a_tiles[stage], &b_tiles[stage * BLOCKS as u32]);
            let right_half = warpgroup.mma_async(second, &a_tiles[stage], &b_tiles[stage * BLOCKS as u32 + 1]);
            first = warpgroup.wait_mma(left_half);
            second = warpgroup.wait_mma(right_half);
            if rank % 32 == 0 {
                for other in 0..BLOCKS as u32 {
                    cluster.map_shared_rank(&empty[stage], other).arrive();
                }
            }
        }
        #[unroll]
        for pair in 0..HALF as u32 / 4 {
            let i = pair * 2;
            let row = (top + first.row(rank, i)) as usize;
            let column = (left + first.column(rank, i)) as usize;
            if row < rows && column < columns {
                c.store_vec(row * columns + column, f32x2::new([first[i], first[i + 1]]));
            }
            if row < rows && column + HALF < columns {
                c.store_vec(row * columns + column + HALF, f32x2::new([second[i], second[i + 1]]));
            }
        }
    }
    cluster.sync(); // no block exits while the other arrives at its barriers or sends it tiles
}

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(128, 128, 64), (128, 128, 576), (150, 138, 104)] {
        let small =
            |seed, len| below(17, seed, len).into_iter().map(|x| bf16::from_f32(x as f32 - 8.0)).collect::<Vec<bf16>>();
        let (a, b) = (small(95, m * k), small(96, n * k));
        let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<f32>(m * n)?);
        let grid = (n.div_ceil(HALF * BLOCKS) as u32, (m.div_ceil(ROWS * BLOCKS) * BLOCKS) as u32);
        let steps = k.div_ceil(DEPTH) as u32;
        product(&x.tensor([m, k])?, &y.tensor([n, k])?, &mut c, m, n, steps).grid(grid).launch(device)?;
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f32() * b[i % n * k + j].to_f32()).sum::<f32>();
        let want: Vec<f32> = (0..m * n).map(element).collect();
        same(&c.read()?, &want, |i| format!("{m} by {n} by {k}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module { name: "corpus::multicast", checks: check_list![products], kernels: kernel_list![product] }
}
