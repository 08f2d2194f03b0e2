//! Values that the threads of a warp exchange: structs, enums, arrays, vectors and half floats by shuffles, matches,
//! labels and broadcasts; structs and vectors by reductions and scans with closures.

use std::fmt::Debug;

use phalanx::DeviceCopy;
use phalanx::prelude::*;

use super::warps::{grouped, scan, sources, tree};
use crate::{Check, Kernel, Module, Outcome, equal, same};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Sample {
    sum: f64,
    least: f32,
    count: u32,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Tagged<T> {
    tag: [u8; 3],
    side: Side,
    value: T,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
enum Side {
    Left,
    Right,
}

const THREADS: usize = 64;
const MOVES: usize = 6;
const MASKS: usize = 4;

#[cluster_kernel(block = 64)]
fn handed<T: DeviceCopy>(input: &[T], by: &[u32], moved: &mut [T], masks: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let tile = tiled_partition::<16>(&this_thread_block());
    let group = binary_partition(&tile, i % 3 == 0);
    let value = input[i];
    moved[i * MOVES] = tile.shfl(value, by[i]);
    moved[i * MOVES + 1] = group.shfl_up(value, by[i]);
    moved[i * MOVES + 2] = group.shfl_down(value, by[i]);
    moved[i * MOVES + 3] = tile.shfl_xor(value, by[i]);
    moved[i * MOVES + 4] = tile.invoke_one_broadcast(|| input[i + 1]);
    moved[i * MOVES + 5] = group.invoke_one_broadcast(|| value);
    masks[i * MASKS] = tile.match_any(value);
    masks[i * MASKS + 1] = group.match_any(value);
    masks[i * MASKS + 2] = tile.match_all(value);
    masks[i * MASKS + 3] = labeled_partition(&tile, value).num_threads();
}

fn check<T: DeviceCopy + PartialEq + Debug>(device: &Device, make: impl Fn(u8) -> T) -> Outcome {
    // All of the second tile are equal.
    let input: Vec<T> = (0..THREADS).map(|i| make(if i / 16 == 1 { 3 } else { (i * i % 7) as u8 })).collect();
    let by: Vec<u32> = (0..THREADS as u32).map(|i| i * 5 % 19).collect();
    let mut moved = device.upload(&[input[0]; THREADS * MOVES])?;
    let mut masks = device.zeros(THREADS * MASKS)?;
    handed(&device.upload(&input)?, &device.upload(&by)?, &mut moved, &mut masks).grid(1).launch(device)?;

    let mut want = vec![input[0]; THREADS * MOVES];
    let mut want_masks = vec![0; THREADS * MASKS];
    let mask = |group: &[usize], thread: usize| {
        (0..group.len()).filter(|&rank| input[group[rank]] == input[thread]).fold(0_u32, |mask, rank| mask | 1 << rank)
    };
    for tile in grouped(THREADS, |thread| thread / 16) {
        for (rank, &thread) in tile.iter().enumerate() {
            let by = by[thread];
            want[thread * MOVES] = input[tile[sources(rank, 16, by)[0]]];
            want[thread * MOVES + 3] = input[tile[rank ^ (by as usize % 16)]];
            want[thread * MOVES + 4] = input[tile[0] + 1];
            let alike = mask(&tile, thread);
            let all = if alike == 0xffff { alike } else { 0 };
            want_masks[thread * MASKS] = alike;
            want_masks[thread * MASKS + 2] = all;
            want_masks[thread * MASKS + 3] = alike.count_ones();
        }
    }
    for group in grouped(THREADS, |thread| (thread / 16, thread % 3 == 0)) {
        for (rank, &thread) in group.iter().enumerate() {
            let [_, up, down] = sources(rank, group.len(), by[thread]);
            want[thread * MOVES + 1] = input[group[up]];
            want[thread * MOVES + 2] = input[group[down]];
            want[thread * MOVES + 5] = input[group[0]];
            want_masks[thread * MASKS + 1] = mask(&group, thread);
        }
    }
    equal(&moved.read()?, &want)?;
    same(&masks.read()?, &want_masks, |i| format!("thread {}, mask {}", i / MASKS, i % MASKS))
}

#[device]
fn both(a: Sample, b: Sample) -> Sample {
    Sample { sum: a.sum + b.sum, least: a.least.min(b.least), count: a.count + b.count }
}

#[cluster_kernel(block = 64)]
fn folded(samples: &[Sample], vectors: &[f32x4], of_samples: &mut [Sample], of_vectors: &mut [f32x4]) {
    let i = this_thread_block().thread_rank() as usize;
    let tile = tiled_partition::<32>(&this_thread_block());
    let group = binary_partition(&tile, i % 3 == 0);
    of_samples[i * 3] = tile.reduce(samples[i], |a, b| both(a, b));
    of_samples[i * 3 + 1] = group.inclusive_scan(samples[i], |a, b| both(a, b));
    of_samples[i * 3 + 2] = group.reduce(samples[i], |a, b| both(a, b));
    let sum = |a: f32x4, b: f32x4| f32x4::new([a[0] + b[0], a[1] - b[1], a[2].max(b[2]), a[3] * 0.5 + b[3]]);
    of_vectors[i * 3] = group.reduce(vectors[i], sum);
    of_vectors[i * 3 + 1] = tile.inclusive_scan(vectors[i], sum);
    of_vectors[i * 3 + 2] = tile.exclusive_scan(vectors[i], sum);
}

fn folds(device: &Device) -> Outcome {
    let number = |i: usize| (i * 37 % 101) as f32 - 50.0;
    let sample = |i: usize| Sample { sum: f64::from(number(i)) / 3.0, least: number(i), count: i as u32 };
    let samples: Vec<Sample> = (0..THREADS).map(sample).collect();
    let vectors: Vec<f32x4> = (0..THREADS).map(|i| f32x4::new([0, 1, 2, 3].map(|k| number(i + 7 * k)))).collect();
    let mut of_samples = device.upload(&[samples[0]; THREADS * 3])?;
    let mut of_vectors = device.upload(&[vectors[0]; THREADS * 3])?;
    folded(&device.upload(&samples)?, &device.upload(&vectors)?, &mut of_samples, &mut of_vectors)
        .grid(1)
        .launch(device)?;

    let sum = |a: f32x4, b: f32x4| {
        let (a, b) = (a.lanes(), b.lanes());
        f32x4::new([a[0] + b[0], a[1] - b[1], a[2].max(b[2]), a[3] * 0.5 + b[3]])
    };
    let (mut want_samples, mut want_vectors) = (vec![samples[0]; THREADS * 3], vec![vectors[0]; THREADS * 3]);
    for (is_tile, groups) in [
        (true, grouped(THREADS, |thread| thread / 32)),
        (false, grouped(THREADS, |thread| (thread / 32, thread % 3 == 0))),
    ] {
        for group in groups {
            let samples: Vec<Sample> = group.iter().map(|&thread| samples[thread]).collect();
            let vectors: Vec<f32x4> = group.iter().map(|&thread| vectors[thread]).collect();
            let (sample, vector) = (tree(&samples, both), tree(&vectors, sum));
            let (samples, scanned) = (scan(&samples, both), scan(&vectors, sum));
            for (rank, &thread) in group.iter().enumerate() {
                if is_tile {
                    want_samples[thread * 3] = sample;
                    want_vectors[thread * 3 + 1] = scanned[rank];
                    want_vectors[thread * 3 + 2] = if rank == 0 { vectors[0] } else { scanned[rank - 1] };
                } else {
                    want_samples[thread * 3 + 1] = samples[rank];
                    want_samples[thread * 3 + 2] = sample;
                    want_vectors[thread * 3] = vector;
                }
            }
        }
    }
    equal(&of_samples.read()?, &want_samples)?;
    equal(&of_vectors.read()?, &want_vectors)
}

/// One atomic for all converged threads, and its result for all of them.
#[cluster_kernel(block = 128)]
fn claimed(wanted: &[u32], next: &mut [u32], claims: &mut [u32], calls: &mut [u32]) {
    let i = this_grid().thread_rank();
    let tile = tiled_partition::<8>(&this_thread_block());
    let called = || {
        calls.atomic(1).fetch_add(1, Relaxed);
        i as u32 + 1
    };
    let first = tile.invoke_one_broadcast(called);
    let is_head = |x: u32| (x % 8 == 1) & (x > 0);
    assert!(is_head(first), "{} {}", is_head(first), tile.invoke_one_broadcast(|| (i < 900) | false));
    if wanted[i] > 0 {
        let group = coalesced_threads();
        let base = group.invoke_one_broadcast(|| {
            calls.atomic(0).fetch_add(1, Relaxed);
            next.atomic(0).fetch_add(group.num_threads(), Relaxed)
        });
        claims[base + group.thread_rank()] = i as u32;
    }
    if !tile.all(first == i as u32 / 8 * 8 + 1) || !tile.invoke_one_broadcast(|| (i % 8 == 0) & (first > 0)) {
        calls.atomic(2).fetch_add(1, Relaxed);
    }
}

fn claims(device: &Device) -> Outcome {
    let wanted: Vec<u32> = (0..256).map(|i| u32::from(i % 5 < 2 || i > 200)).collect();
    let threads: Vec<u32> = (0..256).filter(|&i| wanted[i as usize] > 0).collect();
    let (mut next, mut claims, mut calls) = (device.zeros(1)?, device.zeros(threads.len())?, device.zeros(3)?);
    claimed(&device.upload(&wanted)?, &mut next, &mut claims, &mut calls).grid(2).launch(device)?;
    let mut got = claims.read()?;
    got.sort_unstable();
    equal(&got, &threads)?;
    equal(&next.read()?, &[threads.len() as u32])?;
    let calls = calls.read()?;
    equal(&calls[1..], &[256 / 8, 0])?;
    // There is at least one call for each warp, and at most one for each thread.
    match (8..=threads.len() as u32).contains(&calls[0]) {
        true => Ok(()),
        false => Err(format!("{} calls", calls[0]).into()),
    }
}

macro_rules! values {
    ($($name:ident: $t:ty, $make:expr;)*) => {
        $(fn $name(device: &Device) -> Outcome {
            check::<$t>(device, $make)
        })*

        /// Returns this file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let mut checks = vec![$(Check { name: stringify!($name), run: $name }),*];
            checks.push(Check { name: "folds", run: folds });
            checks.push(Check { name: "claims", run: claims });
            let mut kernels = vec![$(Kernel::of::<handed<$t>>(concat!("handed ", stringify!($t)))),*];
            kernels.push(Kernel::of::<folded>("folded"));
            kernels.push(Kernel::of::<claimed>("claimed"));
            vec![Module { name: "warp_values", checks, kernels }]
        }
    };
}

values! {
    structs: Sample, |i| Sample { sum: f64::from(i) + 0.5, least: -f32::from(i), count: 7 };
    generic_structs: Tagged<f16x2>, |i| Tagged { tag: [1, 2, i], side: Side::Left, value: f16x2::splat(f16::ONE) };
    enums: Side, |i| if i % 2 == 0 { Side::Left } else { Side::Right };
    arrays: [u16; 3], |i| [9, i.into(), 400];
    nested_arrays: [[i8; 3]; 3], |i| [[1, 2, 3], [4, 5, i as i8], [7, 8, 9]];
    long_arrays: [u64; 5], |i| [1, 2, 3, 4, u64::from(i) << 40];
    halves: f16, |i| f16::from_f32(f32::from(i) - 2.5);
    brain_halves: bf16, |i| bf16::from_f32(f32::from(i) * 10.0);
    pairs: f16x2, |i| f16x2::new([f16::ONE, i.into()]);
    eights: bf16x8, |i| bf16x8::splat(i.into());
    floats: f32x4, |i| f32x4::new([1.0, 2.0, 3.0, i.into()]);
    doubles: f64x2, |i| f64x2::new([i.into(), 0.25]);
    bytes: u8x16, u8x16::splat;
    small_pairs: i8x2, |i| i8x2::new([3, i as i8]);
}
