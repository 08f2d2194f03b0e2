//! Matrix products by tensor cores: tiles that arrive by asynchronous copies while those before are multiplied, and attention
//! whose scores never leave the registers.

use phalanx::prelude::*;

use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// The rows and columns of the result that a block computes.
const EDGE: usize = 128;
/// The part of the sum that a stage holds.
const DEPTH: usize = 64;
const STAGES: usize = 3;

/// A stage of both operands. Rows are padded by 16 bytes, so that the 8 rows that `ldmatrix` reads at once lie in different
/// banks.
type RowOfA = [bf16; DEPTH + 8];
type RowOfB = [bf16; EDGE + 8];

/// Begins the copies of a stage. A group of four threads copies 128 bytes at a time, four pieces in all.
#[device]
fn fetch(
    quad: &Tile<4>,
    to_a: &SharedSlice<RowOfA>,
    to_b: &SharedSlice<RowOfB>,
    a: &[bf16],
    b: &[bf16],
    (top, left, start): (usize, usize, usize),
    (n, k): (usize, usize),
) {
    let rank = quad.meta_group_rank() as usize;
    #[unroll]
    for i in 0..2 {
        let row = rank + i * 64;
        let from = (top + row) * k + start;
        memcpy_async(quad, &to_a[row][..DEPTH], &a[from..from + DEPTH]);
    }
    #[unroll]
    for i in 0..2 {
        let (row, column) = (rank / 2 + i * 32, rank % 2 * DEPTH);
        let from = (start + row) * n + left + column;
        memcpy_async(quad, &to_b[row][column..column + DEPTH], &b[from..from + DEPTH]);
    }
}

/// Computes `a * b` of `bf16` in `f32`, for multiples of the tiles' sizes: 8 warps of 64 by 32 results, with two stages in
/// flight (CUTLASS's multistage product for `mma.sync`).
#[cluster_kernel(block = 256)]
fn product(a: &[bf16], b: &[bf16], c: &mut [f32], n: usize, k: usize) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let quad = tiled_partition::<4>(&block);
    let a_tiles = shared_array::<[RowOfA; EDGE], STAGES>();
    let b_tiles = shared_array::<[RowOfB; DEPTH], STAGES>();
    let at = block.group_index();
    let (top, left) = (at.y as usize * EDGE, at.x as usize * EDGE);
    let which = warp.meta_group_rank();
    let (row, column) = (which / 4 * 64, which % 4 * 32);
    let steps = k / DEPTH;
    fetch(&quad, &a_tiles[0], &b_tiles[0], a, b, (top, left, 0), (n, k));
    if steps > 1 {
        fetch(&quad, &a_tiles[1], &b_tiles[1], a, b, (top, left, DEPTH), (n, k));
    }
    let mut sums = [[Accumulator::<f32, 16, 16>::splat(0.0); 2]; 4];
    for step in 0..steps {
        if step + 1 < steps {
            quad.wait_prior::<4>(); // all but the next stage's
        } else {
            quad.wait_async();
        }
        block.sync(); // all pieces have arrived, and the stage before is free
        let after = step + 2;
        if after < steps {
            let stage = after % STAGES;
            fetch(&quad, &a_tiles[stage], &b_tiles[stage], a, b, (top, left, after * DEPTH), (n, k));
        }
        let (a_tile, b_tile) = (&a_tiles[step % STAGES], &b_tiles[step % STAGES]);
        #[unroll]
        for part in 0..DEPTH / 16 {
            let mut x = [MatrixA::<bf16, 16, 16>::splat(bf16::from_f32(0.0)); 4];
            let mut y = [MatrixB::<bf16, 16, 16>::splat(bf16::from_f32(0.0)); 2];
            #[unroll]
            for i in 0..4 {
                x[i] = warp.load_matrix(a_tile, row + i as u32 * 16, part * 16);
            }
            #[unroll]
            for j in 0..2 {
                y[j] = warp.load_matrix(b_tile, part * 16, column + j as u32 * 16);
            }
            #[unroll]
            for i in 0..4 {
                #[unroll]
                for j in 0..2 {
                    sums[i][j] = warp.mma(x[i], y[j], sums[i][j]);
                }
            }
        }
    }
    let lane = warp.thread_rank();
    #[unroll]
    for i in 0..4 {
        #[unroll]
        for j in 0..2 {
            let sum = sums[i][j];
            #[unroll]
            for pair in 0..4u32 {
                let y = row + i as u32 * 16 + sum.row(lane, pair * 2);
                let x = column + j as u32 * 16 + sum.column(lane, pair * 2);
                let two = f32x2::new([sum[pair * 2], sum[pair * 2 + 1]]);
                c.store_vec((top + y as usize) * n + left + x as usize, two);
            }
        }
    }
}

