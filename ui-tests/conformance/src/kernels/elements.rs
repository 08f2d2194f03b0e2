//! Loops over the elements and the parts of memory, each against Rust's own iterators.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, fails, find, kernel_list, read, same};

const SOURCE: &str = include_str!("elements.rs");

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Sample {
    value: u32,
    weights: [u32; 3],
}

#[device]
fn sum(values: &[u32]) -> u32 {
    let mut total = 0u32;
    for x in values {
        total = total.wrapping_mul(31) + x;
    }
    total
}

#[device]
fn largest(values: &SharedSlice<u32>) -> u32 {
    let mut most = 0;
    for &x in values.iter() {
        most = most.max(x);
    }
    most
}

#[cluster_kernel(block = 1)]
fn elements(a: &[u32], samples: &[Sample], out: &mut [u32], n: usize) {
    out[0] = sum(a);
    let mut total = 0u32;
    for (i, x) in a[n..].iter().enumerate() {
        total += x * i as u32;
    }
    out[1] = total;
    for (i, x) in a.iter().enumerate().rev().step_by(3) {
        total = total.wrapping_mul(31) + x ^ i as u32;
    }
    out[2] = total;
    for (x, y) in a.iter().zip(&a[n..]) {
        total = total.wrapping_mul(31) + x * y;
    }
    out[3] = total;
    let mut rest = &a[1..];
    for x in rest {
        rest = &a[..2];
        total += x;
    }
    out[4] = total + rest.len() as u32;
    for sample in samples {
        total += sample.value;
        for w in &sample.weights {
            total = total * 3 + w;
        }
    }
    out[5] = total;
    for w in samples[1].weights.iter().rev() {
        total = total * 5 + w;
    }
    out[6] = total;
    for &Sample { value, weights } in samples.iter() {
        total ^= value << weights[1];
    }
    out[7] = total;
    // Iterates over what the kernel itself wrote.
    for x in out[..8].iter().copied() {
        total = total.wrapping_mul(31) + x;
    }
    out[8] = total;
}

fn elements_are_rust_s(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..20).map(|i| i * i + 1).collect();
    let samples: Vec<Sample> = (1..5).map(|i| Sample { value: i, weights: [i + 1, i + 2, i * 7] }).collect();
    let (input, packed) = (device.upload(&a)?, device.upload(&samples)?);
    for n in [0, 7, 20] {
        let mut want = vec![a.iter().fold(0u32, |total, x| total.wrapping_mul(31) + x)];
        let mut total = 0u32;
        a[n..].iter().enumerate().for_each(|(i, x)| total += x * i as u32);
        want.push(total);
        for (i, x) in a.iter().enumerate().rev().step_by(3) {
            total = total.wrapping_mul(31).wrapping_add(*x) ^ i as u32;
        }
        want.push(total);
        for (x, y) in a.iter().zip(&a[n..]) {
            total = total.wrapping_mul(31).wrapping_add(x * y);
        }
        want.push(total);
        a[1..].iter().for_each(|x| total = total.wrapping_add(*x));
        want.push(total.wrapping_add(2));
        for sample in &samples {
            total = total.wrapping_add(sample.value);
            for w in &sample.weights {
                total = total.wrapping_mul(3).wrapping_add(*w);
            }
        }
        want.push(total);
        for w in samples[1].weights.iter().rev() {
            total = total.wrapping_mul(5).wrapping_add(*w);
        }
        want.push(total);
        for &Sample { value, weights } in samples.iter() {
            total ^= value << weights[1];
        }
        want.push(total);
        let all = want.iter().fold(total, |total, x| total.wrapping_mul(31).wrapping_add(*x));
        want.push(all);
        let got = read!(device, 9, |out| elements(&input, &packed, out, n).grid(1));
        same(&got, &want, |i| format!("n = {n}, out[{i}]"))?;
    }
    Ok(())
}

