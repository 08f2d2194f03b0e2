//! The number types of kernels as bounds for generic ones. What they can do is the functions' in `numeric`; the
//! traits' own methods are hidden, and named so that they shadow none of Rust's.

use std::fmt::{Debug, Display};
use std::ops::{BitAnd, BitOr, BitXor, Neg, Not};
use std::panic::Location;

use crate::failure::Cause;
use crate::sim::fail_at;
use crate::types::DeviceScalar;

/// An integer or a float.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of the kernel language",
    note = "numbers are the integer types, f32 and f64"
)]
pub trait Number: DeviceScalar + Default + PartialOrd + Debug + Display + sealed::Arithmetic {}

/// An integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "this operation is for the integer types only"
)]
pub trait Integer:
    Number + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self> + sealed::Bits
{
}

/// A float.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a float", note = "this operation is for f32 and f64 only")]
pub trait Float: Number + Neg<Output = Self> + sealed::Roots {}

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
    }

    pub trait Bits: Sized {
        /// The amount of a shift: what is above 32 bits is masked away anyway.
        fn low_bits(self) -> u32;
        fn shl(self, amount: u32) -> Self;
        fn shr(self, amount: u32) -> Self;
        #[track_caller]
        fn quotient(self, other: Self) -> Self;
        #[track_caller]
        fn remainder(self, other: Self) -> Self;
        fn power(self, exponent: u32) -> Self;
        fn ones(self) -> u32;
        fn zeros_above(self) -> u32;
        fn zeros_below(self) -> u32;
        fn rotated_left(self, amount: u32) -> Self;
        fn rotated_right(self, amount: u32) -> Self;
    }

    pub trait Roots: Sized {
        fn square_root(self) -> Self;
        fn fused(self, factor: Self, addend: Self) -> Self;
    }
}

macro_rules! integers {
    ($($t:ident $magnitude:expr;)*) => {$(
        impl Number for $t {}
        impl Integer for $t {}

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
        }

        impl sealed::Bits for $t {
            #[inline]
            fn low_bits(self) -> u32 {
                self as u32
            }
            #[inline]
            fn shl(self, amount: u32) -> $t {
                self.wrapping_shl(amount)
            }
            #[inline]
            fn shr(self, amount: u32) -> $t {
                self.wrapping_shr(amount)
            }
            #[inline]
            #[track_caller]
            fn quotient(self, other: $t) -> $t {
                if other == 0 { division(self, other) } else { self.wrapping_div(other) }
            }
            #[inline]
            #[track_caller]
            fn remainder(self, other: $t) -> $t {
                if other == 0 { division(self, other) } else { self.wrapping_rem(other) }
            }
            #[inline]
            fn power(self, exponent: u32) -> $t {
                self.wrapping_pow(exponent)
            }
            #[inline]
            fn ones(self) -> u32 {
                self.count_ones()
            }
            #[inline]
            fn zeros_above(self) -> u32 {
                self.leading_zeros()
            }
            #[inline]
            fn zeros_below(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline]
            fn rotated_left(self, amount: u32) -> $t {
                self.rotate_left(amount)
            }
            #[inline]
            fn rotated_right(self, amount: u32) -> $t {
                self.rotate_right(amount)
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {}
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
                $t::min(self, other)
            }
            #[inline]
            fn larger(self, other: $t) -> $t {
                $t::max(self, other)
            }
            #[inline]
            fn magnitude(self) -> $t {
                $t::abs(self)
            }
        }

        impl sealed::Roots for $t {
            #[inline]
            fn square_root(self) -> $t {
                $t::sqrt(self)
            }
            #[inline]
            fn fused(self, factor: $t, addend: $t) -> $t {
                $t::mul_add(self, factor, addend)
            }
        }
    )*};
}

integers! {
    i8 i8::wrapping_abs;
    i16 i16::wrapping_abs;
    i32 i32::wrapping_abs;
    i64 i64::wrapping_abs;
    i128 i128::wrapping_abs;
    isize isize::wrapping_abs;
    u8 |v| v;
    u16 |v| v;
    u32 |v| v;
    u64 |v| v;
    u128 |v| v;
    usize |v| v;
}

floats!(f32 f64);

/// Ends the launch: a division that has no result.
#[cold]
#[track_caller]
fn division<T: Integer>(dividend: T, divisor: T) -> ! {
    let dividend = dividend.scalar();
    let by_zero = divisor == T::default();
    fail_at(
        if by_zero { Cause::DivisionByZero { dividend } } else { Cause::DivisionOverflow { dividend } },
        Location::caller(),
    )
}
