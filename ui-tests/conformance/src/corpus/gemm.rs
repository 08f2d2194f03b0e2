//! Matrix products: tiles in shared memory, tiles in registers, tiles that a cluster shares.

use phalanx::prelude::*;

use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Multiplies by tiles of 16 by 16 (the CUDA C++ Programming Guide's chapter on shared memory), for any sizes and numbers.
#[cluster_kernel(block = (16, 16))]
pub(super) fn tiled<T: Number>(a: &[T], b: &[T], c: &mut [T], m: u32, n: u32, k: u32) {
    let block = this_thread_block();
    let a_tile = shared_array::<[T; 16], 16>();
    let b_tile = shared_array::<[T; 17], 16>();
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let (row, column) = (at.y * 16 + thread.y, at.x * 16 + thread.x);
    let zero = T::default();
    let mut sum = zero;
    for start in (0..k).step_by(16) {
        let (x, y) = (start + thread.x, start + thread.y);
        a_tile[thread.y][thread.x] = if row < m && x < k { a[row * k + x] } else { zero };
        b_tile[thread.y][thread.x] = if y < k && column < n { b[y * n + column] } else { zero };
        block.sync();
        for i in 0..16 {
            sum += a_tile[thread.y][i] * b_tile[i][thread.x];
        }
        block.sync();
    }
    if row < m && column < n {
        c[row * n + column] = sum;
    }
}

const EDGE: usize = 64;
const DEPTH: usize = 8;

/// Multiplies by tiles of 64 by 64 with 4 by 4 results a thread, and the rest by a function of the sum (Volkov and
/// Demmel 2008; CUTLASS's SIMT product with its epilogue).
#[device]
fn product(a: &[f32], b: &[f32], c: &mut [f32], m: u32, n: u32, k: u32, epilogue: impl Fn(f32, u32) -> f32) {
    let block = this_thread_block();
    let a_tile = shared_array::<[f32; EDGE + 4], DEPTH>(); // transposed: a thread's four are neighbours
    let b_tile = shared_array::<[f32; EDGE], DEPTH>();
    let i = block.thread_rank();
    let corner = block.group_index();
    let (top, left) = (corner.y * EDGE as u32, corner.x * EDGE as u32);
    let (ty, tx) = (i / 16 * 4, i % 16 * 4);
    let mut sums = [[0.0; 4]; 4];
    for start in (0..k).step_by(DEPTH) {
        for at in (i..(EDGE * DEPTH) as u32).step_by(256) {
            let (row, depth) = (at / DEPTH as u32, at % DEPTH as u32);
            let inside = top + row < m && start + depth < k;
            a_tile[depth][row] = if inside { a[(top + row) * k + start + depth] } else { 0.0 };
            let (depth, column) = (at / EDGE as u32, at % EDGE as u32);
            let inside = start + depth < k && left + column < n;
            b_tile[depth][column] = if inside { b[(start + depth) * n + left + column] } else { 0.0 };
        }
        block.sync();
        for depth in 0..DEPTH {
            let (mut rows, mut columns) = ([0.0; 4], [0.0; 4]);
            for j in 0..4 {
                rows[j] = a_tile[depth][ty + j as u32];
                columns[j] = b_tile[depth][tx + j as u32];
            }
            for y in 0..4 {
                for x in 0..4 {
                    sums[y][x] = rows[y].mul_add(columns[x], sums[y][x]);
                }
            }
        }
        block.sync();
    }
    for y in 0..4 {
        for x in 0..4 {
            let (row, column) = (top + ty + y as u32, left + tx + x as u32);
            if row < m && column < n {
                c[row * n + column] = epilogue(sums[y][x], row * n + column);
            }
        }
    }
}

/// Computes `alpha * a * b + beta * d`.
#[cluster_kernel(block = 256)]
fn scaled_product(a: &[f32], b: &[f32], d: &[f32], c: &mut [f32], m: u32, n: u32, k: u32, alpha: f32, beta: f32) {
    product(a, b, c, m, n, k, |sum, i| alpha * sum + beta * d[i]);
}

/// Computes `max(a * b + bias, 0)`.
#[cluster_kernel(block = 256)]
pub(super) fn layer(a: &[f32], b: &[f32], bias: &[f32], c: &mut [f32], m: u32, n: u32, k: u32) {
    product(a, b, c, m, n, k, |sum, i| (sum + bias[i % n]).max(0.0));
}

const SIDE: u32 = 16;

/// Four blocks compute four tiles, and load each tile of the operands once a cluster: a block reads those of its row and
/// its column from its peers' shared memory (what CUTLASS's multicast loads do on Hopper).
#[cluster_kernel(cluster = (2, 2), block = (16, 16))]
pub(super) fn cluster_product(a: &[i32], b: &[i32], c: &mut [i32], m: u32, n: u32, k: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let a_tile = shared_array::<[i32; 16], 16>();
    let b_tile = shared_array::<[i32; 16], 16>();
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let me = cluster.block_index();
    let (row, column) = (at.y * SIDE + thread.y, at.x * SIDE + thread.x);
    let mut sum = 0;
    for start in (0..k).step_by(2 * SIDE as usize) {
        let (x, y) = (start + me.x * SIDE + thread.x, start + me.y * SIDE + thread.y);
        a_tile[thread.y][thread.x] = if row < m && x < k { a[row * k + x] } else { 0 };
        b_tile[thread.y][thread.x] = if y < k && column < n { b[y * n + column] } else { 0 };
        cluster.sync();
        for half in 0..2 {
            let a_peer = cluster.map_shared_rank(&a_tile, me.y * 2 + half);
            let b_peer = cluster.map_shared_rank(&b_tile, half * 2 + me.x);
            for i in 0..SIDE {
                sum += a_peer[thread.y][i] * b_peer[i][thread.x];
            }
        }
        cluster.sync(); // all have read
    }
    if row < m && column < n {
        c[row * n + column] = sum;
    }
}

/// Multiplies rows by columns with a step of accumulation.
fn multiplied<T: Copy>(
    a: &[T],
    b: &[T],
    (m, n, k): (usize, usize, usize),
    zero: T,
    step: impl Fn(T, T, T) -> T,
) -> Vec<T> {
    let element = |i: usize| (0..k).fold(zero, |sum, j| step(sum, a[i / n * k + j], b[j * n + i % n]));
    (0..m * n).map(element).collect()
}

const SIZES: [(usize, usize, usize); 2] = [(32, 32, 32), (37, 70, 41)];

fn tiles(device: &Device) -> Outcome {
    for (m, n, k) in SIZES {
        let (a, b) = (reals(71, m * k), reals(72, k * n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let grid = (n.div_ceil(16) as u32, m.div_ceil(16) as u32);
        let got = read!(device, m * n, |c| tiled(&x, &y, c, m as u32, n as u32, k as u32).grid(grid));
        let want = multiplied(&a, &b, (m, n, k), 0.0, |sum, x, y| sum + x * y);
        same(&got, &want, |i| format!("f32, {m} by {n}, {i}"))?;
        let wide = |seed, len| below(1 << 20, seed, len).into_iter().map(u64::from).collect::<Vec<_>>();
        let (a, b) = (wide(73, m * k), wide(74, k * n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let got = read!(device, m * n, |c| tiled(&x, &y, c, m as u32, n as u32, k as u32).grid(grid));
        let want = multiplied(&a, &b, (m, n, k), 0, |sum, x, y| sum + x * y);
        same(&got, &want, |i| format!("u64, {m} by {n}, {i}"))?;
    }
    Ok(())
}

fn register_tiles(device: &Device) -> Outcome {
    for (m, n, k) in SIZES {
        let (a, b, d) = (reals(75, m * k), reals(76, k * n), reals(77, m * n));
        let (x, y, z) = (device.upload(&a)?, device.upload(&b)?, device.upload(&d)?);
        let (grid, size) = ((n.div_ceil(EDGE) as u32, m.div_ceil(EDGE) as u32), (m as u32, n as u32, k as u32));
        let sums = multiplied(&a, &b, (m, n, k), 0.0, |sum, x: f32, y| x.mul_add(y, sum));
        let got =
            read!(device, m * n, |c| { scaled_product(&x, &y, &z, c, size.0, size.1, size.2, 1.5, -0.5).grid(grid) });
        let want: Vec<f32> = sums.iter().zip(&d).map(|(sum, d)| 1.5 * sum + -0.5 * d).collect();
        same(&got, &want, |i| format!("scaled, {m} by {n}, {i}"))?;
        let got = read!(device, m * n, |c| layer(&x, &y, &z, c, size.0, size.1, size.2).grid(grid));
        let want: Vec<f32> = sums.iter().enumerate().map(|(i, sum)| (sum + d[i % n]).max(0.0)).collect();
        same(&got, &want, |i| format!("layer, {m} by {n}, {i}"))?;
    }
    Ok(())
}

fn cluster_tiles(device: &Device) -> Outcome {
    for (m, n, k) in SIZES {
        let small = |seed, len| below(2000, seed, len).into_iter().map(|x| x as i32 - 1000).collect::<Vec<_>>();
        let (a, b) = (small(78, m * k), small(79, k * n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let grid = (n.div_ceil(32) as u32 * 2, m.div_ceil(32) as u32 * 2);
        let got = read!(device, m * n, |c| cluster_product(&x, &y, c, m as u32, n as u32, k as u32).grid(grid));
        same(&got, &multiplied(&a, &b, (m, n, k), 0, |sum, x, y| sum + x * y), |i| format!("{m} by {n}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::gemm",
        checks: check_list![tiles, register_tiles, cluster_tiles],
        kernels: kernel_list![tiled<f32>, tiled<u64>, scaled_product, layer, cluster_product],
    }
}