#[cluster_kernel(block = 1)]
fn chunked(a: &[u32], out: &mut [u32], size: usize) {
    let mut total = 0u32;
    for chunk in a.chunks(size) {
        total = total.wrapping_mul(31) + sum(chunk);
    }
    out[0] = total;
    for (i, chunk) in a.chunks_exact(size).enumerate() {
        total = total.wrapping_mul(31) + chunk[0] * i as u32 + chunk.len() as u32;
    }
    out[1] = total;
    for window in a.windows(size).rev() {
        total = total.wrapping_mul(31) + window[0] * window[window.len() - 1];
    }
    out[2] = total;
    let shared = shared_array::<u32, 20>();
    let grid = shared_array::<[u32; 4], 3>();
    for (i, x) in a.iter().enumerate().take(20) {
        shared[i] = *x;
        if i < 12 {
            grid[i / 4][i % 4] = x + 1;
        }
    }
    for chunk in shared.chunks(4) {
        total = total.wrapping_mul(31) + largest(chunk);
    }
    for x in shared.iter().skip(size) {
        total ^= x;
    }
    for row in grid.iter() {
        for x in row {
            total = total.wrapping_mul(31) + x;
        }
    }
    for x in grid[1].iter() {
        total += x;
    }
    total += a.windows(2).skip(1).filter(|w| w[1] % 3 > w[0] % 3).count() as u32;
    total += shared.chunks(size).filter(|&part| part.len() == size && sum_of(part) > 9).count() as u32 * 100;
    out[3] = total;
}

#[device]
fn sum_of(values: &SharedSlice<u32>) -> u32 {
    values.iter().copied().sum::<u32>()
}

fn parts_in_loops(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..23).map(|i| i * i + 1).collect();
    let input = device.upload(&a)?;
    let sum = |values: &[u32]| values.iter().fold(0u32, |total, x| total.wrapping_mul(31).wrapping_add(*x));
    for size in [1, 4, 23, 30] {
        let mut total = 0u32;
        let mut want = Vec::new();
        for chunk in a.chunks(size) {
            total = total.wrapping_mul(31).wrapping_add(sum(chunk));
        }
        want.push(total);
        for (i, chunk) in a.chunks_exact(size).enumerate() {
            total = total.wrapping_mul(31).wrapping_add(chunk[0] * i as u32 + chunk.len() as u32);
        }
        want.push(total);
        for window in a.windows(size).rev() {
            total = total.wrapping_mul(31).wrapping_add(window[0] * window[window.len() - 1]);
        }
        want.push(total);
        for chunk in a[..20].chunks(4) {
            total = total.wrapping_mul(31).wrapping_add(*chunk.iter().max().ok_or("an empty chunk")?);
        }
        a[..20].iter().skip(size).for_each(|x| total ^= x);
        for x in &a[..12] {
            total = total.wrapping_mul(31).wrapping_add(x + 1);
        }
        a[4..8].iter().for_each(|x| total = total.wrapping_add(x + 1));
        let (rising, full) = (
            a.windows(2).skip(1).filter(|w| w[1] % 3 > w[0] % 3).count(),
            a[..20].chunks(size).filter(|&part| part.len() == size && part.iter().sum::<u32>() > 9).count(),
        );
        total = total.wrapping_add((rising + full * 100) as u32);
        want.push(total);
        let got = read!(device, 4, |out| chunked(&input, out, size).grid(1));
        same(&got, &want, |i| format!("size = {size}, out[{i}]"))?;
    }
    Ok(())
}

#[cluster_kernel(block = 1)]
fn no_steps(a: &[u32], out: &mut [u32], step: usize, size: usize) {
    for x in a.iter().step_by(/* step */ step) {
        out[0] += x;
    }
    for window in a.windows(/* size */ size) {
        out[0] += window[0];
    }
}

