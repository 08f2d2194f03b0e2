//! The persistent product by pairs of blocks that share the rows of their tiles: each block loads half of the left operand, the rows of one
//! warpgroup, and sends it to both by multicast, so that a pair reads it from the second-level cache once (CUTLASS's kernels of clusters of
//! one by two blocks). `batched` chooses between this kernel and `persistent`.

use phalanx::WarpgroupElement;
use phalanx::prelude::*;

use super::epilogue::Epilogue;
use super::persistent::{Part, Sum, TILE};

/// The rows of the result that a warpgroup computes, and the warpgroups of a block that multiply.
const ROWS: usize = 64;
const CONSUMERS: usize = 2;
/// The columns of a tile of the result.
const WIDE: usize = 256;
pub(super) const BLOCKS: usize = 2;
/// With a fourth stage, the rings of both blocks have more states than the compiler visits.
const STAGES: usize = 3;
/// The rows of tiles that clusters compute side by side.
const GROUP: u32 = 8;
const _: () = assert!(TILE[0] == ROWS * CONSUMERS && TILE[1] == WIDE, "the tiles of `persistent`");

/// The rows of the left operand that a warpgroup multiplies, which a block loads for both, and a tile of the right one.
type Rows<T, const DEPTH: usize> = [[Swizzled<T, DEPTH>; ROWS]; 1];
type Right<T, const DEPTH: usize> = [[Swizzled<T, DEPTH>; WIDE]; 1];

/// The row and the column of a pair of tiles of the result, in pairs: as in `persistent`, and here because the compiler reads the functions of
/// a kernel's own file.
#[device]
fn place(pair: u32, rows: u32, columns: u32) -> (u32, u32) {
    let group = pair / (GROUP * columns);
    let height = (rows - group * GROUP).min(GROUP);
    let within = pair - group * GROUP * columns;
    (group * GROUP + within % height, within / height)
}

// ANCHOR: multicast
/// Computes what `gemm` computes, by clusters of two blocks side by side. A result has `rows` tiles by `pairs` such pairs of tiles.
#[cluster_kernel(cluster = 2, block = 384)]
pub(super) fn multicast<T: WarpgroupElement<S>, S: Sum, E: Epilogue, const DEPTH: usize>(
    a: &TensorMap<Rows<T, DEPTH>>,
    b: &TensorMap<Right<T, DEPTH>>,
    bias: &[[bf16; 2]],
    residual: &[[bf16; 2]],
    c: &mut TensorMap<Part>,
    matrices: u32,
    rows: u32,
    pairs: u32,
    steps: u32,
    scale: f32,
) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Rows<T, DEPTH>, { STAGES * CONSUMERS }>();
    let b_tiles = shared_array::<Right<T, DEPTH>, STAGES>();
    let parts = shared_array::<Part, 16>();
    let (full, empty) = (shared_cluster_barriers::<STAGES>(), shared_cluster_barriers::<STAGES>());
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 4 * (CONSUMERS * BLOCKS) as u32); // the warps of both blocks that multiply
    assert!(steps > 0, "a sum of no parts");
    let (which, rank, side) = (warpgroup.meta_group_rank(), warpgroup.thread_rank(), cluster.block_rank());
    let (first, clusters) = (this_grid().cluster_rank() as u32, this_grid().num_clusters() as u32);
    let tiles = rows * pairs;
    // The parts of sums that the thread has begun, of all tiles.
    let mut step = 0;
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for tile in (first..matrices * tiles).step_by(clusters) {
                let (row, pair) = place(tile % tiles, rows, pairs);
                let matrix = (tile / tiles) as i32;
                let top = ((row * CONSUMERS as u32 + side) * ROWS as u32) as i32;
                let left = ((pair * BLOCKS as u32 + side) * WIDE as u32) as i32;
                for k in 0..steps {
                    let (stage, start) = (step % STAGES as u32, (k * DEPTH as u32) as i32);
                    empty[stage].wait_parity(step / STAGES as u32 % 2 == 0); // both blocks have read the stage
                    b.load_async([matrix, left, start], &b_tiles[stage], &full[stage]);
                    for half in 0..BLOCKS as u32 {
                        a.expect_multicast(&a_tiles[stage * CONSUMERS as u32 + half], &full[stage]);
                    }
                    let own = stage * CONSUMERS as u32 + side;
                    a.multicast_async([matrix, top, start], &a_tiles[own], &full[stage], &cluster);
                    let _ = full[stage].arrive();
                    step += 1;
                }
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        for tile in (first..matrices * tiles).step_by(clusters) {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            let zeros = Accumulator::<S, ROWS, WIDE>::splat(S::default());
            let mut product =
                warpgroup.mma_async(zeros, &a_tiles[stage * CONSUMERS as u32 + which][0], &b_tiles[stage][0]);
            step += 1;
            for _ in 1..steps {
                let stage = step % STAGES as u32;
                full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
                product =
                    warpgroup.mma_async(product, &a_tiles[stage * CONSUMERS as u32 + which][0], &b_tiles[stage][0]);
                warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
                if rank % 32 == 0 {
                    for other in 0..2 {
                        cluster.map_shared_rank(&empty[(step - 1) % STAGES as u32], other).arrive();
                    }
                }
                step += 1;
            }
            let sum = warpgroup.wait_mma(product);
            if rank % 32 == 0 {
                for other in 0..2 {
                    cluster.map_shared_rank(&empty[(step - 1) % STAGES as u32], other).arrive();
                }
            }
            // ANCHOR_END: multicast
            let (row, pair) = place(tile % tiles, rows, pairs);
            let (top, left) = (row * TILE[0] as u32, (pair * BLOCKS as u32 + side) * WIDE as u32);
            let mut result = Accumulator::<bf16, ROWS, WIDE>::splat(bf16::ZERO);
            #[unroll]
            for two in 0..WIDE as u32 / 4 {
                let i = two * 2;
                let (y, x) = (top + which * ROWS as u32 + sum.row(rank, i), left + sum.column(rank, i));
                let [first, second] = E::of([sum[i].real(), sum[i + 1].real()], scale, E::load(bias, residual, y, x));
                (result[i], result[i + 1]) = (bf16::from_f32(first), bf16::from_f32(second));
            }
            let at = [(tile / tiles) as i32, (top + warp.meta_group_rank() * 16) as i32];
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
                        elements[i] = result[quarter * 32 + piece * 8 + i];
                    }
                    warp.store_matrix(&part[0], 0, piece * 16, elements);
                }
                warp.sync(); // the part is complete
                if warp.thread_rank() == 0 {
                    c.store_async([at[0], at[1], (left + quarter * 64) as i32], part);
                }
            }
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>(); // the block exits after its memory has been read
        }
    }
    cluster.sync(); // no block exits while the other arrives at its barriers or sends it tiles
}
