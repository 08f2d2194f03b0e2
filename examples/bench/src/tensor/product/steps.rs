//! A matrix product in `bf16` in six steps, from one thread an element to warpgroups that read a ring of tiles. Each is what the step
//! before lacked. `persistent` is the seventh.

use phalanx::prelude::*;

use super::{Case, Launch, Size, case};
use crate::case::Scale;

// ANCHOR: naive
/// One thread computes one element.
#[cluster_kernel(block = 256)]
fn naive(a: &[bf16], b: &[bf16], c: &mut [bf16], n: usize, k: usize) {
    let block = this_thread_block();
    let at = block.group_index();
    let i = block.thread_rank();
    let (row, column) = ((at.y * 16 + i / 16) as usize, (at.x * 16 + i % 16) as usize);
    let mut sum = 0.0f32;
    for j in 0..k {
        sum = a[row * k + j].to_f32().mul_add(b[column * k + j].to_f32(), sum);
    }
    c[row * n + column] = bf16::from_f32(sum);
}
// ANCHOR_END: naive

// ANCHOR: tiles
/// The rows and columns of a block's tile, and the part of the sum that it holds.
const SIDE: usize = 32;

/// The block loads a tile of each operand, and each thread reads the tiles `SIDE` times.
#[cluster_kernel(block = 1024)]
fn tiles(a: &[bf16], b: &[bf16], c: &mut [bf16], n: usize, k: usize) {
    let block = this_thread_block();
    let a_tile = shared_array::<[f32; SIDE + 1], SIDE>();
    let b_tile = shared_array::<[f32; SIDE + 1], SIDE>();
    let at = block.group_index();
    let i = block.thread_rank() as usize;
    let (y, x) = (i / SIDE, i % SIDE);
    let (top, left) = (at.y as usize * SIDE, at.x as usize * SIDE);
    let mut sum = 0.0f32;
    for start in (0..k).step_by(SIDE) {
        a_tile[y][x] = a[(top + y) * k + start + x].to_f32();
        b_tile[y][x] = b[(left + y) * k + start + x].to_f32();
        block.sync(); // the tiles are complete
        #[unroll]
        for j in 0..SIDE {
            sum = a_tile[y][j].mul_add(b_tile[x][j], sum);
        }
        block.sync(); // all have read them
    }
    c[(top + y) * n + left + x] = bf16::from_f32(sum);
}
// ANCHOR_END: tiles

// ANCHOR: registers
/// The rows and columns of the result that a block computes, from here on.
const EDGE: usize = 128;
/// The part of the sum that a tile of floats holds.
const SHORT: usize = 16;

/// Each thread keeps 8 by 8 sums in registers, so that it uses each value that it reads 8 times.
#[cluster_kernel(block = 256)]
fn registers(a: &[bf16], b: &[bf16], c: &mut [bf16], n: usize, k: usize) {
    let block = this_thread_block();
    let a_tile = shared_array::<[f32; EDGE + 4], SHORT>();
    let b_tile = shared_array::<[f32; EDGE + 4], SHORT>();
    let at = block.group_index();
    let i = block.thread_rank() as usize;
    let (top, left) = (at.y as usize * EDGE, at.x as usize * EDGE);
    let (line, part) = (i / 2, i % 2 * 8); // what the thread loads
    let (y, x) = (i / 16 * 8, i % 16 * 4); // what it computes: columns `x..x + 4` and `x + 64..x + 68`
    let mut sums = [[0.0f32; 8]; 8];
    for start in (0..k).step_by(SHORT) {
        let (u, v) =
            (a.load_vec::<8>((top + line) * k + start + part), b.load_vec::<8>((left + line) * k + start + part));
        #[unroll]
        for e in 0..8 {
            a_tile[part + e][line] = u[e].to_f32();
            b_tile[part + e][line] = v[e].to_f32();
        }
        block.sync(); // the tiles are complete
        #[unroll]
        for j in 0..SHORT {
            let rows = [a_tile[j].load_vec::<4>(y), a_tile[j].load_vec::<4>(y + 4)];
            let columns = [b_tile[j].load_vec::<4>(x), b_tile[j].load_vec::<4>(x + 64)];
            #[unroll]
            for p in 0..8 {
                #[unroll]
                for q in 0..8 {
                    sums[p][q] = rows[p / 4][p % 4].mul_add(columns[q / 4][q % 4], sums[p][q]);
                }
            }
        }
        block.sync(); // all have read them
    }
    #[unroll]
    for p in 0..8 {
        #[unroll]
        for half in 0..2 {
            let mut four = [bf16::ZERO; 4];
            #[unroll]
            for q in 0..4 {
                four[q] = bf16::from_f32(sums[p][half * 4 + q]);
            }
            c.store_vec((top + y + p) * n + left + x + half * 64, Vector::new(four));
        }
    }
}
// ANCHOR_END: registers

