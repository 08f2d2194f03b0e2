//! Matrix products of `bf16`, `e4m3` or `i8`, by warpgroups that are specialised: one thread loads tiles into a ring by tensor maps, and
//! two warpgroups multiply them, each with one product in flight while it waits for the next tiles. Each block computes several tiles of
//! the result, in an order in which blocks that run at the same time share their operands in the second-level cache, and loads the next
//! tile's operands while it stores the last one (CUTLASS's persistent kernels for Hopper). `gemm` multiplies pairs of matrices, and
//! an epilogue adds what a layer of a network does; `grouped` multiplies groups of rows with a matrix each.

use phalanx::prelude::*;
use phalanx::{MatrixElement, WarpgroupElement};

use super::epilogue::{Epilogue, Real};

/// The rows of the result that a warpgroup computes.
const ROWS: usize = 64;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The rows and the columns of a tile of the result.
pub(super) const TILE: [usize; 2] = [ROWS * CONSUMERS, 256];
const STAGES: usize = 4;
/// The rows of tiles that blocks compute side by side.
const GROUP: u32 = 8;

/// A tile of an operand, of one of its matrices.
type Left<T, const DEPTH: usize> = [[Swizzled<T, DEPTH>; TILE[0]]; 1];
type Right<T, const DEPTH: usize> = [[Swizzled<T, DEPTH>; TILE[1]]; 1];
/// The rows and columns of the result that a warp stores at once.
pub(super) type Part = [[Swizzled<bf16, 64>; 16]; 1];

/// The row and the column of a tile of the result, in tiles.
#[device]
fn place(tile: u32, rows: u32, columns: u32) -> (u32, u32) {
    let group = tile / (GROUP * columns);
    let height = (rows - group * GROUP).min(GROUP);
    let within = tile - group * GROUP * columns;
    (group * GROUP + within % height, within / height)
}

/// The type of a sum.
#[device]
pub(super) trait Sum:
    Real + Number + AccumulatorElement<ROWS, { TILE[1] }> + MatrixElement<Value = Self>
{
}
#[device]
impl Sum for f32 {}
#[device]
impl Sum for i32 {}

/// Loads the operands of a tile of the result, in `steps` parts: rows of a matrix of `a`, and of one of `b`. `begun` parts were loaded before.
#[device]
fn load<T: TensorElement, const DEPTH: usize>(
    a: &TensorMap<Left<T, DEPTH>>,
    b: &TensorMap<Right<T, DEPTH>>,
    a_tiles: &SharedArray<Left<T, DEPTH>, STAGES>,
    b_tiles: &SharedArray<Right<T, DEPTH>, STAGES>,
    full: &Barriers<STAGES>,
    empty: &Barriers<STAGES>,
    matrix: [u32; 2],
    row: [u32; 2],
    begun: u32,
    steps: u32,
) {
    for k in 0..steps {
        let (stage, round) = ((begun + k) % STAGES as u32, (begun + k) / STAGES as u32);
        let start = (k * DEPTH as u32) as i32;
        empty[stage].wait_parity(round % 2 == 0);
        a.load_async([matrix[0] as i32, row[0] as i32, start], &a_tiles[stage], &full[stage]);
        b.load_async([matrix[1] as i32, row[1] as i32, start], &b_tiles[stage], &full[stage]);
        let _ = full[stage].arrive();
    }
}

