//! The functions of `cuda` at the edges of their types, compared with the same computed from larger numbers or part by part.

use phalanx::prelude::*;

use super::table::{module, table};
use crate::Module;

/// The byte of this number, from the lowest on.
fn byte(word: u32, part: u32) -> i64 {
    i64::from(word >> (8 * part) & 255)
}

fn signed_byte(word: u32, part: u32) -> i64 {
    i64::from((word >> (8 * part)) as i8)
}

fn half(word: u32, part: u32) -> i64 {
    i64::from(word >> (16 * part) & 0xffff)
}

fn signed_half(word: u32, part: u32) -> i64 {
    i64::from((word >> (16 * part)) as i16)
}

/// A word of bytes, each made of those of two words.
fn bytes(of: fn(u32, u32) -> i64, x: u32, y: u32, value: fn(i64, i64) -> i64) -> u32 {
    (0..4).map(|part| ((value(of(x, part), of(y, part)) & 255) as u32) << (8 * part)).sum()
}

/// A word of halves.
fn halves(of: fn(u32, u32) -> i64, x: u32, y: u32, value: fn(i64, i64) -> i64) -> u32 {
    (0..2).map(|part| ((value(of(x, part), of(y, part)) & 0xffff) as u32) << (16 * part)).sum()
}

fn distance(a: i64, b: i64) -> i64 {
    (a - b).abs()
}

mod of_i32 {
    use super::*;

    table! { words: |x: i32, y: i32| -> i32, for |_, _| true;
        cuda::dp4a(x, y, 7)
            => (0..4).map(|k| signed_byte(x as u32, k) * signed_byte(y as u32, k)).sum::<i64>() as i32 + 7;
        cuda::dp4a(y, x, y)
            => (0..4).map(|k| signed_byte(x as u32, k) * signed_byte(y as u32, k)).sum::<i64>().wrapping_add(y.into()) as i32;
        cuda::dp2a_lo(x, y, -1)
            => (0..2).map(|k| signed_half(x as u32, k) * signed_byte(y as u32, k)).sum::<i64>() as i32 - 1;
        cuda::dp2a_hi(x, y, x)
            => ((0..2).map(|k| signed_half(x as u32, k) * signed_byte(y as u32, k + 2)).sum::<i64>() + i64::from(x)) as i32;
        cuda::mulhi(x, y) => ((i64::from(x) * i64::from(y)) >> 32) as i32;
        cuda::sad(x, y, 3) as i32 => (distance(x.into(), y.into()) + 3) as i32;
    }
    module!("cuda_functions", i32: words);
}

mod of_u32 {
    use super::*;