// ANCHOR: warps
/// The part of the sum that a stage holds, from here on: rows of 128 bytes.
const DEPTH: usize = 64;
/// The columns of the result that a block computes here.
const COLUMNS: usize = 256;
/// The stages of tiles, of which two arrive while the third is multiplied, and the copies for one that a thread has a share in.
const LOADED: usize = 3;
const COPIES: usize = (EDGE + COLUMNS) / 32;

/// Rows are swizzled, so that the same columns of the 8 rows that `ldmatrix` reads at once lie in different banks.
type Row = Swizzled<bf16, DEPTH>;

/// Begins the copies of 32 rows. Eight threads copy one, so that they read a whole line of the cache.
#[device]
fn fetch(eight: &Tile<8>, to: &SharedSlice<Row>, row: u32, from: &[bf16], start: u32, k: u32) {
    let row = row + eight.meta_group_rank();
    let first = (start + row * k) as usize;
    memcpy_async(eight, &to[row], &from[first..first + DEPTH]);
}

/// Tensor cores multiply, by 8 warps of 64 by 64 results, and two stages are in flight (CUTLASS's multistage product).
#[cluster_kernel(block = 256)]
fn warps(a: &[bf16], b: &[bf16], c: &mut [bf16], n: u32, k: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let eight = tiled_partition::<8>(&block);
    let a_tiles = shared_array::<[Row; EDGE], LOADED>();
    let b_tiles = shared_array::<[Row; COLUMNS], LOADED>();
    let at = block.group_index();
    let (top, left) = (at.y * EDGE as u32, at.x * COLUMNS as u32);
    let (row, column) = (warp.meta_group_rank() / 4 * 64, warp.meta_group_rank() % 4 * 64);
    let steps = k / DEPTH as u32;
    assert!(steps >= LOADED as u32, "a sum of fewer parts than stages");
    for stage in 0..LOADED as u32 - 1 {
        let start = stage * DEPTH as u32;
        #[unroll]
        for part in 0..4 {
            fetch(&eight, &a_tiles[stage], part * 32, a, top * k + start, k);
            fetch(&eight, &b_tiles[stage], part * 64, b, left * k + start, k);
            fetch(&eight, &b_tiles[stage], part * 64 + 32, b, left * k + start, k);
        }
    }
    eight.wait_prior::<COPIES>(); // all but the last stage's
    block.sync();
    let mut sums = [[Accumulator::<f32, 16, 16>::splat(0.0); 4]; 4];
    // A part is loaded to registers while the one before is multiplied.
    let mut x = [[MatrixA::<bf16, 16, 16>::splat(bf16::ZERO); 4]; 2];
    let mut y = [[MatrixB::<bf16, 16, 16>::splat(bf16::ZERO); 4]; 2];
    #[unroll]
    for i in 0..4 {
        x[0][i] = warp.load_matrix(&a_tiles[0], row + i as u32 * 16, 0);
        y[0][i] = warp.load_matrix_transposed(&b_tiles[0], column + i as u32 * 16, 0);
    }
    for step in 0..steps {
        let (stage, free) = (step % LOADED as u32, (step + LOADED as u32 - 1) % LOADED as u32);
        // The last steps fetch what nobody reads, and need no branch.
        let start = (step + LOADED as u32 - 1).min(steps - 1) * DEPTH as u32;
        #[unroll]
        for part in 0..4 {
            if part == 3 {
                eight.wait_prior::<COPIES>();
                block.sync(); // the next stage has arrived, and all have read this one
            }
            let (from, next) = if part == 3 { ((step + 1) % LOADED as u32, 0) } else { (stage, (part + 1) * 16) };
            let (now, then) = (part as usize % 2, (part as usize + 1) % 2);
            #[unroll]
            for i in 0..4 {
                x[then][i] = warp.load_matrix(&a_tiles[from], row + i as u32 * 16, next);
                y[then][i] = warp.load_matrix_transposed(&b_tiles[from], column + i as u32 * 16, next);
            }
            #[unroll]
            for i in 0..4 {
                #[unroll]
                for j in 0..4 {
                    sums[i][j] = warp.mma(x[now][i], y[now][j], sums[i][j]);
                }
            }
            // The copies of `a`, and of each half of `b`, behind a quarter of the products.
            #[unroll]
            for i in 0..4 {
                if part == 0 {
                    fetch(&eight, &a_tiles[free], i * 32, a, top * k + start, k);
                } else if part < 3 {
                    fetch(&eight, &b_tiles[free], (part - 1) * 128 + i * 32, b, left * k + start, k);
                }
            }
        }
    }
    eight.wait_async();
    let lane = warp.thread_rank();
    #[unroll]
    for i in 0..4 {
        #[unroll]
        for j in 0..4 {
            let sum = sums[i][j].to_bf16();
            #[unroll]
            for pair in 0..4 {
                let y = row + i as u32 * 16 + sum.row(lane, pair * 2);
                let x = column + j as u32 * 16 + sum.column(lane, pair * 2);
                c.store_vec((top + y) * n + left + x, bf16x2::new([sum[pair * 2], sum[pair * 2 + 1]]));
            }
        }
    }
}
// ANCHOR_END: warps