// ANCHOR: multiply
/// Multiplies what `load` loads, the rows from `own` on. One product is in flight while the next tiles are waited for.
#[device]
fn multiply<T: WarpgroupElement<S>, S: Sum, const DEPTH: usize>(
    warpgroup: &Tile<128>,
    a_tiles: &SharedArray<Left<T, DEPTH>, STAGES>,
    b_tiles: &SharedArray<Right<T, DEPTH>, STAGES>,
    full: &Barriers<STAGES>,
    empty: &Barriers<STAGES>,
    own: usize,
    begun: u32,
    steps: u32,
) -> Accumulator<S, ROWS, { TILE[1] }> {
    let zeros = Accumulator::<S, ROWS, { TILE[1] }>::splat(S::default());
    let mut step = begun;
    let stage = step % STAGES as u32;
    full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
    let mut product = warpgroup.mma_async(zeros, &a_tiles[stage][0][own..own + ROWS], &b_tiles[stage][0]);
    step += 1;
    for _ in 1..steps {
        let stage = step % STAGES as u32;
        full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
        product = warpgroup.mma_async(product, &a_tiles[stage][0][own..own + ROWS], &b_tiles[stage][0]);
        warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
        if warpgroup.thread_rank() % 32 == 0 {
            let _ = empty[(step - 1) % STAGES as u32].arrive();
        }
        step += 1;
    }
    let sum = warpgroup.wait_mma(product);
    if warpgroup.thread_rank() % 32 == 0 {
        let _ = empty[(step - 1) % STAGES as u32].arrive();
    }
    sum
}
// ANCHOR_END: multiply

/// Rounds what an epilogue makes of a sum and of what is loaded for it, by the row and the column of two neighbours in the tile.
#[device]
fn rounded<S: Sum>(
    sum: Accumulator<S, ROWS, { TILE[1] }>,
    rank: u32,
    load: impl Fn(u32, u32) -> [[bf16; 2]; 2],
    epilogue: impl Fn([f32; 2], [[bf16; 2]; 2]) -> [f32; 2],
) -> Accumulator<bf16, ROWS, { TILE[1] }> {
    let mut result = Accumulator::<bf16, ROWS, { TILE[1] }>::splat(bf16::ZERO);
    #[unroll]
    for batch in 0..4 {
        // The loads of 16 pairs are in flight before the first is waited for.
        let mut added = [[[bf16::ZERO; 2]; 2]; 16];
        #[unroll]
        for pair in 0..16 {
            let i = batch * 32 + pair * 2;
            added[pair as usize] = load(sum.row(rank, i), sum.column(rank, i));
        }
        #[unroll]
        for pair in 0..16 {
            let i = batch * 32 + pair * 2;
            let two = epilogue([sum[i].real(), sum[i + 1].real()], added[pair as usize]);
            result[i] = bf16::from_f32(two[0]);
            result[i + 1] = bf16::from_f32(two[1]);
        }
    }
    result
}

