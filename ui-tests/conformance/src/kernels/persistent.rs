//! Blocks that compute several tiles of a product in turn, in pairs that share the columns by multicast: a product is in flight while a
//! warpgroup waits, in the loop over the tiles, and the tiles of the result are stored while the next ones are computed.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, same};

/// The columns that one of the blocks loads for both.
const HALF: usize = 32;
const BLOCKS: usize = 2;
/// The part of the sum that a stage holds, in rows of 128 bytes.
const DEPTH: usize = 64;
const STAGES: usize = 2;

type Left = [Swizzled<bf16, DEPTH>; 64];
type Right = [Swizzled<bf16, DEPTH>; HALF];
/// The rows and columns of the result that a warp stores at once.
type Part = [Swizzled<bf16, 32>; 16];

/// Computes `a * b`, where the columns of `b` are contiguous, by tiles of 128 rows and 64 columns for each pair of blocks, in `steps`
/// parts of the sum, at least one.
#[cluster_kernel(cluster = 2, block = 256)]
fn product(a: &TensorMap<Left>, b: &TensorMap<Right>, c: &mut TensorMap<Part>, rows: u32, columns: u32, steps: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Left, STAGES>();
    let b_tiles = shared_array::<[Swizzled<bf16, DEPTH>; HALF * BLOCKS], STAGES>();
    let parts = shared_array::<Part, 8>();
    let full = shared_cluster_barriers::<STAGES>();
    let empty = shared_cluster_barriers::<STAGES>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 4 * BLOCKS as u32);
    let (rank, side) = (warpgroup.thread_rank(), cluster.block_rank());
    let (first, clusters) = (this_grid().cluster_rank() as u32, this_grid().num_clusters() as u32);
    assert!(steps > 0, "a sum of no parts");
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            let mut step = 0;
            for tile in (first..rows * columns).step_by(clusters) {
                let top = (tile % rows * BLOCKS as u32 + side) as i32 * 64;
                let left = (tile / rows * BLOCKS as u32 + side) as i32 * HALF as i32;
                for k in 0..steps {
                    let stage = step % STAGES as u32;
                    let start = (k * DEPTH as u32) as i32;
                    empty[stage].wait_parity(step / STAGES as u32 % 2 == 0); // both blocks have read the stage
                    a.load_async([top, start], &a_tiles[stage], &full[stage]);
                    b.expect_multicast(&b_tiles[stage][..HALF], &full[stage]);
                    b.expect_multicast(&b_tiles[stage][HALF..], &full[stage]);
                    let own = side as usize * HALF;
                    b.multicast_async([left, start], &b_tiles[stage][own..own + HALF], &full[stage], &cluster);
                    let _ = full[stage].arrive();
                    step += 1;
                }
            }
        }
    } else {
        let mut step = 0;
        for tile in (first..rows * columns).step_by(clusters) {
            full[step % STAGES as u32].wait_parity(step / STAGES as u32 % 2 == 1);
            let zeros = Accumulator::<f32, 64, { HALF * BLOCKS }>::splat(0.0);
            let stage = step % STAGES as u32;
            let mut product = warpgroup.mma_async(zeros, &a_tiles[stage], &b_tiles[stage]);
            for k in 1..steps {
                let stage = (step + k) % STAGES as u32;
                full[stage].wait_parity((step + k) / STAGES as u32 % 2 == 1);
                product = warpgroup.mma_async(product, &a_tiles[stage], &b_tiles[stage]);
                warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
                if rank % 32 == 0 {
                    for other in 0..BLOCKS as u32 {
                        cluster.map_shared_rank(&empty[(step + k - 1) % STAGES as u32], other).arrive();
                    }
                }
            }
            let sum = warpgroup.wait_mma(product);
            step += steps;
            if rank % 32 == 0 {
                for other in 0..BLOCKS as u32 {
                    cluster.map_shared_rank(&empty[(step - 1) % STAGES as u32], other).arrive();
                }
            }
            let sum = sum.to_bf16();
            let top = (tile % rows * BLOCKS as u32 + side) * 64 + warp.meta_group_rank() * 16;
            #[unroll]
            for half in 0..2 {
                let part = &parts[warp.meta_group_rank() * 2 + half];
                if warp.thread_rank() == 0 {
                    bulk_wait_group_read::<1>(); // the part before the last one was stored
                }
                warp.sync();
                #[unroll]
                for piece in 0..2 {
                    let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
                    for i in 0..8 {
                        elements[i] = sum[half * 16 + piece * 8 + i];
                    }
                    warp.store_matrix(part, 0, piece * 16, elements);
                }
                warp.sync(); // the part is complete
                if warp.thread_rank() == 0 {
                    let left = tile / rows * (HALF * BLOCKS) as u32 + half * 32;
                    c.store_async([top as i32, left as i32], part);
                }
            }
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>();
        }
    }
    cluster.sync(); // no block exits while the other arrives at its barriers or sends it tiles
}

fn several_tiles(device: &Device) -> Outcome {
    for (rows, columns, steps) in [(1, 1, 1), (2, 3, 1), (1, 3, 5), (3, 2, 2)] {
        let (m, n, k) = (rows * 128, columns * 64, steps * DEPTH);
        let small = |seed: usize, len| -> Vec<bf16> {
            (0..len).map(|i| bf16::from_f32(((i * 7 + i / 5 * 3 + seed) % 9) as f32 - 4.0)).collect()
        };
        let (a, b) = (small(1, m * k), small(5, n * k));
        let (x, y, mut c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(m * n)?);
        product(
            &x.tensor([m, k])?,
            &y.tensor([n, k])?,
            &mut c.tensor_mut([m, n])?,
            rows as u32,
            columns as u32,
            steps as u32,
        )
        .grid(4)
        .launch(device)?;
        let element = |i: usize| {
            bf16::from_f32((0..k).map(|j| a[i / n * k + j].to_f32() * b[i % n * k + j].to_f32()).sum::<f32>())
        };
        same(&c.read()?, &(0..m * n).map(element).collect::<Vec<_>>(), |i| format!("{rows}, {columns}, {steps}: {i}"))?;
    }
    Ok(())
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "persistent", checks: check_list![several_tiles], kernels: kernel_list![product] }]
}