// ANCHOR: warpgroups
/// A tile of an operand, whose rows are swizzled in place of being padded.
type Tile128 = [Swizzled<bf16, DEPTH>; EDGE];

/// Two warpgroups multiply what tensor maps load: no thread computes an address or keeps an operand in registers.
#[cluster_kernel(block = 256)]
fn warpgroups(a: &TensorMap<Tile128>, b: &TensorMap<Tile128>, c: &mut [bf16], n: usize, steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let a_tile = shared_array::<Tile128, 1>();
    let b_tile = shared_array::<Tile128, 1>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let at = block.group_index();
    let (top, left) = (at.y * EDGE as u32, at.x * EDGE as u32);
    let (own, rank) = (warpgroup.meta_group_rank() as usize * 64, warpgroup.thread_rank());
    let mut sum = Accumulator::<f32, 64, EDGE>::splat(0.0);
    for step in 0..steps {
        if block.thread_rank() == 0 {
            let start = (step * DEPTH as u32) as i32;
            a.load_async([top as i32, start], &a_tile[0], &full);
            b.load_async([left as i32, start], &b_tile[0], &full);
            let _ = full.arrive();
        }
        full.wait_parity(step % 2 == 1);
        let product = warpgroup.mma_async(sum, &a_tile[0][own..own + 64], &b_tile[0]);
        sum = warpgroup.wait_mma(product);
        block.sync(); // both warpgroups have read the tiles
    }
    let sum = sum.to_bf16();
    #[unroll]
    for pair in 0..EDGE as u32 / 4 {
        let (y, x) = (top as usize + own + sum.row(rank, pair * 2) as usize, left + sum.column(rank, pair * 2));
        c.store_vec(y * n + x as usize, bf16x2::new([sum[pair * 2], sum[pair * 2 + 1]]));
    }
}
// ANCHOR_END: warpgroups

// ANCHOR: ring
/// The rows of the right operand's tile, from here on: the left one's are read by twice as many columns.
const WIDE: usize = 256;
type Tile256 = [Swizzled<bf16, DEPTH>; WIDE];
/// The stages of the ring.
const STAGES: usize = 4;

