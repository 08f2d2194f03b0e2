//! Products of a warpgroup whose left operand is in registers: every type and pattern of rows, products that are added to products in
//! flight, and sums that are the left operand of another product. The operands are small integers, so that all sums are exact.

use phalanx::prelude::*;

use super::matrices::{brain, e4m3_of, e5m2_of, half, small};
use crate::{Check, Kernel, Module, Outcome, check_list, equal, failure, find, kernel_list, read, same, same_text};

const SOURCE: &str = include_str!("warpgroup_registers.rs");

fn single(x: i32) -> f32 {
    x as f32
}

/// Makes a small integer one of which the sign matters, if the type has one.
fn signed(x: i32) -> i8 {
    (x * 31) as i8
}

fn unsigned(x: i32) -> u8 {
    (x * 63) as u8
}

/// Makes a kernel that adds the products of two matrices in registers, the second to the first in flight, and its check.
macro_rules! products {
    ($($name:ident: $t:ident in $a:ident, $b:ident, $c:ident, $k:literal, $n:literal, $number_a:expr, $number_b:expr, $number_c:expr;)*) => {
        mod products {
            use super::*;
            $(
                #[cluster_kernel(block = 128)]
                pub(super) fn $name(a: &[$a], b: &[$b], out: &mut [$c]) {
                    let block = this_thread_block();
                    let warpgroup = tiled_partition::<128>(&block);
                    let rank = warpgroup.thread_rank();
                    let right = shared_array::<[Swizzled<$b, $k>; $n], 2>();
                    for part in 0..2 {
                        for i in (rank..$n * $k).step_by(128) {
                            right[part][i / $k][i % $k] = b[part * $n * $k + i];
                        }
                    }
                    block.sync();
                    let mut left = [MatrixA::<$t, 64, $k>::splat(a[0]); 2];
                    #[unroll]
                    for part in 0..2u32 {
                        #[unroll]
                        for i in 0..left[part].len() as u32 {
                            let (row, column) = (left[part].row(rank, i), left[part].column(rank, i));
                            left[part][i] = a[part * 64 * $k + row * $k + column];
                        }
                    }
                    let zeros = Accumulator::<$c, 64, $n>::splat($c::default());
                    let first = warpgroup.mma_async(zeros, left[0], &right[0]);
                    let both = warpgroup.mma_async(first, left[1], &right[1]);
                    let sum = warpgroup.wait_mma(both);
                    for i in 0..sum.len() as u32 {
                        out[sum.row(rank, i) * $n + sum.column(rank, i)] = sum[i];
                    }
                }
            )*
        }

        fn product_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                let (number_a, number_b): (fn(i32) -> $a, fn(i32) -> $b) = ($number_a, $number_b);
                let number_c: fn(f64) -> $c = $number_c;
                let a: Vec<$a> = (0..2 * 64 * $k).map(|i| number_a(small(1, i))).collect();
                let b: Vec<$b> = (0..2 * $n * $k).map(|i| number_b(small(2, i))).collect();
                let (x, y) = (device.upload(&a)?, device.upload(&b)?);
                let got = read!(device, 64 * $n, |out| products::$name(&x, &y, out).grid(1));
                let product = |at: (usize, usize)| f64::from(a[at.0]) * f64::from(b[at.1]);
                let element = |i: usize| {
                    let terms = (0..2).flat_map(|part| (0..$k).map(move |k| {
                        (part * 64 * $k + i / $n * $k + k, part * $n * $k + i % $n * $k + k)
                    }));
                    number_c(terms.map(product).sum::<f64>())
                };
                same(&got, &(0..64 * $n).map(element).collect::<Vec<$c>>(), |i| format!("element {i}"))
            })*
            vec![$(Check { name: concat!("product_", stringify!($name)), run: $name }),*]
        }

        fn product_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<products::$name>(concat!("product ", stringify!($name)))),*]
        }
    };
}

products! {
    f16_to_f32: f16 in f16, f16, f32, 64, 64, half, half, |sum| sum as f32;
    f16_to_f16: f16 in f16, f16, f16, 32, 40, half, half, f16::from_f64;
    bf16_to_f32: bf16 in bf16, bf16, f32, 64, 128, brain, brain, |sum| sum as f32;
    bf16_to_f32_quarter: bf16 in bf16, bf16, f32, 16, 8, brain, brain, |sum| sum as f32;
    tf32_to_f32: tf32 in f32, f32, f32, 32, 128, single, single, |sum| sum as f32;
    tf32_to_f32_half: tf32 in f32, f32, f32, 16, 24, single, single, |sum| sum as f32;
    tf32_to_f32_quarter: tf32 in f32, f32, f32, 8, 256, single, single, |sum| sum as f32;
    i8_to_i32: i8 in i8, i8, i32, 128, 64, signed, signed, |sum| sum as i32;
    i8_u8_to_i32: i8 in i8, u8, i32, 64, 24, signed, unsigned, |sum| sum as i32;
    u8_i8_to_i32: u8 in u8, i8, i32, 32, 112, unsigned, signed, |sum| sum as i32;
    u8_to_i32: u8 in u8, u8, i32, 128, 8, unsigned, unsigned, |sum| sum as i32;
    e4m3_to_f32: e4m3 in e4m3, e4m3, f32, 128, 128, e4m3_of, e4m3_of, |sum| sum as f32;
    e4m3_e5m2_to_f32: e4m3 in e4m3, e5m2, f32, 64, 24, e4m3_of, e5m2_of, |sum| sum as f32;
    e5m2_e4m3_to_f32: e5m2 in e5m2, e4m3, f32, 32, 104, e5m2_of, e4m3_of, |sum| sum as f32;
    e5m2_to_f32: e5m2 in e5m2, e5m2, f32, 64, 8, e5m2_of, e5m2_of, |sum| sum as f32;
}

