//! Literals and constants of every type as rustc reads them, large ones, in every base, and constants from functions,
//! modules and types.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, same};

/// Uses one text twice: for what a kernel stores, and for its value in Rust.
macro_rules! values {
    ($($name:ident: $t:ident { $($value:expr;)* })*) => {
        mod kernels {
            use super::*;
            $(
                #[cluster_kernel(block = 1)]
                pub(super) fn $name(out: &mut [$t]) {
                    let mut k = 0usize;
                    $(
                        out[k] = $value;
                        k += 1;
                    )*
                    // As the values of locals they have no neighbour to take a type from.
                    $(
                        let value = $value;
                        out[k] = value;
                        k += 1;
                    )*
                    assert!(k == out.len());
                }
            )*
        }
        mod checks {
            use super::*;
            $(
                pub(super) fn $name(device: &Device) -> Outcome {
                    let names = [$(stringify!($value)),*];
                    let want: Vec<$t> = vec![$($value),*].repeat(2);
                    let mut out = device.zeros(want.len())?;
                    kernels::$name(&mut out).grid(1).launch(device)?;
                    same(&out.read()?, &want, |i| names[i % names.len()].to_string())
                }
            )*
        }

        /// Returns this file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let checks = vec![$(Check { name: stringify!($name), run: checks::$name }),*];
            let kernels = vec![$(Kernel::of::<kernels::$name>(stringify!($name))),*];
            vec![Module { name: "literals", checks, kernels }]
        }
    };
}

const SEVEN: i64 = 7;
const WIDE: u128 = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
const LOWEST: i128 = i128::MIN + 1;
const NEGATIVE_ZERO: f32 = -0.0;
const NOT_A_NUMBER: f64 = f64::NAN;
const YES: bool = true;

mod elsewhere {
    pub(super) const SEVEN: i64 = -7;
    pub(super) mod deeper {
        pub(crate) const SEVEN: i64 = 77;
    }
}

struct Limits;

impl Limits {
    const MOST: u16 = 40_000;
}

trait Sized32 {
    const BITS_OF: u32;
}

impl Sized32 for Limits {
    const BITS_OF: u32 = 0xdead_beef;
}

values! {
    of_i8: i8 { -128; 127; -0x80; 0b111; 0; -1; i8::MIN; i8::MAX; 0o17; -0b1000_0000; }
    of_i16: i16 { -32768; 32767; -0x8000; i16::MIN; 1_0_0; 5i16; -5i16; }
    of_i32: i32 { -2147483648; 2147483647; -0x8000_0000; 0x7fff_ffff; i32::MIN; 1_000_i32; -2_147_483_648i32; 0; -0; }
    of_i64: i64 {
        -9223372036854775808; 9223372036854775807; -0x8000_0000_0000_0000; 2147483648; -2147483649; 4294967296; i64::MIN;
        -9_223_372_036_854_775_808i64; SEVEN; elsewhere::SEVEN; elsewhere::deeper::SEVEN; SEVEN * SEVEN; -SEVEN;
    }
    of_i128: i128 {
        -170141183460469231731687303715884105728; 170141183460469231731687303715884105727; i128::MIN; LOWEST; -1;
        18446744073709551615; 18446744073709551616; -18446744073709551617; -9223372036854775808; 9223372036854775808i128;
        -170_141_183_460_469_231_731_687_303_715_884_105_728i128; 0x7fff_0000_0000_0000_0000_0000_0000_0001;
    }
    of_isize: isize { -9223372036854775808; 9223372036854775807; isize::MIN; -1isize; 3_000_000_000; }
    of_u8: u8 { 255; 0xff; 0b1111_1111; 0o377; u8::MAX; 200u8; }
    of_u16: u16 { 65535; 0xffff; 1_000u16; u16::MAX; Limits::MOST; }
    of_u32: u32 { 4294967295; 0xffff_ffff; 2147483648; 0x8000_0000; u32::MAX; 3_000_000_000u32; u32::BITS; <Limits as Sized32>::BITS_OF; }
    of_u64: u64 {
        18446744073709551615; 0xffff_ffff_ffff_ffff; 9223372036854775808; 4294967296; 2147483648; u64::MAX; 0xffff_ffff_ffff_fffeu64;
        0b1000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000; 0o1777777777777777777777;
    }
    of_u128: u128 {
        340282366920938463463374607431768211455; 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff; u128::MAX; WIDE; 1; 18446744073709551616;
        0x8000_0000_0000_0000_0000_0000_0000_0000u128; 9223372036854775808; 4_294_967_296;
    }
    of_usize: usize { 18446744073709551615; usize::MAX; 0xffusize; 5_000_000_000; }
    of_f32: f32 {
        0.1; 1.5; -0.0; 0.0; 1e-3; 1e-3f32; 3.4028235e38; 1e-45; 1.17549435e-38; 16777217.0; 0.30000001; 1.; 2.5E+3; 1_000.5; 7f32;
        -7.25; 340282350000000000000000000000000000000.0; 1.00000017881393432617187499; f32::EPSILON; f32::MIN_POSITIVE; f32::MAX;
        f32::INFINITY; f32::NEG_INFINITY; NEGATIVE_ZERO; std::f32::consts::PI; f32::NAN;
    }
    of_f64: f64 {
        0.1; 1.5; -0.0; 1e-3; 1e-3f64; 1.7976931348623157e308; 5e-324; 2.2250738585072014e-308; 9007199254740993.0; 0.30000000000000004;
        1e22; 1e23; 123456789012345678901234567890.0; 7f64; f64::EPSILON; f64::MAX; f64::MIN; f64::INFINITY; NOT_A_NUMBER;
        std::f64::consts::E;
    }
    of_bool: bool { true; false; YES; !YES; }
}
