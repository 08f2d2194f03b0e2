//! A matrix product in `bf16`, by warpgroups that are specialised: one thread loads tiles into a ring by tensor maps, and two warpgroups
//! multiply them, each with one product in flight while it waits for the next tiles. Each block computes several tiles of the result,
//! in an order in which blocks that run at the same time share their operands in the second-level cache, and loads the next tile's
//! operands while it stores the last one (CUTLASS's persistent kernels for Hopper).

use phalanx::prelude::*;
use serde_json::json;

use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

/// The rows of the result that a warpgroup computes.
const ROWS: usize = 64;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The rows and the columns of a tile of the result.
const TILE: [usize; 2] = [ROWS * CONSUMERS, 256];
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 4;
/// The rows of tiles that blocks compute side by side.
const GROUP: u32 = 8;

type Left = [Swizzled<bf16, DEPTH>; TILE[0]];
type Right = [Swizzled<bf16, DEPTH>; TILE[1]];
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

/// Computes `a * b`, where the columns of `b` are contiguous, in `steps` parts of the sum, at least one. The result has `rows` by `columns`
/// tiles. What lies outside of the operands is zeros, and what lies outside of the result is not stored.
#[cluster_kernel(block = 384)]
fn gemm(a: &TensorMap<Left>, b: &TensorMap<Right>, c: &mut TensorMap<Part>, rows: u32, columns: u32, steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Left, STAGES>();
    let b_tiles = shared_array::<Right, STAGES>();
    let parts = shared_array::<Part, 16>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
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
            let zeros = Accumulator::<f32, ROWS, { TILE[1] }>::splat(0.0);
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
            // Each warp stores its 16 rows, 64 columns at a time, by two parts of shared memory in turn.
            let rounded = sum.to_bf16();
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

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let full = [[4_096; 3], [8_192; 3], [16_384, 4_096, 4_096]];
    // Ragged, with two tiles of each block.
    let small = [[300, 520, 320]];
    let sizes = scale.pick(&full[..], &small[..]);
    sizes.iter().map(|size| case(scale, *size)).collect()
}

fn case(scale: Scale, [m, n, k]: [usize; 3]) -> Case {
    let [rows, columns] = [m.div_ceil(TILE[0]), n.div_ceil(TILE[1])].map(|tiles| tiles as u32);
    let steps = k.div_ceil(DEPTH) as u32;
    Case {
        kernel: "bf16 GEMM",
        size: format!("{m} × {n} × {k}"),
        operations: 2 * (m * n * k) as u64,
        problem: json!({ "operation": "gemm", "m": m, "n": n, "k": k }),
        prepare: Box::new(move |device| {
            let (x, y) = (super::bf16s(31, m * k), super::bf16s(32, n * k));
            let sets = memory::sets(device, 2 * (m * k + n * k + m * n));
            let set = |_| Ok((device.upload(&x)?, device.upload(&y)?, device.zeros::<bf16>(m * n)?));
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            let blocks = scale.pick(super::multiprocessors(device)?, 3);
            Ok(Box::new(Product { sets, size: [m, n, k], tiles: [rows, columns], steps, blocks, operands: [x, y] }))
        }),
    }
}

struct Product {
    sets: Vec<(Buffer<bf16>, Buffer<bf16>, Buffer<bf16>)>,
    size: [usize; 3],
    tiles: [u32; 2],
    steps: u32,
    blocks: u32,
    operands: [Vec<bf16>; 2],
}

impl Prepared for Product {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let ([m, n, k], [rows, columns]) = (self.size, self.tiles);
        let (a, b, c) = &mut self.sets[set];
        gemm(&a.tensor([m, k])?, &b.tensor([n, k])?, &mut c.tensor_mut([m, n])?, rows, columns, self.steps)
            .grid(self.blocks)
            .enqueue(device)
    }

    fn check(&self) -> Result<()> {
        let [m, n, k] = self.size;
        let c = self.sets[0].2.read()?;
        for i in data::sample(m, 16) {
            let row = &self.operands[0][i * k..][..k];
            let element = |j: usize| {
                let column = &self.operands[1][j * k..][..k];
                row.iter().zip(column).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
            };
            let columns = data::sample(n, 256);
            let got = columns.iter().map(|j| f64::from(c[i * n + j]));
            compare::close(&format!("row {i}"), got, columns.iter().map(|j| element(*j)), 1e-2)?;
        }
        Ok(())
    }
}
