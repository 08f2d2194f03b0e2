//! Dense linear algebra in `f32`, without tensor cores.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "dense", about: "products of matrices and vectors, distances", cases };

/// The rows and columns of a block's result, and the terms of a stage.
const EDGE: usize = 64;
const DEPTH: usize = 16;

/// `a * b` for multiples of the tiles' sizes: two stages that arrive asynchronously, 4 by 4 results a thread.
#[cluster_kernel(block = 256)]
fn product(a: &[f32], b: &[f32], c: &mut [f32], n: usize, k: usize) {
    let block = this_thread_block();
    let quad = tiled_partition::<4>(&block);
    let of_a = shared_array::<[[f32; DEPTH]; EDGE], 2>();
    let of_b = shared_array::<[[f32; EDGE]; DEPTH], 2>();
    let i = block.thread_rank() as usize;
    let tiles = n / EDGE;
    let rank = this_grid().block_rank();
    let (top, left) = (rank / tiles * EDGE, rank % tiles * EDGE);
    let (row, column) = (i / 16 * 4, i % 16 * 4);
    let mut sums = [[0.0; 4]; 4];
    let group = quad.meta_group_rank() as usize;
    let (line, part) = (group / 4, group % 4 * 16);
    memcpy_async(&quad, &of_a[0][group], &a[(top + group) * k..(top + group) * k + DEPTH]);
    memcpy_async(&quad, &of_b[0][line][part..part + 16], &b[line * n + left + part..line * n + left + part + 16]);
    let steps = k / DEPTH;
    for step in 0..steps {
        let (now, next) = (step % 2, (step + 1) % 2);
        quad.wait_async();
        block.sync();
        let start = (step + 1) * DEPTH;
        if step + 1 < steps {
            let from = (top + group) * k + start;
            memcpy_async(&quad, &of_a[next][group], &a[from..from + DEPTH]);
            let from = (start + line) * n + left + part;
            memcpy_async(&quad, &of_b[next][line][part..part + 16], &b[from..from + 16]);
        }
        for d in 0..DEPTH {
            let y = of_b[now][d].load_vec::<4>(column);
            for r in 0..4 {
                let x = of_a[now][row + r][d];
                for s in 0..4 {
                    sums[r][s] = x.mul_add(y[s], sums[r][s]);
                }
            }
        }
    }
    for r in 0..4 {
        c.store_vec((top + row + r) * n + left + column, Vector::new(sums[r]));
    }
}

/// A matrix times a vector: a block for each row.
#[cluster_kernel(block = 128)]
fn times_vector(a: &[f32], x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<f32, 4>();
    let row = this_grid().block_rank();
    let i = block.thread_rank() as usize;
    let columns = x.len();
    let mut sum = 0.0;
    for column in (4 * i..columns).step_by(4 * 128) {
        let (v, w) = (a.load_vec::<4>(row * columns + column), x.load_vec::<4>(column));
        for k in 0..4 {
            sum = v[k].mul_add(w[k], sum);
        }
    }
    let sum = warp.reduce(sum, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = sum;
    }
    block.sync();
    if i == 0 {
        y[row] = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
    }
}

/// The transpose of a matrix times a vector: a thread for each column, blocks of 256 rows added by atomics.
#[cluster_kernel(block = 256)]
fn transposed_times_vector(a: &[f32], x: &[f32], y: &mut [f32], columns: u32) {
    let parts = columns / 256;
    let rank = this_grid().block_rank() as u32;
    let column = rank % parts * 256 + this_thread_block().thread_rank();
    let first = rank / parts * 256;
    let mut sum = 0.0;
    for row in first..first + 256 {
        sum = a[row * columns + column].mul_add(x[row], sum);
    }
    y.atomic(column).fetch_add(sum, Relaxed);
}

/// The points of a tile, and the coordinates of a point.
const POINTS: usize = 16;
const COORDINATES: usize = 32;

