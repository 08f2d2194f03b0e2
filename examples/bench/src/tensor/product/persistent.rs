//! A matrix product of `bf16`, `e4m3` or `i8`, by warpgroups that are specialised: one thread loads tiles into a ring by tensor maps, and
//! two warpgroups multiply them, each with one product in flight while it waits for the next tiles. Each block computes several tiles of
//! the result, in an order in which blocks that run at the same time share their operands in the second-level cache, and loads the next
//! tile's operands while it stores the last one (CUTLASS's persistent kernels for Hopper).

use phalanx::prelude::*;
use phalanx::{MatrixElement, WarpgroupElement};

use super::{Case, Size, case};
use crate::case::Scale;

/// The rows of the result that a warpgroup computes.
const ROWS: usize = 64;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The rows and the columns of a tile of the result.
const TILE: [usize; 2] = [ROWS * CONSUMERS, 256];
const STAGES: usize = 4;
/// The rows of tiles that blocks compute side by side.
const GROUP: u32 = 8;

/// The rows and columns of the result that a warp stores at once.
type Part = [Swizzled<bf16, 64>; 16];

/// The row and the column of a tile of the result, in tiles.
#[device]
fn place(tile: u32, rows: u32, columns: u32) -> (u32, u32) {
    let group = tile / (GROUP * columns);
    let height = (rows - group * GROUP).min(GROUP);
    let within = tile - group * GROUP * columns;
    (group * GROUP + within % height, within / height)
}

// ANCHOR: signature
/// The type of a sum, and how an element of the result is made of it.
#[device]
trait Sum: Number + AccumulatorElement<ROWS, { TILE[1] }> + MatrixElement<Value = Self> {
    fn scaled(self, scale: f32) -> bf16;
}

#[device]
impl Sum for f32 {
    fn scaled(self, scale: f32) -> bf16 {
        bf16::from_f32(self * scale)
    }
}

#[device]
impl Sum for i32 {
    fn scaled(self, scale: f32) -> bf16 {
        bf16::from_f32(self as f32 * scale)
    }
}

/// Computes `a * b`, where the columns of `b` are contiguous, in `steps` parts of the sum, at least one. The result has `rows` by `columns`
/// tiles. What lies outside of the operands is zeros, and what lies outside of the result is not stored.
#[cluster_kernel(block = 384)]
fn gemm<T: WarpgroupElement<S>, S: Sum, const DEPTH: usize>(
    a: &TensorMap<[Swizzled<T, DEPTH>; TILE[0]]>,
    b: &TensorMap<[Swizzled<T, DEPTH>; TILE[1]]>,
    c: &mut TensorMap<Part>,
    rows: u32,
    columns: u32,
    steps: u32,
    scale: f32,
) {
    // ANCHOR_END: signature
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<[Swizzled<T, DEPTH>; TILE[0]], STAGES>();
    let b_tiles = shared_array::<[Swizzled<T, DEPTH>; TILE[1]], STAGES>();
    let parts = shared_array::<Part, 16>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
    assert!(steps > 0, "a sum of no parts");
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let (first, blocks) = (this_grid().block_rank() as u32, this_grid().num_blocks() as u32);
    // The parts of sums that the thread has begun, of all tiles.
    let mut step = 0;
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for tile in (first..rows * columns).step_by(blocks) {
                let (row, column) = place(tile, rows, columns);
                let (top, left) = ((row * TILE[0] as u32) as i32, (column * TILE[1] as u32) as i32);
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
        let own = which as usize * ROWS;
        for tile in (first..rows * columns).step_by(blocks) {
            let (row, column) = place(tile, rows, columns);
            let zeros = Accumulator::<S, ROWS, { TILE[1] }>::splat(S::default());
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            let mut product = warpgroup.mma_async(zeros, &a_tiles[stage][own..own + ROWS], &b_tiles[stage]);
            step += 1;
            for _ in 1..steps {
                let stage = step % STAGES as u32;
                full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
                product = warpgroup.mma_async(product, &a_tiles[stage][own..own + ROWS], &b_tiles[stage]);
                warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
                if rank % 32 == 0 {
                    let _ = empty[(step - 1) % STAGES as u32].arrive();
                }
                step += 1;
            }
            let sum = warpgroup.wait_mma(product);
            if rank % 32 == 0 {
                let _ = empty[(step - 1) % STAGES as u32].arrive();
            }
            let mut rounded = Accumulator::<bf16, ROWS, { TILE[1] }>::splat(bf16::ZERO);
            #[unroll]
            for i in 0..rounded.len() {
                rounded[i] = sum[i].scaled(scale);
            }
            // Each warp stores its 16 rows, 64 columns at a time, by two parts of shared memory in turn.
            let top = (row * TILE[0] as u32 + warp.meta_group_rank() * 16) as i32;
            #[unroll]
            for quarter in 0..4 {
                let part = &parts[warp.meta_group_rank() * 2 + quarter % 2];
                if warp.thread_rank() == 0 {
                    bulk_wait_group_read::<1>(); // the part's last store has read it
                }
                warp.sync();
                #[unroll]
                for piece in 0..4 {
                    let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
                    #[unroll]
                    for i in 0..8 {
                        elements[i] = rounded[quarter * 32 + piece * 8 + i];
                    }
                    warp.store_matrix(part, 0, piece * 16, elements);
                }
                warp.sync(); // the part is complete
                if warp.thread_rank() == 0 {
                    c.store_async([top, (column * TILE[1] as u32 + quarter * 64) as i32], part);
                }
            }
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>(); // the block exits after its memory has been read
        }
    }
}

/// The sizes that are measured, and one in the simulator that fills no tile and gives each block two of them.
pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let full = [[4_096; 3], [8_192; 3], [16_384, 4_096, 4_096]];
    let small = [[300, 520, 320]];
    let sizes = scale.pick(&full[..], &small[..]);
    let wide = sizes.iter().map(|size| case("bf16 GEMM", *size, scale, 1.0, launch::<bf16, f32, 64>));
    let size = scale.pick([8_192; 3], small[0]);
    let narrow = [
        // The tensor cores keep some 13 bits after the point of the largest term; sums are about 30 at the full size.
        case("e4m3 GEMM", size, scale, 64.0, launch::<e4m3, f32, 128>),
        // Sums are exact, and rounded to `bf16`.
        case("i8 GEMM", size, scale, 1.0, launch::<i8, i32, 128>),
    ];
    wide.chain(narrow).collect()
}

fn launch<T: WarpgroupElement<S>, S: Sum, const DEPTH: usize>(
    device: &Device,
    a: &Buffer<T>,
    b: &Buffer<T>,
    c: &mut Buffer<bf16>,
    Size { m, n, k }: Size,
    blocks: u32,
) -> phalanx::Result<()> {
    let [rows, columns] = [m.div_ceil(TILE[0]), n.div_ceil(TILE[1])].map(|tiles| tiles as u32);
    gemm::<T, S, DEPTH>(
        &a.tensor([m, k])?,
        &b.tensor([n, k])?,
        &mut c.tensor_mut([m, n])?,
        rows,
        columns,
        k.div_ceil(DEPTH) as u32,
        1.0,
    )
    .grid(blocks)
    .enqueue(device)
}