// ANCHOR: signature
/// Computes the product of each matrix of `a` with that of `b`, whose columns are contiguous, in `steps` parts of the sum, at least one, and
/// stores what an epilogue makes of it. A result has `rows` by `columns` tiles. What lies outside of the operands is zeros, and what lies
/// outside of the result is not stored.
#[cluster_kernel(block = 384)]
pub(super) fn gemm<T: WarpgroupElement<S>, S: Sum, E: Epilogue, const DEPTH: usize>(
    a: &TensorMap<Left<T, DEPTH>>,
    b: &TensorMap<Right<T, DEPTH>>,
    bias: &[[bf16; 2]],
    residual: &[[bf16; 2]],
    c: &mut TensorMap<Part>,
    matrices: u32,
    rows: u32,
    columns: u32,
    steps: u32,
    scale: f32,
) {
    // ANCHOR_END: signature
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Left<T, DEPTH>, STAGES>();
    let b_tiles = shared_array::<Right<T, DEPTH>, STAGES>();
    let parts = shared_array::<Part, 16>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
    assert!(steps > 0, "a sum of no parts");
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let (first, blocks) = (this_grid().block_rank() as u32, this_grid().num_blocks() as u32);
    let tiles = rows * columns;
    // The parts of sums that the thread has begun, of all tiles.
    let mut begun = 0;
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for tile in (first..matrices * tiles).step_by(blocks) {
                let (row, column) = place(tile % tiles, rows, columns);
                let (matrix, at) = (tile / tiles, [row * TILE[0] as u32, column * TILE[1] as u32]);
                load::<T, DEPTH>(a, b, &a_tiles, &b_tiles, &full, &empty, [matrix, matrix], at, begun, steps);
                begun += steps;
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        let own = which as usize % CONSUMERS * ROWS; // a remainder, from which the compiler knows that it is in the tile
        for tile in (first..matrices * tiles).step_by(blocks) {
            let (row, column) = place(tile % tiles, rows, columns);
            let sum = multiply::<T, S, DEPTH>(&warpgroup, &a_tiles, &b_tiles, &full, &empty, own, begun, steps);
            // One by one, as in `multiply`: the assembler then keeps the count, and the addresses made of it, in uniform registers, and the
            // instructions of a product follow each other without a pause.
            for _ in 0..steps {
                begun += 1;
            }
            let (top, left) = (row * TILE[0] as u32 + which * ROWS as u32, column * TILE[1] as u32);
            let load = |y, x| E::load(bias, residual, top + y, left + x);
            let result = rounded(sum, rank, load, |two, added| E::of(two, scale, added));
            // Each warp stores its 16 rows, 64 columns at a time, by two parts of shared memory in turn.
            let at = [(tile / tiles) as i32, (row * TILE[0] as u32 + warp.meta_group_rank() * 16) as i32];
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
}

/// The number of tiles that the rows of all groups take.
#[device]
fn rows_of_tiles(starts: &[u32]) -> u32 {
    let mut rows = 0;
    for group in 0..starts.len() as u32 - 1 {
        rows += (starts[group + 1] - starts[group]).div_ceil(TILE[0] as u32);
    }
    rows
}

/// The group that a row of tiles belongs to, the first row of the tile, and the end of the group's rows.
#[device]
fn group_of(starts: &[u32], row: u32) -> (u32, u32, u32) {
    let mut found = (0, 0, 0);
    let mut before = 0;
    for group in 0..starts.len() as u32 - 1 {
        let (start, end) = (starts[group], starts[group + 1]);
        let next = before + (end - start).div_ceil(TILE[0] as u32);
        if before <= row && row < next {
            found = (group, start + (row - before) * TILE[0] as u32, end);
        }
        before = next;
    }
    found
}

/// 16 rows of 64 columns, padded by 16 bytes, so that eight of them lie in different banks.
type Rows = [[bf16; 64 + 8]; 16];

/// Stores those of a warp's 16 rows that lie before `end`, 64 columns at a time.
#[device]
fn store_rows(
    warp: &Tile<32>,
    part: &SharedSlice<[bf16; 64 + 8]>,
    c: &mut [bf16],
    result: Accumulator<bf16, ROWS, { TILE[1] }>,
    width: u32,
    top: u32,
    end: u32,
    left: u32,
) {
    let lane = warp.thread_rank();
    #[unroll]
    for quarter in 0..4 {
        warp.sync(); // the part before has been read
        #[unroll]
        for piece in 0..4 {
            let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
            #[unroll]
            for i in 0..8 {
                elements[i] = result[quarter * 32 + piece * 8 + i];
            }
            warp.store_matrix(part, 0, piece * 16, elements);
        }
        warp.sync(); // the part is complete
        #[unroll]
        for i in 0..4 {
            let (row, column) = (lane / 8 + i * 4, left + quarter as u32 * 64 + lane % 8 * 8);
            if top + row < end && column < width {
                let at = (top + row) as usize * width as usize + column as usize;
                c.store_vec(at, part[row].load_vec::<8>(lane % 8 * 8));
            }
        }
    }
}

// ANCHOR: grouped
/// Computes products of groups of rows, each with a matrix of its own, as layers of a mixture of experts do: group `i` has the rows of `a` from
/// `starts[i]` to `starts[i + 1]`, and the matrix `i` of `b`. A tile holds rows of one group, and those behind the group's end are not stored.
#[cluster_kernel(block = 384)]
pub(super) fn grouped(
    a: &TensorMap<Left<bf16, 64>>,
    b: &TensorMap<Right<bf16, 64>>,
    starts: &[u32],
    c: &mut [bf16],
    width: u32,
    steps: u32,
) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let a_tiles = shared_array::<Left<bf16, 64>, STAGES>();
    let b_tiles = shared_array::<Right<bf16, 64>, STAGES>();
    let parts = shared_array::<Rows, 8>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32);
    assert!(steps > 0, "a sum of no parts");
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let (first, blocks) = (this_grid().block_rank() as u32, this_grid().num_blocks() as u32);
    let (rows, columns) = (rows_of_tiles(starts), width.div_ceil(TILE[1] as u32));
    let total = rows * columns;
    let mut begun = 0;
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for tile in (first..total).step_by(blocks) {
                let (row, column) = place(tile, rows, columns);
                let (group, top, _) = group_of(starts, row);
                let at = [top, column * TILE[1] as u32];
                load::<bf16, 64>(a, b, &a_tiles, &b_tiles, &full, &empty, [0, group], at, begun, steps);
                begun += steps;
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        let own = which as usize % CONSUMERS * ROWS; // a remainder, from which the compiler knows that it is in the tile
        for tile in (first..total).step_by(blocks) {
            let (row, column) = place(tile, rows, columns);
            let (_, top, end) = group_of(starts, row);
            let sum = multiply::<bf16, f32, 64>(&warpgroup, &a_tiles, &b_tiles, &full, &empty, own, begun, steps);
            for _ in 0..steps {
                begun += 1; // as in `gemm`
            }
            let number = warp.meta_group_rank();
            let (own, left) = (&parts[number], column * TILE[1] as u32);
            store_rows(&warp, own, c, sum.to_bf16(), width, top + number * 16, end, left);
        }
    }
}
// ANCHOR_END: grouped

