//! The conversions of the floats that are narrower than `f32`, and the operations of `f16` and `bf16` that the `half` crate rounds
//! twice: conversion from `f64`, and the fused multiply-add.

use half::{bf16, f16};

use crate::fp8::{e4m3, e5m2};
use crate::program::types::DeviceScalar;

/// A float of 16 or 8 bits.
#[diagnostic::on_unimplemented(message = "`{Self}` is not `f16`, `bf16`, `e4m3` or `e5m2`")]
pub trait NarrowFloat: DeviceScalar {
    /// Converts from `f32`, rounding to nearest, ties to even.
    fn of_f32(value: f32) -> Self;
    /// Converts to `f32`, which is exact.
    fn in_f32(self) -> f32;
}

macro_rules! narrow_floats {
    ($($t:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl NarrowFloat for $t {
            #[inline]
            fn of_f32(value: f32) -> $t {
                $t::from_f32(value)
            }
            #[inline]
            fn in_f32(self) -> f32 {
                self.to_f32()
            }
        }
    )*};
}

narrow_floats!(f16 bf16 e4m3 e5m2);

/// Evaluates `f16::from_f32(value)`.
#[inline]
pub fn from_f32<T: NarrowFloat>(value: f32) -> T {
    T::of_f32(value)
}

/// Evaluates `f16::from_f64(value)`, rounded once. The `half` crate looks at the upper 32 bits only (2.7), or rounds
/// twice where the processor converts.
#[inline]
pub fn from_f64<T: NarrowFloat>(value: f64) -> T {
    T::of_f32(to_odd(value))
}

/// Evaluates `value.to_f32()`.
#[inline]
pub fn to_f32<T: NarrowFloat>(value: T) -> f32 {
    value.in_f32()
}

/// Evaluates `value.to_f64()`.
#[inline]
pub fn to_f64<T: NarrowFloat>(value: T) -> f64 {
    value.in_f32().into()
}

/// Rounds `value` to the odd one of the two nearest `f32`s. A second rounding, to fewer digits by two or more, then
/// gives what a single one would (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let difference = value.abs() - f64::from(nearest.abs());
    if difference.is_nan() || difference == 0.0 || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    f32::from_bits(if difference < 0.0 { nearest.to_bits() - 1 } else { nearest.to_bits() + 1 })
}

/// Evaluates `a * b + c` for numbers of at most 11 binary digits, rounded to odd. Their product is exact, and the error
/// of the sum is another float (Knuth's two-sum).
pub(super) fn fused(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    let of_c = sum - product;
    let error = (product - (sum - of_c)) + (c - of_c);
    if !error.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Away from zero if the error points there.
    f64::from_bits(if (error > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}