/// Multiplies by the identity, so that each result is an element as the tensor cores see it.
#[cluster_kernel(block = 128)]
fn rounded(input: &[f32], out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let right = shared_array::<Swizzled<f32, 8>, 8>();
    if rank < 64 {
        right[rank / 8][rank % 8] = if rank / 8 == rank % 8 { 1.0 } else { 0.0 };
    }
    this_thread_block().sync();
    let mut left = MatrixA::<tf32, 64, 8>::splat(0.0);
    for i in 0..left.len() as u32 {
        left[i] = input[left.row(rank, i) * 8 + left.column(rank, i)];
    }
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 8>::splat(0.0), left, &right);
    let sum = warpgroup.wait_mma(product);
    for i in 0..sum.len() as u32 {
        out[sum.row(rank, i) * 8 + sum.column(rank, i)] = sum[i];
    }
}

/// Elements in registers are rounded to nearest, as those of a warp's product, and not truncated as those of a tile.
fn tf32_is_rounded(device: &Device) -> Outcome {
    let input: Vec<f32> = (0..512u32)
        .map(|i| f32::from_bits(((0x3f80_0000 + i.wrapping_mul(0x0123_4567) % 0x0100_0000) & !0xfff) | (i % 3 * 0x7ff)))
        .zip([1.0, -1.0].into_iter().cycle())
        .map(|(size, sign)| size * sign)
        .collect();
    let x = device.upload(&input)?;
    let got = read!(device, 512, |out| rounded(&x, out).grid(1));
    // Ties away from zero.
    let want: Vec<f32> = input.iter().map(|x| f32::from_bits((x.to_bits() + 0x1000) & !0x1fff)).collect();
    same(&got, &want, |i| format!("element {i}"))
}

/// Multiplies rows by the transpose of a tile, and what that gives once more, in the registers where it is.
#[cluster_kernel(block = 128)]
fn twice(a: &TensorMap<[Swizzled<bf16, 64>; 64]>, b: &TensorMap<[Swizzled<bf16, 64>; 64]>, out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if rank == 0 {
        a.load_async([0, 0], &tiles[0], &full);
        b.load_async([0, 0], &tiles[1], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let once = warpgroup.mma_async(zeros, &tiles[0], &tiles[1]);
    let sums = warpgroup.wait_mma(once);
    let again = warpgroup.mma_async(zeros, MatrixA::from_accumulator(sums.to_bf16()), &tiles[1]);
    let sums = warpgroup.wait_mma(again);
    for i in 0..32 {
        out[sums.row(rank, i) * 64 + sums.column(rank, i)] = sums[i];
    }
}

fn sums_are_factors(device: &Device) -> Outcome {
    // Small enough for the first sums to be exact as `bf16`.
    let number =
        |seed: usize, i: usize| bf16::from_f32(if (i * 5 + i / 64 * 3 + seed).is_multiple_of(11) { 1.0 } else { 0.0 });
    let a: Vec<bf16> = (0..64 * 64).map(|i| number(1, i)).collect();
    let b: Vec<bf16> = (0..64 * 64).map(|i| number(2, i)).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let (x, y) = (x.tensor([64, 64])?, y.tensor([64, 64])?);
    let got = read!(device, 64 * 64, |out| twice(&x, &y, out).grid(1));
    let multiplied = |left: &[f32]| -> Vec<f32> {
        (0..64 * 64).map(|i| (0..64).map(|k| left[i / 64 * 64 + k] * b[i % 64 * 64 + k].to_f32()).sum()).collect()
    };
    let once = multiplied(&a.iter().map(|x| x.to_f32()).collect::<Vec<f32>>());
    same(&got, &multiplied(&once), |i| format!("element {i}"))
}

/// The right operand has as many rows as its launch says.
#[cluster_kernel(block = 128)]
fn rows_of(out: &mut [f32], rows: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    for i in (rank..64 * 64).step_by(128) {
        tile[i / 64][i % 64] = bf16::from_f32(1.0);
    }
    this_thread_block().sync();
    let left = MatrixA::<bf16, 64, 64>::splat(bf16::from_f32(1.0));
    let zeros = Accumulator::<f32, 64, 32>::splat(0.0);
    let product = /* fits */
        warpgroup.mma_async(zeros, left, &tile[0..rows]);
    let sum = warpgroup.wait_mma(product);
    out[rank] = sum[0];
}

fn the_tile_must_fit(device: &Device) -> Outcome {
    let run = |rows: u32| -> phalanx::Result<Vec<f32>> {
        let mut out = device.zeros(128)?;
        rows_of(&mut out, rows).grid(1).launch(device)?;
        out.read()
    };
    same(&run(32)?, &[64.0; 128], |i| format!("element {i}"))?;
    let failure = failure(run(40).map(drop))?;
    let words = "this product takes 64 rows of its left operand and 32 of its right one, whose rows are the columns of the sum, but \
         they have 64 and 40; pass a part, such as `&tile[0..64]`";
    same_text(&failure.cause.to_string(), words)?;
    equal(&[failure.location], &[Some(find(file!(), SOURCE, "fits"))])
}

pub(super) fn modules() -> Vec<Module> {
    let mut checks = check_list![tf32_is_rounded, sums_are_factors, the_tile_must_fit];
    checks.extend(product_checks());
    let mut kernels = kernel_list![rounded, twice, rows_of];
    kernels.extend(product_kernels());
    vec![Module { name: "warpgroup_registers", checks, kernels }]
}
