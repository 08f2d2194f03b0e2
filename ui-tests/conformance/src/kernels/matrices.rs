//! Matrices of the tensor cores: products of every type and width, every order in memory, places of elements, rounding, and
//! what is out of bounds or misaligned. The operands are small integers, so that all sums are exact, on a GPU as well.

use phalanx::prelude::*;

use crate::{
    Check, Kernel, Module, Outcome, check_list, equal, fails, failure, find, kernel_list, read, same, same_text,
};

const SOURCE: &str = include_str!("matrices.rs");

/// Small integers, different in each position.
pub(super) fn small(seed: usize, i: usize) -> i32 {
    ((i * 7 + i / 5 * 3 + seed * 11) % 9) as i32 - 4
}

/// Returns `a * b + c` of 16 by `k` by `n`, where `b` lies transposed.
fn multiplied<A: Copy, B: Copy, C: Copy>(
    (a, b, c): (&[A], &[B], &[C]),
    (k, n): (usize, usize),
    step: impl Fn(A, B, C) -> C,
) -> Vec<C> {
    let element = |i: usize| (0..k).fold(c[i], |sum, j| step(a[i / n * k + j], b[i % n * k + j], sum));
    (0..16 * n).map(element).collect()
}

/// Makes a kernel of two warps, each with its own product, and its check.
macro_rules! products {
    ($($name:ident: $a:ident as $va:ty, $b:ident as $vb:ty, $c:ident, $k:literal, $n:literal, $number_a:expr, $number_b:expr, $number_c:expr, $step:expr;)*) => {
        mod products {
            use super::*;
            $(
                #[cluster_kernel(block = 64)]
                pub(super) fn $name(a: &[$va], b: &[$vb], c: &[$c], out: &mut [$c]) {
                    let block = this_thread_block();
                    let warp = tiled_partition::<32>(&block);
                    let lane = warp.thread_rank();
                    let which = warp.meta_group_rank();
                    let left = shared_array::<[$va; $k], 32>();
                    let right = shared_array::<[[$vb; $k]; $n], 2>();
                    for i in (lane..16 * $k).step_by(32) {
                        left[which * 16 + i / $k][i % $k] = a[which * 16 * $k + i];
                    }
                    for i in (lane..$n * $k).step_by(32) {
                        right[which][i / $k][i % $k] = b[which * $n * $k + i];
                    }
                    warp.sync();
                    let x: MatrixA<$a, 16, $k> = warp.load_matrix(&left, which * 16, 0);
                    let y = warp.load_matrix_transposed::<MatrixB<$b, $k, $n>>(&right[which], 0, 0);
                    let mut sum = Accumulator::<$c, 16, $n>::splat(c[0]);
                    for i in 0..sum.len() as u32 {
                        sum[i] = c[which * 16 * $n + sum.row(lane, i) * $n + sum.column(lane, i)];
                    }
                    sum = warp.mma(x, y, sum);
                    for i in 0..sum.len() as u32 {
                        out[which * 16 * $n + sum.row(lane, i) * $n + sum.column(lane, i)] = sum[i];
                    }
                }
            )*
        }

        fn product_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                let (number_a, number_b): (fn(i32) -> $va, fn(i32) -> $vb) = ($number_a, $number_b);
                let number_c: fn(i32) -> $c = $number_c;
                let a: Vec<$va> = (0..2 * 16 * $k).map(|i| number_a(small(1, i))).collect();
                let b: Vec<$vb> = (0..2 * $n * $k).map(|i| number_b(small(2, i))).collect();
                let c: Vec<$c> = (0..2 * 16 * $n).map(|i| number_c(small(3, i))).collect();
                let step: fn($va, $vb, $c) -> $c = $step;
                let (x, y, z) = (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?);
                let got = read!(device, 2 * 16 * $n, |out| products::$name(&x, &y, &z, out).grid(1));
                let of_warp = |warp: usize| {
                    let of = (&a[warp * 16 * $k..], &b[warp * $n * $k..], &c[warp * 16 * $n..]);
                    multiplied(of, ($k, $n), step)
                };
                same(&got, &[of_warp(0), of_warp(1)].concat(), |i| format!("element {i}"))
            })*
            vec![$(Check { name: concat!("product_", stringify!($name)), run: $name }),*]
        }

        fn product_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<products::$name>(concat!("product ", stringify!($name)))),*]
        }
    };
}

pub(super) fn half(x: i32) -> f16 {
    f16::from_f32(x as f32)
}

pub(super) fn brain(x: i32) -> bf16 {
    bf16::from_f32(x as f32)
}

pub(super) fn e4m3_of(x: i32) -> e4m3 {
    e4m3::from_f32(x as f32)
}

pub(super) fn e5m2_of(x: i32) -> e5m2 {
    e5m2::from_f32(x as f32)
}

