//! Kernels bound by memory bandwidth: vector loads, parts of slices, atomics with orders, floats that are added in
//! place.

use phalanx::prelude::*;

use super::blocks::{block_reduce, halves};
use super::{below, random, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;

/// `y = a * x + y` by four (Luitjens, "Increase Performance with Vectorized Memory Access", 2013), and the rest one by one.
#[cluster_kernel(block = 128)]
pub(super) fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let grid = this_grid();
    let whole = x.len() / 4 * 4;
    for i in (grid.thread_rank() * 4..whole).step_by(grid.num_threads() * 4) {
        let (from, mut to) = (x.load_vec::<4>(i), y.load_vec::<4>(i));
        for k in 0..4 {
            to[k] = from[k].mul_add(a, to[k]);
        }
        y.store_vec(i, to);
    }
    for i in (whole + grid.thread_rank()..x.len()).step_by(grid.num_threads()) {
        y[i] = x[i].mul_add(a, y[i]);
    }
}

/// Interleaved colours to planes, four pixels a thread: three words in, three words out (NPP's `Copy_8u_C3P3R`).
#[cluster_kernel(block = 64)]
fn planes(pixels: &[u8], red: &mut [u8], green: &mut [u8], blue: &mut [u8]) {
    let i = this_grid().thread_rank() * 4;
    if i + 4 <= red.len() {
        let words = [pixels.load_vec::<4>(3 * i), pixels.load_vec::<4>(3 * i + 4), pixels.load_vec::<4>(3 * i + 8)];
        let byte = |k: usize| words[k / 4][k % 4];
        red.store_vec(i, u8x4::new([byte(0), byte(3), byte(6), byte(9)]));
        green.store_vec(i, u8x4::new([byte(1), byte(4), byte(7), byte(10)]));
        blue.store_vec(i, u8x4::new([byte(2), byte(5), byte(8), byte(11)]));
    } else {
        for k in i..red.len() {
            red[k] = pixels[3 * k];
            green[k] = pixels[3 * k + 1];
            blue[k] = pixels[3 * k + 2];
        }
    }
}

/// Returns the sum of products of two rows.
#[device]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sum = 0.0;
    for i in 0..a.len() {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

/// Scores pairs of rows of two tables (recommenders' and retrieval's batched dot products), with a bias if there is one.
#[cluster_kernel(block = 64)]
fn scores(users: &[f32], items: &[f32], pairs: &[u32], bias: Option<&[f32]>, out: &mut [f32], width: u32) {
    let i = this_grid().thread_rank();
    if i >= out.len() {
        return;
    }
    let width = width as usize;
    let (user, item) = (pairs[2 * i] as usize, pairs[2 * i + 1] as usize);
    let mut score = dot(&users[user * width..][..width], &items.chunks(width)[item]);
    if let Some(bias) = bias {
        score += bias[item];
    }
    out[i] = score;
}

/// The gradient of an embedding: rows are added to their targets by atomic sums of floats (PyTorch's
/// `embedding_backward` without sorting; small integers, so that the order does not show).
#[cluster_kernel(block = 64)]
fn scatter_rows(gradients: &[f32], indices: &[u32], table: &mut [f32], width: u32) {
    let grid = this_grid();
    for i in (grid.thread_rank() as u32..gradients.len() as u32).step_by(grid.num_threads()) {
        let (row, column) = (indices[i / width], i % width);
        table.atomic(row * width + column).fetch_add(gradients[i], Relaxed);
    }
}

/// Adds up in one launch: the last block adds up what all have left, between the fences of the CUDA sample
/// `threadFenceReduction`. Floats are added in fixed order.
#[cluster_kernel(block = 128)]
fn sum(values: &[f32], partial: &mut [f32], ticket: &mut [u32], out: &mut [f32]) {
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<f32, BLOCK>();
    let last = shared_array::<bool, 1>();
    let mut sum = 0.0;
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        sum += values[i];
    }
    sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
    if block.thread_rank() == 0 {
        partial.atomic(grid.block_rank()).store(sum, Relaxed);
        let finished = ticket.atomic(0).fetch_add(1, AcqRel);
        last[0] = finished as usize == grid.num_blocks() - 1;
    }
    block.sync();
    if last[0] {
        sum = 0.0;
        for i in (block.thread_rank() as usize..grid.num_blocks()).step_by(BLOCK) {
            sum += partial.atomic(i).load(Relaxed);
        }
        sum = block_reduce(&block, &scratch, sum, |a, b| a + b);
        if block.thread_rank() == 0 {
            out[0] = sum;
            ticket[0] = 0;
        }
    }
}