    table! { words: |x: u32, y: u32| -> u32, for |_, _| true;
        cuda::dp4a(x, y, 7) => (0..4).map(|k| byte(x, k) * byte(y, k)).sum::<i64>() as u32 + 7;
        cuda::dp4a(x, y, x) => ((0..4).map(|k| byte(x, k) * byte(y, k)).sum::<i64>() + i64::from(x)) as u32;
        cuda::dp2a_lo(x, y, 1) => ((0..2).map(|k| half(x, k) * byte(y, k)).sum::<i64>() + 1) as u32;
        cuda::dp2a_hi(x, y, y) => ((0..2).map(|k| half(x, k) * byte(y, k + 2)).sum::<i64>() + i64::from(y)) as u32;
        cuda::mulhi(x, y) => ((u64::from(x) * u64::from(y)) >> 32) as u32;
        cuda::sad(x, y, y) => (distance(x.into(), y.into()) + i64::from(y)) as u32;
        cuda::byte_perm(x, y, 0x3210) => x;
        cuda::byte_perm(x, y, 0x4567) => y.swap_bytes();
        cuda::byte_perm(x, y, 0xbadc_6420) => (x & 255) | (x >> 16 & 255) << 8 | (y & 255) << 16 | (y >> 16 & 255) << 24;
        cuda::byte_perm(x, y, 0x9d80 | 8)
            => (x & 255) | (x & 255) << 8 | (y >> 8 & 255) << 16 | (x >> 8 & 255) << 24;
        cuda::byte_perm(0x3322_1100, x, y)
            => (0..4).map(|k| {
                let of = y >> (4 * k) & 7;
                (if of < 4 { 0x11 * of } else { x >> (8 * (of - 4)) & 255 }) << (8 * k)
            }).sum::<u32>();
        cuda::funnelshift_l(x, y, 5) => y << 5 | x >> 27;
        cuda::funnelshift_l(x, y, x) => ((u64::from(y) << 32 | u64::from(x)) << (x % 32) >> 32) as u32;
        cuda::funnelshift_r(x, y, y) => ((u64::from(y) << 32 | u64::from(x)) >> (y % 32)) as u32;
        cuda::funnelshift_r(x, x, 9) => x.rotate_right(9);
        cuda::funnelshift_lc(x, y, x) => ((u64::from(y) << 32 | u64::from(x)) << x.min(32) >> 32) as u32;
        cuda::funnelshift_rc(x, y, x) => ((u64::from(y) << 32 | u64::from(x)) >> x.min(32)) as u32;
        cuda::funnelshift_lc(x, y, 32) => x;
        cuda::funnelshift_rc(x, y, 40) => y;
    }
    table! { parts: |x: u32, y: u32| -> u32, for |_, _| true;
        cuda::vadd4(x, y) => bytes(byte, x, y, |a, b| a + b);
        cuda::vadd2(x, y) => halves(half, x, y, |a, b| a + b);
        cuda::vsub4(x, y) => bytes(byte, x, y, |a, b| a - b);
        cuda::vsub2(x, y) => halves(half, x, y, |a, b| a - b);
        cuda::vaddss4(x, y) => bytes(signed_byte, x, y, |a, b| (a + b).clamp(-128, 127));
        cuda::vaddss2(x, y) => halves(signed_half, x, y, |a, b| (a + b).clamp(-32_768, 32_767));
        cuda::vaddus4(x, y) => bytes(byte, x, y, |a, b| (a + b).min(255));
        cuda::vaddus2(x, y) => halves(half, x, y, |a, b| (a + b).min(65_535));
        cuda::vsubss4(x, y) => bytes(signed_byte, x, y, |a, b| (a - b).clamp(-128, 127));
        cuda::vsubss2(x, y) => halves(signed_half, x, y, |a, b| (a - b).clamp(-32_768, 32_767));
        cuda::vsubus4(x, y) => bytes(byte, x, y, |a, b| (a - b).max(0));
        cuda::vsubus2(x, y) => halves(half, x, y, |a, b| (a - b).max(0));
        cuda::vmaxs4(x, y) => bytes(signed_byte, x, y, i64::max);
        cuda::vmaxs2(x, y) => halves(signed_half, x, y, i64::max);
        cuda::vmaxu4(x, y) => bytes(byte, x, y, i64::max);
        cuda::vmaxu2(x, y) => halves(half, x, y, i64::max);
        cuda::vmins4(x, y) => bytes(signed_byte, x, y, i64::min);
        cuda::vmins2(x, y) => halves(signed_half, x, y, i64::min);
        cuda::vminu4(x, y) => bytes(byte, x, y, i64::min);
        cuda::vminu2(x, y) => halves(half, x, y, i64::min);
        cuda::vabsdiffs4(x, y) => bytes(signed_byte, x, y, distance);
        cuda::vabsdiffs2(x, y) => halves(signed_half, x, y, distance);
        cuda::vabsdiffu4(x, y) => bytes(byte, x, y, distance);
        cuda::vabsdiffu2(x, y) => halves(half, x, y, distance);
        cuda::vavgu4(x, y) => bytes(byte, x, y, |a, b| (a + b + 1) / 2);
        cuda::vavgu2(x, y) => halves(half, x, y, |a, b| (a + b + 1) / 2);
        cuda::vcmpeq4(x, y) => bytes(byte, x, y, |a, b| -i64::from(a == b));
        cuda::vcmpeq2(x, y) => halves(half, x, y, |a, b| -i64::from(a == b));
        cuda::vcmpne4(x, y) => bytes(byte, x, y, |a, b| -i64::from(a != b));
        cuda::vcmpne2(x, y) => halves(half, x, y, |a, b| -i64::from(a != b));
        cuda::vcmpgts4(x, y) => bytes(signed_byte, x, y, |a, b| -i64::from(a > b));
        cuda::vcmpgts2(x, y) => halves(signed_half, x, y, |a, b| -i64::from(a > b));
        cuda::vcmpgtu4(x, y) => bytes(byte, x, y, |a, b| -i64::from(a > b));
        cuda::vcmpgtu2(x, y) => halves(half, x, y, |a, b| -i64::from(a > b));
        cuda::vcmpges4(x, y) => bytes(signed_byte, x, y, |a, b| -i64::from(a >= b));
        cuda::vcmpges2(x, y) => halves(signed_half, x, y, |a, b| -i64::from(a >= b));
        cuda::vcmpgeu4(x, y) => bytes(byte, x, y, |a, b| -i64::from(a >= b));
        cuda::vcmpgeu2(x, y) => halves(half, x, y, |a, b| -i64::from(a >= b));
        cuda::vsads4(x, y) => (0..4).map(|k| distance(signed_byte(x, k), signed_byte(y, k))).sum::<i64>() as u32;
        cuda::vsads2(x, y) => (0..2).map(|k| distance(signed_half(x, k), signed_half(y, k))).sum::<i64>() as u32;
        cuda::vsadu4(x, y) => (0..4).map(|k| distance(byte(x, k), byte(y, k))).sum::<i64>() as u32;
        cuda::vsadu2(x, y) => (0..2).map(|k| distance(half(x, k), half(y, k))).sum::<i64>() as u32;
    }
    module!("cuda_functions", u32: words parts);
}

mod of_i64 {
    use super::*;

    table! { products: |x: i64, y: i64| -> i64, for |_, _| true;
        cuda::mulhi(x, y) => ((i128::from(x) * i128::from(y)) >> 64) as i64;
        cuda::mulhi(x as u64, y as u64) as i64 => ((u128::from(x as u64) * u128::from(y as u64)) >> 64) as i64;
        cuda::mulhi(-3, y) => ((-3 * i128::from(y)) >> 64) as i64;
    }
    module!("cuda_functions", i64: products);
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![of_i32::module(), of_u32::module(), of_i64::module()]
}
