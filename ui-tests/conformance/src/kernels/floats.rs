//! The methods of `f32` and `f64` whose results are the same everywhere, at the edges of the types, compared with the
//! standard library. `ulp` has those with an error.

use phalanx::prelude::*;

use super::table::{module, table};
use crate::Module;

macro_rules! floats {
    ($($t:ident $bits:ident;)*) => {$(
        mod $t {
            use super::*;
            table! { rounding: |x: $t, y: $t| -> $t, for |_, _| true;
                x.floor() => x.floor();
                x.ceil() => x.ceil();
                x.round() => x.round();
                x.round_ties_even() => x.round_ties_even();
                x.trunc() => x.trunc();
                x.fract() => x.fract();
                (x * 0.5).round() => (x * 0.5).round();
                (x * 0.5).round_ties_even() => (x * 0.5).round_ties_even();
                x.signum() => x.signum();
                x.copysign(y) => x.copysign(y);
                x.copysign(-1.0) => x.copysign(-1.0);
                x.recip() => x.recip();
                x.to_degrees() => x.to_degrees();
                x.to_radians() => x.to_radians();
                x.rem_euclid(y) => x.rem_euclid(y);
                x.div_euclid(y) => x.div_euclid(y);
                x.rem_euclid(0.75) => x.rem_euclid(0.75);
                x.clamp(0.0, 1.0) => x.clamp(0.0, 1.0);
                x.clamp(-1.5, 1e10) => x.clamp(-1.5, 1e10);
                $t::from_bits(x.to_bits()) => x;
                $t::copysign(1.0, x) => (1.0 as $t).copysign(x);
            }
            table! { tests: |x: $t, _y: $t| -> bool, for |_, _| true;
                x.is_nan() => x.is_nan();
                x.is_infinite() => x.is_infinite();
                x.is_finite() => x.is_finite();
                x.is_normal() => x.is_normal();
                x.is_subnormal() => x.is_subnormal();
                x.is_sign_positive() => x.is_sign_positive();
                x.is_sign_negative() => x.is_sign_negative();
                !(x * 0.5).is_normal() => !(x * 0.5).is_normal();
            }
            table! { bits: |x: $t, _y: $t| -> $bits, for |x, _| !x.is_nan();
                x.to_bits() => x.to_bits();
            }
            table! { powers: |x: $t, n: i32| -> $t, for |_, _| true;
                x.powi(n) => x.powi(n);
                x.powi(2) => x.powi(2);
                x.powi(-3) => x.powi(-3);
                x.powi(n & 15) => x.powi(n & 15);
                x.powi(0) => x.powi(0);
            }
            module!("floats", $t: rounding tests bits powers);
        }
    )*};
}

floats! {
    f32 u32;
    f64 u64;
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![f32::module(), f64::module()]
}