/// The squares of the distances between all points.
#[cluster_kernel(block = 256)]
fn distances(points: &[[f32; COORDINATES]], out: &mut [f32]) {
    let block = this_thread_block();
    let ours = shared_array::<[f32; COORDINATES + 1], POINTS>();
    let theirs = shared_array::<[f32; COORDINATES + 1], POINTS>();
    let i = block.thread_rank() as usize;
    let tiles = points.len() / POINTS;
    let rank = this_grid().block_rank();
    let (top, left) = (rank / tiles * POINTS, rank % tiles * POINTS);
    for at in (i..POINTS * COORDINATES).step_by(256) {
        let (point, axis) = (at / COORDINATES, at % COORDINATES);
        ours[point][axis] = points[top + point][axis];
        theirs[point][axis] = points[left + point][axis];
    }
    block.sync();
    let (x, y) = (i % POINTS, i / POINTS);
    let mut sum = 0.0;
    for axis in 0..COORDINATES {
        let difference = ours[y][axis] - theirs[x][axis];
        sum = difference.mul_add(difference, sum);
    }
    out[(top + y) * points.len() + left + x] = sum;
}

/// Products of many small matrices of 8 by 8: a warp for each, two elements a thread.
#[cluster_kernel(block = 256)]
fn batched(a: &[f32], b: &[f32], c: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let first = this_grid().thread_rank() / 32 * 64;
    let (row, column) = (lane / 4, lane % 4 * 2);
    let mut sums = [0.0; 2];
    for k in 0..8 {
        let x = a[first + (row * 8 + k) as usize];
        let y = b.load_vec::<2>(first + (k * 8 + column) as usize);
        sums = [x.mul_add(y[0], sums[0]), x.mul_add(y[1], sums[1])];
    }
    c.store_vec(first + (row * 8 + column) as usize, Vector::new(sums));
}

const TWINS: &str = include_str!("../../twins/dense.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let n: usize = scale.pick(4096, 128);
    let (rows, columns): (usize, usize) = scale.pick((16384, 8192), (256, 512));
    let count: usize = scale.pick(1 << 13, 64);
    let batch: usize = scale.pick(1 << 20, 64);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("product", n, "columns", (n / EDGE) * (n / EDGE), 256).bytes(12 * n * n).case(
            move || data::reals(80, n * n),
            n * n,
            move |device| {
                let b = Memory::upload(device, &data::reals(81, n * n))?;
                let words = [b.address(), n as u64, n as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    let grid = ((n / EDGE) * (n / EDGE)) as u32;
                    product(input, &b.buffer, out, n, n).grid(grid).enqueue(device)
                })
            },
        ),
        pair("times_vector", columns, "columns", rows, 128).bytes(4 * rows * columns).case(
            move || data::reals(82, rows * columns),
            rows,
            move |device| {
                let x = Memory::upload(device, &data::reals(83, columns))?;
                let words = [x.address(), columns as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    times_vector(input, &x.buffer, out).grid(rows as u32).enqueue(device)
                })
            },
        ),
        pair("transposed_times_vector", columns, "columns", rows * columns / 65536, 256)
            .bytes(4 * rows * columns)
            .adds()
            .case(
                move || data::reals(84, rows * columns),
                columns,
                move |device| {
                    let x = Memory::upload(device, &data::reals(85, rows))?;
                    let twin = vec![Argument::Word(x.address()), Argument::Number(columns as u32)];
                    launch(twin, move |device, input, out| {
                        let grid = (rows * columns / 65536) as u32;
                        transposed_times_vector(input, &x.buffer, out, columns as u32).grid(grid).enqueue(device)
                    })
                },
            ),
        pair("distances", count, "points", (count / POINTS) * (count / POINTS), 256).bytes(4 * count * count).case(
            move || data::reals(86, count * COORDINATES).as_chunks().0.to_vec(),
            count * count,
            move |_| {
                launch(vec![Argument::Word(count as u64)], move |device, input, out| {
                    distances(input, out).grid(((count / POINTS) * (count / POINTS)) as u32).enqueue(device)
                })
            },
        ),
        pair("batched", batch, "matrices", batch / 8, 256).bytes(12 * 64 * batch).case(
            move || data::reals(87, 64 * batch),
            64 * batch,
            move |device| {
                let b = Memory::upload(device, &data::reals(88, 64 * batch))?;
                launch(vec![Argument::Word(b.address())], move |device, input, out| {
                    batched(input, &b.buffer, out).grid(batch as u32 / 8).enqueue(device)
                })
            },
        ),
    ]
}
