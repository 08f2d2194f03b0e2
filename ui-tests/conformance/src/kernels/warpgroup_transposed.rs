//! Products of a warpgroup whose tiles are transposed: every pattern of rows, one tile and several side by side, either operand or
//! both, with the left one in registers, straight from a tensor that is stored row by row, and operands that do not fit. The operands
//! are small integers, so that all sums are exact.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, check_list, equal, failure, find, kernel_list, read, same, same_text};

const SOURCE: &str = include_str!("warpgroup_transposed.rs");

/// Small integers, different in each position.
fn small(seed: usize, i: usize) -> f32 {
    ((i * 7 + i / 5 * 3 + seed * 11) % 9) as f32 - 4.0
}

/// Returns twice the product of 64 by `k` and `k` by `n` numbers, of which the functions return the elements.
fn doubled(k: usize, n: usize, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..64 * n).map(|i| (0..k).map(|j| a(i / n, j) * b(j, i % n)).sum::<f32>() * 2.0).collect()
}

/// Makes kernels that multiply twice, and their checks: with both tiles transposed, with the left one as it is, and with the left one in
/// registers. The rows of the left tile have `$ca` elements, so that there are `$ga` tiles, and those of the right one `$cb`.
macro_rules! products {
    ($($name:ident: $t:ident, $c:ident, $k:literal, $ca:literal by $ga:literal, $cb:literal by $gb:literal, $number:expr;)*) => {
        mod both {
            use super::*;
            $(
                #[cluster_kernel(block = 128)]
                pub(super) fn $name(a: &[$t], b: &[$t], out: &mut [$c]) {
                    const N: u32 = $cb * $gb;
                    let block = this_thread_block();
                    let warpgroup = tiled_partition::<128>(&block);
                    let rank = warpgroup.thread_rank();
                    let left = shared_array::<[Swizzled<$t, $ca>; $k], $ga>();
                    let right = shared_array::<[[Swizzled<$t, $cb>; $k]; $gb], 2>();
                    for i in (rank..$k * 64).step_by(128) {
                        left[i % 64 / $ca][i / 64][i % $ca] = a[i];
                    }
                    for i in (rank..$k * N).step_by(128) {
                        right[1][i % N / $cb][i / N][i % $cb] = b[i];
                    }
                    block.sync();
                    let zeros = Accumulator::<$c, 64, { $cb * $gb }>::splat($c::default());
                    let first = warpgroup.mma_async(zeros, left.transposed(), right[1].transposed());
                    let tile = &right[1];
                    let second = warpgroup.mma_async(first, left.transposed(), tile.transposed());
                    let sum = warpgroup.wait_mma(second);
                    for i in 0..sum.len() as u32 {
                        out[sum.row(rank, i) * N + sum.column(rank, i)] = sum[i];
                    }
                }
            )*
        }

        fn product_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                const N: usize = $cb * $gb;
                let number: fn(f32) -> $c = $number;
                let a: Vec<$t> = (0..$k * 64).map(|i| $t::from_f32(small(1, i))).collect();
                let b: Vec<$t> = (0..$k * N).map(|i| $t::from_f32(small(2, i))).collect();
                let (x, y) = (device.upload(&a)?, device.upload(&b)?);
                let got = read!(device, 64 * N, |out| both::$name(&x, &y, out).grid(1));
                let want = doubled($k, N, |i, j| a[j * 64 + i].to_f32(), |j, i| b[j * N + i].to_f32());
                same(&got, &want.into_iter().map(number).collect::<Vec<$c>>(), |i| format!("element {i}"))
            })*
            vec![$(Check { name: concat!("both_", stringify!($name)), run: $name }),*]
        }

        fn product_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<both::$name>(concat!("both ", stringify!($name)))),*]
        }
    };
}

products! {
    bf16_to_f32: bf16, f32, 64, 64 by 1, 64 by 2, |sum| sum;
    bf16_to_f32_short: bf16, f32, 16, 32 by 2, 64 by 1, |sum| sum;
    bf16_to_f32_half: bf16, f32, 48, 32 by 2, 32 by 3, |sum| sum;
    f16_to_f32_quarter: f16, f32, 80, 16 by 4, 16 by 5, |sum| sum;
    f16_to_f16: f16, f16, 32, 64 by 1, 16 by 1, f16::from_f32;
    f16_to_f32_wide: f16, f32, 32, 16 by 4, 64 by 4, |sum| sum;
}