// ANCHOR: square
/// Adds up the squares of 32 rows of what `load` loads for a tile of the result, from `top` on. A thread has the sums of four rows,
/// `lane / 4 + 8 * i`, over its columns.
#[device]
fn square(
    warp: &Tile<32>,
    a_tiles: &SharedArray<Left<bf16, 64>, STAGES>,
    full: &Barriers<STAGES>,
    empty: &Barriers<STAGES>,
    top: u32,
    begun: u32,
    steps: u32,
) -> [f32; 4] {
    let mut sums = [0.0; 4];
    for k in 0..steps {
        let (stage, round) = ((begun + k) % STAGES as u32, (begun + k) / STAGES as u32);
        full[stage].wait_parity(round % 2 == 1);
        #[unroll]
        for part in 0..8 {
            let x: MatrixA<bf16, 16, 16> = warp.load_matrix(&a_tiles[stage][0], top + part / 4 * 16, part % 4 * 16);
            #[unroll]
            for i in 0..8 {
                let row = part as usize / 4 * 2 + i / 2 % 2;
                sums[row] = x[i].to_f32().mul_add(x[i].to_f32(), sums[row]);
            }
        }
        let _ = empty[stage].arrive(); // by each thread, which has read for itself
    }
    sums
}
// ANCHOR_END: square

