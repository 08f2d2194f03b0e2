//! Prints literals and constants in C++, each with its type: `u32(5)`, `f32(0.5f)`. They are exact to the bit: a C++
//! compiler reads the value that Rust has.

use crate::scalar::Scalar;

/// Returns `value` as an expression of its strong type.
pub(super) fn value(value: Scalar) -> String {
    match value {
        Scalar::Bool(v) => v.to_string(),
        Scalar::Signed(v, name) => format!("{name}({})", signed(v)),
        Scalar::Unsigned(v, name) => format!("{name}({})", unsigned(v)),
        // `{:?}` prints the shortest decimal that reads back as the same float. No decimal of -0.0 survives `f32(..)`
        // in every compiler; infinities and NaN have none at all.
        Scalar::F32(v) if v.is_finite() && v.to_bits() != 1 << 31 => format!("f32({v:?}f)"),
        Scalar::F32(v) => format!("f32::from_bits({:#x}u)", v.to_bits()),
        Scalar::F64(v) if v.is_finite() && v.to_bits() != 1 << 63 => format!("f64({v:?})"),
        Scalar::F64(v) => format!("f64::from_bits({:#x}ull)", v.to_bits()),
        Scalar::F16(v) => format!("f16::from_bits({:#x})", v.to_bits()),
        Scalar::Bf16(v) => format!("bf16::from_bits({:#x})", v.to_bits()),
        Scalar::E4m3(v) => format!("e4m3::from_bits({:#x})", v.to_bits()),
        Scalar::E5m2(v) => format!("e5m2::from_bits({:#x})", v.to_bits()),
    }
}

/// Returns `value` for a position where its type is known: without the type, unless that would be a different value.
pub(super) fn beside(value: Scalar) -> String {
    match value {
        Scalar::Signed(v, _) if i64::try_from(v).is_ok() => signed(v),
        Scalar::Unsigned(v, _) if u64::try_from(v).is_ok() => unsigned(v),
        Scalar::F32(v) if v.is_finite() && v.to_bits() != 1 << 31 => format!("{v:?}f"),
        Scalar::F64(v) if v.is_finite() && v.to_bits() != 1 << 63 => format!("{v:?}"),
        Scalar::Bool(_)
        | Scalar::Signed(..)
        | Scalar::Unsigned(..)
        | Scalar::F32(_)
        | Scalar::F64(_)
        | Scalar::F16(_)
        | Scalar::Bf16(_)
        | Scalar::E4m3(_)
        | Scalar::E5m2(_) => self::value(value),
    }
}

/// Returns `value` without its type, for a position where C++ requires a constant expression: a template argument or an
/// array's extent.
pub(super) fn digits(value: Scalar) -> String {
    match value {
        Scalar::Signed(v, _) => signed(v),
        Scalar::Unsigned(v, _) => unsigned(v),
        other => other.to_string(),
    }
}

/// Returns a Rust literal, whose type is called `name` on both sides.
pub(super) fn literal(name: &str, digits: &str) -> String {
    match name {
        // rustc has parsed the literal before, so both parse.
        "f32" => value(Scalar::F32(digits.parse().unwrap_or(f32::NAN))),
        "f64" => value(Scalar::F64(digits.parse().unwrap_or(f64::NAN))),
        _ => {
            let bits = integer(digits);
            // The literal of `-2147483648` reads 2147483648, one more than an i32 can hold: it wraps to the same bits,
            // which the minus sign before it keeps.
            let signed_value = |width: u32| ((bits << (128 - width)) as i128) >> (128 - width);
            let inner = match name {
                "i8" => signed(signed_value(8)),
                "i16" => signed(signed_value(16)),
                "i32" => signed(signed_value(32)),
                "i64" | "isize" => signed(signed_value(64)),
                "i128" => signed(bits as i128),
                // Masks and hash constants are printed as they were written.
                _ if digits.starts_with("0x") => written(bits, digits.into()),
                _ => unsigned(bits),
            };
            format!("{name}({inner})")
        }
    }
}

