//! Products of a warpgroup: every type, several widths and patterns of rows, products that are added to products in flight, several
//! warpgroups, a ring with a product in flight, and operands that do not fit. The operands are small integers, so that all sums are exact, on a GPU as well.

use phalanx::prelude::*;

use super::matrices::{brain, e4m3_of, e5m2_of, half, small};
use crate::{Check, Kernel, Module, Outcome, check_list, equal, failure, find, kernel_list, read, same, same_text};

const SOURCE: &str = include_str!("warpgroups.rs");

/// Makes a kernel that adds two products, the second to the first in flight, and its check.
macro_rules! products {
    ($($name:ident: $a:ident, $b:ident, $c:ident, $k:literal, $n:literal, $number_a:expr, $number_b:expr, $number_c:expr, $step:expr;)*) => {
        mod products {
            use super::*;
            $(
                #[cluster_kernel(block = 128)]
                pub(super) fn $name(a: &[$a], b: &[$b], c: &[$c], out: &mut [$c]) {
                    let block = this_thread_block();
                    let warpgroup = tiled_partition::<128>(&block);
                    let rank = warpgroup.thread_rank();
                    let left = shared_array::<[Swizzled<$a, $k>; 64], 2>();
                    let right = shared_array::<[Swizzled<$b, $k>; $n], 2>();
                    for part in 0..2 {
                        for i in (rank..64 * $k).step_by(128) {
                            left[part][i / $k][i % $k] = a[part * 64 * $k + i];
                        }
                        for i in (rank..$n * $k).step_by(128) {
                            right[part][i / $k][i % $k] = b[part * $n * $k + i];
                        }
                    }
                    block.sync();
                    let mut sum = Accumulator::<$c, 64, $n>::splat(c[0]);
                    for i in 0..sum.len() as u32 {
                        sum[i] = c[sum.row(rank, i) * $n + sum.column(rank, i)];
                    }
                    let first = warpgroup.mma_async(sum, &left[0], &right[0]);
                    let both = warpgroup.mma_async(first, &left[1], &right[1]);
                    sum = warpgroup.wait_mma(both);
                    for i in 0..sum.len() as u32 {
                        out[sum.row(rank, i) * $n + sum.column(rank, i)] = sum[i];
                    }
                }
            )*
        }

        fn product_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                let (number_a, number_b): (fn(i32) -> $a, fn(i32) -> $b) = ($number_a, $number_b);
                let number_c: fn(i32) -> $c = $number_c;
                let a: Vec<$a> = (0..2 * 64 * $k).map(|i| number_a(small(1, i))).collect();
                let b: Vec<$b> = (0..2 * $n * $k).map(|i| number_b(small(2, i))).collect();
                let c: Vec<$c> = (0..64 * $n).map(|i| number_c(small(3, i))).collect();
                let step: fn($a, $b, $c) -> $c = $step;
                let (x, y, z) = (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?);
                let got = read!(device, 64 * $n, |out| products::$name(&x, &y, &z, out).grid(1));
                let element = |i: usize| {
                    let term = |sum, (part, k): (usize, usize)| {
                        step(a[part * 64 * $k + i / $n * $k + k], b[part * $n * $k + i % $n * $k + k], sum)
                    };
                    (0..2).flat_map(|part| (0..$k).map(move |k| (part, k))).fold(c[i], term)
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
    f16_to_f32: f16, f16, f32, 64, 8, half, half, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    f16_to_f16: f16, f16, f16, 64, 40, half, half, half, |a, b, sum| sum + a * b;
    f16_to_f16_narrow: f16, f16, f16, 16, 128, half, half, half, |a, b, sum| sum + a * b;
    bf16_to_f32: bf16, bf16, f32, 64, 256, brain, brain, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    bf16_to_f32_half: bf16, bf16, f32, 32, 24, brain, brain, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    bf16_to_f32_quarter: bf16, bf16, f32, 16, 200, brain, brain, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e4m3_to_f32: e4m3, e4m3, f32, 128, 256, e4m3_of, e4m3_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e4m3_e5m2_to_f32: e4m3, e5m2, f32, 64, 24, e4m3_of, e5m2_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e5m2_e4m3_to_f32: e5m2, e4m3, f32, 32, 104, e5m2_of, e4m3_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    e5m2_to_f32: e5m2, e5m2, f32, 128, 8, e5m2_of, e5m2_of, |x| x as f32, |a, b, sum| sum + a.to_f32() * b.to_f32();
    tf32_to_f32: f32, f32, f32, 32, 128, |x| x as f32, |x| x as f32, |x| x as f32, |a, b, sum| sum + a * b;
    tf32_to_f32_half: f32, f32, f32, 16, 8, |x| x as f32, |x| x as f32, |x| x as f32, |a, b, sum| sum + a * b;
    tf32_to_f32_quarter: f32, f32, f32, 8, 256, |x| x as f32, |x| x as f32, |x| x as f32, |a, b, sum| sum + a * b;
    i8_to_i32: i8, i8, i32, 128, 16, |x| (x * 31) as i8, |x| (x * 29) as i8, |x| i32::MAX - 5000 * (x + 4), |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    i8_u8_to_i32: i8, u8, i32, 64, 24, |x| (x * 31) as i8, |x| (x * 63) as u8, |x| x, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8_i8_to_i32: u8, i8, i32, 32, 112, |x| (x * 63) as u8, |x| (x * 29) as i8, |x| i32::MIN + 5000 * (x + 4), |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8_to_i32: u8, u8, i32, 128, 8, |x| (x * 63) as u8, |x| (x * 61) as u8, |x| x, |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
}

/// Each warpgroup multiplies 64 of the rows by all columns, step by step, with one product in flight while the threads fill the
/// tiles of the next: what was read two steps before.
#[cluster_kernel(block = 256)]
fn steps(a: &[bf16], b: &[bf16], out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let left = shared_array::<[Swizzled<bf16, 64>; 64], 4>();
    let right = shared_array::<[Swizzled<bf16, 64>; 32], 2>();
    let mut sum = Accumulator::<f32, 64, 32>::splat(0.0);
    for step in 0..steps {
        let stage = step % 2;
        for i in (rank..64 * 64).step_by(128) {
            left[which * 2 + stage][i / 64][i % 64] = a[(which * 64 + i / 64) * steps * 64 + step * 64 + i % 64];
        }
        for i in (block.thread_rank()..32 * 64).step_by(256) {
            right[stage][i / 64][i % 64] = b[i / 64 * steps * 64 + step * 64 + i % 64];
        }
        block.sync();
        let product = warpgroup.mma_async(sum, &left[which * 2 + stage], &right[stage]);
        warpgroup.wait_mma_prior::<1>();
        sum = warpgroup.wait_mma(product);
    }
    for i in 0..sum.len() as u32 {
        out[(which * 64 + sum.row(rank, i)) * 32 + sum.column(rank, i)] = sum[i];
    }
}

fn several_steps(device: &Device) -> Outcome {
    let (rows, columns, depth) = (128, 32, 3 * 64);
    let a: Vec<bf16> = (0..rows * depth).map(|i| brain(small(4, i))).collect();
    let b: Vec<bf16> = (0..columns * depth).map(|i| brain(small(5, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, rows * columns, |out| steps(&x, &y, out, 3).grid(1));
    let element = |i: usize| {
        let term = |k: usize| a[i / columns * depth + k].to_f32() * b[i % columns * depth + k].to_f32();
        (0..depth).map(term).sum::<f32>()
    };
    same(&got, &(0..rows * columns).map(element).collect::<Vec<f32>>(), |i| format!("element {i}"))
}

/// Two sums at once, of one left operand, in a device function that is given the warpgroup, whose parts of a tile are operands.
#[cluster_kernel(block = 128)]
fn two_sums(a: &[f16], b: &[f16], out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let left = shared_array::<Swizzled<f16, 32>, 64>();
    let right = shared_array::<Swizzled<f16, 32>, 32>();
    for i in (rank..64 * 32).step_by(128) {
        left[i / 32][i % 32] = a[i];
    }
    for i in (rank..32 * 32).step_by(128) {
        right[i / 32][i % 32] = b[i];
    }
    block.sync();
    let (first, second) = both(&warpgroup, &left, &right);
    for i in 0..first.len() as u32 {
        out[first.row(rank, i) * 32 + first.column(rank, i)] = first[i];
        out[second.row(rank, i) * 32 + 16 + second.column(rank, i)] = second[i];
    }
}

#[device]
fn both(
    warpgroup: &Tile<128>,
    left: &SharedArray<Swizzled<f16, 32>, 64>,
    right: &SharedArray<Swizzled<f16, 32>, 32>,
) -> (Accumulator<f32, 64, 16>, Accumulator<f32, 64, 16>) {
    let zeros = Accumulator::<f32, 64, 16>::splat(0.0);
    let first = warpgroup.mma_async(zeros, left, &right[0..16]);
    let second = warpgroup.mma_async(zeros, left, &right[16..32]);
    (warpgroup.wait_mma(first), warpgroup.wait_mma(second))
}

fn sums_of_parts(device: &Device) -> Outcome {
    let a: Vec<f16> = (0..64 * 32).map(|i| half(small(6, i))).collect();
    let b: Vec<f16> = (0..32 * 32).map(|i| half(small(7, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, 64 * 32, |out| two_sums(&x, &y, out).grid(1));
    let element = |i: usize| (0..32).map(|k| a[i / 32 * 32 + k].to_f32() * b[i % 32 * 32 + k].to_f32()).sum::<f32>();
    same(&got, &(0..64 * 32).map(element).collect::<Vec<f32>>(), |i| format!("element {i}"))
}

/// Multiplies by the identity, so that each result is an element as the tensor cores see it.
#[cluster_kernel(block = 128)]
fn truncated(input: &[f32], out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let left = shared_array::<Swizzled<f32, 8>, 64>();
    let right = shared_array::<Swizzled<f32, 8>, 8>();
    for i in (rank..64 * 8).step_by(128) {
        left[i / 8][i % 8] = input[i];
    }
    if rank < 64 {
        right[rank / 8][rank % 8] = if rank / 8 == rank % 8 { 1.0 } else { 0.0 };
    }
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 8>::splat(0.0), &left, &right);
    let sum = warpgroup.wait_mma(product);
    for i in 0..sum.len() as u32 {
        out[sum.row(rank, i) * 8 + sum.column(rank, i)] = sum[i];
    }
}

fn tf32_is_truncated(device: &Device) -> Outcome {
    let input: Vec<f32> = (0..512u32)
        .map(|i| f32::from_bits(0x3f80_0000 + i.wrapping_mul(0x0123_4567) % 0x0100_0000) * [1.0, -1.0][i as usize % 2])
        .collect();
    let x = device.upload(&input)?;
    let got = read!(device, 512, |out| truncated(&x, out).grid(1));
    let want: Vec<f32> = input.iter().map(|x| f32::from_bits(x.to_bits() & !0x1fff)).collect();
    same(&got, &want, |i| format!("element {i}"))
}

/// One warpgroup fills the tiles and needs few registers; the others multiply 64 rows each. What follows both arms would need the
/// registers that the first one has given back.
#[cluster_kernel(block = 384)]
fn specialised(a: &[bf16], b: &[bf16], out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let left = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    let right = shared_array::<Swizzled<bf16, 64>, 192>();
    let full = shared_barrier();
    full.init_collective(&block, 128);
    if which == 2 {
        warpgroup.decrease_registers::<40>();
        for i in (rank..128 * 64).step_by(128) {
            left[i / 4096][i / 64 % 64][i % 64] = a[i];
        }
        for i in (rank..192 * 64).step_by(128) {
            right[i / 64][i % 64] = b[i];
        }
        let _ = full.arrive();
    } else {
        warpgroup.increase_registers::<232>();
        full.wait_parity(false);
        let zeros = Accumulator::<f32, 64, 192>::splat(0.0);
        let product = warpgroup.mma_async(zeros, &left[which], &right);
        let sum = warpgroup.wait_mma(product);
        for i in 0..sum.len() as u32 {
            out[(which * 64 + sum.row(rank, i)) * 192 + sum.column(rank, i)] = sum[i];
        }
    }
}

fn registers_change(device: &Device) -> Outcome {
    let a: Vec<bf16> = (0..128 * 64).map(|i| brain(small(10, i))).collect();
    let b: Vec<bf16> = (0..192 * 64).map(|i| brain(small(11, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, 128 * 192, |out| specialised(&x, &y, out).grid(1));
    let element = |i: usize| (0..64).map(|k| a[i / 192 * 64 + k].to_f32() * b[i % 192 * 64 + k].to_f32()).sum::<f32>();
    same(&got, &(0..128 * 192).map(element).collect::<Vec<f32>>(), |i| format!("element {i}"))
}

/// Multiplies some rows of a tile.
#[cluster_kernel(block = 128)]
fn rows_from(first: u32, rows: u32, out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 128>();
    for i in (warpgroup.thread_rank()..128 * 64).step_by(128) {
        tile[i / 64][i % 64] = bf16::from_f32(1.0);
    }
    this_thread_block().sync();
    let zeros = Accumulator::<f32, 64, 8>::splat(0.0);
    let product = /* operands */
        warpgroup.mma_async(zeros, &tile[0..64], &tile[first..first + rows]);
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[3];
}

fn operands_that_do_not_fit(device: &Device) -> Outcome {
    let run = |first: u32, rows: u32| {
        let mut out = device.zeros(128)?;
        rows_from(first, rows, &mut out).grid(1).launch(device)?;
        out.read()
    };
    same(&run(8, 8)?, &[64.0; 128], |i| format!("thread {i}"))?;
    let misaligned = "an operand of a warpgroup's product must start at a multiple of 1024 bytes, 8 of its rows, but this one starts 512 bytes past one; begin it at a row that is a multiple of 8";
    let rows = "this product takes 64 rows of its left operand and 8 of its right one, whose rows are the columns of the sum, but they have 64 and 16; pass a part, such as `&tile[0..64]`";
    for (first, count, cause) in [(4, 8, misaligned), (0, 16, rows)] {
        let failure = failure(run(first, count).map(drop))?;
        same_text(&failure.cause.to_string(), cause)?;
        equal(&[failure.location], &[Some(find(file!(), SOURCE, "operands"))])?;
    }
    Ok(())
}

/// The threads work on the scores of each round while the product after them is multiplied: the scores are of one row and one column of the
/// tile, the weights that of the second product.
#[cluster_kernel(block = 128)]
fn scores_and_weights(a: &[bf16], out: &mut [f32], rounds: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<[Swizzled<bf16, 64>; 64], 1>();
    for i in (rank..64 * 64).step_by(128) {
        tile[0][i / 64][i % 64] = a[i];
    }
    this_thread_block().sync();
    let mut weights = MatrixA::<bf16, 64, 64>::splat(bf16::from_f32(0.0));
    let mut result = Accumulator::<f32, 64, 64>::splat(0.0);
    for round in 0..rounds {
        let scores = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(round as f32), &tile[0], &tile[0]);
        let product = warpgroup.mma_async(result, weights, tile[0].transposed());
        let mut sums = warpgroup.wait_mma_except_last(scores);
        for i in 0..sums.len() {
            sums[i] = if sums[i] > 0.0 { 1.0 } else { -1.0 };
        }
        result = warpgroup.wait_mma(product);
        weights = MatrixA::from_accumulator(sums.to_bf16());
    }
    for i in 0..result.len() as u32 {
        out[result.row(rank, i) * 64 + result.column(rank, i)] = result[i];
    }
}

fn sums_while_products_go_on(device: &Device) -> Outcome {
    let a: Vec<bf16> = (0..64 * 64).map(|i| brain(small(6, i))).collect();
    let at = |row: usize, column: usize| a[row * 64 + column].to_f32();
    let rounds = 4;
    let x = device.upload(&a)?;
    let got = read!(device, 64 * 64, |out| scores_and_weights(&x, out, rounds).grid(1));
    let mut want = vec![0.0f32; 64 * 64];
    for round in 0..rounds - 1 {
        for i in 0..64 {
            let score = |j: usize| (0..64).map(|k| at(i, k) * at(j, k)).sum::<f32>() + round as f32;
            let weights: Vec<f32> = (0..64).map(|j| if score(j) > 0.0 { 1.0 } else { -1.0 }).collect();
            for column in 0..64 {
                want[i * 64 + column] += (0..64).map(|j| weights[j] * at(j, column)).sum::<f32>();
            }
        }
    }
    same(&got, &want, |i| format!("element {i}"))
}

type Rows = [Swizzled<bf16, 64>; 64];

/// Keeps one product in flight. The given thread fails in the given step, while a product is in flight.
#[device]
fn overlapped(
    warpgroup: &Tile<128>,
    tiles: &SharedArray<[Rows; 2], 2>,
    full: &Barriers<2>,
    empty: &Barriers<2>,
    steps: u32,
    (thread, last): (u32, u32),
) -> Accumulator<f32, 64, 64> {
    full[0].wait_parity(false);
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let mut product = warpgroup.mma_async(zeros, &tiles[0][0], &tiles[0][1]);
    for step in 1..steps {
        let stage = step % 2;
        full[stage].wait_parity(step / 2 % 2 == 1);
        product = warpgroup.mma_async(product, &tiles[stage][0], &tiles[stage][1]);
        assert!(step != last || warpgroup.thread_rank() != thread, "thread {thread} fails");
        warpgroup.wait_mma_prior::<1>();
        let _ = empty[(step - 1) % 2].arrive();
    }
    warpgroup.wait_mma(product)
}

/// One warpgroup multiplies what a thread of the other loads.
#[cluster_kernel(block = 256)]
fn ring(a: &TensorMap<Rows>, b: &TensorMap<Rows>, out: &mut [f32], steps: u32, failing: u32, last: u32) {
    assert!(steps > 0); // the first product has no condition
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tiles = shared_array::<[Rows; 2], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 128);
    let rank = warpgroup.thread_rank();
    if warpgroup.meta_group_rank() == 1 {
        if rank == 0 {
            for step in 0..steps {
                let (stage, start) = (step % 2, step as i32 * 64);
                empty[stage].wait_parity(step / 2 % 2 == 0);
                a.load_async([0, start], &tiles[stage][0], &full[stage]);
                b.load_async([0, start], &tiles[stage][1], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let sum = overlapped(&warpgroup, &tiles, &full, &empty, steps, (failing, last));
        for i in 0..sum.len() as u32 {
            out[sum.row(rank, i) * 64 + sum.column(rank, i)] = sum[i];
        }
    }
}

/// A thread that fails alone while a product is in flight is reported, and the device goes on.
fn failures_in_flight(device: &Device) -> Outcome {
    let (steps, depth) = (5, 5 * 64);
    let a: Vec<bf16> = (0..64 * depth).map(|i| brain(small(8, i))).collect();
    let b: Vec<bf16> = (0..64 * depth).map(|i| brain(small(9, i))).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let run = |thread: u32, last: u32| {
        let mut out = device.zeros(64 * 64)?;
        ring(&x.tensor([64, depth])?, &y.tensor([64, depth])?, &mut out, steps, thread, last).grid(1).launch(device)?;
        out.read()
    };
    for (thread, last) in [(0, 1), (37, 2), (127, 4)] {
        let failure = failure(run(thread, last).map(drop))?;
        same_text(&failure.cause.to_string(), &format!("thread {thread} fails"))?;
    }
    let element = |i: usize| (0..depth).map(|k| a[i / 64 * depth + k].to_f32() * b[i % 64 * depth + k].to_f32()).sum();
    same(&run(0, steps)?, &(0..64 * 64).map(element).collect::<Vec<f32>>(), |i| format!("element {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let mut checks = check_list![
        several_steps,
        sums_of_parts,
        tf32_is_truncated,
        registers_change,
        sums_while_products_go_on,
        operands_that_do_not_fit,
        failures_in_flight
    ];
    checks.extend(product_checks());
    let mut kernels = kernel_list![steps, two_sums, truncated, specialised, rows_from, scores_and_weights, ring];
    kernels.extend(product_kernels());
    vec![Module { name: "warpgroups", checks, kernels }]
}
