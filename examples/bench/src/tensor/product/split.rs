//! A product with few tiles and a long sum: the blocks of a cluster share the sum of a tile ("split-K"), and add up what each of them has got
//! through distributed shared memory. No sums go through global memory, and none are added by atomics: each element is the sum of the blocks'
//! in the order of their ranks, the same in every launch.

use phalanx::prelude::*;

use super::epilogue::{Epilogue, Gelu, Scaled};
use super::layer::{self, Operands};
use super::{Case, Rest, Size, batched, case};
use crate::case::Scale;

/// The rows of the result that a warpgroup computes.
const ROWS: usize = 64;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The rows of a tile of the result, and its columns.
const TILE: usize = ROWS * CONSUMERS;
/// A part of the sum, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 4;
const BLOCK: u32 = 384;

type Left = [Swizzled<bf16, DEPTH>; ROWS];
type Right = [Swizzled<bf16, DEPTH>; TILE];
/// A row of sums, padded so that the rows of a store lie in different banks.
type Sums = [f32; TILE + 8];

// ANCHOR: split
/// Computes `a * b`, where the columns of `b` are contiguous, and stores what an epilogue makes of it. Each cluster computes one tile, of which
/// there are `columns` side by side, and each of its blocks `steps` parts of the sum, at least one. What lies outside of the operands is
/// zeros, so that the blocks need not have equal shares of the operands. `width` is the number of the result's columns, a multiple of 4.
#[cluster_kernel(cluster = C, block = BLOCK)]
fn split<E: Epilogue, const C: usize>(
    a: &TensorMap<Left>,
    b: &TensorMap<Right>,
    bias: &[[bf16; 2]],
    residual: &[[bf16; 2]],
    c: &mut [bf16],
    height: u32,
    width: u32,
    columns: u32,
    steps: u32,
    scale: f32,
) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warpgroup = tiled_partition::<128>(&block);
    // A tile for each warpgroup: a part of one, from a row that is known only to be in it, would be checked between two products.
    let a_tiles = shared_array::<Left, { STAGES * CONSUMERS }>();
    let b_tiles = shared_array::<Right, STAGES>();
    let sums = shared_array::<Sums, TILE>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
    assert!(steps > 0, "a sum of no parts");
    let tile = this_grid().cluster_rank() as u32;
    let (top, left) = (tile / columns * TILE as u32, tile % columns * TILE as u32);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    if which == CONSUMERS as u32 {
        if rank == 0 {
            let first = cluster.block_rank() * steps;
            for step in 0..steps {
                let stage = step % STAGES as u32;
                let start = ((first + step) * DEPTH as u32) as i32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                #[unroll]
                for part in 0..CONSUMERS as u32 {
                    let from = (top + part * ROWS as u32) as i32;
                    a.load_async([from, start], &a_tiles[stage * CONSUMERS as u32 + part], &full[stage]);
                }
                b.load_async([left as i32, start], &b_tiles[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let own = which % CONSUMERS as u32;
        let zeros = Accumulator::<f32, ROWS, TILE>::splat(0.0);
        full[0].wait_parity(false);
        let mut product = warpgroup.mma_async(zeros, &a_tiles[own], &b_tiles[0]);
        let mut step = 1; // a count of its own, as in `persistent`
        for _ in 1..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            product = warpgroup.mma_async(product, &a_tiles[stage * CONSUMERS as u32 + own], &b_tiles[stage]);
            warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
            if rank % 32 == 0 {
                let _ = empty[(step - 1) % STAGES as u32].arrive();
            }
            step += 1;
        }
        let sum = warpgroup.wait_mma(product);
        #[unroll]
        for pair in 0..TILE as u32 / 4 {
            let (row, column) = (own * ROWS as u32 + sum.row(rank, pair * 2), sum.column(rank, pair * 2));
            sums[row].store_vec(column, f32x2::new([sum[pair * 2], sum[pair * 2 + 1]]));
        }
    }
    cluster.sync(); // the sums of all blocks are complete
    // Each block adds up its share of the tile's rows, four columns a thread.
    let first = cluster.block_rank() * (TILE / C) as u32;
    for at in (block.thread_rank()..(TILE / C * TILE / 4) as u32).step_by(BLOCK) {
        let (row, column) = (first + at / (TILE as u32 / 4), at % (TILE as u32 / 4) * 4);
        let mut parts = [f32x4::splat(0.0); C];
        #[unroll]
        for other in 0..C as u32 {
            parts[other as usize] = cluster.map_shared_rank(&sums, other)[row].load_vec::<4>(column);
        }
        let mut sum = [0.0; 4];
        #[unroll]
        for other in 0..C {
            for i in 0..4 {
                sum[i] += parts[other][i];
            }
        }
        let (y, x) = (top + row, left + column);
        if y < height && x < width {
            let [low, high] = [E::load(bias, residual, y, x), E::load(bias, residual, y, x + 2)];
            let [low, high] = [E::of([sum[0], sum[1]], scale, low), E::of([sum[2], sum[3]], scale, high)];
            let four = [low[0], low[1], high[0], high[1]].map(|x| bf16::from_f32(x));
            c.store_vec(y as usize * width as usize + x as usize, bf16x4::new(four));
        }
    }
    cluster.sync(); // no block exits while others read its sums
}
// ANCHOR_END: split

/// Launches the kernel. Each block of a cluster of `C` has one more part of the sum than it needs, at most.
fn launch<E: Epilogue + 'static, const C: usize>(device: &Device, operands: Operands<'_>) -> phalanx::Result<()> {
    let Operands { a, b, bias, residual, c, size: [m, n, k], factor, .. } = operands;
    const { assert!(TILE.is_multiple_of(C), "each block of a cluster adds up as many rows of a tile") };
    assert!(n.is_multiple_of(4), "threads store four columns at once, and the result has {n}");
    let [rows, columns, steps] = [m.div_ceil(TILE), n.div_ceil(TILE), k.div_ceil(DEPTH * C)].map(|count| count as u32);
    let (a, b) = (a.tensor([m, k])?, b.tensor([n, k])?);
    split::<E, C>(&a, &b, bias, residual, c, m as u32, n as u32, columns, steps, factor)
        .grid(rows * columns * C as u32)
        .enqueue(device)
}

fn plain<const C: usize>(
    device: &Device,
    a: &Buffer<bf16>,
    b: &Buffer<bf16>,
    c: &mut Buffer<bf16>,
    Size { m, n, k, .. }: Size,
    Rest { blocks, nothing }: &Rest,
) -> phalanx::Result<()> {
    let (bias, residual, size) = (nothing, nothing, [m, n, k]);
    launch::<Scaled, C>(device, Operands { a, b, bias, residual, c, size, factor: 1.0, blocks: *blocks })
}

/// Few tiles with long sums, which the persistent kernel multiplies as well. In the simulator: tiles that are not full, more parts of the sum
/// than stages, and fewer than blocks.
pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let [few, two, one] = scale.pick(
        [[256, 1_024, 16_384], [512, 2_048, 16_384], [128, 512, 16_384]],
        [[130, 20, 1_304], [20, 132, 648], [9, 4, 328]],
    );
    let compared = scale.pick(vec![few, two, one], Vec::new()).into_iter();
    let compared = compared.map(|size| case("bf16 GEMM", size, scale, 1.0, batched::launch::<bf16, f32, 64, false>));
    let split = [
        case("bf16 GEMM, sum split by 8", few, scale, 1.0, plain::<8>),
        case("bf16 GEMM, sum split by 2", two, scale, 1.0, plain::<2>),
        case("bf16 GEMM, sum split by 8", one, scale, 1.0, plain::<8>),
        layer::case("bf16 GEMM, sum split by 4, bias, GELU, residual", true, few, scale, launch::<Gelu, 4>),
    ];
    compared.chain(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "threads store four columns at once, and the result has 6")]
    fn columns_that_no_vectors_fill() {
        let device = Device::simulator();
        let (operand, nothing) = (device.zeros(64).unwrap(), device.zeros(0).unwrap());
        let rest = Rest { blocks: 1, nothing };
        let _ = plain::<2>(
            &device,
            &operand,
            &operand,
            &mut device.zeros(48).unwrap(),
            Size { matrices: 1, m: 8, n: 6, k: 8 },
            &rest,
        );
    }
}
