//! Products of a warpgroup whose left operand is in registers: every type and pattern of rows, products that are added to products in
//! flight, and sums that are the left operand of another product. The operands are small integers, so that all sums are exact.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, check_list, equal, failure, find, kernel_list, read, same, same_text};

const SOURCE: &str = include_str!("warpgroup_registers.rs");

/// Small integers, different in each position.
fn small(seed: usize, i: usize) -> f32 {
    ((i * 7 + i / 5 * 3 + seed * 11) % 9) as f32 - 4.0
}

/// Makes a kernel that adds the products of two matrices in registers, the second to the first in flight, and its check.
macro_rules! products {
    ($($name:ident: $t:ident, $c:ident, $k:literal, $n:literal, $number:expr;)*) => {
        mod products {
            use super::*;
            $(
                #[cluster_kernel(block = 128)]
                pub(super) fn $name(a: &[$t], b: &[$t], out: &mut [$c]) {
                    let block = this_thread_block();
                    let warpgroup = tiled_partition::<128>(&block);
                    let rank = warpgroup.thread_rank();
                    let right = shared_array::<[Swizzled<$t, $k>; $n], 2>();
                    for part in 0..2 {
                        for i in (rank..$n * $k).step_by(128) {
                            right[part][i / $k][i % $k] = b[part * $n * $k + i];
                        }
                    }
                    block.sync();
                    let mut left = [MatrixA::<$t, 64, $k>::splat($t::from_f32(0.0)); 2];
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
                let number: fn(f32) -> $c = $number;
                let a: Vec<$t> = (0..2 * 64 * $k).map(|i| $t::from_f32(small(1, i))).collect();
                let b: Vec<$t> = (0..2 * $n * $k).map(|i| $t::from_f32(small(2, i))).collect();
                let (x, y) = (device.upload(&a)?, device.upload(&b)?);
                let got = read!(device, 64 * $n, |out| products::$name(&x, &y, out).grid(1));
                let product = |at: (usize, usize)| a[at.0].to_f32() * b[at.1].to_f32();
                let element = |i: usize| {
                    let terms = (0..2).flat_map(|part| (0..$k).map(move |k| {
                        (part * 64 * $k + i / $n * $k + k, part * $n * $k + i % $n * $k + k)
                    }));
                    number(terms.map(product).sum::<f32>())
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
    f16_to_f32: f16, f32, 64, 64, |sum| sum;
    f16_to_f16: f16, f16, 32, 40, f16::from_f32;
    bf16_to_f32: bf16, f32, 64, 128, |sum| sum;
    bf16_to_f32_quarter: bf16, f32, 16, 8, |sum| sum;
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
    let mut checks = check_list![sums_are_factors, the_tile_must_fit];
    checks.extend(product_checks());
    let mut kernels = kernel_list![twice, rows_of];
    kernels.extend(product_kernels());
    vec![Module { name: "warpgroup_registers", checks, kernels }]
}
