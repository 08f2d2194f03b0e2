//! A matrix product whose operands arrive by tensor maps: one thread loads tiles into a ring, warps multiply them by the tensor
//! cores, and each stores its part of the result as a tile (CUTLASS's warp-specialised product, with `mma.sync`).

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, same};

/// The rows and columns of the result that a block computes.
const EDGE: usize = 128;
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 3;
const WARPS: usize = 8;

/// A stage of an operand: rows of `a`, or columns of `b`.
type Operand = [Swizzled<bf16, DEPTH>; EDGE];
/// The part of the result that a warp computes.
type Part = [Swizzled<bf16, 32>; 64];

/// Computes `a * b` of `bf16`, where the columns of `b` are contiguous. What lies outside of the operands is zeros, and what lies
/// outside of the result is not stored, so that no size need be a multiple of a tile's.
#[cluster_kernel(block = 288)]
fn product(a: &TensorMap<Operand>, b: &TensorMap<Operand>, c: &mut TensorMap<Part>, steps: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Operand, STAGES>();
    let b_tiles = shared_array::<Operand, STAGES>();
    let parts = shared_array::<Part, WARPS>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, WARPS as u32);
    let at = block.group_index();
    let (top, left) = (at.y * EDGE as u32, at.x * EDGE as u32);
    let (which, lane) = (warp.meta_group_rank(), warp.thread_rank());
    if which == WARPS as u32 {
        if lane == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                let start = (step * DEPTH as u32) as i32;
                a.load_async([top as i32, start], &a_tiles[stage], &full[stage]);
                b.load_async([left as i32, start], &b_tiles[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let (row, column) = (which / 4 * 64, which % 4 * 32);
        let mut sums = [[Accumulator::<f32, 16, 16>::splat(0.0); 2]; 4];
        for step in 0..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            #[unroll]
            for part in 0..DEPTH as u32 / 16 {
                let mut x = [MatrixA::<bf16, 16, 16>::splat(bf16::from_f32(0.0)); 4];
                #[unroll]
                for i in 0..4u32 {
                    x[i] = warp.load_matrix(&a_tiles[stage], row + i * 16, part * 16);
                }
                #[unroll]
                for j in 0..2u32 {
                    let y: MatrixB<bf16, 16, 16> =
                        warp.load_matrix_transposed(&b_tiles[stage], column + j * 16, part * 16);
                    #[unroll]
                    for i in 0..4u32 {
                        sums[i][j] = warp.mma(x[i], y, sums[i][j]);
                    }
                }
            }
            warp.sync(); // all lanes have read the stage
            if lane == 0 {
                let _ = empty[stage].arrive();
            }
        }
        #[unroll]
        for i in 0..4u32 {
            #[unroll]
            for j in 0..2u32 {
                warp.store_matrix(&parts[which], i * 16, j * 16, sums[i][j].to_bf16());
            }
        }
        warp.sync(); // all lanes have stored their elements
        if lane == 0 {
            c.store_async([(top + row) as i32, (left + column) as i32], &parts[which]);
            bulk_wait_group_read::<0>();
        }
    }
}

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(128, 128, 64), (128, 128, 256), (150, 136, 104)] {
        let small =
            |seed, len| below(17, seed, len).into_iter().map(|x| bf16::from_f32(x as f32 - 8.0)).collect::<Vec<bf16>>();
        let (a, b) = (small(91, m * k), small(92, n * k));
        let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
        let grid = (n.div_ceil(EDGE) as u32, m.div_ceil(EDGE) as u32);
        let steps = k.div_ceil(DEPTH) as u32;
        product(&x.tensor([m, k])?, &y.tensor([n, k])?, &mut c.tensor_mut([m, n])?, steps).grid(grid).launch(device)?;
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f32() * b[i % n * k + j].to_f32()).sum::<f32>();
        let want: Vec<bf16> = (0..m * n).map(|i| bf16::from_f32(element(i))).collect();
        same(&c.read()?, &want, |i| format!("{m} by {n} by {k}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module { name: "corpus::tensor_maps", checks: check_list![products], kernels: kernel_list![product] }
}
