//! Numbers narrower than a word, where the text takes them out of words or computes with words: lanes of `f16` in arithmetic, lanes of bytes in
//! comparisons, and the least and the greatest of two numbers of each width.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

/// Evaluates a polynomial in each lane, and takes lanes by an index that only the launch knows.
#[cluster_kernel(block = 32)]
fn polynomial(input: &[f16], coefficients: &[f16], out: &mut [f16], picked: &mut [f16]) {
    let i = this_thread_block().thread_rank() as usize;
    let x = input.load_vec::<8>(i * 8);
    let mut y = f16x8::splat(coefficients[3]);
    for c in (0..3).rev() {
        let coefficient = coefficients[c];
        for k in 0..8 {
            y[k] = y[k].mul_add(x[k], coefficient);
        }
    }
    out.store_vec(i * 8, y);
    picked[i] = x[i % 8] - x[7 - i % 8];
}

/// Marks the bytes of some kinds, and counts others.
#[cluster_kernel(block = 16)]
fn kinds(text: &[u8], marks: &mut [u32], counts: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let bytes = text.load_vec::<16>(i * 16);
    let (mut mark, mut count) = (0u32, 0u32);
    for k in 0..16 {
        let c = bytes[k];
        if matches!(c, b'{' | b'}' | b'[' | b']' | b':' | b',') {
            mark |= 1 << k;
        }
        if c == b' ' || c == b'\n' || c == b'\t' || c == b'\r' {
            mark |= 0x10000 << k;
        }
        let is_counted = c >= b'0' && c <= b'9' || c > 0xf0 && c != 0xff || c < text[k];
        if is_counted {
            count += 1;
        }
    }
    marks[i] = mark;
    counts[i] = count;
}

/// Makes a kernel of one type of integers: the least and the greatest of two, one between both, and the positive part of a difference.
macro_rules! bounded {
    ($($name:ident, $check:ident: $ty:ident;)*) => {$(
        #[cluster_kernel(block = 64)]
        fn $name(input: &[$ty], out: &mut [$ty]) {
            let i = this_thread_block().thread_rank() as usize;
            let (a, b, c) = (input[i], input[i + 1], input[i + 2]);
            out[i * 4] = a.min(b);
            out[i * 4 + 1] = a.max(b);
            out[i * 4 + 2] = c.clamp(a.min(b), a.max(b));
            out[i * 4 + 3] = a.wrapping_sub(b).max(0);
        }

        fn $check(device: &Device) -> Outcome {
            let corners = [$ty::MIN, $ty::MAX, 0, 1, $ty::MAX / 2, $ty::MIN / 2, !0, 4];
            let input: Vec<$ty> = (0..66).map(|i| corners[i * i % 11 % 8].wrapping_add((i % 3) as $ty)).collect();
            let want = (0..64).flat_map(|i| {
                let (a, b, c) = (input[i], input[i + 1], input[i + 2]);
                [a.min(b), a.max(b), c.clamp(a.min(b), a.max(b)), a.wrapping_sub(b).max(0)]
            });
            let want: Vec<$ty> = want.collect();
            let input = device.upload(&input)?;
            equal(&read!(device, 256, |out| $name(&input, out).grid(1)), &want)
        }
    )*};
}

bounded! {
    bounded_i8, bounds_of_i8: i8;
    bounded_u8, bounds_of_u8: u8;
    bounded_i16, bounds_of_i16: i16;
    bounded_u16, bounds_of_u16: u16;
    bounded_i32, bounds_of_i32: i32;
    bounded_u32, bounds_of_u32: u32;
    bounded_i64, bounds_of_i64: i64;
    bounded_u64, bounds_of_u64: u64;
}

fn lanes_of_words_in_arithmetic(device: &Device) -> Outcome {
    // All of it is exact.
    let input: Vec<f32> = (0..256).map(|i: i32| (i * i % 9 - 4) as f32).collect();
    let coefficients = [3.0, -5.0, 2.0, -1.0];
    let want: Vec<f32> = input.iter().map(|x| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)).collect();
    let want_picked: Vec<f32> = (0..32).map(|i| input[i * 8 + i % 8] - input[i * 8 + 7 - i % 8]).collect();
    let halves = |of: &[f32]| of.iter().map(|&value| f16::from_f32(value)).collect::<Vec<_>>();
    let (mut out, mut picked) = (device.zeros(256)?, device.zeros(32)?);
    let (input, coefficients) = (device.upload(&halves(&input))?, device.upload(&halves(&coefficients))?);
    polynomial(&input, &coefficients, &mut out, &mut picked).grid(1).launch(device)?;
    equal(&out.read()?, &halves(&want))?;
    equal(&picked.read()?, &halves(&want_picked))
}

fn lanes_of_words_in_comparisons(device: &Device) -> Outcome {
    // Each byte in each lane.
    let text: Vec<u8> = (0..4096_usize).map(|i| (i / 16 + i % 16 * 16) as u8).collect();
    for block in text.chunks(256) {
        let counted = |k: usize, c: u8| c.is_ascii_digit() || c > 0xf0 && c != 0xff || c < block[k];
        let want = block.chunks(16).map(|lanes| {
            lanes.iter().enumerate().fold((0, 0), |(mark, count), (k, &c)| {
                let structure = u32::from(b"{}[]:,".contains(&c)) << k;
                let space = u32::from(b" \n\t\r".contains(&c)) << (16 + k);
                (mark | structure | space, count + u32::from(counted(k, c)))
            })
        });
        let (want, want_counts): (Vec<u32>, Vec<u32>) = want.unzip();
        let (mut marks, mut counts) = (device.zeros(16)?, device.zeros(16)?);
        kinds(&device.upload(block)?, &mut marks, &mut counts).grid(1).launch(device)?;
        equal(&marks.read()?, &want)?;
        equal(&counts.read()?, &want_counts)?;
    }
    Ok(())
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "narrow_lanes",
        checks: check_list![
            lanes_of_words_in_arithmetic,
            lanes_of_words_in_comparisons,
            bounds_of_i8,
            bounds_of_u8,
            bounds_of_i16,
            bounds_of_u16,
            bounds_of_i32,
            bounds_of_u32,
            bounds_of_i64,
            bounds_of_u64
        ],
        kernels: kernel_list![
            polynomial,
            kinds,
            bounded_i8,
            bounded_u8,
            bounded_i16,
            bounded_u16,
            bounded_i32,
            bounded_u32,
            bounded_i64,
            bounded_u64
        ],
    }]
}