products! {
    f16_to_f32: f16 as f16, f16 as f16, f32, 16, 8, half, half, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    f16_to_f32_wide: f16 as f16, f16 as f16, f32, 16, 16, half, half, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    f16_to_f16: f16 as f16, f16 as f16, f16, 16, 8, half, half, half, |a, b, sum| sum + a * b;
    f16_to_f16_wide: f16 as f16, f16 as f16, f16, 16, 16, half, half, half, |a, b, sum| sum + a * b;
    bf16_to_f32: bf16 as bf16, bf16 as bf16, f32, 16, 8, brain, brain, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    bf16_to_f32_wide: bf16 as bf16, bf16 as bf16, f32, 16, 16, brain, brain, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    tf32_to_f32: tf32 as f32, tf32 as f32, f32, 8, 8, |x| x as f32, |x| x as f32, |x| x as f32, |a, b, sum| sum + a * b;
    tf32_to_f32_wide: tf32 as f32, tf32 as f32, f32, 8, 16, |x| x as f32, |x| x as f32, |x| x as f32, |a, b, sum| sum + a * b;
    e4m3_to_f32: e4m3 as e4m3, e4m3 as e4m3, f32, 32, 8, e4m3_of, e4m3_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e4m3_e5m2_to_f32: e4m3 as e4m3, e5m2 as e5m2, f32, 32, 16, e4m3_of, e5m2_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e5m2_e4m3_to_f32: e5m2 as e5m2, e4m3 as e4m3, f32, 32, 8, e5m2_of, e4m3_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e5m2_to_f32: e5m2 as e5m2, e5m2 as e5m2, f32, 32, 16, e5m2_of, e5m2_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    i8_to_i32: i8 as i8, i8 as i8, i32, 32, 8, |x| (x * 31) as i8, |x| (x * 29) as i8, |x| i32::MAX - 5000 * (x + 4), |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    i8_u8_to_i32: i8 as i8, u8 as u8, i32, 32, 16, |x| (x * 31) as i8, |x| (x * 63) as u8, |x| x, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8_i8_to_i32: u8 as u8, i8 as i8, i32, 32, 8, |x| (x * 63) as u8, |x| (x * 29) as i8, |x| i32::MIN + 5000 * (x + 4), |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8_to_i32: u8 as u8, u8 as u8, i32, 32, 16, |x| (x * 63) as u8, |x| (x * 61) as u8, |x| x, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
}

/// Makes a kernel that moves a matrix between two tiles in all four ways, and lists each element by its place.
macro_rules! moves {
    ($($name:ident: $matrix:ty, $t:ty, $rows:literal, $columns:literal;)*) => {
        mod moves {
            use super::*;
            $(
                #[cluster_kernel(block = 32)]
                pub(super) fn $name(input: &[$t], row: u32, column: u32, elements: &mut [$t], out: &mut [$t]) {
                    let block = this_thread_block();
                    let warp = tiled_partition::<32>(&block);
                    let lane = warp.thread_rank();
                    // Rows of 24 and 40 elements are not powers of two.
                    let from = shared_array::<[$t; 40], 24>();
                    let to = dynamic_shared::<[$t; 24]>();
                    for i in (lane..24 * 40).step_by(32) {
                        from[i / 40][i % 40] = input[i];
                    }
                    for i in (lane..48 * 24).step_by(32) {
                        to[i / 24][i % 24] = input[0];
                    }
                    block.sync();
                    let matrix: $matrix = warp.load_matrix(&from, row, column);
                    let transposed: $matrix = warp.load_matrix_transposed(&from, 0, 8);
                    for i in 0..matrix.len() as u32 {
                        let at = matrix.row(lane, i) * $columns + matrix.column(lane, i);
                        elements[at] = matrix[i];
                        elements[$rows * $columns + at] = transposed[i];
                    }
                    warp.store_matrix(&to[..16], 0, 8 - ($columns - 8), matrix);
                    warp.store_matrix_transposed(&to[16..], 16, 8 - ($rows - 8), transposed);
                    block.sync();
                    for i in (lane..48 * 24).step_by(32) {
                        out[i] = to[i / 24][i % 24];
                    }
                }
            )*
        }

        fn move_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                let number = <$t>::from_bits;
                let input: Vec<$t> = (0..24 * 40).map(|i| number(i + 1)).collect();
                let x = device.upload(&input)?;
                let mut elements = device.upload(&[number(0); 2 * $rows * $columns])?;
                let mut out = device.upload(&[number(0); 48 * 24])?;
                let (row, column) = (3u32, 16u32);
                moves::$name(&x, row, column, &mut elements, &mut out).grid(1).shared_bytes(48 * 24 * 2).launch(device)?;
                let by_rows = |r: usize, c: usize| input[(3 + r) * 40 + 16 + c];
                let transposed = |r: usize, c: usize| input[c * 40 + 8 + r];
                let all = (0..$rows * $columns).map(|i| (i / $columns, i % $columns));
                let want: Vec<$t> = all.clone().map(|(r, c)| by_rows(r, c)).chain(all.clone().map(|(r, c)| transposed(r, c))).collect();
                same(&elements.read()?, &want, |i| format!("element {i}"))?;
                let mut want = vec![input[0]; 48 * 24];
                for (r, c) in all {
                    want[r * 24 + 8 - ($columns - 8) + c] = by_rows(r, c);
                    want[(32 + c) * 24 + 8 - ($rows - 8) + r] = transposed(r, c);
                }
                same(&out.read()?, &want, |i| format!("row {}, column {}", i / 24, i % 24))
            })*
            vec![$(Check { name: concat!("move_", stringify!($name)), run: $name }),*]
        }

        fn move_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<moves::$name>(concat!("move ", stringify!($name)))),*]
        }
    };
}

