//! Loops whose numbers of iterations are constants with names, and generic ones: how far they are unrolled depends on what the constants
//! are, and nothing else does. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("named_numbers.rs");

const WIDE: usize = 32;
const HIGH: usize = 2;
const BORDER: usize = 1;
const THREADS: usize = WIDE * HIGH;

/// A tile with a border of one in shared memory, and the sum of each cell's neighbours, by signed steps.
#[cluster_kernel(block = (32, 2))]
fn bordered(cells: &[u32], out: &mut [u32], reach: i32) {
    let block = this_thread_block();
    let tile = shared_array::<[u32; WIDE + 2 * BORDER], { HIGH + 2 * BORDER }>();
    for k in (block.thread_rank() as usize..(WIDE + 2 * BORDER) * (HIGH + 2 * BORDER)).step_by(THREADS) {
        tile[k / (WIDE + 2 * BORDER)][k % (WIDE + 2 * BORDER)] = cells[k];
    }
    block.sync();
    let (x, y) = (block.thread_index().x as i32, block.thread_index().y as i32);
    let at = |dx: i32, dy: i32| tile[(y + 1 + dy) as usize][(x + 1 + dx) as usize];
    let near = at(-1, 0) + 2 * at(1, 0) + 3 * at(0, -1) + 5 * at(0, 1) + 7 * at(1, 1);
    // In one warp: another one could be the first to fail.
    let reach = if y == 0 { reach } else { 1 };
    let far = /* bordered */ tile[(y + 1) as usize][(x + 1 - reach) as usize];
    out[block.thread_rank()] = near + 1000 * far;
}

fn borders_are_within(device: &Device) -> Outcome {
    let cells: Vec<u32> = (0..136).map(|i| i * i % 97).collect();
    let buffer = device.upload(&cells)?;
    let at = |x: usize, y: usize| cells[y * 34 + x];
    let want: Vec<u32> = (0..64)
        .map(|i| {
            let (x, y) = (i % 32 + 1, i / 32 + 1);
            let near = at(x - 1, y) + 2 * at(x + 1, y) + 3 * at(x, y - 1) + 5 * at(x, y + 1) + 7 * at(x + 1, y + 1);
            near + 1000 * at(x - 1, y)
        })
        .collect();
    equal(&read!(device, 64, |out| bordered(&buffer, out, 1).grid(1)), &want)?;
    let mut out = device.zeros(64)?;
    let launched = bordered(&buffer, &mut out, 2).grid(1).launch(device);
    let cause = "index 18446744073709551615 out of bounds for length 34";
    fails(launched, cause, &find(file!(), SOURCE, "bordered"), (0, 0, 0), (0, 0, 0))
}

/// Products of a row in registers and the rows of a table, for rows that are unrolled and for some that are not.
#[cluster_kernel(block = 32)]
fn products<const N: usize>(rows: &[u32], table: &[[u32; N]], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let mut row = [0u32; N];
    for k in 0..N {
        row[k] = rows[i * N + k];
    }
    let mut sums = [0u32; N];
    for r in 0..N {
        for k in 0..N {
            sums[r] = sums[r].wrapping_add(table[r][k].wrapping_mul(row[k]));
        }
    }
    for k in 0..N {
        out[i * N + k] = sums[(k + 1) % N];
    }
}

fn rows_of<const N: usize>(device: &Device) -> Outcome {
    let rows: Vec<u32> = (0..32 * N as u32).map(|i| i * 31 % 1013).collect();
    let table: Vec<[u32; N]> = (0..N).map(|r| std::array::from_fn(|k| (r * 7 + k * k) as u32 % 19)).collect();
    let want: Vec<u32> = (0..32 * N)
        .map(|at| {
            let (i, r) = (at / N, (at % N + 1) % N);
            (0..N).fold(0u32, |sum, k| sum.wrapping_add(table[r][k].wrapping_mul(rows[i * N + k])))
        })
        .collect();
    let (rows, table) = (device.upload(&rows)?, device.upload(&table)?);
    equal(&read!(device, 32 * N, |out| products::<N>(&rows, &table, out).grid(1)), &want)
}

fn rows_are_as_long_as_their_constant(device: &Device) -> Outcome {
    rows_of::<1>(device)?;
    rows_of::<3>(device)?;
    rows_of::<8>(device)?;
    rows_of::<40>(device)
}

/// Sums of parts that threads exchange in stages that take turns.
#[cluster_kernel(block = 64)]
fn stages<const STAGES: usize>(words: &[u32], out: &mut [u32], rounds: usize) {
    let block = this_thread_block();
    let parts = shared_array::<[u32; THREADS], STAGES>();
    let i = block.thread_rank() as usize;
    let mut sum = 0u32;
    for k in 0..rounds {
        parts[k % STAGES][i] = words[k * THREADS + i];
        block.sync();
        sum = sum.wrapping_mul(3).wrapping_add(parts[k % STAGES][(i + k) % THREADS]);
    }
    out[i] = sum;
}

