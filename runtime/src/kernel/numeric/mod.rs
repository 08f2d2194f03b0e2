//! The arithmetic of kernels as functions, one for each operator and method. They compute what Rust computes in release
//! mode, in every profile, and what the device computes. The operators and the methods of all numbers are here;
//! `integer` and `float` are tables, `fast` and `cuda` functions by path. Each function has one generic type, so that rustc infers through it as through the
//! operator.

mod associated;
mod float;
mod half;
mod integer;
mod limits;
mod methods;
mod no_result;
mod traits;

pub mod cuda;
pub mod fast;
pub mod ulp;

pub use self::associated::*;
pub use self::float::*;
pub use self::half::{NarrowFloat, from_f32, from_f64, to_f32, to_f64};
pub use self::integer::*;
pub use self::limits::Limits;
pub use self::traits::{Float, Integer, Number, Signed, SignedInteger, Unsigned, UnsignedInteger, clamp};

use std::ops::Neg;

/// Returns the value of a size in an attribute, of any integer type.
pub const fn whole<T: Integer>(value: T) -> T {
    value
}

/// Evaluates `a + b`, wrapping.
#[inline]
pub fn add<T: Number>(a: T, b: T) -> T {
    a.add(b)
}

/// Evaluates `a - b`, wrapping.
#[inline]
pub fn sub<T: Number>(a: T, b: T) -> T {
    a.sub(b)
}

/// Evaluates `a * b`, wrapping.
#[inline]
pub fn mul<T: Number>(a: T, b: T) -> T {
    a.mul(b)
}

/// Evaluates `a / b`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn div<T: Number>(a: T, b: T) -> T {
    a.div(b)
}

/// Evaluates `a % b`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn rem<T: Number>(a: T, b: T) -> T {
    a.rem(b)
}

/// Evaluates `-a`, wrapping.
#[inline]
pub fn neg<T: Number + Neg<Output = T>>(a: T) -> T {
    a.negated()
}

/// Evaluates `a << amount`, with the amount masked to the width.
#[inline]
pub fn shl<T: Integer, A: Integer>(a: T, amount: A) -> T {
    wrapping_shl(a, amount.low_bits())
}

/// Evaluates `a >> amount`, with the amount masked to the width.
#[inline]
pub fn shr<T: Integer, A: Integer>(a: T, amount: A) -> T {
    wrapping_shr(a, amount.low_bits())
}

/// Evaluates `a.min(b)`. For a float and a NaN, it is the float.
#[inline]
pub fn min<T: Number>(a: T, b: T) -> T {
    a.smaller(b)
}

/// Evaluates `a.max(b)`. For a float and a NaN, it is the float.
#[inline]
pub fn max<T: Number>(a: T, b: T) -> T {
    a.larger(b)
}

/// Evaluates `a.abs()`, wrapping.
#[inline]
pub fn abs<T: Number + Neg<Output = T>>(a: T) -> T {
    a.magnitude()
}

/// Evaluates `a.signum()`.
#[inline]
pub fn signum<T: Number + Neg<Output = T>>(a: T) -> T {
    a.sign()
}

/// Evaluates `a.div_euclid(b)`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn div_euclid<T: Number>(a: T, b: T) -> T {
    a.quotient(b)
}

/// Evaluates `a.rem_euclid(b)`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn rem_euclid<T: Number>(a: T, b: T) -> T {
    a.remainder(b)
}

#[cfg(test)]
mod tests;
