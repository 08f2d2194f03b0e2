//! Every operator and method of every scalar type, at the edges of the type, compared with what rustc computes itself.
//! The left column of a table is what the kernel does, the right what the host does, with the semantics of release mode
//! spelled out. `casts` has the casts.

use phalanx::prelude::*;

use super::table::{module, table};
use crate::Module;

/// The operators of all integers.
macro_rules! integer_tables {
    ($t:ident) => {
        table! { arithmetic: |x: $t, y: $t| -> $t, for |_, _| true;
            x + y => x.wrapping_add(y);
            x - y => x.wrapping_sub(y);
            x * y => x.wrapping_mul(y);
            x & y => x & y;
            x | y => x | y;
            x ^ y => x ^ y;
            !x => !x;
            !(x ^ y) => !(x ^ y);
            x + 1 => x.wrapping_add(1);
            2 * x => x.wrapping_mul(2);
            1 - x => (1 as $t).wrapping_sub(x);
            x & 0x7f => x & 0x7f;
            x ^ 0b101_0101 => x ^ 0b101_0101;
            x - (y - x) => x.wrapping_sub(y.wrapping_sub(x));
            x + y * x => x.wrapping_add(y.wrapping_mul(x));
            (x + y) * x => x.wrapping_add(y).wrapping_mul(x);
            x & y | x ^ y & 3 => (x & y) | (x ^ (y & 3));
            if x < y { x } else { y - x } => if x < y { x } else { y.wrapping_sub(x) };
        }
        table! { assignment: |x: $t, y: $t| -> $t, for |_, _| true;
            { let mut z = x; z += y; z } => x.wrapping_add(y);
            { let mut z = x; z -= y; z } => x.wrapping_sub(y);
            { let mut z = x; z *= y; z } => x.wrapping_mul(y);
            { let mut z = x; z &= y; z } => x & y;
            { let mut z = x; z |= y; z } => x | y;
            { let mut z = x; z ^= y; z } => x ^ y;
            { let mut z = x; z <<= y & 127; z } => x.wrapping_shl((y & 127) as u32);
            { let mut z = x; z >>= y & 127; z } => x.wrapping_shr((y & 127) as u32);
            { let mut z = x; z += z; z } => x.wrapping_add(x);
            { let mut z = x; z += 1; z *= 3; z } => x.wrapping_add(1).wrapping_mul(3);
            { let mut z = [x, y]; z[0] -= z[1]; z[1] ^= z[0]; z[1] } => y ^ x.wrapping_sub(y);
        }
        table! { methods: |x: $t, y: $t| -> $t, for |_, _| true;
            x.min(y) => x.min(y);
            x.max(y) => x.max(y);
            x.wrapping_add(y) => x.wrapping_add(y);
            x.wrapping_sub(y) => x.wrapping_sub(y);
            x.wrapping_mul(y) => x.wrapping_mul(y);
            x.wrapping_neg() => x.wrapping_neg();
            x.wrapping_shl(y as u32) => x.wrapping_shl(y as u32);
            x.wrapping_shr(y as u32) => x.wrapping_shr(y as u32);
            x.wrapping_pow(y as u32) => x.wrapping_pow(y as u32);
            x.rotate_left(y as u32) => x.rotate_left(y as u32);
            x.rotate_right(y as u32) => x.rotate_right(y as u32);
            (x ^ y).min(x + y).max(3) => (x ^ y).min(x.wrapping_add(y)).max(3);
            x.max(1).wrapping_pow(3) => x.max(1).wrapping_pow(3);
            !x.wrapping_neg() => !x.wrapping_neg();
        }
        table! { counts: |x: $t, _y: $t| -> u32, for |_, _| true;
            x.count_ones() => x.count_ones();
            x.count_zeros() => x.count_zeros();
            x.leading_zeros() => x.leading_zeros();
            x.trailing_zeros() => x.trailing_zeros();
            (!x).count_ones() + 1 => (!x).count_ones() + 1;
        }
        table! { comparisons: |x: $t, y: $t| -> bool, for |_, _| true;
            x == y => x == y;
            x != y => x != y;
            x < y => x < y;
            x <= y => x <= y;
            x > y => x > y;
            x >= y => x >= y;
            x == 0 => x == 0;
            1 < x => 1 < x;
            x < y && x != 0 || y == 1 => (x < y && x != 0) || y == 1;
            x & y == y => x & y == y;
            x | 1 != x => x | 1 != x;
            (x < y) == (y > x) => (x < y) == (y > x);
            (x < y) != (y < 1) => (x < y) != (y < 1);
            !(x < y) => x >= y;
        }
    };
}

