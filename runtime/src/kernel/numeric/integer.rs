//! The methods of integers, with the semantics of Rust's release mode in every profile. Where Rust panics in release
//! mode, too, the launch ends.

use super::methods::methods;
use super::no_result::{division, refuse};
use super::traits::{Integer, Signed, SignedInteger, Unsigned, UnsignedInteger};

/// The messages of failures, which the text's sites have, too.
const LOGARITHM: &str = "argument of integer logarithm must be positive";
const ROOT: &str = "argument of integer square root cannot be negative";

methods! { OfIntegers of Integer, for i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize: {
    wrapping_add(a, b: T) -> T;
    wrapping_sub(a, b: T) -> T;
    wrapping_mul(a, b: T) -> T;
    wrapping_neg(a) -> T;
    wrapping_shl(a, amount: u32) -> T;
    wrapping_shr(a, amount: u32) -> T;
    wrapping_pow(a, exponent: u32) -> T;
    #[track_caller]
    wrapping_div(a, b: T) -> T = if b == 0 { division(a, b) } else { a.wrapping_div(b) };
    #[track_caller]
    wrapping_rem(a, b: T) -> T = if b == 0 { division(a, b) } else { a.wrapping_rem(b) };
    #[track_caller]
    wrapping_div_euclid(a, b: T) -> T = if b == 0 { division(a, b) } else { a.wrapping_div_euclid(b) };
    #[track_caller]
    wrapping_rem_euclid(a, b: T) -> T = if b == 0 { division(a, b) } else { a.wrapping_rem_euclid(b) };
    pow(a, exponent: u32) -> T = a.wrapping_pow(exponent);

    saturating_add(a, b: T) -> T;
    saturating_sub(a, b: T) -> T;
    saturating_mul(a, b: T) -> T;
    saturating_pow(a, exponent: u32) -> T;
    #[track_caller]
    saturating_div(a, b: T) -> T = if b == 0 { division(a, b) } else { a.saturating_div(b) };

    checked_add(a, b: T) -> Option<T>;
    checked_sub(a, b: T) -> Option<T>;
    checked_mul(a, b: T) -> Option<T>;
    checked_div(a, b: T) -> Option<T>;
    checked_rem(a, b: T) -> Option<T>;
    checked_div_euclid(a, b: T) -> Option<T>;
    checked_rem_euclid(a, b: T) -> Option<T>;
    checked_neg(a) -> Option<T>;
    checked_shl(a, amount: u32) -> Option<T>;
    checked_shr(a, amount: u32) -> Option<T>;
    checked_pow(a, exponent: u32) -> Option<T>;
    checked_ilog2(a) -> Option<u32>;
    checked_ilog10(a) -> Option<u32>;

    overflowing_add(a, b: T) -> (T, bool);
    overflowing_sub(a, b: T) -> (T, bool);
    overflowing_mul(a, b: T) -> (T, bool);
    #[track_caller]
    overflowing_div(a, b: T) -> (T, bool) = if b == 0 { division(a, b) } else { a.overflowing_div(b) };
    #[track_caller]
    overflowing_rem(a, b: T) -> (T, bool) = if b == 0 { division(a, b) } else { a.overflowing_rem(b) };
    #[track_caller]
    overflowing_div_euclid(a, b: T) -> (T, bool) = if b == 0 { division(a, b) } else { a.overflowing_div_euclid(b) };
    #[track_caller]
    overflowing_rem_euclid(a, b: T) -> (T, bool) = if b == 0 { division(a, b) } else { a.overflowing_rem_euclid(b) };
    overflowing_neg(a) -> (T, bool);
    overflowing_shl(a, amount: u32) -> (T, bool);
    overflowing_shr(a, amount: u32) -> (T, bool);
    overflowing_pow(a, exponent: u32) -> (T, bool);

    #[track_caller]
    ilog2(a) -> u32 = match a.checked_ilog2() {
        Some(logarithm) => logarithm,
        None => refuse(LOGARITHM),
    };
    #[track_caller]
    ilog10(a) -> u32 = match a.checked_ilog10() {
        Some(logarithm) => logarithm,
        None => refuse(LOGARITHM),
    };
    #[track_caller]
    isqrt(a) -> T = if a < T::default() { refuse(ROOT) } else { a.isqrt() };
    midpoint(a, b: T) -> T;
    abs_diff(a, b: T) -> Unsigned<T>;

    count_ones(a) -> u32;
    count_zeros(a) -> u32;
    leading_zeros(a) -> u32;
    trailing_zeros(a) -> u32;
    leading_ones(a) -> u32;
    trailing_ones(a) -> u32;
    rotate_left(a, amount: u32) -> T;
    rotate_right(a, amount: u32) -> T;
    reverse_bits(a) -> T;
    swap_bytes(a) -> T;
    to_be(a) -> T = a.swap_bytes();
    to_le(a) -> T = a;
}}

methods! { OfSigned of SignedInteger, for i8 i16 i32 i64 i128 isize: {
    wrapping_abs(a) -> T;
    saturating_neg(a) -> T;
    saturating_abs(a) -> T;
    checked_abs(a) -> Option<T>;
    overflowing_abs(a) -> (T, bool);
    unsigned_abs(a) -> Unsigned<T>;
    cast_unsigned(a) -> Unsigned<T>;
    is_positive(a) -> bool;
    is_negative(a) -> bool;
    checked_isqrt(a) -> Option<T>;
    wrapping_add_unsigned(a, b: Unsigned<T>) -> T;
    wrapping_sub_unsigned(a, b: Unsigned<T>) -> T;
    saturating_add_unsigned(a, b: Unsigned<T>) -> T;
    saturating_sub_unsigned(a, b: Unsigned<T>) -> T;
    checked_add_unsigned(a, b: Unsigned<T>) -> Option<T>;
    checked_sub_unsigned(a, b: Unsigned<T>) -> Option<T>;
    overflowing_add_unsigned(a, b: Unsigned<T>) -> (T, bool);
    overflowing_sub_unsigned(a, b: Unsigned<T>) -> (T, bool);
}}

methods! { OfUnsigned of UnsignedInteger, for u8 u16 u32 u64 u128 usize: {
    is_power_of_two(a) -> bool;
    is_multiple_of(a, b: T) -> bool;
    next_power_of_two(a) -> T = a.checked_next_power_of_two().unwrap_or(0);
    checked_next_power_of_two(a) -> Option<T>;
    #[track_caller]
    div_ceil(a, b: T) -> T = if b == 0 { division(a, b) } else { a.div_ceil(b) };
    #[track_caller]
    next_multiple_of(a, b: T) -> T = match if b == 0 { division(a, b) } else { a % b } {
        0 => a,
        remainder => a.wrapping_add(b - remainder),
    };
    checked_next_multiple_of(a, b: T) -> Option<T>;
    cast_signed(a) -> Signed<T>;
    wrapping_add_signed(a, b: Signed<T>) -> T;
    saturating_add_signed(a, b: Signed<T>) -> T;
    checked_add_signed(a, b: Signed<T>) -> Option<T>;
    overflowing_add_signed(a, b: Signed<T>) -> (T, bool);
}}