/// The left tile is as it is, or in registers; the rows of the right one are those of a row-major matrix, with as many as the ring's
/// tile has.
#[cluster_kernel(block = 128)]
fn one_of_two(a: &[bf16], b: &[bf16], out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let left = shared_array::<Swizzled<bf16, 32>, 64>();
    let right = shared_array::<[Swizzled<bf16, 64>; 32], 3>();
    let mut registers = MatrixA::<bf16, 64, 32>::splat(bf16::from_f32(0.0));
    for i in (rank..64 * 32).step_by(128) {
        left[i / 32][i % 32] = a[i];
        right[2][i / 64][i % 64] = b[i];
    }
    for i in 0..registers.len() as u32 {
        registers[i] = a[registers.row(rank, i) * 32 + registers.column(rank, i)];
    }
    block.sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let first = warpgroup.mma_async(zeros, &left, right[2].transposed());
    let second = warpgroup.mma_async(zeros, registers, right[2].transposed());
    let (first, second) = (warpgroup.wait_mma(first), warpgroup.wait_mma(second));
    for i in 0..first.len() as u32 {
        out[first.row(rank, i) * 64 + first.column(rank, i)] = first[i] + second[i];
    }
}

fn left_as_it_is(device: &Device) -> Outcome {
    let a: Vec<bf16> = (0..64 * 32).map(|i| bf16::from_f32(small(3, i))).collect();
    let b: Vec<bf16> = (0..32 * 64).map(|i| bf16::from_f32(small(4, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, 64 * 64, |out| one_of_two(&x, &y, out).grid(1));
    let want = doubled(32, 64, |i, j| a[i * 32 + j].to_f32(), |j, i| b[j * 64 + i].to_f32());
    same(&got, &want, |i| format!("element {i}"))
}

/// A stage of the left operand, which is stored row by row, and of the right one, 64 rows of 128 columns, which is stored so, too: as two
/// tiles side by side, of a tensor whose columns are taken by 64.
type Left = [Swizzled<bf16, 64>; 64];
type Right = [[Swizzled<bf16, 64>; 64]; 2];

/// Multiplies two row-major matrices, 64 by `parts * 64` and `parts * 64` by 128.
#[cluster_kernel(block = 256)]
fn row_major(a: &TensorMap<Left>, b: &TensorMap<Right>, out: &mut [f32], parts: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let left = shared_array::<Left, 2>();
    let right = shared_array::<Right, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for part in 0..parts {
                let stage = part % 2;
                empty[stage].wait_parity(part / 2 % 2 == 0);
                a.load_async([0, part as i32 * 64], &left[stage], &full[stage]);
                b.load_async([0, part as i32 * 64, 0], &right[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let mut sum = Accumulator::<f32, 64, 128>::splat(0.0);
        for part in 0..parts {
            let stage = part % 2;
            full[stage].wait_parity(part / 2 % 2 == 1);
            let product = warpgroup.mma_async(sum, &left[stage], right[stage].transposed());
            sum = warpgroup.wait_mma(product);
            if rank % 32 == 0 {
                let _ = empty[stage].arrive();
            }
        }
        for i in 0..sum.len() as u32 {
            out[sum.row(rank, i) * 128 + sum.column(rank, i)] = sum[i];
        }
    }
}

fn of_tensors(device: &Device) -> Outcome {
    let k = 5 * 64;
    let a: Vec<bf16> = (0..64 * k).map(|i| bf16::from_f32(small(5, i))).collect();
    let b: Vec<bf16> = (0..k * 128).map(|i| bf16::from_f32(small(6, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let (x, y) = (x.tensor([64, k])?, y.tensor_with_strides([2, k, 64], [64, 128, 1])?);
    let got = read!(device, 64 * 128, |out| row_major(&x, &y, out, 5).grid(1));
    let element = |i: usize| (0..k).map(|j| a[i / 128 * k + j].to_f32() * b[j * 128 + i % 128].to_f32()).sum::<f32>();
    same(&got, &Vec::from_iter((0..64 * 128).map(element)), |i| format!("element {i}"))
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
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let product = /* fits */
        warpgroup.mma_async(zeros, tile[0..32].transposed(), tile[0..rows].transposed());
    let sum = warpgroup.wait_mma(product);
    out[rank] = sum[0];
}

fn the_depths_must_be_equal(device: &Device) -> Outcome {
    let run = |rows: u32| -> phalanx::Result<Vec<f32>> {
        let mut out = device.zeros(128)?;
        rows_of(&mut out, rows).grid(1).launch(device)?;
        out.read()
    };
    same(&run(32)?, &[32.0; 128], |i| format!("element {i}"))?;
    let failure = failure(run(40).map(drop))?;
    let words = "the operands of this product must have as many elements in the direction of the sum, a multiple of 16, but they have \
         32 and 40; a transposed tile has one for each of its rows";
    same_text(&failure.cause.to_string(), words)?;
    equal(&[failure.location], &[Some(find(file!(), SOURCE, "fits"))])
}

pub(super) fn modules() -> Vec<Module> {
    let mut checks = check_list![left_as_it_is, of_tensors, the_depths_must_be_equal];
    checks.extend(product_checks());
    let mut kernels = kernel_list![one_of_two, row_major, rows_of];
    kernels.extend(product_kernels());
    vec![Module { name: "warpgroup_transposed", checks, kernels }]
}
