//! Short loops over elements next to each other, which are loaded before them, and over a part of a short shared array, of which all elements
//! are. Nothing shows it: neither what is stored, nor which access fails first. A comment with the kernel's name stands before each expression
//! that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("loads_ahead.rs");

/// Eight neighbours a thread, of which the loop stores some where it loads others.
#[cluster_kernel(block = 32)]
fn scaled(x: &[f16], y: &[f32], out: &mut [f32], from: usize) {
    let i = this_thread_block().thread_rank();
    for k in 0..8u32 {
        let at = (i * 8 + k) as usize;
        out[at] += x[at].to_f32() * /* scaled */ y[from + at];
    }
}

fn loads_before_stores(device: &Device) -> Outcome {
    let x: Vec<f16> = (0..256).map(|i| f16::from_f32(i as f32 / 4.0)).collect();
    let y: Vec<f32> = (0..259).map(|i| (i * i % 31) as f32).collect();
    for from in [0, 3] {
        let want: Vec<f32> = (0..256).map(|i| i as f32 + i as f32 / 4.0 * y[from + i]).collect();
        let mut out = device.upload(&(0..256).map(|i| i as f32).collect::<Vec<_>>())?;
        scaled(&device.upload(&x)?, &device.upload(&y)?, &mut out, from).grid(1).launch(device)?;
        equal(&out.read()?, &want)?;
    }
    let mut out = device.upload(&[0.0f32; 256])?;
    let launched = scaled(&device.upload(&x)?, &device.upload(&y)?, &mut out, 4).grid(1).launch(device);
    let cause = "index 259 out of bounds for length 259";
    fails(launched, cause, &find(file!(), SOURCE, "scaled"), (0, 0, 0), (31, 0, 0))
}

/// As many neighbours as a constant says.
#[cluster_kernel(block = 32)]
fn moved<const N: usize>(from: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    for k in 0..N {
        let first = i * N;
        out[first + k] = from[first + 1 + k] * 2;
    }
}

fn as_many_as_a_constant_says(device: &Device) -> Outcome {
    let words: Vec<u32> = (0..32 * 40 + 1).map(|i| i * 7).collect();
    let from = device.upload(&words)?;
    let want = |count: usize| (0..count).map(|i| words[i + 1] * 2).collect::<Vec<_>>();
    equal(&read!(device, 32, |out| moved::<1>(&from, out).grid(1)), &want(32))?;
    equal(&read!(device, 32 * 3, |out| moved::<3>(&from, out).grid(1)), &want(32 * 3))?;
    equal(&read!(device, 32 * 8, |out| moved::<8>(&from, out).grid(1)), &want(32 * 8))?;
    equal(&read!(device, 32 * 40, |out| moved::<40>(&from, out).grid(1)), &want(32 * 40))
}

/// The elements of a local array beside their neighbours in memory.
#[cluster_kernel(block = 32)]
fn gathered(x: &[u32], out: &mut [u32], count: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let mut items = [1u32; 8];
    for (item, &x) in items.iter_mut().zip(&x[i * 8..i * 8 + count]) {
        *item += x;
    }
    for (k, &item) in items.iter().enumerate() {
        out[i * 8 + k] = item;
    }
}

fn elements_of_local_arrays(device: &Device) -> Outcome {
    let words: Vec<u32> = (0..257).map(|i| i * 3 + 1).collect();
    let x = device.upload(&words)?;
    for count in [0, 5, 8, 9] {
        let want: Vec<u32> = (0..256).map(|i| if i % 8 < count { words[i] + 1 } else { 1 }).collect();
        equal(&read!(device, 256, |out| gathered(&x, out, count).grid(1)), &want)?;
    }
    Ok(())
}

/// Arrays that a closure makes of memory.
#[cluster_kernel(block = 32)]
fn made<const N: usize>(x: &[u32], weights: &[u32], out: &mut [u32], from: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let own: [u32; N] = std::array::from_fn(|k| x[i * N + k]);
    let vectors: [u32x4; 2] = std::array::from_fn(|k| x.load_vec::<4>(8 * (i % 4) + 4 * k));
    let first = from + i / 31;
    let rows: [[u32; 2]; N] = std::array::from_fn(|k| std::array::from_fn(|j| /* made */ weights[first + 2 * k + j]));
    let sum = own.iter().zip(&rows).map(|(x, [a, b])| x * a + b).sum::<u32>();
    out[i] = sum + vectors[0][1] + vectors[1][3];
}

