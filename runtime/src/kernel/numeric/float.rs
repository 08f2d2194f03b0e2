//! The methods of floats, which are Rust's own for `f32` and `f64`. Those that are not rounded correctly come from the
//! system's math library here and from CUDA's on the device; `ulp` has their errors.

use std::f64::consts::LN_2;

use half::{bf16, f16};

use super::half::{from_f64, fused};
use super::methods::methods;
use super::traits::Float;

/// Implements the methods for `f32` and `f64`, and for `f16` and `bf16` by way of `f32`, as the device does.
macro_rules! floats {
    ($($name:ident($first:ident $(, $arg:ident)*) $(= $body:expr)?;)*) => {
        methods! { InFull of Float, for f32 f64: {
            $($name($first $(, $arg: T)*) -> T $(= $body)?;)*
        }}
        floats!(@half f16: $($name($first $(, $arg)*);)*);
        floats!(@half bf16: $($name($first $(, $arg)*);)*);
    };
    (@half $t:ident: $($name:ident($first:ident $(, $arg:ident)*);)*) => {
        impl InFull<$t> for $t {
            $(
                #[inline]
                fn $name($first: $t $(, $arg: $t)*) -> $t {
                    $t::from_f32($name($first.to_f32() $(, $arg.to_f32())*))
                }
            )*
        }
    };
}

floats! {
    sqrt(a);
    cbrt(a);
    recip(a);
    rsqrt(a) = 1.0 / a.sqrt();
    exp(a);
    exp2(a);
    exp_m1(a);
    ln(a);
    ln_1p(a);
    log(a, base);
    log2(a);
    log10(a);
    powf(a, exponent);
    sin(a);
    cos(a);
    tan(a);
    asin(a);
    acos(a);
    atan(a);
    atan2(a, b);
    sinh(a);
    cosh(a);
    tanh(a);
    // The standard library's overflow where the logarithm does not.
    asinh(a) = if a.abs() > 1e9 { (a.abs().ln() + LN_2 as T).copysign(a) } else { a.asinh() };
    acosh(a) = if a > 1e9 { a.ln() + LN_2 as T } else { a.acosh() };
    atanh(a);
    hypot(a, b);
    floor(a);
    ceil(a);
    round(a);
    round_ties_even(a);
    trunc(a);
    fract(a);
    to_degrees(a);
    to_radians(a);
    copysign(a, sign);
}

methods! { OfFloats of Float, for f32 f64: {
    mul_add(a, b: T, c: T) -> T;
    powi(a, exponent: i32) -> T = power(a, exponent, 1.0);
    sin_cos(a) -> (T, T);
    is_nan(a) -> bool;
    is_infinite(a) -> bool;
    is_finite(a) -> bool;
    is_normal(a) -> bool;
    is_subnormal(a) -> bool;
    is_sign_positive(a) -> bool;
    is_sign_negative(a) -> bool;
}}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl OfFloats<$t> for $t {
            #[inline]
            fn mul_add(a: $t, b: $t, c: $t) -> $t {
                from_f64(fused(a.to_f64(), b.to_f64(), c.to_f64()))
            }
            #[inline]
            fn powi(a: $t, exponent: i32) -> $t {
                $t::from_f32(powi(a.to_f32(), exponent))
            }
            #[inline]
            fn sin_cos(a: $t) -> ($t, $t) {
                (sin(a), cos(a))
            }
            #[inline]
            fn is_nan(a: $t) -> bool {
                a.is_nan()
            }
            #[inline]
            fn is_infinite(a: $t) -> bool {
                a.is_infinite()
            }
            #[inline]
            fn is_finite(a: $t) -> bool {
                a.is_finite()
            }
            #[inline]
            fn is_normal(a: $t) -> bool {
                a.is_normal()
            }
            #[inline]
            fn is_subnormal(a: $t) -> bool {
                a.classify() == std::num::FpCategory::Subnormal
            }
            #[inline]
            fn is_sign_positive(a: $t) -> bool {
                a.is_sign_positive()
            }
            #[inline]
            fn is_sign_negative(a: $t) -> bool {
                a.is_sign_negative()
            }
        }
    )*};
}

halves!(f16 bf16);

/// Computes a power by squaring, in the order of LLVM's `powi`. `std` leaves the order open, and the rounding depends
/// on it.
#[inline]
fn power<T: Float>(a: T, exponent: i32, one: T) -> T {
    let (mut square, mut rest, mut power) = (a, exponent, one);
    loop {
        if rest & 1 == 1 {
            power = power.mul(square);
        }
        rest /= 2;
        if rest == 0 {
            break;
        }
        square = square.mul(square);
    }
    if exponent < 0 { one.div(power) } else { power }
}
