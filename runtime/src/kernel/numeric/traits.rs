//! The number types of kernels as bounds of generic kernels, and the arithmetic that all of them have. Their other
//! methods are in tables: `integer`, `float`. The traits' own methods are hidden, and shadow none of Rust's.

use std::fmt::{Debug, Display};
use std::ops::{BitAnd, BitOr, BitXor, Neg, Not};

use half::{bf16, f16};

use super::Limits;
use super::float::{InFull, OfFloats};
use super::integer::{OfIntegers, OfSigned, OfUnsigned};
use super::no_result::{division, refuse};
use crate::program::types::DeviceScalar;

/// An integer or a float, as a bound of a generic kernel or device function, which may then use the operators and the
/// methods that all numbers have. The trait is sealed.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[device]
/// fn square<T: Number>(x: T) -> T {
///     x * x
/// }
///
/// #[cluster_kernel(block = 32)]
/// fn squares<T: Number>(values: &mut [T], limit: T) {
///     let i = this_grid().thread_rank();
///     values[i] = square(values[i]).min(limit);
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut integers = device.upload(&Vec::from_iter(0..32))?;
/// squares::<i32>(&mut integers, 100).grid(1).launch(&device)?;
/// assert_eq!(integers.read()?[9..12], [81, 100, 100]);
/// let mut floats = device.upload(&[1.5; 32])?;
/// squares::<f64>(&mut floats, 100.0).grid(1).launch(&device)?;
/// assert_eq!(floats.read()?, [2.25; 32]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of the kernel language",
    note = "numbers are the integer types, f32, f64, f16 and bf16; e4m3 and e5m2 convert to them: `x.to_f32()`",
    note = "call a method of your own that has the name of one of theirs by its path: `Type::name(value)`"
)]
pub trait Number: DeviceScalar + Default + PartialOrd + Debug + Display + Limits + sealed::Arithmetic {}

/// An integer, as a bound of a generic kernel: a [`Number`] with bitwise operators, shifts and the methods of integers.
/// The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "this operation is for the integer types only"
)]
pub trait Integer:
    Number
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + sealed::Bits
    + OfIntegers<Self>
{
    /// The signed integer of the same size.
    type Signed: SignedInteger;
    /// The unsigned integer of the same size.
    type Unsigned: UnsignedInteger;
}

/// The signed integer of the size of `T`.
pub type Signed<T> = <T as Integer>::Signed;
/// The unsigned integer of the size of `T`.
pub type Unsigned<T> = <T as Integer>::Unsigned;

/// A signed integer, as a bound of a generic kernel. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signed integer",
    note = "this operation is for i8, i16, i32, i64, i128 and isize"
)]
pub trait SignedInteger: Integer + Neg<Output = Self> + OfSigned<Self> {}

/// An unsigned integer, as a bound of a generic kernel. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an unsigned integer",
    note = "this operation is for u8, u16, u32, u64, u128 and usize"
)]
pub trait UnsignedInteger: Integer + OfUnsigned<Self> {}

/// A float, as a bound of a generic kernel: a [`Number`] with the methods of floats. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float",
    note = "this operation is for f32, f64, f16 and bf16 only",
    note = "call a method of your own that has the name of one of theirs by its path: `Type::name(value)`"
)]
pub trait Float: Number + Neg<Output = Self> + InFull<Self> + OfFloats<Self> {}

mod sealed {
    pub trait Arithmetic: Sized {
        fn add(self, other: Self) -> Self;
        fn sub(self, other: Self) -> Self;
        fn mul(self, other: Self) -> Self;
        #[track_caller]
        fn div(self, other: Self) -> Self;
        #[track_caller]
        fn rem(self, other: Self) -> Self;
        fn negated(self) -> Self;
        fn smaller(self, other: Self) -> Self;
        fn larger(self, other: Self) -> Self;
        fn magnitude(self) -> Self;
        fn sign(self) -> Self;
        #[track_caller]
        fn quotient(self, other: Self) -> Self;
        #[track_caller]
        fn remainder(self, other: Self) -> Self;
    }

    pub trait Bits: Sized {
        /// Returns the amount of a shift. Bits above the low 32 would be masked away anyway.
        fn low_bits(self) -> u32;
    }
}