/// Work that blocks of a cluster take from one queue in the first one's shared memory, and results that they push to
/// its list (persistent threads with a queue: Aila and Laine 2009, by clusters).
#[cluster_kernel(cluster = 4, block = 32)]
fn queue(tasks: &[u32], out: &mut [u64], sizes: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let next = shared_array::<u32, 1>();
    let found = shared_array::<u32, 1>();
    if block.thread_rank() == 0 {
        next[0] = 0;
        found[0] = 0;
    }
    cluster.sync();
    let queue = cluster.map_shared_rank(&next, 0);
    let list = cluster.map_shared_rank(&found, 0);
    loop {
        let task = queue.atomic(0).scope(Scope::Cluster).fetch_add(1, Relaxed);
        if task >= tasks.len() as u32 {
            break;
        }
        // The length of Collatz's sequence, which is unknown in advance.
        let (mut n, mut steps) = (tasks[task] as u64 + 1, 0);
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        if steps > 50 {
            let place = list.atomic(0).fetch_add(1, Relaxed);
            out[place] = steps << 32 | tasks[task] as u64;
        }
    }
    cluster.sync();
    if cluster.thread_rank() == 0 {
        sizes[0] = found[0];
    }
}

/// A tile for a product, read by four: rows of `b` in shared memory as vectors (`LDS.128`), an outer product of 4 by 4 in
/// registers (Boehm, "How to Optimize a CUDA Matmul Kernel", kernel 6). Sizes are multiples of 16.
#[cluster_kernel(block = (4, 4))]
fn product(a: &[f32], b: &[f32], c: &mut [f32], n: u32, k: u32) {
    let block = this_thread_block();
    let a_tile = shared_array::<[f32; 16], 16>();
    let b_tile = shared_array::<[f32; 16], 16>();
    let (x, y) = (block.thread_index().x * 4, block.thread_index().y * 4);
    let at = this_grid().block_index();
    let (top, left) = (at.y * 16, at.x * 16);
    let mut sums = [f32x4::splat(0.0); 4];
    for start in (0..k).step_by(16) {
        for row in 0..4 {
            a_tile[y + row].store_vec(x, a.load_vec::<4>((top + y + row) * k + start + x));
            b_tile[y + row].store_vec(x, b.load_vec::<4>((start + y + row) * n + left + x));
        }
        block.sync();
        for depth in 0..16u32 {
            let columns = b_tile[depth].load_vec::<4>(x);
            for row in 0..4 {
                let factor = a_tile[y + row as u32][depth];
                for column in 0..4 {
                    sums[row][column] = factor.mul_add(columns[column], sums[row][column]);
                }
            }
        }
        block.sync();
    }
    for row in 0..4 {
        c.store_vec((top + y + row as u32) * n + left + x, sums[row]);
    }
}