/// One thread of a third warpgroup fills a ring of stages, and each of the others has a product in flight while it waits for the next tiles.
#[cluster_kernel(block = 384)]
fn ring(a: &TensorMap<Tile128>, b: &TensorMap<Tile256>, c: &mut [bf16], n: usize, steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let a_tiles = shared_array::<Tile128, STAGES>();
    let b_tiles = shared_array::<Tile256, STAGES>();
    let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 8); // a lane of each warp that multiplies
    assert!(steps > 0, "a sum of no parts");
    let at = block.group_index();
    let (top, left) = (at.y * EDGE as u32, at.x * WIDE as u32);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    if which == 2 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for step in 0..steps {
                let stage = step % STAGES as u32;
                empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                a.load_async([top as i32, (step * DEPTH as u32) as i32], &a_tiles[stage], &full[stage]);
                b.load_async([left as i32, (step * DEPTH as u32) as i32], &b_tiles[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        let own = which as usize * 64;
        full[0].wait_parity(false);
        let zeros = Accumulator::<f32, 64, WIDE>::splat(0.0);
        let mut product = warpgroup.mma_async(zeros, &a_tiles[0][own..own + 64], &b_tiles[0]);
        for step in 1..steps {
            let stage = step % STAGES as u32;
            full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            product = warpgroup.mma_async(product, &a_tiles[stage][own..own + 64], &b_tiles[stage]);
            warpgroup.wait_mma_prior::<1>(); // the product before has read its stage
            if rank % 32 == 0 {
                let _ = empty[(step - 1) % STAGES as u32].arrive();
            }
        }
        let sum = warpgroup.wait_mma(product).to_bf16();
        #[unroll]
        for pair in 0..WIDE as u32 / 4 {
            let (y, x) = (top as usize + own + sum.row(rank, pair * 2) as usize, left + sum.column(rank, pair * 2));
            c.store_vec(y * n + x as usize, bf16x2::new([sum[pair * 2], sum[pair * 2 + 1]]));
        }
    }
}
// ANCHOR_END: ring

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let kernels: [(&str, Launch<bf16>); 6] = [
        ("step 1, an element a thread", |device, a, b, c, size, _| {
            naive(a, b, c, size.n, size.k).grid(grid(size, 16, 16)).enqueue(device)
        }),
        ("step 2, shared tiles", |device, a, b, c, size, _| {
            tiles(a, b, c, size.n, size.k).grid(grid(size, SIDE, SIDE)).enqueue(device)
        }),
        ("step 3, sums in registers", |device, a, b, c, size, _| {
            registers(a, b, c, size.n, size.k).grid(grid(size, EDGE, EDGE)).enqueue(device)
        }),
        ("step 4, tensor cores by warps", |device, a, b, c, size, _| {
            warps(a, b, c, size.n as u32, size.k as u32).grid(grid(size, EDGE, COLUMNS)).enqueue(device)
        }),
        ("step 5, by warpgroups", |device, a, b, c, Size { m, n, k, .. }, _| {
            let (a, b, steps) = (a.tensor([m, k])?, b.tensor([n, k])?, (k / DEPTH) as u32);
            warpgroups(&a, &b, c, n, steps).grid(grid(Size { matrices: 1, m, n, k }, EDGE, EDGE)).enqueue(device)
        }),
        ("step 6, a ring of stages", |device, a, b, c, Size { m, n, k, .. }, _| {
            let (a, b, steps) = (a.tensor([m, k])?, b.tensor([n, k])?, (k / DEPTH) as u32);
            ring(&a, &b, c, n, steps).grid(grid(Size { matrices: 1, m, n, k }, EDGE, WIDE)).enqueue(device)
        }),
    ];
    let size = scale.pick([4_096; 3], [128, 256, 320]);
    kernels.into_iter().map(|(name, launch)| case(name, size, scale, 1.0, launch)).collect()
}

/// The blocks for tiles of these rows and columns, which fill the result.
fn grid(size: Size, rows: usize, columns: usize) -> (u32, u32) {
    ((size.n / columns) as u32, (size.m / rows) as u32)
}