/// The elements of a query, a key and a value.
const HEAD: usize = 64;
/// The keys that a block keeps in shared memory at a time.
const KEYS: usize = 32;

/// Returns the largest value, or the sum, of the four lanes that hold a row.
#[device]
fn of_row(warp: &Tile<32>, value: f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let neighbours = join(value, warp.shfl_xor(value, 1));
    join(neighbours, warp.shfl_xor(neighbours, 2))
}

/// Attention of 32 queries a block, 16 a warp, over all keys with a running softmax: the scores are the left operand of the
/// second product as they are (FlashAttention 2).
#[cluster_kernel(block = 64)]
fn attention(queries: &[bf16], keys: &[bf16], values: &[bf16], out: &mut [bf16], count: u32, scale: f32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (i, lane, which) = (block.thread_rank(), warp.thread_rank(), warp.meta_group_rank());
    let query_tile = shared_array::<[bf16; HEAD + 8], 32>();
    let key_tile = shared_array::<[bf16; HEAD + 8], KEYS>();
    let value_tile = shared_array::<[bf16; HEAD + 8], KEYS>();
    let first = this_grid().block_rank() * 32;
    for at in (i as usize * 8..32 * HEAD).step_by(64 * 8) {
        query_tile[at / HEAD].store_vec(at % HEAD, queries.load_vec::<8>(first * HEAD + at));
    }
    block.sync();
    let zero = Accumulator::<f32, 16, 16>::splat(0.0);
    let mut sums = [zero; HEAD / 16];
    let (mut most, mut total) = ([f32::NEG_INFINITY; 2], [0.0f32; 2]);
    for start in (0..count as usize).step_by(KEYS) {
        for at in (i as usize * 8..KEYS * HEAD).step_by(64 * 8) {
            key_tile[at / HEAD].store_vec(at % HEAD, keys.load_vec::<8>(start * HEAD + at));
            value_tile[at / HEAD].store_vec(at % HEAD, values.load_vec::<8>(start * HEAD + at));
        }
        block.sync();
        #[unroll]
        for part in 0..KEYS / 16 {
            let mut scores = zero;
            #[unroll]
            for d in 0..HEAD / 16 {
                let q: MatrixA<bf16, 16, 16> = warp.load_matrix(&query_tile, which * 16, d * 16);
                let k: MatrixB<bf16, 16, 16> = warp.load_matrix_transposed(&key_tile, part * 16, d * 16);
                scores = warp.mma(q, k, scores);
            }
            #[unroll]
            for half in 0..2 {
                let mut largest = most[half];
                #[unroll]
                for e in 0..4 {
                    let at = e / 2 * 4 + half * 2 + e % 2; // in row `lane / 4 + half * 8`
                    scores[at] *= scale;
                    largest = largest.max(scores[at]);
                }
                largest = of_row(&warp, largest, |a, b| a.max(b));
                let correction = (most[half] - largest).exp();
                most[half] = largest;
                total[half] *= correction;
                #[unroll]
                for e in 0..4 {
                    let at = e / 2 * 4 + half * 2 + e % 2;
                    scores[at] = (scores[at] - largest).exp();
                    total[half] += scores[at];
                    #[unroll]
                    for d in 0..HEAD / 16 {
                        sums[d][at] *= correction;
                    }
                }
            }
            let weights = MatrixA::<bf16, 16, 16>::from_accumulator(scores.to_bf16());
            #[unroll]
            for d in 0..HEAD / 16 {
                let v: MatrixB<bf16, 16, 16> = warp.load_matrix(&value_tile, part * 16, d * 16);
                sums[d] = warp.mma(weights, v, sums[d]);
            }
        }
        block.sync(); // all have read the tiles
    }
    #[unroll]
    for half in 0..2 {
        total[half] = of_row(&warp, total[half], |a, b| a + b);
    }
    #[unroll]
    for d in 0..HEAD / 16 {
        let mut mean = sums[d];
        #[unroll]
        for e in 0..8 {
            mean[e] /= total[e / 2 % 2];
        }
        // The queries are read no more by this warp, and by no other.
        warp.store_matrix(&query_tile, which * 16, d * 16, mean.to_bf16());
    }
    warp.sync();
    for at in (lane as usize * 8..16 * HEAD).step_by(32 * 8) {
        let (row, column) = (which as usize * 16 + at / HEAD, at % HEAD);
        out.store_vec((first + row) * HEAD + column, query_tile[row].load_vec::<8>(column));
    }
}