fn zeros_end_the_launch(device: &Device) -> Outcome {
    let (a, mut out) = (device.upload(&[1, 2, 3])?, device.zeros(1)?);
    no_steps(&a, &mut out, 2, 2).grid(1).launch(device)?;
    same(&out.read()?, &[7], |_| "the sum".into())?;
    let launch = |step, size, out: &mut _| no_steps(&a, out, step, size).grid(1).launch(device);
    let at = |name| find(file!(), SOURCE, name);
    fails(launch(0, 1, &mut out), "assertion failed: step != 0", &at("step"), (0, 0, 0), (0, 0, 0))?;
    fails(launch(1, 0, &mut out), "window size must be non-zero", &at("size"), (0, 0, 0), (0, 0, 0))
}

/// Integers of all types but those of 128 bits.
#[cluster_kernel(block = 32)]
fn indexes(a: &[u32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    let (narrow, short) = (i as u8, i as u16);
    let local = [1, 2, 3, 4];
    let shared = shared_array::<u32, 32>();
    shared[narrow] = a[short];
    this_thread_block().sync();
    let mut sum = shared[31 - narrow] + local[narrow % 4] + local[i as i8 & 3];
    sum += a[i as i16] + a[i as i64] + a[i as u64] + a[i as isize];
    sum += (&a[narrow..short + 1]).len() as u32 + unsafe { *a.get_unchecked(narrow) };
    out[narrow] = sum;
}

fn indexes_of_all_types(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..32).map(|i| i * i).collect();
    let input = device.upload(&a)?;
    let got = read!(device, 32, |out| indexes(&input, out).grid(1));
    let want: Vec<u32> = (0..32).map(|i| a[31 - i] + 2 * (i as u32 % 4 + 1) + 5 * a[i] + 1).collect();
    same(&got, &want, |i| format!("thread {i}"))
}

#[cluster_kernel(block = 1)]
fn beyond(a: &[u32], out: &mut [u32], i: i16, j: u8) {
    out[0] = /* signed */ a[i] + /* unsigned */ a[j];
}

fn narrow_indexes_are_checked(device: &Device) -> Outcome {
    let (a, mut out) = (device.upload(&[1; 200])?, device.zeros(1)?);
    let at = |name| find(file!(), SOURCE, name);
    let launch = |i, j, out: &mut _| beyond(&a, out, i, j).grid(1).launch(device);
    let say = |index: i32| format!("index {index} out of bounds for length 200");
    fails(launch(-1, 1, &mut out), &say(-1), &at("signed"), (0, 0, 0), (0, 0, 0))?;
    fails(launch(199, 200, &mut out), &say(200), &at("unsigned"), (0, 0, 0), (0, 0, 0))
}

#[device]
fn dot(a: &[u32], b: &[u32]) -> u32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<u32>()
}

#[cluster_kernel(block = 32)]
fn consumed(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let shared = shared_array::<u32, 32>();
    shared[i] = a.get(i).copied().unwrap_or(7);
    block.sync();
    if i == 0 {
        shared.swap(3, 30u8);
        out[0] = dot(a, &a[1..]);
        out[1] = shared.iter().fold(0, |total, x| total * 3 + x);
        out[2] = shared.iter().any(|x| *x == 8) as u32;
        out[3] = a.iter().position(|&x| x == 16).map_or(99, |at| at as u32);
        shared.fill(2);
        out[4] = shared.iter().copied().map(|x| x + 1).sum::<u32>();
        let none = &a[..0];
        let absent = a.get(20).copied().is_none() && none.last().copied().is_none();
        out[5] = a.last().copied().unwrap_or(0) + absent as u32;
    }
}

fn values_of_iterators(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..20).map(|i| i * i).collect();
    let input = device.upload(&a)?;
    let mut shared: Vec<u32> = (0..32).map(|i| a.get(i).copied().unwrap_or(7)).collect();
    shared.swap(3, 30);
    let want = [
        a.iter().zip(&a[1..]).map(|(x, y)| x * y).sum(),
        shared.iter().fold(0u32, |total, x| total.wrapping_mul(3).wrapping_add(*x)),
        0,
        4,
        96,
        362,
    ];
    let got = read!(device, 6, |out| consumed(&input, out).grid(1));
    same(&got, &want, |i| format!("out[{i}]"))
}

