//! A matrix product by clusters of two by two blocks: the blocks of a row of the cluster share rows of the left operand, and those of a column
//! columns of the right one. Each block loads half of both, and sends the one along its row and the other along its column (CUTLASS's
//! multicast in both directions). A stage is free once the blocks of the row and of the column have read it.

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, same};

/// The rows of the result that a warpgroup computes, of which a block of a row loads them for both, and the columns that a block of a
/// column loads for both.
const HALF: usize = 64;
/// The rows and the columns of the result that a block computes.
const TILE: u32 = 2 * HALF as u32;
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 3;
/// The blocks that read what a block sends: those of its row and of its column, itself in both.
const READERS: u32 = 3;

type Part = [Swizzled<bf16, DEPTH>; HALF];

/// Computes `a * b` of `bf16`, where the columns of `b` are contiguous, in `steps` parts of the sum. What lies outside of the operands is
/// zeros, and what lies outside of the result is not stored.
#[cluster_kernel(cluster = (2, 2), block = 384)]
fn grid_product(a: &TensorMap<Part>, b: &TensorMap<Part>, c: &mut [f32], rows: u32, columns: u32, steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warpgroup = tiled_partition::<128>(&block);
    let a_tiles = shared_array::<Part, { STAGES * 2 }>();
    let b_tiles = shared_array::<Part, { STAGES * 2 }>();
    let full = shared_cluster_barriers::<STAGES>();
    let empty = shared_cluster_barriers::<STAGES>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, READERS * 8); // the warps of these blocks that multiply
    let (at, within) = (block.group_index(), cluster.block_index());
    let (x, y) = (within.x, within.y);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    if which == 2 {
        if rank == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                for half in 0..2 {
                    a.expect_multicast(&a_tiles[stage * 2 + half], &full[stage]);
                    b.expect_multicast(&b_tiles[stage * 2 + half], &full[stage]);
                }
                let start = (step * DEPTH as u32) as i32;
                let (top, left) = ((at.y * 2 + x) * HALF as u32, (at.x * 2 + y) * HALF as u32);
                a.multicast_async([top as i32, start], &a_tiles[stage * 2 + x], &full[stage], cluster.row());
                b.multicast_async([left as i32, start], &b_tiles[stage * 2 + y], &full[stage], cluster.column());
                let _ = full[stage].arrive();
            }
        }
    } else {
        let mut first = Accumulator::<f32, HALF, HALF>::splat(0.0);
        let mut second = Accumulator::<f32, HALF, HALF>::splat(0.0);
        for step in 0..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            let left_half = warpgroup.mma_async(first, &a_tiles[stage * 2 + which], &b_tiles[stage * 2]);
            let right_half = warpgroup.mma_async(second, &a_tiles[stage * 2 + which], &b_tiles[stage * 2 + 1]);
            first = warpgroup.wait_mma(left_half);
            second = warpgroup.wait_mma(right_half);
            if rank % 32 == 0 {
                let own = y * 2 + x;
                cluster.map_shared_rank(&empty[step % STAGES as u32], own).arrive();
                cluster.map_shared_rank(&empty[step % STAGES as u32], y * 2 + 1 - x).arrive();
                cluster.map_shared_rank(&empty[step % STAGES as u32], (1 - y) * 2 + x).arrive();
            }
        }
        #[unroll]
        for i in 0..HALF as u32 / 2 {
            let row = at.y * TILE + which * HALF as u32 + first.row(rank, i);
            let column = at.x * TILE + first.column(rank, i);
            if row < rows && column < columns {
                c[row * columns + column] = first[i];
            }
            if row < rows && column + (HALF as u32) < columns {
                c[row * columns + column + HALF as u32] = second[i];
            }
        }
    }
    cluster.sync(); // no block exits while another one arrives at its barriers or sends it tiles
}

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(256, 256, 64), (256, 256, 448), (200, 330, 104)] {
        let small =
            |seed, len| below(17, seed, len).into_iter().map(|x| bf16::from_f32(x as f32 - 8.0)).collect::<Vec<bf16>>();
        let (a, b) = (small(97, m * k), small(98, n * k));
        let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<f32>(m * n)?);
        let blocks = |size: usize| (size.div_ceil(4 * HALF) * 2) as u32;
        let (x, y) = (x.tensor([m, k])?, y.tensor([n, k])?);
        grid_product(&x, &y, &mut c, m as u32, n as u32, k.div_ceil(DEPTH) as u32)
            .grid((blocks(n), blocks(m)))
            .launch(device)?;
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f32() * b[i % n * k + j].to_f32()).sum::<f32>();
        let want: Vec<f32> = (0..m * n).map(element).collect();
        same(&c.read()?, &want, |i| format!("{m} by {n} by {k}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module { name: "corpus::multicast_grid", checks: check_list![products], kernels: kernel_list![grid_product] }
}
