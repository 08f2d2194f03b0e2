//! Kernels that fail in straight-line code, whose bounds are tested before it: the first access that fails is reported, as
//! if each had a check of its own. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Check, Kernel, Module, Outcome, check_list, fails, find, kernel_list, same};

const SOURCE: &str = include_str!("straight.rs");

failing! { input, out, n;
    straight_last, "index 71 out of bounds for length 64", {
        out[1] = input[n] + input[n + 1];
        out[2] = input[n + 2];
        /* straight_last */ out[n + 64] = 4;
    }
    straight_variable, "index 70 out of bounds for length 64", {
        out[1] = input[n];
        let k = n * 10;
        let j = k - 10;
        out[j] = /* straight_variable */ input[k];
    }
    straight_assigned, "index 67 out of bounds for length 64", {
        let mut k = n;
        out[k] = input[k] + 1;
        k += 60;
        out[0] = input[1] + /* straight_assigned */ input[k] + input[2];
    }
    straight_after_a_division, "attempt to divide 7 by zero", {
        out[1] = input[n] + input[n + 1];
        let m = /* straight_after_a_division */ n / (n - 7);
        out[2] = input[n * 10] + input[m];
    }
    straight_after_a_branch, "index 66 out of bounds for length 64", {
        out[1] = input[n] + input[n + 1];
        if input[n] == 3 {
            out[2] = input[n + 2] + /* straight_after_a_branch */ input[n + 59];
        }
        out[3] = input[n * 10] + input[n * 11];
    }
    straight_on_an_arm, "index 66 out of bounds for length 64", {
        out[1] = input[n];
        if n > 3 {
            out[2] = input[n + 1] + /* straight_on_an_arm */ input[n + 59];
        }
        out[3] = input[n * 10];
    }
    straight_after_an_arm, "index 70 out of bounds for length 64", {
        out[1] = input[n];
        let other = if n > 100 { input[n + 59] } else { input[n + 1] };
        if n < 9 && !(n == 7) {
            out[2] = input[n + 60];
        }
        out[3] = other + /* straight_after_an_arm */ input[n * 10] + input[n * 11];
    }
    straight_index_from_memory, "index 66 out of bounds for length 64", {
        out[1] = input[n] + input[/* straight_index_from_memory */ input[n + 59]] + input[n * 10];
    }
    straight_in_a_while, "index 64 out of bounds for length 64", {
        let mut k = n;
        while k < 100 {
            out[k - 1] = /* straight_in_a_while */ input[k] + input[k - 2];
            k += 1;
        }
    }
    straight_in_a_closure, "index 64 out of bounds for length 64", {
        let two = |k: i32| {
            let a = input[k];
            a + /* straight_in_a_closure */ input[k + 1]
        };
        out[0] = two(n) + two(n + 56);
    }
    straight_in_a_guarded_closure, "index 68 out of bounds for length 64", {
        let at = |k: i32| if k < 64 { input[k] } else { /* straight_in_a_guarded_closure */ input[k + 1] };
        out[0] = at(n) + at(n + 60) + at(n * 10);
    }
    straight_closure_called_again, "index 70 out of bounds for length 64", {
        let at = |k: i32| /* straight_closure_called_again */ input[k];
        out[1] = at(n) + at(n + 1);
        let m = n / (n - 6);
        out[2] = at(m * 10) + at(m * 11);
    }
    straight_clamped, "index 64 out of bounds for length 64", {
        let at = |k: i32| /* straight_clamped */ input[(k * 10).clamp(0, n + 57)];
        out[0] = at(n - 1) + at(n - 2) + at(n);
    }
    straight_after_a_clamp, "assertion failed: min <= max", {
        let at = |k: i32| input[/* straight_after_a_clamp */ k.clamp(n, 6)];
        out[0] = at(n * 10) + at(n * 11);
    }
    straight_before_a_clamp, "index 70 out of bounds for length 64", {
        out[1] = input[n] + /* straight_before_a_clamp */ input[n * 10];
        out[0] = input[n.clamp(n, 6)];
    }
    straight_float_division, "index 66 out of bounds for length 64", {
        let half = (input[n] + input[n + 1]) as f32 / 2.0;
        out[0] = half as i32 + /* straight_float_division */ input[n + 59];
    }
    straight_vectors, "range 61..65 out of bounds for length 64", {
        let v = input.load_vec::<4>(n + 1);
        out[0] = v[0];
        let w = input.load_vec::<4>(n + 5);
        /* straight_vectors */ out.store_vec(n + 54, w);
    }
    straight_part, "range 70..64 out of bounds for length 64", {
        let part = &input[n as usize..];
        out[1] = part[0] + part[1];
        let next = /* straight_part */ &input[n as usize * 10..];
        out[2] = next[0];
    }
    straight_part_of_a_part, "range 0..63 out of bounds for length 57", {
        out[1] = input[n] + input[n + 1];
        let part = /* straight_part_of_a_part */ &input[n as usize..][..n as usize * 9];
        out[2] = part[60];
    }
    straight_element_of_a_part, "index 50 out of bounds for length 50", {
        let (part, whole) = (&input[n as usize..][..50], &input[..64]);
        out[1] = whole[63] + /* straight_element_of_a_part */ part[n + 43] + whole[64 + n];
    }
    straight_part_that_changes, "index 57 out of bounds for length 57", {
        let mut part = &input[n as usize..];
        out[1] = part[56] + part[0];
        out[2] = part[1] + /* straight_part_that_changes */ part[57];
        part = &input[70..];
        out[3] = part[0];
    }
    straight_misaligned, "a vector of 16 bytes must be aligned to 16 bytes, but the one at index 7 is not", {
        let v = input.load_vec::<4>(n + 1);
        let w = /* straight_misaligned */ input.load_vec::<4>(n);
        out.store_vec(n + 1, v);
        out.store_vec(n + 5, w);
    }
}

