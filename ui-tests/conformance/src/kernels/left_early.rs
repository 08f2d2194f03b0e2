//! Loops that are left early, whose ranges depend on each other, or whose accesses are under conditions: one test before such a loop is
//! about all of its iterations, and where it does not hold, the first access that is out of bounds is reported, if one is made. A
//! comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Check, Kernel, Module, Outcome, check_list, equal, fails, find, kernel_list, same};

const SOURCE: &str = include_str!("left_early.rs");

failing! { input, out, n;
    left_by_break, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 10 {
            if sum == 9999 {
                break;
            }
            sum += /* left_by_break */ input[i];
        }
        out[0] = sum;
    }
    left_in_time, "index 180 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 1000 {
            if i == 60 {
                break;
            }
            sum += input[i];
        }
        out[0] = /* left_in_time */ input[sum];
    }
    left_by_a_condition, "index 64 out of bounds for length 64", {
        let mut i = 0;
        while i < n * 10 && /* left_by_a_condition */ input[i] == 3 {
            i += 1;
        }
        out[0] = i;
    }
    left_behind_a_condition, "index 64 out of bounds for length 64", {
        let (mut i, mut sum) = (n, 0);
        while sum < 1000 && i < n * 10 && input[i - n] == 3 {
            sum += /* left_behind_a_condition */ input[i];
            i += 3;
        }
        out[0] = sum;
    }
    counter_inside, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for at in 0..n * 10 {
            let mut j = 0;
            while j < n && /* counter_inside */ input[at + j] == 3 {
                j += 1;
            }
            sum += j;
        }
        out[0] = sum;
    }
    counter_behind_its_loop, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for at in 0..n {
            let mut j = 0;
            while j < 64 && input[j] == 3 {
                j += at + 1;
            }
            sum += /* counter_behind_its_loop */ input[j];
        }
        out[0] = sum;
    }
    range_inside, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 3 {
            for j in i * 3..i * 3 + n {
                sum += /* range_inside */ input[j];
            }
        }
        out[0] = sum;
    }
    under_a_fixed_condition, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 10 {
            if n > 3 && i > 2 {
                sum += /* under_a_fixed_condition */ input[i];
            }
        }
        out[0] = sum;
    }
    limited_without_elements, "index 3 out of bounds for length 0", {
        let none = &input[64..];
        let mut sum = 0;
        for i in 0..n {
            sum += /* limited_without_elements */ none[(input[i] as usize).min(none.len() - 1)];
        }
        out[0] = sum;
    }
    step_that_differs, "index 66 out of bounds for length 64", {
        let (mut sum, mut at) = (0, 0);
        for i in 0..n * 5 {
            sum += /* step_that_differs */ input[at];
            at += i;
        }
        out[0] = sum;
    }
}

/// Reads a peer's array in a loop, in one thread to behind its end.
#[cluster_kernel(cluster = 2, block = 32)]
fn peers_elements(out: &mut [i32], n: i32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let array = shared_array::<i32, 32>();
    array[block.thread_rank()] = 1;
    cluster.sync();
    let end = if cluster.thread_rank() == 40 { n } else { 32 };
    let mut sum = 0;
    for i in 0..end {
        sum += /* peers_elements */ cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    }
    cluster.sync();
    out[cluster.thread_rank()] = sum;
}

fn peers(device: &Device) -> Outcome {
    let mut out = device.zeros(64)?;
    peers_elements(&mut out, 20).grid(2).launch(device)?;
    let want: Vec<i32> = (0..64).map(|i| if i == 40 { 20 } else { 32 }).collect();
    same(&out.read()?, &want, |i| format!("out[{i}]"))?;
    let result = peers_elements(&mut out, 33).grid(2).launch(device);
    let place = find(file!(), SOURCE, "peers_elements");
    fails(result, "index 32 out of bounds for length 32", &place, (1, 0, 0), (8, 0, 0))?;
    still_works(device)
}

/// Counts the places of a pattern in a text, and finds the first value of each row that is above a limit.
#[cluster_kernel(block = 32)]
fn searches(text: &[u8], pattern: &[u8], out: &mut [u32], columns: u32) {
    let i = this_grid().thread_rank() as u32;
    let mut count = 0;
    for at in (i as usize..text.len() - pattern.len() + 1).step_by(32) {
        let mut j = 0;
        while j < pattern.len() && text[at + j] == pattern[j] {
            j += 1;
        }
        if j == pattern.len() {
            count += 1;
        }
    }
    let mut first = columns;
    for k in 0..columns {
        if text[i * columns + k] == b'a' {
            first = k;
            break;
        }
    }
    out[i] = count * 100 + first;
}

fn found(device: &Device) -> Outcome {
    let text: Vec<u8> = (0..320u32).map(|i| b'a' + (i * i % 7 % 4) as u8).collect();
    let pattern = &text[7..10];
    let mut out = device.zeros(32)?;
    searches(&device.upload(&text)?, &device.upload(pattern)?, &mut out, 10).grid(1).launch(device)?;
    let want: Vec<u32> = (0..32)
        .map(|i| {
            let places = text.windows(3).enumerate().filter(|(at, three)| at % 32 == i && *three == pattern);
            let first = text[i * 10..][..10].iter().position(|&c| c == b'a').unwrap_or(10);
            places.count() as u32 * 100 + first as u32
        })
        .collect();
    equal(&out.read()?, &want)
}

/// Keeps what is above a limit, in order, of each warp's values, and adds up rows of a triangle.
#[cluster_kernel(block = 32)]
fn kept(values: &[u32], out: &mut [u32], limit: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (lane, first) = (warp.thread_rank(), this_grid().block_rank() as u32 * 128);
    let mut count = 0;
    for k in 0..4 {
        let value = values[first + k * 32 + lane];
        let keeps = warp.ballot(value > limit);
        if value > limit {
            out[first + count + (keeps & ((1 << lane) - 1)).count_ones()] = value;
        }
        count += keeps.count_ones();
    }
    let mut sum = 0;
    for i in 0..10 {
        for j in i..10 {
            sum += values[i * 10 + j];
        }
    }
    if lane == 31 && count < 128 {
        out[first + 127] = sum;
    }
}

fn compacted(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..512).map(|i| i * 37 % 101).collect();
    let triangle: u32 = (0..10).flat_map(|i| (i..10).map(move |j| i * 10 + j)).map(|at| values[at]).sum();
    let mut out = device.zeros(512)?;
    kept(&device.upload(&values)?, &mut out, 50).grid(4).launch(device)?;
    let mut want = vec![0; 512];
    for (block, of_block) in values.chunks(128).enumerate() {
        let keeps = of_block.iter().copied().filter(|value| *value > 50);
        keeps.enumerate().for_each(|(i, value)| want[block * 128 + i] = value);
        want[block * 128 + 127] = triangle;
    }
    equal(&out.read()?, &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = simple();
    checks.extend(check_list![peers, found, compacted]);
    kernels.extend(kernel_list![peers_elements, searches, kept]);
    vec![Module { name: "left_early", checks, kernels }]
}
