//! Sums that are read right behind the wait for the last product, where the waits in the loop before it leave a product in flight. The
//! assembler takes such sums for complete, unless they depend on what is behind the wait. As many steps as a multiple of 16 are code of
//! their own, whose loop has no way around it.

use phalanx::prelude::*;

use super::warpgroup_functions::Sums;
use crate::{Module, Outcome, check_list, kernel_list, same};

/// The columns of the result.
const WIDE: usize = 256;
const STAGES: usize = 2;

type Left<T, const N: usize> = [Swizzled<T, N>; 64];
type Right<T, const N: usize> = [Swizzled<T, N>; WIDE];

/// Makes a kernel that multiplies 64 rows by the transpose of 256 rows, in `steps` parts of the sum, and stores what `$stored` makes of an element.
macro_rules! rings {
    ($($name:ident: $t:ident, $n:literal, $sum:ident, $zero:literal, $out:ident, $stored:ident;)*) => {$(
        #[cluster_kernel(block = 256)]
        fn $name(a: &TensorMap<Left<$t, $n>>, b: &TensorMap<Right<$t, $n>>, out: &mut [$out], steps: u32) {
            let block = this_thread_block();
            let warpgroup = tiled_partition::<128>(&block);
            let rank = warpgroup.thread_rank();
            let left = shared_array::<Left<$t, $n>, STAGES>();
            let right = shared_array::<Right<$t, $n>, STAGES>();
            let (full, empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 4);
            assert!(steps > 0);
            if warpgroup.meta_group_rank() == 1 {
                if rank == 0 {
                    for step in 0..steps {
                        let stage = step % STAGES as u32;
                        empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                        a.load_async([0, (step * $n) as i32], &left[stage], &full[stage]);
                        b.load_async([0, (step * $n) as i32], &right[stage], &full[stage]);
                        let _ = full[stage].arrive();
                    }
                }
            } else {
                full[0].wait_parity(false);
                let zeros = Accumulator::<$sum, 64, WIDE>::splat($zero);
                let mut product = warpgroup.mma_async(zeros, &left[0], &right[0]);
                for step in 1..steps {
                    let stage = step % STAGES as u32;
                    full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
                    product = warpgroup.mma_async(product, &left[stage], &right[stage]);
                    warpgroup.wait_mma_prior::<1>();
                    if rank % 32 == 0 {
                        let _ = empty[(step - 1) % STAGES as u32].arrive();
                    }
                }
                let sum = warpgroup.wait_mma(product);
                let mut stored = [$stored(sum[0]); WIDE / 2];
                #[unroll]
                for i in 0..WIDE / 2 {
                    stored[i] = $stored(sum[i]);
                }
                #[unroll]
                for i in 0..WIDE as u32 / 2 {
                    out[sum.row(rank, i) * WIDE as u32 + sum.column(rank, i)] = stored[i];
                }
            }
        }
    )*};
}

/// Rounds two elements at once, as all the others do by themselves.
#[device]
fn rounded(sum: f32) -> bf16 {
    bf16::from_f32(sum)
}

#[device]
fn doubled(sum: f32) -> f32 {
    sum + sum
}

#[device]
fn negated(sum: i32) -> i32 {
    -sum
}

rings! {
    rounded_sums: bf16, 64, f32, 0.0, bf16, rounded;
    doubled_sums: e4m3, 128, f32, 0.0, f32, doubled;
    negated_sums: i8, 128, i32, 0, i32, negated;
}

/// Numbers whose sums are exact in every type.
fn small(seed: usize, i: usize) -> i32 {
    ((i * 7 + i / 5 * 3 + i / 64 + seed * 11) % 3) as i32 - 1
}

macro_rules! check {
    ($check:ident, $kernel:ident, $t:ident, $n:literal, $out:ident, $of:expr, $stored:expr) => {
        fn $check(device: &Device) -> Outcome {
            for steps in [1, 5, 16, 32] {
                let (depth, of) = (steps * $n, $of);
                let a: Vec<i32> = (0..64 * depth).map(|i| small(1, i)).collect();
                let b: Vec<i32> = (0..WIDE * depth).map(|i| small(2, i)).collect();
                let x = device.upload(&a.iter().copied().map(of).collect::<Vec<$t>>())?;
                let y = device.upload(&b.iter().copied().map(of).collect::<Vec<$t>>())?;
                let mut out = device.zeros::<$out>(64 * WIDE)?;
                $kernel(&x.tensor([64, depth])?, &y.tensor([WIDE, depth])?, &mut out, steps as u32)
                    .grid(1)
                    .launch(device)?;
                let sum = |i: usize| (0..depth).map(|k| a[i / WIDE * depth + k] * b[i % WIDE * depth + k]).sum::<i32>();
                let want: Vec<$out> = (0..64 * WIDE).map(|i| $stored(sum(i))).collect();
                same(&out.read()?, &want, |i| format!("{steps} steps: element {i}"))?;
            }
            Ok(())
        }
    };
}

check!(sums_are_rounded, rounded_sums, bf16, 64, bf16, |x| bf16::from_f32(x as f32), |sum| bf16::from_f32(sum as f32));
check!(sums_are_doubled, doubled_sums, e4m3, 128, f32, |x| e4m3::from_f32(x as f32), |sum| 2.0 * sum as f32);
check!(sums_are_negated, negated_sums, i8, 128, i32, |x| x as i8, |sum: i32| -sum);

/// Sums of a type that another file has a name for.
#[cluster_kernel(block = 128)]
fn filled(out: &mut [f32], value: f32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let sum = Sums::splat(value);
    for i in 0..32 {
        out[rank * 32 + i] = sum[i];
    }
}

fn sums_are_filled(device: &Device) -> Outcome {
    let mut out = device.zeros::<f32>(128 * 32)?;
    filled(&mut out, 2.5).grid(1).launch(device)?;
    same(&out.read()?, &[2.5; 128 * 32], |i| format!("element {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "warpgroup_sums",
        checks: check_list![sums_are_rounded, sums_are_doubled, sums_are_negated, sums_are_filled],
        kernels: kernel_list![rounded_sums, doubled_sums, negated_sums, filled],
    }]
}
