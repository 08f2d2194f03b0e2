//! `f16` and `bf16` compared with the `half` crate: each operator and each method whose result is the same everywhere,
//! conversions of all values, and values passed through buffers, shared memory, parameters and messages.

use phalanx::prelude::*;
// The crate's own tests compare it with integers.
use phalanx::__private::mul_add as fused;

use super::edges::Edges;
use super::table::{module, table};
use crate::{Module, Outcome, check_list, fails, find, kernel_list, same};

macro_rules! halves {
    ($($module:ident: $t:ident;)*) => {$(
        mod $module {
            use super::*;
            table! { arithmetic: |x: $t, y: $t| -> $t, for |_, _| true;
                x + y => x + y;
                x - y => x - y;
                x * y => x * y;
                x / y => x / y;
                x % y => x % y;
                -x => -x;
                // No contraction: two roundings.
                x * y + x => x * y + x;
                x - x * y => x - x * y;
                x + $t::ONE => x + $t::ONE;
                x * $t::from_f32(0.3) => x * $t::from_f32(0.3);
                if x < y { x } else { -y } => if x < y { x } else { -y };
                { let mut z = x; z += y; z } => x + y;
                { let mut z = x; z *= y; z -= x; z } => x * y - x;
                { let mut z = [x, y]; z[1] /= z[0]; z[0] %= z[1]; z[0] } => x % (y / x);
            }
            table! { methods: |x: $t, y: $t| -> $t, for |_, _| true;
                x.abs() => $t::from_f32(x.to_f32().abs());
                x.sqrt() => $t::from_f32(x.to_f32().sqrt());
                x.recip() => $t::ONE / x;
                x.floor() => $t::from_f32(x.to_f32().floor());
                x.ceil() => $t::from_f32(x.to_f32().ceil());
                x.round() => $t::from_f32(x.to_f32().round());
                x.round_ties_even() => $t::from_f32(x.to_f32().round_ties_even());
                x.trunc() => $t::from_f32(x.to_f32().trunc());
                x.fract() => $t::from_f32(x.to_f32().fract());
                x.signum() => x.signum();
                x.copysign(y) => x.copysign(y);
                x.rem_euclid(y) => $t::from_f32(x.to_f32().rem_euclid(y.to_f32()));
                x.div_euclid(y) => $t::from_f32(x.to_f32().div_euclid(y.to_f32()));
                x.powi(3) => $t::from_f32(x.to_f32().powi(3));
                x.to_degrees() => $t::from_f32(x.to_f32().to_degrees());
                x.clamp($t::ZERO, $t::ONE) => x.clamp($t::ZERO, $t::ONE);
                $t::from_bits(x.to_bits()) => x;
                $t::from_f32(x.to_f32()) => x;
                $t::from_f64(x.to_f64()) => x;
                $t::from_f32(x.to_f32() * y.to_f32()) => $t::from_f32(x.to_f32() * y.to_f32());
            }
            table! { fused: |x: $t, y: $t| -> $t, for |_, _| true;
                x.mul_add(y, x) => fused(x, y, x);
                x.mul_add(x, y) => fused(x, x, y);
                x.mul_add(y, -(x * y)) => fused(x, y, -(x * y));
            }
            table! { packed: |x: $t, y: $t| -> $t, for |_, _| true;
                cuda::hadd2(Vector::new([x, y]), Vector::new([y, x]))[0] => x + y;
                cuda::hadd2(Vector::new([x, x]), Vector::new([y, $t::ONE]))[1] => x + $t::ONE;
                cuda::hsub2(Vector::new([x, y]), Vector::splat(x))[1] => y - x;
                cuda::hsub2(Vector::new([x, y]), Vector::splat(y))[0] => x - y;
                cuda::hmul2(Vector::new([x, y]), Vector::new([y, y]))[0] => x * y;
                cuda::hmul2(Vector::new([x, y]), Vector::new([y, y]))[1] => y * y;
                // No contraction: two roundings.
                cuda::hadd2(cuda::hmul2(Vector::new([x, y]), Vector::splat(y)), Vector::splat(x))[0] => x * y + x;
                cuda::hfma2(Vector::new([x, y]), Vector::new([y, x]), Vector::splat(x))[0] => fused(x, y, x);
                cuda::hfma2(Vector::new([x, y]), Vector::new([y, y]), Vector::splat(x))[1] => fused(y, y, x);
                cuda::hneg2(Vector::new([x, y]))[1] => -y;
                cuda::habs2(Vector::new([x, y]))[0] => $t::from_f32(x.to_f32().abs());
                {
                    let mut sum = Vector::splat(x);
                    for _ in 0..3 {
                        sum = cuda::hadd2(sum, Vector::new([y, x]));
                    }
                    sum[0]
                } => x + y + y + y;
            }
            // For zeros with different signs Rust may return either.
            table! { extremes: |x: $t, y: $t| -> $t, for |x, y| x != $t::ZERO || y != $t::ZERO;
                x.min(y) => x.min(y);
                x.max(y) => x.max(y);
                cuda::hmin2(Vector::new([x, y]), Vector::splat(y))[0] => x.min(y);
                cuda::hmax2(Vector::new([y, x]), Vector::splat(y))[1] => x.max(y);
            }
            table! { comparisons: |x: $t, y: $t| -> bool, for |_, _| true;
                x == y => x == y;
                x != y => x != y;
                x < y => x < y;
                x <= y => x <= y;
                x > y => x > y;
                x >= y => x >= y;
                !(x < y) => !(x < y);
                x.is_nan() => x.is_nan();
                x.is_infinite() => x.is_infinite();
                x.is_finite() => x.is_finite();
                x.is_normal() => x.is_normal();
                x.is_subnormal() => !x.is_normal() && x.is_finite() && x != $t::ZERO;
                x.is_sign_positive() => x.is_sign_positive();
                x.is_sign_negative() => x.is_sign_negative();
            }
            module!("halves", $t: arithmetic methods fused packed extremes comparisons);
        }
    )*};
}

