//! Every method of every integer type at the edges of the type, compared with the standard library. Those in
//! `operators` are not repeated; failures are at the end.

use phalanx::prelude::*;

use super::table::{module, table};
use crate::{Module, Outcome, check_list, fails, find, kernel_list};

/// The methods of all integers.
macro_rules! integer_tables {
    ($t:ident, $u:ident) => {
        table! { values: |x: $t, y: $t| -> $t, for |_, _| true;
            x.clamp(3, 100) => x.clamp(3, 100);
            x.clamp(x.min(y), x.max(y)) => x.clamp(x.min(y), x.max(y));
            y.clamp(y, y) => y;
            x.min(0).max(1) => 1;
            x.pow(y as u32) => x.wrapping_pow(y as u32);
            x.pow(2) => x.wrapping_mul(x);
            x.pow(0) => 1;
            x.saturating_add(y) => x.saturating_add(y);
            x.saturating_sub(y) => x.saturating_sub(y);
            x.saturating_mul(y) => x.saturating_mul(y);
            x.saturating_pow(y as u32) => x.saturating_pow(y as u32);
            x.saturating_pow(y as u32 & 7) => x.saturating_pow(y as u32 & 7);
            x.saturating_add(1).saturating_mul(2) => x.saturating_add(1).saturating_mul(2);
            x.midpoint(y) => x.midpoint(y);
            x.reverse_bits() => x.reverse_bits();
            x.swap_bytes() => x.swap_bytes();
            x.to_be() => x.swap_bytes();
            x.to_le() => x;
            $t::max(x, y) => x.max(y);
            $t::saturating_sub(0, x) => (0 as $t).saturating_sub(x);
            $t::from(x) => x;
        }
        table! { unsigned_values: |x: $t, y: $t| -> $u, for |_, _| true;
            x.abs_diff(y) => x.abs_diff(y);
            y.abs_diff(7) => y.abs_diff(7);
        }
        table! { numbers: |x: $t, _y: $t| -> u32, for |_, _| true;
            x.leading_ones() => x.leading_ones();
            x.trailing_ones() => x.trailing_ones();
            if 0 < x { x.ilog2() } else { 77 } => x.checked_ilog2().unwrap_or(77);
            if 0 < x { x.ilog10() } else { 77 } => x.checked_ilog10().unwrap_or(77);
        }
        table! { roots: |x: $t, _y: $t| -> $t, for |x, _| x.max(0) == x;
            x.isqrt() => x.isqrt();
        }
        table! { checked: |x: $t, y: $t| -> $t, for |_, _| true;
            x.checked_add(y).unwrap_or(77) => x.checked_add(y).unwrap_or(77);
            x.checked_sub(y).unwrap_or(77) => x.checked_sub(y).unwrap_or(77);
            x.checked_mul(y).unwrap_or(77) => x.checked_mul(y).unwrap_or(77);
            x.checked_div(y).unwrap_or(77) => x.checked_div(y).unwrap_or(77);
            x.checked_rem(y).unwrap_or(77) => x.checked_rem(y).unwrap_or(77);
            x.checked_div_euclid(y).unwrap_or(77) => x.checked_div_euclid(y).unwrap_or(77);
            x.checked_rem_euclid(y).unwrap_or(77) => x.checked_rem_euclid(y).unwrap_or(77);
            x.checked_neg().unwrap_or(77) => x.checked_neg().unwrap_or(77);
            x.checked_shl(y as u32 & 255).unwrap_or(77) => x.checked_shl(y as u32 & 255).unwrap_or(77);
            x.checked_shr(y as u32 & 255).unwrap_or(77) => x.checked_shr(y as u32 & 255).unwrap_or(77);
            x.checked_pow(y as u32).unwrap_or(77) => x.checked_pow(y as u32).unwrap_or(77);
            x.checked_pow(3).unwrap_or(77) => x.checked_pow(3).unwrap_or(77);
            x.checked_mul(5).unwrap_or(77) => x.checked_mul(5).unwrap_or(77);
            x.checked_ilog2().unwrap_or(77) as $t => x.checked_ilog2().unwrap_or(77) as $t;
            x.checked_ilog10().unwrap_or(77) as $t => x.checked_ilog10().unwrap_or(77) as $t;
            match x.checked_add(y) { Some(z) if z > 9 => z, Some(_) => 1, None => 0 }
                => match x.checked_add(y) { Some(z) if z > 9 => z, Some(_) => 1, None => 0 };
        }
        table! { overflowing: |x: $t, y: $t| -> $t, for |_, _| true;
            { let (z, over) = x.overflowing_add(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_add(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_sub(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_sub(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_mul(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_mul(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_neg(); if over { !z } else { z } } => { let (z, over) = x.overflowing_neg(); if over { !z } else { z } };
            { let (z, over) = x.overflowing_shl(y as u32 & 255); if over { !z } else { z } } => { let (z, over) = x.overflowing_shl(y as u32 & 255); if over { !z } else { z } };
            { let (z, over) = x.overflowing_shr(y as u32 & 255); if over { !z } else { z } } => { let (z, over) = x.overflowing_shr(y as u32 & 255); if over { !z } else { z } };
            { let (z, over) = x.overflowing_pow(y as u32); if over { !z } else { z } } => { let (z, over) = x.overflowing_pow(y as u32); if over { !z } else { z } };
            { let (z, over) = x.overflowing_pow(2); if over { !z } else { z } } => { let (z, over) = x.overflowing_pow(2); if over { !z } else { z } };
        }
        table! { overflowing_divisions: |x: $t, y: $t| -> $t, for |_, y| y != 0;
            { let (z, over) = x.overflowing_div(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_div(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_rem(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_rem(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_div_euclid(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_div_euclid(y); if over { !z } else { z } };
            { let (z, over) = x.overflowing_rem_euclid(y); if over { !z } else { z } } => { let (z, over) = x.overflowing_rem_euclid(y); if over { !z } else { z } };
        }
        table! { divisions: |x: $t, y: $t| -> $t, for |_, y| y != 0;
            x.wrapping_div_euclid(y) => x.wrapping_div_euclid(y);
            x.wrapping_rem_euclid(y) => x.wrapping_rem_euclid(y);
            x.saturating_div(y) => x.saturating_div(y);
            x.rem_euclid(7) => x.rem_euclid(7);
            x.div_euclid(10) => x.div_euclid(10);
        }
    };
}

macro_rules! unsigned {
    ($($t:ident $s:ident;)*) => {$(
        mod $t {
            use super::*;
            integer_tables!($t, $t);
            table! { powers: |x: $t, y: $t| -> $t, for |_, y| y != 0;
                x.next_power_of_two() => x.checked_next_power_of_two().unwrap_or(0);
                x.div_ceil(y) => x.div_ceil(y);
                x.next_multiple_of(y) => match x % y { 0 => x, rest => x.wrapping_add(y - rest) };
                x.checked_next_power_of_two().unwrap_or(7) => x.checked_next_power_of_two().unwrap_or(7);
                x.checked_next_multiple_of(y).unwrap_or(7) => x.checked_next_multiple_of(y).unwrap_or(7);
                x.div_euclid(y) => x / y;
                x.rem_euclid(y) => x % y;
            }
            table! { tests: |x: $t, y: $t| -> bool, for |_, _| true;
                x.is_power_of_two() => x.is_power_of_two();
                x.is_multiple_of(y) => x.is_multiple_of(y);
                x.is_multiple_of(y & 3) => x.is_multiple_of(y & 3);
            }
            table! { mixed: |x: $t, y: $s| -> $t, for |_, _| true;
                x.wrapping_add_signed(y) => x.wrapping_add_signed(y);
                x.saturating_add_signed(y) => x.saturating_add_signed(y);
                x.saturating_add_signed(-1) => x.saturating_sub(1);
                x.checked_add_signed(y).unwrap_or(7) => x.checked_add_signed(y).unwrap_or(7);
                { let (_, over) = x.overflowing_add_signed(y); if over { 1 } else { 0 } } => x.overflowing_add_signed(y).1 as $t;
                y.unsigned_abs() => y.unsigned_abs();
                y.cast_unsigned() => y.cast_unsigned();
            }
            table! { other: |x: $t, y: $s| -> $s, for |_, _| true;
                x.cast_signed() => x.cast_signed();
                y.wrapping_add_unsigned(x) => y.wrapping_add_unsigned(x);
                y.wrapping_sub_unsigned(x) => y.wrapping_sub_unsigned(x);
                y.saturating_add_unsigned(x) => y.saturating_add_unsigned(x);
                y.saturating_sub_unsigned(x) => y.saturating_sub_unsigned(x);
                y.checked_add_unsigned(x).unwrap_or(7) => y.checked_add_unsigned(x).unwrap_or(7);
                y.checked_sub_unsigned(x).unwrap_or(7) => y.checked_sub_unsigned(x).unwrap_or(7);
                { let (_, over) = y.overflowing_add_unsigned(x); if over { 1 } else { 0 } } => y.overflowing_add_unsigned(x).1 as $s;
                { let (_, over) = y.overflowing_sub_unsigned(x); if over { 1 } else { 0 } } => y.overflowing_sub_unsigned(x).1 as $s;
            }
            module!("integers", $t: values unsigned_values numbers roots checked overflowing overflowing_divisions divisions powers tests mixed other);
        }
    )*};
}

macro_rules! signed {
    ($($t:ident $u:ident;)*) => {$(
        mod $t {
            use super::*;
            integer_tables!($t, $u);
            table! { signs: |x: $t, y: $t| -> $t, for |x, y| y != 0 && (x != $t::MIN || y != -1);
                x.signum() => x.signum();
                x.saturating_neg() => x.saturating_neg();
                x.saturating_abs() => x.saturating_abs();
                x.div_euclid(y) => x.div_euclid(y);
                x.rem_euclid(y) => x.rem_euclid(y);
                x.clamp(-5, 5) => x.clamp(-5, 5);
                x.checked_abs().unwrap_or(7) => x.checked_abs().unwrap_or(7);
                x.checked_isqrt().unwrap_or(-7) => x.checked_isqrt().unwrap_or(-7);
                { let (_, over) = x.overflowing_abs(); if over { 1 } else { 0 } } => x.overflowing_abs().1 as $t;
            }
            table! { tests: |x: $t, _y: $t| -> bool, for |_, _| true;
                x.is_positive() => x.is_positive();
                x.is_negative() => x.is_negative();
            }
            module!("integers", $t: values unsigned_values numbers roots checked overflowing overflowing_divisions divisions signs tests);
        }
    )*};
}

unsigned! {
    u8 i8;
    u16 i16;
    u32 i32;
    u64 i64;
    u128 i128;
    usize isize;
}

signed! {
    i8 u8;
    i16 u16;
    i32 u32;
    i64 u64;
    i128 u128;
    isize usize;
}

#[cluster_kernel(block = 1)]
fn lossless(a: u8, b: i16, c: u32, d: bool, e: f32, ints: &mut [i64], wide: &mut [u128], floats: &mut [f64]) {
    ints[0] = i64::from(a);
    ints[1] = i64::from(b);
    ints[2] = i64::from(c);
    ints[3] = i64::from(d);
    ints[4] = i64::from(i16::from(a) - 7);
    wide[0] = u128::from(a);
    wide[1] = u128::from(c);
    wide[2] = u128::from(u64::from(c) << 8);
    floats[0] = f64::from(b);
    floats[1] = f64::from(e);
    floats[2] = f64::from(f32::from(a) / 2.0);
    floats[3] = f64::from_bits(0x4004_0000_0000_0000);
    floats[4] = f64::from(f32::from_bits(0xbfc0_0000));
}

fn lossless_conversions(device: &Device) -> Outcome {
    let (mut ints, mut wide, mut floats) = (device.zeros(5)?, device.zeros(3)?, device.zeros(5)?);
    lossless(200, -300, u32::MAX, true, 0.1, &mut ints, &mut wide, &mut floats).grid(1).launch(device)?;
    crate::same(&ints.read()?, &[200, -300, u32::MAX.into(), 1, 193], |i| format!("integer {i}"))?;
    crate::same(&wide.read()?, &[200, u32::MAX.into(), u128::from(u32::MAX) << 8], |i| format!("128 bits {i}"))?;
    crate::same(&floats.read()?, &[-300.0, f64::from(0.1_f32), 100.0, 2.5, -1.5], |i| format!("float {i}"))
}

#[cluster_kernel(block = 1)]
fn failing(which: u32, x: i32, y: i32, out: &mut [i32]) {
    if which == 0 {
        out[0] = /* clamp */ x.clamp(y, 1);
    }
    if which == 1 {
        out[0] = /* ilog2 */ x.ilog2() as i32;
    }
    if which == 2 {
        out[0] = /* isqrt */ x.isqrt();
    }
    if which == 3 {
        out[0] = /* rem_euclid */ x.rem_euclid(y);
    }
    if which == 4 {
        out[0] = /* saturating_div */ x.saturating_div(y);
    }
    if which == 5 {
        out[0] = /* div_euclid */ x.div_euclid(y);
    }
    if which == 6 {
        out[0] = /* float clamp */ f32::clamp(1.0, y as f32, f32::NAN) as i32;
    }
}

fn failures(device: &Device) -> Outcome {
    const FILE: &str = file!();
    let cases = [
        (0, 5, 2, "clamp", "assertion failed: min <= max"),
        (1, 0, 0, "ilog2", "argument of integer logarithm must be positive"),
        (2, -1, 0, "isqrt", "argument of integer square root cannot be negative"),
        (3, 9, 0, "rem_euclid", "attempt to divide 9 by zero"),
        (4, 8, 0, "saturating_div", "attempt to divide 8 by zero"),
        (5, i32::MIN, -1, "div_euclid", "attempt to divide -2147483648 by -1 with overflow"),
        (6, 0, 0, "float clamp", "assertion failed: min <= max"),
    ];
    for (which, x, y, name, cause) in cases {
        let mut out = device.zeros(1)?;
        let result = failing(which, x, y, &mut out).grid(1).launch(device);
        fails(result, cause, &find(FILE, include_str!("integers.rs"), name), (0, 0, 0), (0, 0, 0))
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![
        Module {
            name: "integers",
            checks: check_list![lossless_conversions, failures],
            kernels: kernel_list![lossless, failing],
        },
        i8::module(),
        i16::module(),
        i32::module(),
        i64::module(),
        i128::module(),
        isize::module(),
        u8::module(),
        u16::module(),
        u32::module(),
        u64::module(),
        u128::module(),
        usize::module(),
    ]
}