fn saxpies(device: &Device) -> Outcome {
    for len in [1024, 1027, 3] {
        let (x, y) = (reals(331, len), reals(332, len));
        let (a, mut out) = (device.upload(&x)?, device.upload(&y)?);
        saxpy(0.75, &a, &mut out).grid(2).launch(device)?;
        let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(0.75, *y)).collect();
        same(&out.read()?, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn colours(device: &Device) -> Outcome {
    for len in [256, 259] {
        let pixels: Vec<u8> = random(333, 3 * len).into_iter().map(|value| value as u8).collect();
        let (input, mut green, mut blue) = (device.upload(&pixels)?, device.zeros(len)?, device.zeros(len)?);
        let red = read!(device, len, |red| planes(&input, red, &mut green, &mut blue).grid(2));
        for (k, plane) in [red, green.read()?, blue.read()?].iter().enumerate() {
            let want: Vec<u8> = pixels.iter().skip(k).step_by(3).copied().collect();
            same(plane, &want, |i| format!("plane {k}, {i} of {len}"))?;
        }
    }
    Ok(())
}

fn dots(device: &Device) -> Outcome {
    let width = 17;
    let (users, items, bias) = (reals(334, 20 * width), reals(335, 30 * width), reals(336, 30));
    let pairs: Vec<u32> = below(20, 337, 100).into_iter().zip(below(30, 338, 100)).flat_map(|(a, b)| [a, b]).collect();
    let (a, b, c, d) = (device.upload(&users)?, device.upload(&items)?, device.upload(&pairs)?, device.upload(&bias)?);
    let score = |pair: &[u32]| {
        let (user, item) = (&users[pair[0] as usize * width..], &items[pair[1] as usize * width..]);
        (0..width).fold(0.0, |sum, i| user[i].mul_add(item[i], sum))
    };
    let mut want: Vec<f32> = pairs.chunks(2).map(score).collect();
    let got = read!(device, 100, |out| scores(&a, &b, &c, None, out, width as u32).grid(2));
    same(&got, &want, |i| format!("pair {i}"))?;
    want.iter_mut().zip(pairs.chunks(2)).for_each(|(score, pair)| *score += bias[pair[1] as usize]);
    let got = read!(device, 100, |out| scores(&a, &b, &c, Some(&d), out, width as u32).grid(2));
    same(&got, &want, |i| format!("pair {i} with bias"))
}

fn scattered(device: &Device) -> Outcome {
    let (width, rows, count) = (5, 11, 140);
    let gradients: Vec<f32> = below(100, 339, count * width).into_iter().map(|value| value as f32 - 50.0).collect();
    let indices = below(rows, 340, count);
    let (a, b) = (device.upload(&gradients)?, device.upload(&indices)?);
    let len = rows as usize * width;
    let got = read!(device, len, |table| scatter_rows(&a, &b, table, width as u32).grid(3));
    let mut want = vec![0.0f32; len];
    for (i, gradient) in gradients.iter().enumerate() {
        want[indices[i / width] as usize * width + i % width] += gradient;
    }
    same(&got, &want, |i| format!("{i}"))
}

fn sums(device: &Device) -> Outcome {
    let mut ticket = device.zeros(1)?;
    for (len, blocks) in [(2000, 5), (100, 1), (9000, 200)] {
        let values = reals(341, len);
        let (input, mut partial) = (device.upload(&values)?, device.zeros(blocks)?);
        let got = read!(device, 1, |out| sum(&input, &mut partial, &mut ticket, out).grid(blocks as u32));
        let strided = |values: &[f32], threads: usize| {
            let thread = |t| values.iter().skip(t).step_by(threads).fold(0.0, |sum, x| sum + x);
            (0..threads).map(thread).collect::<Vec<f32>>()
        };
        let of_blocks: Vec<f32> =
            strided(&values, blocks * BLOCK).chunks(BLOCK).map(|block| halves(block, |a, b| a + b)).collect();
        same(&got, &[halves(&strided(&of_blocks, BLOCK), |a, b| a + b)], |_| format!("{blocks} blocks"))?;
    }
    Ok(())
}

fn queues(device: &Device) -> Outcome {
    for len in [300, 7] {
        let tasks = below(100_000, 342, len);
        let (input, mut sizes) = (device.upload(&tasks)?, device.zeros(1)?);
        let mut got = read!(device, len, |out| queue(&input, out, &mut sizes).grid(4));
        let steps = |&task: &u32| {
            let sequence = std::iter::successors(Some(u64::from(task) + 1), |n| {
                (*n != 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 })
            });
            (sequence.count() as u64 - 1) << 32 | u64::from(task)
        };
        let mut want: Vec<u64> = tasks.iter().map(steps).filter(|result| result >> 32 > 50).collect();
        same(&sizes.read()?, &[want.len() as u32], |_| format!("results of {len}"))?;
        got.truncate(want.len());
        got.sort_unstable();
        want.sort_unstable();
        same(&got, &want, |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn products(device: &Device) -> Outcome {
    for (m, n, k) in [(16, 16, 16), (32, 48, 64)] {
        let (a, b) = (reals(343, m * k), reals(344, k * n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let got =
            read!(device, m * n, |c| { product(&x, &y, c, n as u32, k as u32).grid((n as u32 / 16, m as u32 / 16)) });
        let element = |i: usize| (0..k).fold(0.0, |sum, j| a[i / n * k + j].mul_add(b[j * n + i % n], sum));
        same(&got, &(0..m * n).map(element).collect::<Vec<_>>(), |i| format!("{m} by {n}, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::memory",
        checks: check_list![saxpies, colours, dots, scattered, sums, queues, products],
        kernels: kernel_list![saxpy, planes, scores, scatter_rows, sum, queue, product],
    }
}