moves! {
    a: MatrixA<bf16, 16, 16>, bf16, 16, 16;
    b: MatrixB<f16, 16, 8>, f16, 16, 8;
    b_wide: MatrixB<bf16, 16, 16>, bf16, 16, 16;
    c: Accumulator<f16, 16, 8>, f16, 16, 8;
    c_wide: Accumulator<bf16, 16, 16>, bf16, 16, 16;
}

/// Multiplies by the identity, so that each result is an element as the tensor cores see it.
#[cluster_kernel(block = 32)]
fn rounded(input: &[f32], out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let mut a = MatrixA::<tf32, 16, 8>::splat(0.0);
    let mut b = MatrixB::<tf32, 8, 8>::splat(0.0);
    for i in 0..4 {
        a[i] = input[a.row(lane, i) * 8 + a.column(lane, i)];
    }
    for i in 0..2 {
        b[i] = if b.row(lane, i) == b.column(lane, i) { 1.0 } else { 0.0 };
    }
    let c = warp.mma(a, b, Accumulator::<f32, 16, 8>::splat(0.0));
    for i in 0..4 {
        out[c.row(lane, i) * 8 + c.column(lane, i)] = c[i];
    }
}

fn tf32_is_rounded(device: &Device) -> Outcome {
    let input: Vec<f32> = (0..128u32)
        .map(|i| f32::from_bits(0x3f80_0000 + i * 0x0123_4567 % 0x0100_0000) * [1.0, -1.0][i as usize % 2])
        .collect();
    let x = device.upload(&input)?;
    let got = read!(device, 128, |out| rounded(&x, out).grid(1));
    let want: Vec<f32> = input.iter().map(|x| f32::from_bits((x.to_bits() + 0x1000) & !0x1fff)).collect();
    same(&got, &want, |i| format!("element {i}"))
}

#[device]
fn total(sums: [[Accumulator<f32, 16, 8>; 2]; 2], index: usize) -> f32 {
    let mut total = 0.0;
    for i in 0..2 {
        for j in 0..2 {
            total += sums[i][j][index];
        }
    }
    total
}

#[device]
fn squared(
    warp: &Tile<32>,
    a: MatrixA<f16, 16, 16>,
    b: &MatrixB<f16, 16, 8>,
    c: Accumulator<f32, 16, 8>,
) -> Accumulator<f32, 16, 8> {
    warp.mma(a, *b, c)
}

/// Matrices are values: elements of arrays, arguments and results, what a branch and a shuffle give.
#[cluster_kernel(block = 32)]
fn values(out: &mut [f32], swap: bool) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let mut sums = [[Accumulator::<f32, 16, 8>::splat(0.5); 2]; 2];
    let a = [MatrixA::<f16, 16, 16>::splat(f16::from_f32(1.0)), MatrixA::splat(f16::from_f32(2.0))];
    let b = (MatrixB::<f16, 16, 8>::splat(f16::from_f32(3.0)), MatrixB::splat(f16::from_f32(0.25)));
    #[unroll]
    for i in 0..2 {
        sums[i][0] = warp.mma(a[i], b.0, sums[i][0]);
        sums[i][1] = squared(&warp, a[i], &b.1, sums[i][1]);
    }
    let mut first = if swap { sums[1][1] } else { sums[0][0] };
    first[0] += lane as f32;
    let other = warp.shfl_xor(first, 1);
    out[lane] = total(sums, 3);
    out[32 + lane] = other[0] + other[1];
}