/// What iterators over parts are consumed to, rows of memory as arrays, and indexes of threads that are bound together.
#[cluster_kernel(block = (4, 2))]
fn rows_and_parts(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let (at, of, rows) = (block.thread_index(), block.dim_threads(), shared_array::<[u32; 3], 8>());
    let i = at.y * of.x + at.x;
    rows[i] = [a[i], i, 1];
    rows[i] = rows[i].map(|x| x + 2);
    let row = rows[i];
    let doubled = row.map(|x| x * 2);
    let own = doubled.iter().sum::<u32>();
    let chunks = a.chunks(3).map(|chunk| chunk[0]).sum::<u32>();
    let most = a.chunks(4).map(|chunk| chunk.len() as u32 * chunk[chunk.len() - 1]).max().unwrap_or(0);
    let first = a.chunks(2).position(|chunk| chunk[0] > 30).unwrap_or(99);
    out[i] = own + 1000 * (chunks + most) + first as u32 + 100 * a.chunks(7).count() as u32;
}

fn rows_and_parts_of_memory(device: &Device) -> Outcome {
    let a: Vec<u32> = (0..20).map(|i| i * i).collect();
    let input = device.upload(&a)?;
    let chunks = a.chunks(3).map(|chunk| chunk[0]).sum::<u32>();
    let most = a.chunks(4).map(|chunk| chunk.len() as u32 * chunk[chunk.len() - 1]).max().unwrap_or(0);
    let first = a.chunks(2).position(|chunk| chunk[0] > 30).unwrap_or(99);
    let want = |i: u32| 2 * (a[i as usize] + i + 7) + 1000 * (chunks + most) + first as u32 + 300;
    let got = read!(device, 8, |out| rows_and_parts(&input, out).grid(1));
    same(&got, &(0..8).map(want).collect::<Vec<_>>(), |i| format!("out[{i}]"))
}

#[device]
fn differences(before: &[u32], after: &[u32], i: usize) -> u32 {
    sum(&after[i..]).wrapping_sub(sum(before))
}

/// Two slices that are never written, one of them reborrowed from a `&mut [T]`: the same function reads by two instructions.
#[cluster_kernel(block = 1)]
fn read_only(a: &[u32], out: &mut [u32]) {
    out[0] = differences(a, &a[1..], 1);
}

#[cluster_kernel(block = 1)]
fn read_lent(out: &mut [u32]) {
    out[3] = 9;
    out[0] = sum(&out[1..]);
}

fn slices_through_functions(device: &Device) -> Outcome {
    let hash = |a: &[u32]| a.iter().fold(0u32, |total, x| total.wrapping_mul(31).wrapping_add(*x));
    let a: Vec<u32> = (0..9).map(|i| i * 5 + 1).collect();
    let input = device.upload(&a)?;
    let got = read!(device, 1, |out| read_only(&input, out).grid(1));
    same(&got, &[hash(&a[2..]).wrapping_sub(hash(&a))], |_| "of read-only memory".into())?;
    let got = read!(device, 4, |out| read_lent(out).grid(1));
    same(&got[..1], &[hash(&[0, 0, 9])], |_| "of memory that was lent".into())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        elements_are_rust_s,
        parts_in_loops,
        zeros_end_the_launch,
        indexes_of_all_types,
        narrow_indexes_are_checked,
        values_of_iterators,
        rows_and_parts_of_memory,
        slices_through_functions,
    ];
    let kernels =
        kernel_list![elements, chunked, no_steps, indexes, beyond, consumed, rows_and_parts, read_only, read_lent];
    vec![Module { name: "elements", checks, kernels }]
}