fn arrays_that_closures_make(device: &Device) -> Outcome {
    arrays_of::<1>(device)?;
    arrays_of::<4>(device)?;
    let (x, weights) = (device.upload(&[0; 32 * 3])?, device.upload(&[0; 8])?);
    let mut out = device.upload(&[0; 32])?;
    let launched = made::<3>(&x, &weights, &mut out, 2).grid(1).launch(device);
    let cause = "index 8 out of bounds for length 8";
    fails(launched, cause, &find(file!(), SOURCE, "made"), (0, 0, 0), (31, 0, 0))
}

fn arrays_of<const N: usize>(device: &Device) -> Outcome {
    let words: Vec<u32> = (0..32 * N.max(2) as u32).map(|i| i * 7).collect();
    let weights: Vec<u32> = (0..2 * N as u32 + 4).map(|i| i * i % 13).collect();
    let want: Vec<u32> = (0..32)
        .map(|i| {
            let first = 3 + i / 31;
            let sum = |k: usize| words[i * N + k] * weights[first + 2 * k] + weights[first + 2 * k + 1];
            (0..N).map(sum).sum::<u32>() + words[8 * (i % 4) + 1] + words[8 * (i % 4) + 7]
        })
        .collect();
    let (x, weights) = (device.upload(&words)?, device.upload(&weights)?);
    equal(&read!(device, 32, |out| made::<N>(&x, &weights, out, 3).grid(1)), &want)
}

/// Neighbours of which some arms load what the others must not.
#[cluster_kernel(block = 32)]
fn chosen(x: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    for k in 0..8 {
        out[i * 8 + k] = match k {
            0..4 => x[i * 4 + k],
            _ => 7,
        };
    }
}

fn arms_load_for_themselves(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..128).map(|i| i * i).collect();
    let want: Vec<u32> = (0..256).map(|i| if i % 8 < 4 { x[i / 8 * 4 + i % 8] } else { 7 }).collect();
    equal(&read!(device, 256, |out| chosen(&device.upload(&x)?, out).grid(1)), &want)
}

/// Sums of the parts of a short array before and behind a thread's own, and of a longer array.
#[cluster_kernel(block = 32)]
fn around(x: &[f32], out: &mut [[f32; 4]], most: usize) {
    let block = this_thread_block();
    let (short, long) = (shared_array::<f32, 8>(), shared_array::<f32, 32>());
    let i = block.thread_rank() as usize;
    long[i] = x[i];
    if i < 8 {
        short[i] = x[i];
    }
    block.sync();
    let own = i % 8;
    let (mut before, mut behind, mut before_in_long, mut first) = (0.0, 0.0, 0.0, 0.0);
    for k in 0..own {
        before += short[k];
    }
    for k in own + 1..8 {
        if short[k] > 2.0 {
            behind += short[k];
        }
    }
    for k in 0..i {
        before_in_long += long[k];
    }
    let own_most = if i == 0 { most } else { most.min(8) };
    for k in 0..own_most {
        first += /* around */ short[k];
    }
    let taken = short.iter().take(most).sum::<f32>();
    out[i] = [before, behind, before_in_long, 2.0 * first - taken];
}

fn parts_of_short_arrays(device: &Device) -> Outcome {
    let numbers: Vec<f32> = (0..32).map(|i| (i * i % 11) as f32).collect();
    let x = device.upload(&numbers)?;
    let zeros = vec![[0.0f32; 4]; 32];
    for most in [0, 1, 7, 8] {
        let sum = |of: &[f32]| of.iter().sum::<f32>();
        let behind = |i: usize| numbers[i + 1..8].iter().filter(|&&x| x > 2.0).sum::<f32>();
        let want: Vec<[f32; 4]> = (0..32)
            .map(|i| [sum(&numbers[..i % 8]), behind(i % 8), sum(&numbers[..i]), sum(&numbers[..most])])
            .collect();
        let mut out = device.upload(&zeros)?;
        around(&x, &mut out, most).grid(1).launch(device)?;
        equal(&out.read()?, &want)?;
    }
    let launched = around(&x, &mut device.upload(&zeros)?, 9).grid(1).launch(device);
    fails(launched, "index 8 out of bounds for length 8", &find(file!(), SOURCE, "around"), (0, 0, 0), (0, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "loads_ahead",
        checks: check_list![
            loads_before_stores,
            as_many_as_a_constant_says,
            elements_of_local_arrays,
            arms_load_for_themselves,
            arrays_that_closures_make,
            parts_of_short_arrays
        ],
        kernels: kernel_list![
            scaled,
            gathered,
            chosen,
            around,
            moved::<1>,
            moved::<3>,
            moved::<8>,
            moved::<40>,
            made::<1>,
            made::<3>,
            made::<4>
        ],
    }]
}