halves! {
    of_f16: f16;
    of_bf16: bf16;
}

/// Converts all values, and values between them.
macro_rules! conversions {
    ($($kernel:ident $check:ident: $t:ident;)*) => {$(
        #[cluster_kernel(block = 256)]
        fn $kernel(bits: &[u16], singles: &[f32], doubles: &[f64], wide: &mut [f32], wider: &mut [f64], narrow: &mut [$t]) {
            let i = this_grid().thread_rank();
            if i < bits.len() {
                let x = $t::from_bits(bits[i]);
                wide[i] = x.to_f32();
                wider[i] = if i % 2 == 0 { f64::from(x) } else { f64::from(f32::from(x)).max(x.to_f64()) };
            }
            if i < singles.len() {
                narrow[i] = $t::from_f32(singles[i]);
            }
            if i < doubles.len() {
                narrow[singles.len() + i] = $t::from_f64(doubles[i]);
            }
        }

        fn $check(device: &Device) -> Outcome {
            let bits: Vec<u16> = (0..=u16::MAX).collect();
            let all: Vec<f32> = bits.iter().map(|&bits| $t::from_bits(bits).to_f32()).collect();
            let finite = |&bits: &u16| $t::from_bits(bits).is_finite() && $t::from_bits(bits + 1).is_finite();
            // Half way between neighbours, and just beside that.
            let middles = bits.iter().copied().filter(|bits| *bits < 0x7fff).filter(finite).flat_map(|bits| {
                let middle = ($t::from_bits(bits).to_f64() + $t::from_bits(bits + 1).to_f64()) / 2.0;
                [middle, middle.next_up(), middle.next_down(), -middle, -middle.next_down()]
            });
            let doubles: Vec<f64> = middles.chain(f64::edges()).collect();
            let mut singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
            singles.extend(f32::edges());
            singles.extend(&all);

            let (mut wide, mut wider) = (device.zeros(bits.len())?, device.zeros(bits.len())?);
            let mut narrow = device.zeros(singles.len() + doubles.len())?;
            let (uploaded, single, double) = (device.upload(&bits)?, device.upload(&singles)?, device.upload(&doubles)?);
            let blocks = singles.len().div_ceil(256) as u32;
            $kernel(&uploaded, &single, &double, &mut wide, &mut wider, &mut narrow).grid(blocks).launch(device)?;

            same(&wide.read()?, &all, |i| format!("{i:#x} to f32"))?;
            let all: Vec<f64> = all.into_iter().map(f64::from).collect();
            same(&wider.read()?, &all, |i| format!("{i:#x} to f64"))?;
            let mut want: Vec<$t> = singles.iter().map(|&x| $t::from_f32(x)).collect();
            want.extend(doubles.iter().map(|&x| nearest(x, $t::INFINITY.to_bits(), |bits| $t::from_bits(bits).to_f64()).map_or($t::NAN, $t::from_bits)));
            same(&narrow.read()?, &want, |i| match singles.get(i) {
                Some(x) => format!("{x:?} of f32"),
                None => format!("{:?} of f64", doubles[i - singles.len()]),
            })
        }
    )*};
}