// ANCHOR: normed
/// Computes `rms_norm(a) * b`. It multiplies the rows of `a` as they are, and scales those of the result: a norm is one factor for all of a
/// row. The two blocks of a cluster compute tiles side by side, of the same rows, each of which adds up the squares of half of them, from
/// the tiles that it multiplies anyway, and sends the factors to both. `pairs` is the number of such pairs of tiles in a row of tiles, and
/// `width` that of a row's elements.
#[cluster_kernel(cluster = 2, block = 384)]
pub(super) fn normed(
    a: &TensorMap<Left<bf16, 64>>,
    b: &TensorMap<Right<bf16, 64>>,
    c: &mut TensorMap<Part>,
    rows: u32,
    pairs: u32,
    steps: u32,
    width: u32,
    epsilon: f32,
) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let quad = tiled_partition::<4>(&block);
    let a_tiles = shared_array::<Left<bf16, 64>, STAGES>();
    let b_tiles = shared_array::<Right<bf16, 64>, STAGES>();
    let parts = shared_array::<Part, 16>();
    // The factors of each warpgroup's rows, of which the block of the same number sends them.
    let factors = shared_array::<[f32; ROWS], CONSUMERS>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    let (sent, used) = (shared_cluster_barrier(), shared_cluster_barrier());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4 * CONSUMERS as u32 + 64);
    sent.init_collective(&cluster, 1);
    used.init_collective(&cluster, 2 * 128);
    assert!(steps > 0, "a sum of no parts");
    let (which, rank, side) = (warpgroup.meta_group_rank(), warpgroup.thread_rank(), cluster.block_rank());
    let (first, clusters) = (this_grid().cluster_rank() as u32, this_grid().num_clusters() as u32);
    let (mut begun, mut turn) = (0, 0);
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if warp.meta_group_rank() >= 4 * CONSUMERS as u32 + 2 {
            let (half, lane) = (warp.meta_group_rank() % 2 * 32, warp.thread_rank());
            for _ in (first..rows * pairs).step_by(clusters) {
                let sums = square(&warp, &a_tiles, &full, &empty, side * ROWS as u32 + half, begun, steps);
                begun += steps;
                let mut sum = 0.0;
                #[unroll]
                for i in 0..4 {
                    let of_row = quad.reduce(sums[i], op::Plus);
                    sum = if lane % 4 == i as u32 { of_row } else { sum };
                }
                let factor = (sum / width as f32 + epsilon).rsqrt();
                used.wait_parity(turn % 2 == 0); // both blocks have read the factors of the tile before
                for other in 0..2 {
                    let there = cluster.map_shared_rank(&factors, other);
                    let told = cluster.map_shared_rank(&sent, other);
                    there[side].store_async(half + lane / 4 + lane % 4 * 8, factor, &told);
                }
                if rank == 64 {
                    sent.expect_tx(2 * ROWS as u32 * 4); // the factors that both blocks send
                    let _ = sent.arrive();
                }
                turn += 1;
            }
        } else if rank == 0 {
            for tile in (first..rows * pairs).step_by(clusters) {
                let (row, pair) = place(tile, rows, pairs);
                let at = [row * TILE[0] as u32, (pair * 2 + side) * TILE[1] as u32];
                load::<bf16, 64>(a, b, &a_tiles, &b_tiles, &full, &empty, [0, 0], at, begun, steps);
                begun += steps;
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        let number = which as usize % CONSUMERS; // a remainder, from which the compiler knows that it is in the tile
        for tile in (first..rows * pairs).step_by(clusters) {
            let (row, pair) = place(tile, rows, pairs);
            let own = number * ROWS;
            let mut sum = multiply::<bf16, f32, 64>(&warpgroup, &a_tiles, &b_tiles, &full, &empty, own, begun, steps);
            for _ in 0..steps {
                begun += 1; // as in `gemm`
            }
            sent.wait_parity(turn % 2 == 1);
            let of_rows = [factors[number][sum.row(rank, 0)], factors[number][sum.row(rank, 2)]];
            cluster.map_shared_rank(&used, number as u32).arrive();
            turn += 1;
            #[unroll]
            for i in 0..sum.len() {
                sum[i] *= of_rows[i / 2 % 2];
            }
            let result = sum.to_bf16();
            let left = (pair * 2 + side) * TILE[1] as u32;
            let top = (row * TILE[0] as u32 + warp.meta_group_rank() * 16) as i32;
            #[unroll]
            for quarter in 0..4 {
                let part = &parts[warp.meta_group_rank() * 2 + quarter % 2];
                if warp.thread_rank() == 0 {
                    bulk_wait_group_read::<1>(); // as in `gemm`
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
                    c.store_async([0, top, (left + quarter * 64) as i32], part);
                }
            }
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>(); // the block exits after its memory has been read
        }
    }
    cluster.sync(); // no block exits while the other sends to it
}
// ANCHOR_END: normed
