//! Arithmetic of kernels as functions, one for each operator and method: what Rust computes in release mode, whatever
//! the profile, and what the device computes. Here are the operators and what all numbers have; `integer` and `float`
//! are tables. Functions of one generic type, so that rustc infers through them as it
//! does through the operators.

mod associated;
mod float;
mod half;
mod integer;
mod limits;
mod methods;
mod no_result;
mod traits;

pub mod fast;
pub mod ulp;

pub use self::associated::*;
pub use self::float::*;
pub use self::half::{Half, from_f32, from_f64, to_f32, to_f64};
pub use self::integer::*;
pub use self::limits::Limits;
pub use self::traits::{Float, Integer, Number, Signed, SignedInteger, Unsigned, UnsignedInteger, clamp};

use std::ops::Neg;

/// A size in an attribute: the value, of any integer type.
pub const fn whole<T: Integer>(value: T) -> T {
    value
}

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
    wrapping_shl(a, amount.low_bits())
}

/// `a >> amount`, the amount masked to the width.
#[inline]
pub fn shr<T: Integer, A: Integer>(a: T, amount: A) -> T {
    wrapping_shr(a, amount.low_bits())
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

/// `a.signum()`.
#[inline]
pub fn signum<T: Number + Neg<Output = T>>(a: T) -> T {
    a.sign()
}

/// `a.div_euclid(b)`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn div_euclid<T: Number>(a: T, b: T) -> T {
    a.quotient(b)
}

/// `a.rem_euclid(b)`. Integers fail on zero and on overflow.
#[inline]
#[track_caller]
pub fn rem_euclid<T: Number>(a: T, b: T) -> T {
    a.remainder(b)
}

#[cfg(test)]
mod tests;