/// The divisions that have a result.
macro_rules! division_tables {
    ($t:ident, for $wanted:expr) => {
        table! { division: |x: $t, y: $t| -> $t, for $wanted;
            x / y => x / y;
            x % y => x % y;
            { let mut z = x; z /= y; z } => x / y;
            { let mut z = x; z %= y; z } => x % y;
            x / 3 => x / 3;
            x % 10 => x % 10;
            100 / y => 100 / y;
            x / y * y + x % y => x;
        }
        table! { wrapping_division: |x: $t, y: $t| -> $t, for |_, y| y != 0;
            x.wrapping_div(y) => x.wrapping_div(y);
            x.wrapping_rem(y) => x.wrapping_rem(y);
        }
    };
}

/// Shifts by every type of amount, in range and out of range.
macro_rules! shift_tables {
    ($t:ident) => {
        table! { shifts: |x: $t, n: i128| -> $t, for |_, _| true;
            x << n as i8 => x.wrapping_shl(n as i8 as u32);
            x << n as i16 => x.wrapping_shl(n as i16 as u32);
            x << n as i32 => x.wrapping_shl(n as i32 as u32);
            x << n as i64 => x.wrapping_shl(n as i64 as u32);
            x << n => x.wrapping_shl(n as u32);
            x << n as isize => x.wrapping_shl(n as isize as u32);
            x << n as u8 => x.wrapping_shl(n as u8 as u32);
            x << n as u16 => x.wrapping_shl(n as u16 as u32);
            x << n as u32 => x.wrapping_shl(n as u32);
            x << n as u64 => x.wrapping_shl(n as u64 as u32);
            x << n as u128 => x.wrapping_shl(n as u128 as u32);
            x << n as usize => x.wrapping_shl(n as usize as u32);
            x >> n as i8 => x.wrapping_shr(n as i8 as u32);
            x >> n as i16 => x.wrapping_shr(n as i16 as u32);
            x >> n as i32 => x.wrapping_shr(n as i32 as u32);
            x >> n as i64 => x.wrapping_shr(n as i64 as u32);
            x >> n => x.wrapping_shr(n as u32);
            x >> n as isize => x.wrapping_shr(n as isize as u32);
            x >> n as u8 => x.wrapping_shr(n as u8 as u32);
            x >> n as u16 => x.wrapping_shr(n as u16 as u32);
            x >> n as u32 => x.wrapping_shr(n as u32);
            x >> n as u64 => x.wrapping_shr(n as u64 as u32);
            x >> n as u128 => x.wrapping_shr(n as u128 as u32);
            x >> n as usize => x.wrapping_shr(n as usize as u32);
            x << 3 => x.wrapping_shl(3);
            x >> 7 => x.wrapping_shr(7);
            1 << n as u16 => (1 as $t).wrapping_shl(n as u16 as u32);
            { let mut z = x; z <<= n as u8; z } => x.wrapping_shl(n as u8 as u32);
            { let mut z = x; z >>= n as i64; z } => x.wrapping_shr(n as i64 as u32);
            x << 1 >> 1 => x.wrapping_shl(1).wrapping_shr(1);
        }
    };
}

macro_rules! unsigned {
    ($($t:ident)*) => {$(
        mod $t {
            use super::*;
            integer_tables!($t);
            division_tables!($t, for |_, y| y != 0);
            shift_tables!($t);
            module!("operators", $t: arithmetic assignment methods counts comparisons division wrapping_division shifts);
        }
    )*};
}