fn brains(values: impl IntoIterator<Item = f32>) -> Vec<bf16> {
    values.into_iter().map(bf16::from_f32).collect()
}

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(128, 128, 64), (128, 256, 64), (128, 128, 256)] {
        let small = |seed, len| brains(below(17, seed, len).into_iter().map(|x| x as f32 - 8.0));
        let (a, b) = (small(81, m * k), small(82, k * n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let grid = ((n / EDGE) as u32, (m / EDGE) as u32);
        let got = read!(device, m * n, |c| product(&x, &y, c, n, k).grid(grid));
        let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f32() * b[j * n + i % n].to_f32()).sum();
        let want: Vec<f32> = (0..m * n).map(element).collect();
        same(&got, &want, |i| format!("{m} by {n} by {k}, {i}"))?;
    }
    Ok(())
}

fn attentions(device: &Device) -> Outcome {
    const QUERIES: usize = 64;
    for count in [32, 96] {
        let numbers = |seed, len| brains(reals(seed, len).into_iter().map(|x| x * 2.0));
        let (q, k, v) = (numbers(83, QUERIES * HEAD), numbers(84, count * HEAD), numbers(85, count * HEAD));
        let (x, y, z) = (device.upload(&q)?, device.upload(&k)?, device.upload(&v)?);
        let scale = 1.0 / (HEAD as f32).sqrt();
        let mut out = device.upload(&brains(vec![0.0; QUERIES * HEAD]))?;
        attention(&x, &y, &z, &mut out, count as u32, scale).grid(QUERIES as u32 / 32).launch(device)?;
        let row = |of: &[bf16], i: usize| of[i * HEAD..][..HEAD].iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        for (i, got) in out.read()?.chunks(HEAD).enumerate() {
            let dot = |j: usize| row(&q, i).iter().zip(row(&k, j)).map(|(a, b)| a * b).sum::<f64>();
            let weights: Vec<f64> = (0..count).map(|j| (dot(j) * f64::from(scale)).exp()).collect();
            let total: f64 = weights.iter().sum();
            for (d, got) in got.iter().enumerate() {
                let want = (0..count).map(|j| weights[j] / total * row(&v, j)[d]).sum::<f64>();
                // The weights and the result are rounded to 8 digits, of values up to 2.
                if (got.to_f64() - want).abs() > 2.0 / 128.0 {
                    return Err(format!("query {i} of {count} keys, {d}: got {got}, want {want}").into());
                }
            }
        }
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::tensor_cores",
        checks: check_list![products, attentions],
        kernels: kernel_list![product, attention],
    }
}