macro_rules! integers {
    ($($t:ident is $trait:ident of $signed:ident $unsigned:ident: $magnitude:expr, $sign:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Number for $t {}
        #[diagnostic::do_not_recommend]
        impl $trait for $t {}
        #[diagnostic::do_not_recommend]
        impl Integer for $t {
            type Signed = $signed;
            type Unsigned = $unsigned;
        }

        impl sealed::Arithmetic for $t {
            #[inline]
            fn add(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: $t) -> $t {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
            #[inline]
            #[track_caller]
            fn div(self, other: $t) -> $t {
                match self.checked_div(other) {
                    Some(value) => value,
                    None => division(self, other),
                }
            }
            #[inline]
            #[track_caller]
            fn rem(self, other: $t) -> $t {
                match self.checked_rem(other) {
                    Some(value) => value,
                    None => division(self, other),
                }
            }
            #[inline]
            fn negated(self) -> $t {
                self.wrapping_neg()
            }
            #[inline]
            fn smaller(self, other: $t) -> $t {
                Ord::min(self, other)
            }
            #[inline]
            fn larger(self, other: $t) -> $t {
                Ord::max(self, other)
            }
            #[inline]
            fn magnitude(self) -> $t {
                let magnitude: fn($t) -> $t = $magnitude;
                magnitude(self)
            }
            #[inline]
            fn sign(self) -> $t {
                let sign: fn($t) -> $t = $sign;
                sign(self)
            }
            #[inline]
            #[track_caller]
            fn quotient(self, other: $t) -> $t {
                match self.checked_div_euclid(other) {
                    Some(value) => value,
                    None => division(self, other),
                }
            }
            #[inline]
            #[track_caller]
            fn remainder(self, other: $t) -> $t {
                match self.checked_rem_euclid(other) {
                    Some(value) => value,
                    None => division(self, other),
                }
            }
        }

        impl sealed::Bits for $t {
            #[inline]
            fn low_bits(self) -> u32 {
                self as u32
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ident: $in_full:expr, $rounded:expr, $magnitude:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Number for $t {}
        #[diagnostic::do_not_recommend]
        impl Float for $t {}

        impl sealed::Arithmetic for $t {
            #[inline]
            fn add(self, other: $t) -> $t {
                self + other
            }
            #[inline]
            fn sub(self, other: $t) -> $t {
                self - other
            }
            #[inline]
            fn mul(self, other: $t) -> $t {
                self * other
            }
            #[inline]
            fn div(self, other: $t) -> $t {
                self / other
            }
            #[inline]
            fn rem(self, other: $t) -> $t {
                self % other
            }
            #[inline]
            fn negated(self) -> $t {
                -self
            }
            #[inline]
            fn smaller(self, other: $t) -> $t {
                $rounded($in_full(self).min($in_full(other)))
            }
            #[inline]
            fn larger(self, other: $t) -> $t {
                $rounded($in_full(self).max($in_full(other)))
            }
            #[inline]
            fn magnitude(self) -> $t {
                $magnitude(self)
            }
            #[inline]
            fn sign(self) -> $t {
                $rounded($in_full(self).signum())
            }
            #[inline]
            fn quotient(self, other: $t) -> $t {
                $rounded($in_full(self).div_euclid($in_full(other)))
            }
            #[inline]
            fn remainder(self, other: $t) -> $t {
                $rounded($in_full(self).rem_euclid($in_full(other)))
            }
        }
    )*};
}

integers! {
    i8 is SignedInteger of i8 u8: i8::wrapping_abs, i8::signum;
    i16 is SignedInteger of i16 u16: i16::wrapping_abs, i16::signum;
    i32 is SignedInteger of i32 u32: i32::wrapping_abs, i32::signum;
    i64 is SignedInteger of i64 u64: i64::wrapping_abs, i64::signum;
    i128 is SignedInteger of i128 u128: i128::wrapping_abs, i128::signum;
    isize is SignedInteger of isize usize: isize::wrapping_abs, isize::signum;
    u8 is UnsignedInteger of i8 u8: |v| v, |v| v.min(1);
    u16 is UnsignedInteger of i16 u16: |v| v, |v| v.min(1);
    u32 is UnsignedInteger of i32 u32: |v| v, |v| v.min(1);
    u64 is UnsignedInteger of i64 u64: |v| v, |v| v.min(1);
    u128 is UnsignedInteger of i128 u128: |v| v, |v| v.min(1);
    usize is UnsignedInteger of isize usize: |v| v, |v| v.min(1);
}

// The halves are computed in `f32`, which has more than twice their digits.
floats! {
    f32: f32::from, f32::from, f32::abs;
    f64: f64::from, f64::from, f64::abs;
    f16: f16::to_f32, f16::from_f32, |v: f16| f16::from_bits(v.to_bits() & 0x7fff);
    bf16: bf16::to_f32, bf16::from_f32, |v: bf16| bf16::from_bits(v.to_bits() & 0x7fff);
}

/// Evaluates `x.clamp(low, high)`.
#[inline]
#[track_caller]
pub fn clamp<T: Number>(x: T, low: T, high: T) -> T {
    if low > high || low.partial_cmp(&high).is_none() {
        refuse("assertion failed: min <= max");
    }
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}
