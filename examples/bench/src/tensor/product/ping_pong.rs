//! A persistent product whose two multiplying warpgroups have tiles of their own ("ping-pong", CUTLASS's kernel for short sums): while one
//! applies the epilogue to its tile and stores it, the other one multiplies. Two barriers keep the order in which they take turns.

use phalanx::prelude::*;

use super::epilogue::{Epilogue, Gelu, Scaled};
use super::layer::{self, Operands};
use super::{Case, Rest, Size, batched, case};
use crate::case::Scale;

/// The rows of a product of a warpgroup.
const ROWS: usize = 64;
/// The rows of a tile of the result, and its columns.
const TILE: usize = 128;
/// A part of the sum, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 4;
/// The rows of tiles that blocks compute side by side.
const GROUP: u32 = 8;

type Operand = [Swizzled<bf16, DEPTH>; TILE];
/// The rows and columns of the result that a warp stores at once.
type Part = [Swizzled<bf16, 64>; 16];

/// The row and the column of a tile of the result, in tiles, as in `persistent`.
#[device]
fn place(tile: u32, rows: u32, columns: u32) -> (u32, u32) {
    let group = tile / (GROUP * columns);
    let height = (rows - group * GROUP).min(GROUP);
    let within = tile - group * GROUP * columns;
    (group * GROUP + within % height, within / height)
}

// ANCHOR: ping_pong
/// Computes `a * b`, where the columns of `b` are contiguous, in `steps` parts of the sum, at least one, and stores what an epilogue makes of
/// it. A result has `rows` by `columns` tiles. Each warpgroup takes every second tile of its block. It may multiply once the other one has
/// begun its last product, and so waits for a stage only when its round before is over, as a wait by parity has to.
#[cluster_kernel(block = 384)]
fn ping_pong<E: Epilogue>(
    a: &TensorMap<Operand>,
    b: &TensorMap<Operand>,
    bias: &[[bf16; 2]],
    residual: &[[bf16; 2]],
    c: &mut TensorMap<Part>,
    rows: u32,
    columns: u32,
    steps: u32,
    scale: f32,
) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Operand, STAGES>();
    let b_tiles = shared_array::<Operand, STAGES>();
    let parts = shared_array::<Part, 16>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    let turns = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4); // a lane of each warp of the one warpgroup that multiplies a stage
    turns.init_collective(&block, 4);
    assert!(steps > 0, "a sum of no parts");
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let (first, blocks) = (this_grid().block_rank() as u32, this_grid().num_blocks() as u32);
    if which == 2 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            let mut step = 0;
            for tile in (first..rows * columns).step_by(blocks) {
                let (row, column) = place(tile, rows, columns);
                let (top, left) = ((row * TILE as u32) as i32, (column * TILE as u32) as i32);
                for k in 0..steps {
                    let stage = step % STAGES as u32;
                    let start = (k * DEPTH as u32) as i32;
                    empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                    a.load_async([top, start], &a_tiles[stage], &full[stage]);
                    b.load_async([left, start], &b_tiles[stage], &full[stage]);
                    let _ = full[stage].arrive();
                    step += 1;
                }
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        // Remainders, from which the compiler knows that there are such barriers: a check by one lane would keep the products apart.
        let (own, other) = (which % 2, (which + 1) % 2);
        let (mut step, mut turn) = (0, 0);
        for tile in (first..rows * columns).step_by(blocks) {
            if turn % 2 == own {
                turns[own].wait_parity((turn / 2 + own) % 2 == 0);
                let stage = step % STAGES as u32;
                full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
                let zeros = Accumulator::<f32, ROWS, TILE>::splat(0.0);
                let mut upper = warpgroup.mma_async(zeros, &a_tiles[stage][..ROWS], &b_tiles[stage]);
                let mut lower = warpgroup.mma_async(zeros, &a_tiles[stage][ROWS..], &b_tiles[stage]);
                let mut next = step + 1; // a count of its own, of which the stage needs no check between the products
                for _ in 1..steps {
                    let stage = next % STAGES as u32;
                    full[stage].wait_parity(next / STAGES as u32 % 2 == 1);
                    upper = warpgroup.mma_async(upper, &a_tiles[stage][..ROWS], &b_tiles[stage]);
                    lower = warpgroup.mma_async(lower, &a_tiles[stage][ROWS..], &b_tiles[stage]);
                    warpgroup.wait_mma_prior::<2>(); // the products before have read their stage
                    if rank % 32 == 0 {
                        let _ = empty[(next - 1) % STAGES as u32].arrive();
                    }
                    next += 1;
                }
                if rank % 32 == 0 {
                    let _ = turns[other].arrive(); // the other one's products follow without a pause
                }
                let upper = warpgroup.wait_mma(upper);
                let lower = warpgroup.wait_mma(lower);
                if rank % 32 == 0 {
                    let _ = empty[(next - 1) % STAGES as u32].arrive();
                }
                let (row, column) = place(tile, rows, columns);
                let left = column * TILE as u32;
                #[unroll]
                for quarter in 0..4 {
                    let sum = if quarter < 2 { upper } else { lower };
                    let (begin, top) = (quarter % 2 * 32, row * TILE as u32 + quarter as u32 / 2 * ROWS as u32);
                    let mut added = [[[bf16::ZERO; 2]; 2]; 16];
                    #[unroll]
                    for pair in 0..16 {
                        let (y, x) = (sum.row(rank, begin + pair * 2), sum.column(rank, begin + pair * 2));
                        added[pair as usize] = E::load(bias, residual, top + y, left + x);
                    }
                    let part = &parts[warp.meta_group_rank() * 2 + quarter as u32 % 2];
                    if warp.thread_rank() == 0 {
                        bulk_wait_group_read::<1>(); // the part's last store has read it
                    }
                    warp.sync();
                    #[unroll]
                    for piece in 0..4 {
                        let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
                        #[unroll]
                        for pair in 0..4 {
                            let i = begin + piece * 8 + pair * 2;
                            let two = E::of([sum[i], sum[i + 1]], scale, added[piece as usize * 4 + pair as usize]);
                            elements[pair * 2] = bf16::from_f32(two[0]);
                            elements[pair * 2 + 1] = bf16::from_f32(two[1]);
                        }
                        warp.store_matrix(part, 0, piece * 16, elements);
                    }
                    warp.sync(); // the part is complete
                    if warp.thread_rank() == 0 {
                        let at = top + warp.meta_group_rank() % 4 * 16;
                        c.store_async([at as i32, (left + quarter as u32 % 2 * 64) as i32], part);
                    }
                }
            }
            // One by one, as in `persistent`.
            for _ in 0..steps {
                step += 1;
            }
            turn += 1;
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>(); // the block exits after its memory has been read
        }
    }
}
// ANCHOR_END: ping_pong

