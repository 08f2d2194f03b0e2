//! Vectors whose bounds and alignment the host checks before a launch (`launch_checks`). A comment with the kernel's name stands before each
//! expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, find, kernel_list};

const SOURCE: &str = include_str!("launch_vectors.rs");

/// Four sums of two arrays, which begin at other places.
#[cluster_kernel(block = 32)]
fn fours(x: &[u32], y: &[u32], out: &mut [u32], from: usize, other: usize) {
    let i = this_grid().thread_rank();
    let mut sums = /* fours */ x.load_vec::<4>(from + 4 * i);
    let tail = &y[other..];
    let more = tail.load_vec::<2>(2 * i);
    for k in 0..4 {
        sums[k] += more[k % 2];
    }
    out.store_vec(4 * i, sums);
}

#[device]
fn halves(x: &[u16], place: usize) -> u32 {
    let pair = x.load_vec::<2>(place);
    u32::from(pair[0]) * 65536 + u32::from(pair[1])
}

/// Rows of a plane by way of shared memory, and halves by a function.
#[cluster_kernel(block = 32)]
fn rows(plane: &[[u32; 12]], narrow: &[u16], out: &mut [u32], first: usize, step: usize) {
    let block = this_thread_block();
    let tile = shared_array::<[u32; 12], 32>();
    let lane = block.thread_rank() as usize;
    for k in (0..12).step_by(4) {
        tile[lane].store_vec(k, /* rows */ plane[first + lane].load_vec::<4>(k));
    }
    block.sync();
    for k in (4 * lane..12 * 32).step_by(128) {
        let four = tile[k / 12].load_vec::<4>(k % 12);
        out.store_vec(k, four);
    }
    out[12 * 32 + lane] = halves(narrow, step * lane);
}

fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect()
}

fn sums(device: &Device) -> Outcome {
    let (x, y) = (numbers(64 * 4 + 8), numbers(64 * 2 + 9));
    let (first, second, mut out) = (device.upload(&x)?, device.upload(&y)?, device.zeros::<u32>(64 * 4)?);
    for (from, other) in [(0, 0), (4, 2), (8, 8)] {
        fours(&first, &second, &mut out, from, other).grid(2).launch(device)?;
        let of = |i: usize| x[from + i].wrapping_add(y[other + i / 4 * 2 + i % 2]);
        equal(&out.read()?, &(0..64 * 4).map(of).collect::<Vec<u32>>())?;
    }
    let failed = failure(fours(&first, &second, &mut out, 2, 0).grid(2).launch(device))?;
    let is_there = failed.location == Some(find(file!(), SOURCE, "fours"));
    if !is_there || !failed.cause.to_string().contains("must be aligned") {
        return Err(failed.to_string().into());
    }
    let failed = failure(fours(&first, &second, &mut out, 0, 3).grid(2).launch(device))?;
    if !failed.cause.to_string().contains("must be aligned") {
        return Err(failed.to_string().into());
    }
    let failed = failure(fours(&first, &second, &mut out, 12, 0).grid(2).launch(device))?;
    match failed.location == Some(find(file!(), SOURCE, "fours")) && failed.cause.to_string().contains("out of bounds")
    {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

fn planes(device: &Device) -> Outcome {
    let flat = numbers(40 * 12);
    let plane: Vec<[u32; 12]> = flat.chunks_exact(12).map(|row| row.try_into().unwrap()).collect();
    let narrow: Vec<u16> = (0..200).map(|i| (i * 331) as u16).collect();
    let (image, halves, mut out) = (device.upload(&plane)?, device.upload(&narrow)?, device.zeros::<u32>(13 * 32)?);
    for (first, step) in [(0, 2), (8, 6), (3, 0)] {
        rows(&image, &halves, &mut out, first, step).grid(1).launch(device)?;
        let pair = |lane: usize| u32::from(narrow[step * lane]) * 65536 + u32::from(narrow[step * lane + 1]);
        let want: Vec<u32> = flat[12 * first..12 * (first + 32)].iter().copied().chain((0..32).map(pair)).collect();
        equal(&out.read()?, &want)?;
    }
    // Every other pair begins at an odd place.
    let failed = failure(rows(&image, &halves, &mut out, 0, 3).grid(1).launch(device))?;
    if !failed.cause.to_string().contains("must be aligned") {
        return Err(failed.to_string().into());
    }
    let failed = failure(rows(&image, &halves, &mut out, 9, 2).grid(1).launch(device))?;
    match failed.location == Some(find(file!(), SOURCE, "rows")) {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "launch_vectors", checks: check_list![sums, planes], kernels: kernel_list![fours, rows] }]
}