macro_rules! signed {
    ($($t:ident)*) => {$(
        mod $t {
            use super::*;
            integer_tables!($t);
            division_tables!($t, for |x, y| y != 0 && (x != $t::MIN || y != -1));
            shift_tables!($t);
            table! { signs: |x: $t, y: $t| -> $t, for |_, _| true;
                -x => x.wrapping_neg();
                -(-x) => x;
                -x - -y => x.wrapping_neg().wrapping_sub(y.wrapping_neg());
                !-x => !x.wrapping_neg();
                x.abs() => x.wrapping_abs();
                x.wrapping_abs() => x.wrapping_abs();
                -x.abs() => x.wrapping_abs().wrapping_neg();
                x + -5 => x.wrapping_add(-5);
                -7 * y => y.wrapping_mul(-7);
                x.max(-3).min(3) => x.max(-3).min(3);
                (x - y).abs() => x.wrapping_sub(y).wrapping_abs();
            }
            module!("operators", $t: arithmetic assignment methods counts comparisons division wrapping_division shifts signs);
        }
    )*};
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        mod $t {
            use super::*;
            table! { arithmetic: |x: $t, y: $t| -> $t, for |_, _| true;
                x + y => x + y;
                x - y => x - y;
                x * y => x * y;
                x / y => x / y;
                x % y => x % y;
                -x => -x;
                -(x + y) => -(x + y);
                x + 1.0 => x + 1.0;
                0.1 * x => 0.1 * x;
                1e-3 / y => 1e-3 / y;
                -2.5 - y => -2.5 - y;
                // No contraction: two roundings.
                x * y + x => x * y + x;
                x * y - x * 0.3 => x * y - x * 0.3;
                x - x * y => x - x * y;
                (x + y) - x => (x + y) - x;
                x / y * y => x / y * y;
            }
            table! { assignment: |x: $t, y: $t| -> $t, for |_, _| true;
                { let mut z = x; z += y; z } => x + y;
                { let mut z = x; z -= y; z } => x - y;
                { let mut z = x; z *= y; z } => x * y;
                { let mut z = x; z /= y; z } => x / y;
                { let mut z = x; z %= y; z } => x % y;
                { let mut z = [x, y]; z[1] *= z[0]; z[0] += z[1]; z[0] } => x + y * x;
            }
            table! { methods: |x: $t, y: $t| -> $t, for |_, _| true;
                x.abs() => x.abs();
                x.sqrt() => x.sqrt();
                x.abs().sqrt() => x.abs().sqrt();
                x.mul_add(y, x) => x.mul_add(y, x);
                x.mul_add(y, -(x * y)) => x.mul_add(y, -(x * y));
                x.mul_add(x, y) => x.mul_add(x, y);
                (-x).mul_add(0.1, y) => (-x).mul_add(0.1, y);
                -x.abs() => -x.abs();
            }
            // For zeros with different signs Rust may return either.
            table! { extremes: |x: $t, y: $t| -> $t, for |x, y| x != 0.0 || y != 0.0;
                x.min(y) => x.min(y);
                x.max(y) => x.max(y);
                x.max(1.5).min(y) => x.max(1.5).min(y);
            }
            table! { comparisons: |x: $t, y: $t| -> bool, for |_, _| true;
                x == y => x == y;
                x != y => x != y;
                x < y => x < y;
                x <= y => x <= y;
                x > y => x > y;
                x >= y => x >= y;
                !(x < y) => !(x < y);
                x == 0.0 => x == 0.0;
                x != x => x != x;
                x - y == 0.0 || x < 1.0 => x - y == 0.0 || x < 1.0;
            }
            module!("operators", $t: arithmetic assignment methods extremes comparisons);
        }
    )*};
}

mod bool {
    use super::*;
    table! { logic: |p: bool, q: bool| -> bool, for |_, _| true;
        p & q => p & q;
        p | q => p | q;
        p ^ q => p ^ q;
        !p => !p;
        p && q => p && q;
        p || q => p || q;
        p == q => p == q;
        p != q => p != q;
        p < q => !p & q;
        p <= q => p <= q;
        p > q => p & !q;
        p >= q => p >= q;
        !(p & q) => !(p & q);
        !(p ^ q) | q => !(p ^ q) | q;
        { let z = p & q; !z } => !(p & q);
        { let z = p | q; z == p } => (p | q) == p;
        { let z = p ^ q; z & !z } => false;
        { let mut z = p; z &= q; z } => p & q;
        { let mut z = p; z |= q; z } => p | q;
        { let mut z = p; z ^= q; z } => p ^ q;
        { let mut z = p & q; z = !z; z } => !(p & q);
        { let z = [p & q, p | q, p ^ true]; z[0] ^ z[1] ^ z[2] } => (p & q) ^ (p | q) ^ !p;
        { let mut z = [false; 2]; z[0] |= p; z[1] ^= q; z[0] && z[1] } => p && q;
        if p & q { p ^ q } else { p | q } => if p & q { p ^ q } else { p | q };
        p as u8 + (q as u8) == 1 => p != q;
        (p & q) as i32 - 1 == 0 => p & q;
        ((p ^ q) as u64) << 40 != 0 => p ^ q;
        (p & q) as i8 as bool_as == 1 => p & q;
    }
    #[allow(non_camel_case_types, reason = "an alias beside the primitive types")]
    type bool_as = i64;
    module!("operators", bool: logic);
}

unsigned!(u8 u16 u32 u64 u128 usize);
signed!(i8 i16 i32 i64 i128 isize);
floats!(f32 f64);

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![
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
        f32::module(),
        f64::module(),
        bool::module(),
    ]
}