fn launch<E: Epilogue + 'static>(device: &Device, operands: Operands<'_>) -> phalanx::Result<()> {
    let Operands { a, b, bias, residual, c, size: [m, n, k], factor, blocks } = operands;
    let [rows, columns, steps] = [m.div_ceil(TILE), n.div_ceil(TILE), k.div_ceil(DEPTH)].map(|count| count as u32);
    let (a, b, mut c) = (a.tensor([m, k])?, b.tensor([n, k])?, c.tensor_mut([m, n])?);
    ping_pong::<E>(&a, &b, bias, residual, &mut c, rows, columns, steps, factor).grid(blocks).enqueue(device)
}

fn plain(
    device: &Device,
    a: &Buffer<bf16>,
    b: &Buffer<bf16>,
    c: &mut Buffer<bf16>,
    Size { m, n, k, .. }: Size,
    Rest { blocks, nothing }: &Rest,
) -> phalanx::Result<()> {
    let (bias, residual, size) = (nothing, nothing, [m, n, k]);
    launch::<Scaled>(device, Operands { a, b, bias, residual, c, size, factor: 1.0, blocks: *blocks })
}

/// Short sums, which the other persistent kernel multiplies as well. In the simulator: tiles that are not full, more of them than blocks, and
/// an odd number of them; a sum of one part, and one of more parts than stages.
pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let [short, square] = scale.pick([[8_192, 8_192, 512], [4_096, 4_096, 1_024]], [[300, 136, 40], [130, 264, 392]]);
    let compared = scale.pick(vec![short, square], Vec::new()).into_iter().flat_map(|size| {
        [
            case("bf16 GEMM", size, scale, 1.0, batched::launch::<bf16, f32, 64, false>),
            layer::case("bf16 GEMM, bias, GELU, residual", true, size, scale, layer::gemm::<Gelu>),
        ]
    });
    let ours = [short, square].into_iter().flat_map(|size| {
        [
            case("bf16 GEMM, ping-pong", size, scale, 1.0, plain),
            layer::case("bf16 GEMM, ping-pong, bias, GELU, residual", true, size, scale, launch::<Gelu>),
        ]
    });
    compared.chain(ours).collect()
}