/// Returns the value of a Rust integer literal without underscores or suffix; zero for `-0.0`, with which a sum of any numbers begins.
fn integer(digits: &str) -> u128 {
    if digits == "-0.0" {
        return 0;
    }
    let (radix, rest) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    // The macro passes what syn parsed as an integer; rustc rejects more than 128 bits.
    u128::from_str_radix(rest, radix).unwrap_or(u128::MAX)
}

fn signed(v: i128) -> String {
    // C++ has no negative literals, only a minus before a positive one, which may not fit.
    if let Ok(v) = i32::try_from(v) {
        if v == i32::MIN { "-2147483647 - 1".into() } else { v.to_string() }
    } else if let Ok(v) = i64::try_from(v) {
        if v == i64::MIN { "-9223372036854775807ll - 1".into() } else { format!("{v}ll") }
    } else {
        halves(v as u128)
    }
}

fn unsigned(v: u128) -> String {
    written(v, v.to_string())
}

/// Returns `v`, which `digits` spell in both languages.
fn written(v: u128, digits: String) -> String {
    if v <= i32::MAX as u128 {
        digits
    } else if v <= u32::MAX.into() {
        digits + "u"
    } else if v <= u64::MAX.into() {
        digits + "ull"
    } else {
        halves(v)
    }
}

/// Returns the two halves that the prelude's types take, because C++ has no 128-bit literals.
fn halves(v: u128) -> String {
    format!("{}ull, {}ull", v >> 64, v as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_get_the_suffix_they_need() {
        assert_eq!(literal("u32", "5"), "u32(5)");
        assert_eq!(literal("u32", "4294967295"), "u32(4294967295u)");
        assert_eq!(literal("u64", "0xffffffffffffffff"), "u64(0xffffffffffffffffull)");
        assert_eq!(literal("i64", "5000000000"), "i64(5000000000ll)");
        assert_eq!(literal("u8", "0b101"), "u8(5)");
        assert_eq!(literal("usize", "0o17"), "usize(15)");
        assert_eq!(literal("i16", "-0.0"), "i16(0)");
        assert_eq!(literal("u128", "18446744073709551618"), "u128(1ull, 2ull)");
    }

    #[test]
    fn the_smallest_integers_keep_their_bits() {
        assert_eq!(literal("i32", "2147483648"), "i32(-2147483647 - 1)");
        assert_eq!(literal("i64", "9223372036854775808"), "i64(-9223372036854775807ll - 1)");
        assert_eq!(literal("i8", "128"), "i8(-128)");
        assert_eq!(value(Scalar::Signed(i128::MIN, "i128")), "i128(9223372036854775808ull, 0ull)");
        assert_eq!(value(Scalar::Signed(-3, "i64")), "i64(-3)");
    }

    #[test]
    fn floats_read_back_as_they_were() {
        assert_eq!(literal("f32", "0.5"), "f32(0.5f)");
        assert_eq!(literal("f32", "1."), "f32(1.0f)");
        assert_eq!(literal("f64", "1e10"), "f64(10000000000.0)");
        assert_eq!(literal("f64", "1E-30"), "f64(1e-30)");
        assert_eq!(literal("f64", "-0.0"), "f64::from_bits(0x8000000000000000ull)");
        assert_eq!(value(Scalar::F32(-0.0)), "f32::from_bits(0x80000000u)");
        assert_eq!(value(Scalar::F64(f64::INFINITY)), "f64::from_bits(0x7ff0000000000000ull)");
        assert_eq!(value(Scalar::F32(f32::NAN)), "f32::from_bits(0x7fc00000u)");
        assert_eq!(value(Scalar::F32(f32::MIN_POSITIVE)), "f32(1.1754944e-38f)");
    }

    #[test]
    fn constants_stand_bare_in_template_arguments() {
        assert_eq!(digits(Scalar::Unsigned(64, "usize")), "64");
        assert_eq!(digits(Scalar::Bool(true)), "true");
    }
}
