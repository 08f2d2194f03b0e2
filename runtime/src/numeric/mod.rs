//! Arithmetic of kernels as functions, one for each operator and method: what Rust computes in release mode, whatever
//! the profile, and what the device computes. Functions of one generic type, so that rustc infers through them as it
//! does through the operators.

mod traits;

pub use self::traits::{Float, Integer, Number};

use std::ops::Neg;

/// `a + b`, wrapping.
#[inline]
pub fn add<T: Number>(a: T, b: T) -> T {
    a.add(b)
}

/// `a - b`, wrapping.
#[inline]
pub fn sub<T: Number>(a: T, b: T) -> T {
    a.sub(b)
}

/// `a * b`, wrapping.
#[inline]
pub fn mul<T: Number>(a: T, b: T) -> T {
    a.mul(b)
}

/// `a / b`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn div<T: Number>(a: T, b: T) -> T {
    a.div(b)
}

/// `a % b`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn rem<T: Number>(a: T, b: T) -> T {
    a.rem(b)
}

/// `-a`, wrapping.
#[inline]
pub fn neg<T: Number + Neg<Output = T>>(a: T) -> T {
    a.negated()
}

/// `a << amount`, the amount masked to the width.
#[inline]
pub fn shl<T: Integer, A: Integer>(a: T, amount: A) -> T {
    a.shl(amount.low_bits())
}

/// `a >> amount`, the amount masked to the width.
#[inline]
pub fn shr<T: Integer, A: Integer>(a: T, amount: A) -> T {
    a.shr(amount.low_bits())
}

/// `a.min(b)`; of a float and a NaN, the float.
#[inline]
pub fn min<T: Number>(a: T, b: T) -> T {
    a.smaller(b)
}

/// `a.max(b)`; of a float and a NaN, the float.
#[inline]
pub fn max<T: Number>(a: T, b: T) -> T {
    a.larger(b)
}

/// `a.abs()`, wrapping.
#[inline]
pub fn abs<T: Number + Neg<Output = T>>(a: T) -> T {
    a.magnitude()
}

/// `a.sqrt()`, rounded once.
#[inline]
pub fn sqrt<T: Float>(a: T) -> T {
    a.square_root()
}

/// `a.mul_add(b, c)`: `a * b + c`, rounded once.
#[inline]
pub fn mul_add<T: Float>(a: T, b: T, c: T) -> T {
    a.fused(b, c)
}

/// `a.wrapping_add(b)`.
#[inline]
pub fn wrapping_add<T: Integer>(a: T, b: T) -> T {
    a.add(b)
}

/// `a.wrapping_sub(b)`.
#[inline]
pub fn wrapping_sub<T: Integer>(a: T, b: T) -> T {
    a.sub(b)
}

/// `a.wrapping_mul(b)`.
#[inline]
pub fn wrapping_mul<T: Integer>(a: T, b: T) -> T {
    a.mul(b)
}

/// `a.wrapping_div(b)`. Fails on zero.
#[inline]
#[track_caller]
pub fn wrapping_div<T: Integer>(a: T, b: T) -> T {
    a.quotient(b)
}

/// `a.wrapping_rem(b)`. Fails on zero.
#[inline]
#[track_caller]
pub fn wrapping_rem<T: Integer>(a: T, b: T) -> T {
    a.remainder(b)
}

/// `a.wrapping_neg()`.
#[inline]
pub fn wrapping_neg<T: Integer>(a: T) -> T {
    a.negated()
}

/// `a.wrapping_abs()`.
#[inline]
pub fn wrapping_abs<T: Integer + Neg<Output = T>>(a: T) -> T {
    a.magnitude()
}

/// `a.wrapping_shl(amount)`.
#[inline]
pub fn wrapping_shl<T: Integer>(a: T, amount: u32) -> T {
    a.shl(amount)
}

/// `a.wrapping_shr(amount)`.
#[inline]
pub fn wrapping_shr<T: Integer>(a: T, amount: u32) -> T {
    a.shr(amount)
}

/// `a.wrapping_pow(exponent)`.
#[inline]
pub fn wrapping_pow<T: Integer>(a: T, exponent: u32) -> T {
    a.power(exponent)
}

/// `a.count_ones()`.
#[inline]
pub fn count_ones<T: Integer>(a: T) -> u32 {
    a.ones()
}

/// `a.count_zeros()`.
#[inline]
pub fn count_zeros<T: Integer>(a: T) -> u32 {
    (!a).ones()
}

/// `a.leading_zeros()`.
#[inline]
pub fn leading_zeros<T: Integer>(a: T) -> u32 {
    a.zeros_above()
}

/// `a.trailing_zeros()`.
#[inline]
pub fn trailing_zeros<T: Integer>(a: T) -> u32 {
    a.zeros_below()
}

/// `a.rotate_left(amount)`.
#[inline]
pub fn rotate_left<T: Integer>(a: T, amount: u32) -> T {
    a.rotated_left(amount)
}

/// `a.rotate_right(amount)`.
#[inline]
pub fn rotate_right<T: Integer>(a: T, amount: u32) -> T {
    a.rotated_right(amount)
}

#[cfg(test)]
mod tests;
