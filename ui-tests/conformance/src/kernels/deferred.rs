//! Loops whose indexes come from memory: their accesses that are out of bounds are noted, and reported after the loop. The first
//! one is reported, as if each had a check of its own, and nothing is stored from there on. A comment with the kernel's name
//! stands before each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Check, Kernel, Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("deferred.rs");

failing! { input, out, n;
    deferred_sum, "index 66 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 9 {
            sum += /* deferred_sum */ input[input[i] * i];
        }
        out[0] = sum;
    }
    deferred_vector, "a vector of 8 bytes must be aligned to 8 bytes, but the one at index 3 is not", {
        let mut sum = 0;
        for i in 0..n {
            let v = /* deferred_vector */ input.load_vec::<2>(input[i] * i);
            sum += v[0] + v[1];
        }
        out[0] = sum;
    }
    deferred_end_of_a_vector, "range 66..68 out of bounds for length 64", {
        let mut sum = 0;
        for i in (0..60).step_by(2) {
            let v = /* deferred_end_of_a_vector */ input.load_vec::<2>(input[i] * i);
            sum += v[0] + v[1];
        }
        out[0] = sum;
    }
    deferred_chain, "index 66 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 3 + 2 {
            let next = input[i + input[i]] * i;
            sum += input[next] + /* deferred_chain */ input[next + 60];
            sum += 1;
        }
        out[0] = sum;
    }
    deferred_second_of_two, "index 65 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 9 {
            let at = input[i] * i;
            sum += input[at / 3] + /* deferred_second_of_two */ input[at + n - 2];
        }
        out[0] = sum;
    }
    deferred_of_one_statement, "index 66 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 9 {
            let at = input[i] * i;
            sum += input[at / 2] * /* deferred_of_one_statement */ input[at];
        }
        out[0] = sum;
    }
    deferred_on_an_arm, "index 66 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..60 {
            if i % 11 == 0 && i > n {
                sum += /* deferred_on_an_arm */ input[input[i] * i];
            }
        }
        out[0] = sum;
    }
    deferred_empty, "index 3 out of bounds for length 0", {
        let none = &input[64..];
        for i in 0..n {
            out[i] = /* deferred_empty */ none[input[i]];
        }
    }
    deferred_store, "index 66 out of bounds for length 64", {
        for i in 0..n * 9 {
            /* deferred_store */ out[input[i] * i] = i;
        }
    }
    deferred_update, "index 66 out of bounds for length 64", {
        for i in 0..n * 9 {
            /* deferred_update */ out[input[i] * i] += i;
        }
    }
    deferred_in_a_while, "index 66 out of bounds for length 64", {
        let (mut sum, mut i) = (0, n);
        while i < n * 9 {
            sum += /* deferred_in_a_while */ input[input[i] * i];
            i += 1;
        }
        out[0] = sum;
    }
    deferred_store_in_a_while, "index 66 out of bounds for length 64", {
        let mut i = 0;
        while i < n * 9 {
            /* deferred_store_in_a_while */ out[input[i] * i] = i;
            i += 1;
        }
    }
    deferred_test_fails_first, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 10 {
            sum += input[/* deferred_test_fails_first */ input[i] + 1];
        }
        out[0] = sum;
    }
}

/// Adds up the elements that the rows of a sparse matrix name, two columns at a time, and each row's last one.
#[cluster_kernel(block = 32)]
fn rows(starts: &[u32], columns: &[u32], x: &[f32], out: &mut [f32]) {
    let row = this_grid().thread_rank() as usize;
    if row + 1 < starts.len() {
        let (mut sum, mut last) = (0.0, 0.0);
        for e in starts[row]..starts[row + 1] {
            let v = x.load_vec::<2>(columns[e] as usize * 2);
            sum += v[0] + v[1] * 0.5;
            if e + 1 == starts[row + 1] {
                last = x[columns[e]];
            }
        }
        out[row] = sum + last * 100.0;
    }
}

/// The same sums, as CUDA C++ is often written.
#[cluster_kernel(block = 32)]
fn rows_of_warps(starts: &[u32], columns: &[u32], x: &[f32], out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().block_rank();
    let (mut sum, mut e) = (0.0, starts[row] + warp.thread_rank());
    while e < starts[row + 1] {
        sum += x[columns[e as usize] as usize * 2];
        e += 32;
    }
    let total = warp.reduce(sum, op::Plus);
    if warp.thread_rank() == 0 {
        out[row] = total + e as f32;
    }
}