fn matrices_are_values(device: &Device) -> Outcome {
    for swap in [false, true] {
        let got = read!(device, 64, |out| values(out, swap).grid(1));
        let products = [16.0 * 3.0, 16.0 * 0.25, 16.0 * 6.0, 16.0 * 0.5];
        let sum: f32 = products.iter().map(|x| x + 0.5).sum();
        let first = if swap { products[3] } else { products[0] } + 0.5;
        let want: Vec<f32> = (0..64).map(|i| if i < 32 { sum } else { 2.0 * first + (i % 32 ^ 1) as f32 }).collect();
        same(&got, &want, |i| format!("thread {i}"))?;
    }
    Ok(())
}

#[cluster_kernel(block = 32)]
fn failing(out: &mut [f32], which: u32, row: i32, column: i32) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let tile = shared_array::<[bf16; 24], 24>();
    let bytes = dynamic_shared_slice::<[bf16; 24]>(2, 16);
    for i in 0..24 {
        if lane < 24 {
            tile[i][lane] = bf16::from_f32(0.0);
        }
    }
    warp.sync();
    if which == 0 {
        let a: MatrixA<bf16, 16, 16> = /* load */warp.load_matrix(&tile, row, column);
        out[lane] = a[0].to_f32();
    } else if which == 1 {
        /* store */
        warp.store_matrix_transposed(&tile[8..], row, column, MatrixB::<bf16, 16, 8>::splat(bf16::from_f32(1.0)));
    } else {
        /* offset */
        warp.store_matrix(&bytes, row, column, Accumulator::<bf16, 16, 8>::splat(bf16::from_f32(1.0)));
    }
}

fn bounds_and_alignment(device: &Device) -> Outcome {
    let cases = [
        (0, 9, 0, "load", "a matrix of 16 rows from 9 on is out of bounds for the 24 rows of the memory"),
        (0, -8, 0, "load", "a matrix of 16 rows from -8 on is out of bounds for the 24 rows of the memory"),
        (0, 0, 16, "load", "a matrix of 16 columns from 16 on is out of bounds for the 24 columns of the memory"),
        (0, 0, 4, "load", "a matrix must start at a multiple of 16 bytes, but the one from column 4 on does not"),
        (1, 9, 0, "store", "a matrix of 8 rows from 9 on is out of bounds for the 16 rows of the memory"),
        (1, 0, 16, "store", "a matrix of 16 columns from 16 on is out of bounds for the 24 columns of the memory"),
        (2, 0, 8, "offset", "a matrix must start at a multiple of 16 bytes, but the one from column 8 on does not"),
    ];
    for (which, row, column, name, cause) in cases {
        let mut out = device.zeros(32)?;
        let result = failing(&mut out, which, row, column).grid(1).shared_bytes(16 * 48 + 2).launch(device);
        // All lanes fail, and the first of them is open.
        let failure = failure(result)?;
        same_text(&failure.cause.to_string(), cause)?;
        equal(&[failure.location], &[Some(find(file!(), SOURCE, name))])?;
    }
    Ok(())
}

/// A lane fails while the others go on to what all of them do together.
#[cluster_kernel(block = 32)]
fn without_a_lane(out: &mut [f32], missing: u32) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let tile = shared_array::<[f16; 16], 16>();
    tile[lane / 2].store_vec(lane % 2 * 8, f16x8::splat(f16::ONE));
    warp.sync();
    if lane == missing {
        /* missing */
        out[lane + 1000] = 1.0;
    }
    let mut sum = Accumulator::<f32, 16, 8>::splat(0.0);
    for _ in 0..4 {
        let a: MatrixA<f16, 16, 16> = warp.load_matrix(&tile, 0, 0);
        let b: MatrixB<f16, 16, 8> = warp.load_matrix(&tile, 0, 8);
        sum = warp.mma(a, b, sum);
        warp.sync(); // all lanes have read
        warp.store_matrix(&tile, 0, 0, b);
        warp.sync();
    }
    out[lane] = sum[0];
}

fn a_failing_lane_is_reported(device: &Device) -> Outcome {
    let source = find(file!(), SOURCE, "missing");
    for missing in [0, 3, 31] {
        let mut out = device.zeros(32)?;
        let result = without_a_lane(&mut out, missing).grid(1).launch(device);
        let cause = format!("index {} out of bounds for length 32", missing + 1000);
        fails(result, &cause, &source, (0, 0, 0), (missing, 0, 0))?;
        // The device is as usable as before.
        let got = read!(device, 32, |out| without_a_lane(out, 32).grid(1));
        same(&got, &[64.0; 32], |i| format!("lane {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let mut checks = product_checks();
    checks.extend(move_checks());
    checks.extend(check_list![tf32_is_rounded, matrices_are_values, bounds_and_alignment, a_failing_lane_is_reported]);
    let mut kernels = product_kernels();
    kernels.extend(move_kernels());
    kernels.extend(kernel_list![rounded, values, failing, without_a_lane]);
    vec![Module { name: "matrices", checks, kernels }]
}