/// The places are known before the barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn behind_a_barrier(input: &[i32], places: &[u32], out: &mut [i32]) {
    let (block, i) = (this_thread_block(), this_grid().thread_rank());
    let (tile, t, at) = (shared_array::<i32, 64>(), block.thread_rank(), places[i]);
    fence(Release, Scope::Block);
    tile[t] = input[i];
    block.sync();
    out[i] = tile[63 - t] + /* behind_a_barrier */ input[at];
}

/// A loop that only computes stands between the accesses, too.
#[cluster_kernel(cluster = 2, block = 64)]
fn behind_a_loop(input: &[i32], places: &[u32], out: &mut [i32]) {
    let (cluster, i) = (this_cluster(), this_grid().thread_rank());
    let (tile, t, at) = (shared_array::<i32, 64>(), this_thread_block().thread_rank(), places[i]);
    fence(Release, Scope::Block);
    let v = input.load_vec::<4>(i / 4 * 4);
    tile[t] = v[0];
    cluster.sync();
    let mut sum = 0;
    for k in 0..4 {
        if v[k] % 2 == 0 {
            sum += v[k] * 3;
        }
    }
    let other = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[i] = sum + other[t] + /* behind_a_loop */ input[at];
    cluster.sync();
}

/// What lanes exchange stands between them, and a short loop around one.
#[cluster_kernel(cluster = 2, block = 64)]
fn behind_a_reduction(input: &[i32], places: &[u32], out: &mut [i32]) {
    let (warp, i) = (tiled_partition::<32>(&this_thread_block()), this_grid().thread_rank());
    let at = places[i];
    fence(Release, Scope::Block);
    let pair = [input[i], input[i] + 1].map(|x| x * 3);
    let sum = warp.reduce(pair.iter().sum::<i32>(), op::Plus);
    for k in 0..2 {
        out[i] += pair[k] + (sum + /* behind_a_reduction */ input[at]) * k as i32;
    }
}

const THREADS: usize = 512;

/// Runs a kernel with places of which one is out of bounds, and with places that are not.
fn with_places(
    device: &Device,
    name: &str,
    want: impl Fn(&[i32], usize) -> i32,
    run: impl Fn(&Buffer<i32>, &Buffer<u32>, &mut Buffer<i32>) -> phalanx::Result<()>,
) -> Outcome {
    let values: Vec<i32> = (0..THREADS as i32).map(|i| i * 7 % 100).collect();
    let mut places: Vec<u32> = (0..THREADS as u32).rev().collect();
    let input = device.upload(&values)?;
    let mut out = device.zeros(THREADS)?;
    run(&input, &device.upload(&places)?, &mut out)?;
    let want: Vec<i32> = (0..THREADS).map(|i| want(&values, i) + values[THREADS - 1 - i]).collect();
    same(&out.read()?, &want, |i| format!("{name}, out[{i}]"))?;
    places[3 * 64 + 37] = 600;
    let result = run(&input, &device.upload(&places)?, &mut out);
    fails(result, "index 600 out of bounds for length 512", &find(file!(), SOURCE, name), (3, 0, 0), (37, 0, 0))?;
    still_works(device)
}

fn places_behind_a_barrier(device: &Device) -> Outcome {
    let want = |values: &[i32], i: usize| values[i / 64 * 64 + 63 - i % 64];
    with_places(device, "behind_a_barrier", want, |input, places, out| {
        behind_a_barrier(input, places, out).grid(8).launch(device)
    })
}

fn places_behind_a_loop(device: &Device) -> Outcome {
    let want = |values: &[i32], i: usize| {
        let sum: i32 = values[i / 4 * 4..][..4].iter().filter(|value| **value % 2 == 0).map(|value| value * 3).sum();
        sum + values[(i ^ 64) / 4 * 4]
    };
    with_places(device, "behind_a_loop", want, |input, places, out| {
        behind_a_loop(input, places, out).grid(8).launch(device)
    })
}

fn places_behind_a_reduction(device: &Device) -> Outcome {
    let pair = |value: &i32| 6 * value + 3;
    let want = |values: &[i32], i: usize| pair(&values[i]) + values[i / 32 * 32..][..32].iter().map(pair).sum::<i32>();
    with_places(device, "behind_a_reduction", want, |input, places, out| {
        behind_a_reduction(input, places, out).grid(8).launch(device)
    })
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = simple();
    checks.extend(check_list![places_behind_a_barrier, places_behind_a_loop, places_behind_a_reduction]);
    kernels.extend(kernel_list![behind_a_barrier, behind_a_loop, behind_a_reduction]);
    vec![Module { name: "straight", checks, kernels }]
}