conversions! {
    f16_conversions all_f16: f16;
    bf16_conversions all_bf16: bf16;
}

/// Returns the bits of the half float nearest to `x`, the even one of two, by bisection; `None` for a NaN.
pub(super) fn nearest(x: f64, infinity: u16, value: fn(u16) -> f64) -> Option<u16> {
    if x.is_nan() {
        return None;
    }
    let sign = u16::from(x.is_sign_negative()) << 15;
    let x = x.abs();
    // Infinity counts as the number that would follow.
    let beyond = 2.0 * value(infinity - 1) - value(infinity - 2);
    let value = |bits: u16| if bits == infinity { beyond } else { value(bits) };
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle) <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (below, above) = (x - value(low), value(high) - x);
    let up = above < below || above == below && high % 2 == 0;
    Some(sign | if up { high } else { low })
}

#[device]
fn scaled(x: f16, by: f16) -> f16 {
    (x * by).max(-x)
}

/// Adds up the half floats of a cluster's blocks through shared memory.
#[cluster_kernel(cluster = 2, block = 32)]
fn journey(input: &[f16], by: f16, weights: &[bf16], out: &mut [f16], sums: &mut [bf16]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<f16, 32>();
    let i = this_grid().thread_rank();
    let lane = block.thread_rank();
    array[lane] = scaled(input[i], by);
    let mut sum = bf16::ZERO;
    for k in 0..4 {
        sum += weights[k] * bf16::from(2_u8);
    }
    cluster.sync();
    let next = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 2);
    out[i] = next[31 - lane] + array[lane] * f16::EPSILON;
    sums[i] = sum.max(bf16::from_f32(f32::from(input[i])));
    cluster.sync();
}

fn through_memory(device: &Device) -> Outcome {
    let input: Vec<f16> = (0..64).map(|i| f16::from_f32(i as f32 * 0.37 - 3.0)).collect();
    let weights: Vec<bf16> = (0..4).map(|i| bf16::from_f32(i as f32 + 0.1)).collect();
    let by = f16::from_f32(1.7);
    let (mut out, mut sums) = (device.zeros(64)?, device.zeros(64)?);
    let (values, factors) = (device.upload(&input)?, device.upload(&weights)?);
    journey(&values, by, &factors, &mut out, &mut sums).grid(2).launch(device)?;
    let scaled: Vec<f16> = input.iter().map(|&x| (x * by).max(-x)).collect();
    let want: Vec<f16> =
        (0..64).map(|i| scaled[(i / 32 + 1) % 2 * 32 + 31 - i % 32] + scaled[i] * f16::EPSILON).collect();
    same(&out.read()?, &want, |i| format!("thread {i}"))?;
    let sum = weights.iter().fold(bf16::ZERO, |sum, &weight| sum + weight * bf16::from_f32(2.0));
    let want: Vec<bf16> = input.iter().map(|&x| sum.max(bf16::from_f32(x.to_f32()))).collect();
    same(&sums.read()?, &want, |i| format!("sum {i}"))
}

#[cluster_kernel(block = 1)]
fn asserts(x: f16, y: bf16) {
    /* shown */
    assert!(x.to_f32() < y.to_f32(), "{x} is not below {y}");
}

fn shown_in_messages(device: &Device) -> Outcome {
    let result = asserts(f16::from_f32(2.5), bf16::from_f32(-1.0)).grid(1).launch(device);
    fails(result, "2.5 is not below -1", &find(file!(), include_str!("halves.rs"), "shown"), (0, 0, 0), (0, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![
        Module {
            name: "halves",
            checks: check_list![all_f16, all_bf16, through_memory, shown_in_messages],
            kernels: kernel_list![f16_conversions, bf16_conversions, journey, asserts],
        },
        of_f16::module(),
        of_bf16::module(),
    ]
}