fn stages_take_turns(device: &Device) -> Outcome {
    let words: Vec<u32> = (0..64 * 11).map(|i| i * i + 5).collect();
    let buffer = device.upload(&words)?;
    for rounds in [0usize, 1, 4, 11] {
        let sum =
            |i: usize| (0..rounds).fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(words[k * 64 + (i + k) % 64]));
        let want: Vec<u32> = (0..64).map(sum).collect();
        equal(&read!(device, 64, |out| stages::<2>(&buffer, out, rounds).grid(1)), &want)?;
        equal(&read!(device, 64, |out| stages::<3>(&buffer, out, rounds).grid(1)), &want)?;
        equal(&read!(device, 64, |out| stages::<7>(&buffer, out, rounds).grid(1)), &want)?;
    }
    Ok(())
}

/// A line of points, and the weights of their neighbours.
#[derive(Debug, Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Weights {
    of: [u32; 4],
    more: Vector<u32, 4>,
}

/// Elements of fields of a slice's elements, next to each other.
#[cluster_kernel(block = 32)]
fn weighted(weights: &[Weights], vectors: &[Vector<u32, 4>], out: &mut [[u32; 4]]) {
    let i = this_thread_block().thread_rank() as usize;
    let mut sum = 0;
    for k in 0..4 {
        sum += weights[i].of[k] * (k as u32 + 1) + weights[i].more[k] * 10 + vectors[i][k] * 100;
    }
    for k in 0..4 {
        out[i][k] = sum + k as u32;
    }
}

fn parts_of_elements(device: &Device) -> Outcome {
    let of = |i: u32| Weights { of: [i, i + 1, i * 2, 7], more: Vector::new([i * i, 3, i, 1]) };
    let vectors: Vec<Vector<u32, 4>> = (0..32).map(|i| Vector::new([i, 2, i + 5, 4])).collect();
    let want: Vec<[u32; 4]> = (0..32u32)
        .map(|i| {
            let sum = i + 2 * (i + 1) + 3 * (i * 2) + 4 * 7 + 10 * (i * i + 3 + i + 1) + 100 * (i + 2 + i + 5 + 4);
            [sum, sum + 1, sum + 2, sum + 3]
        })
        .collect();
    let (weights, vectors) = (device.upload(&(0..32).map(of).collect::<Vec<_>>())?, device.upload(&vectors)?);
    let mut out = device.upload(&[[0u32; 4]; 32])?;
    weighted(&weights, &vectors, &mut out).grid(1).launch(device)?;
    equal(&out.read()?, &want)
}

/// How often a tile is halved.
const LEVELS: usize = 3;

/// Sums of pairs, level by level, with the differences of each level behind those of the next one.
#[cluster_kernel(block = THREADS as u32)]
fn levels(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let (tile, sums) = (shared_array::<u32, { 4 * THREADS }>(), shared_array::<u32, { 2 * THREADS }>());
    let i = block.thread_rank() as usize;
    for k in (i..4 * THREADS).step_by(THREADS) {
        tile[k] = input[k];
    }
    block.sync();
    let mut half = 2 * THREADS;
    for _ in 0..LEVELS {
        for k in (i..half).step_by(THREADS) {
            sums[k] = tile[2 * k].wrapping_add(tile[2 * k + 1]);
            out[half + k] = tile[2 * k].wrapping_sub(tile[2 * k + 1]);
        }
        block.sync();
        for k in (i..half).step_by(THREADS) {
            tile[k] = sums[k];
        }
        block.sync();
        half /= 2;
    }
    for k in (i..2 * half).step_by(THREADS) {
        out[k] = tile[k];
    }
}

fn halves(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..256).map(|i| i * i + 3).collect();
    let mut want = vec![0; 256];
    let mut tile = input.clone();
    for _ in 0..LEVELS {
        let half = tile.len() / 2;
        (0..half).for_each(|k| want[half + k] = tile[2 * k].wrapping_sub(tile[2 * k + 1]));
        tile = tile.chunks(2).map(|pair| pair[0].wrapping_add(pair[1])).collect();
    }
    want[..tile.len()].copy_from_slice(&tile);
    let input = device.upload(&input)?;
    equal(&read!(device, 256, |out| levels(&input, out).grid(1)), &want)
}

/// Running sums, by distances that double.
#[cluster_kernel(block = THREADS as u32)]
fn distances(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let (first, second) = (shared_array::<u32, THREADS>(), shared_array::<u32, THREADS>());
    let i = block.thread_rank() as usize;
    let (mut from, mut to) = (first, second);
    from[i] = input[i];
    block.sync();
    for step in 0..6 {
        let distance = 1 << step;
        to[i] = if i >= distance { from[i] + from[i - distance] } else { from[i] };
        block.sync();
        std::mem::swap(&mut from, &mut to);
    }
    out[i] = from[i];
}

fn doubles(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..64).map(|i| i * 7 % 31).collect();
    let want: Vec<u32> = (0..64).map(|i| input[..=i].iter().sum()).collect();
    let input = device.upload(&input)?;
    equal(&read!(device, 64, |out| distances(&input, out).grid(1)), &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "named_numbers",
        checks: check_list![
            borders_are_within,
            rows_are_as_long_as_their_constant,
            stages_take_turns,
            parts_of_elements,
            halves,
            doubles
        ],
        kernels: kernel_list![
            bordered,
            products::<3>,
            products::<40>,
            stages::<2>,
            stages::<7>,
            weighted,
            levels,
            distances
        ],
    }]
}