fn rows_in_whiles(device: &Device) -> Outcome {
    let starts = [0u32, 0, 7, 71, 72, 104];
    let columns: Vec<u32> = (0..104).map(|e| e * 37 % 101).collect();
    let x: Vec<f32> = (0..202).map(|i| (i * 5 % 64) as f32).collect();
    let got = {
        let (starts, columns, x) = (device.upload(&starts)?, device.upload(&columns)?, device.upload(&x)?);
        read!(device, 5, |out| rows_of_warps(&starts, &columns, &x, out).grid(5))
    };
    let want = |row: usize| {
        let (begin, end) = (starts[row], starts[row + 1]);
        let sum: f32 = columns[begin as usize..end as usize].iter().map(|c| x[*c as usize * 2]).sum();
        // The counter of the first lane is behind the last element.
        sum + (begin + (end - begin).div_ceil(32) * 32) as f32
    };
    equal(&got, &(0..5).map(want).collect::<Vec<f32>>())
}

fn sparse_rows(device: &Device) -> Outcome {
    let lengths: Vec<u32> = (0..70).map(|row| row * 7 % 11).collect();
    let starts: Vec<u32> = (0..=70).map(|row| lengths[..row].iter().sum()).collect();
    let columns: Vec<u32> = (0..starts[70]).map(|e| e * 37 % 101).collect();
    let x: Vec<f32> = (0..202).map(|i| (i * 5 % 64) as f32).collect();
    let got = {
        let (starts, columns, x) = (device.upload(&starts)?, device.upload(&columns)?, device.upload(&x)?);
        read!(device, 70, |out| rows(&starts, &columns, &x, out).grid(3))
    };
    let want = |row: usize| {
        let columns = &columns[starts[row] as usize..starts[row + 1] as usize];
        let sum = columns.iter().fold(0.0, |sum, c| sum + (x[*c as usize * 2] + x[*c as usize * 2 + 1] * 0.5));
        sum + columns.last().map_or(0.0, |c| x[*c as usize]) * 100.0
    };
    equal(&got, &(0..70).map(want).collect::<Vec<f32>>())
}

/// Moves elements to where a permutation says, by one thread.
#[cluster_kernel(block = 32)]
fn permuted(order: &[u32], x: &[u32], out: &mut [u32]) {
    if this_grid().thread_rank() == 0 {
        for i in 0..order.len() {
            out[order[i]] = /* astray */ x[order[i]] * 2 + x[i];
        }
    }
}

fn stores(device: &Device) -> Outcome {
    let order: Vec<u32> = (0..61).map(|i| i * 17 % 61).collect();
    let x: Vec<u32> = (0..61).map(|i| i * i).collect();
    let run = |order: &[u32]| -> phalanx::Result<(phalanx::Result<()>, Vec<u32>)> {
        let (order, x, mut out) = (device.upload(order)?, device.upload(&x)?, device.upload(&[7; 61])?);
        let result = permuted(&order, &x, &mut out).grid(1).launch(device);
        Ok((result, out.read()?))
    };
    let (result, out) = run(&order)?;
    result?;
    let mut want = vec![7; 61];
    order.iter().enumerate().for_each(|(i, at)| want[*at as usize] = x[*at as usize] * 2 + x[i]);
    equal(&out, &want)?;

    // Nothing is stored after the first access that is out of bounds, and nothing twice.
    let astray: Vec<u32> =
        order.iter().enumerate().map(|(i, at)| if i == 40 || i == 50 { 100 + i as u32 } else { *at }).collect();
    let (result, out) = run(&astray)?;
    fails(result, "index 140 out of bounds for length 61", &find(file!(), SOURCE, "astray"), (0, 0, 0), (0, 0, 0))?;
    let mut want = vec![7; 61];
    order[..40].iter().enumerate().for_each(|(i, at)| want[*at as usize] = x[*at as usize] * 2 + x[i]);
    equal(&out, &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = simple();
    checks.extend(check_list![sparse_rows, rows_in_whiles, stores]);
    kernels.extend(kernel_list![rows, rows_of_warps, permuted]);
    vec![Module { name: "deferred", checks, kernels }]
}
