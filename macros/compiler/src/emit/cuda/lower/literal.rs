//! Lowers literals, whose suffixes in C++ are not Rust's.

use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::model::expr::{LiteralType, integer};

pub(super) fn literal(digits: &str, ty: LiteralType) -> CuExpr {
    CuExpr::Atom(vec![match ty {
        LiteralType::Beside => Fragment::Text(bare_integer(digits, false)),
        LiteralType::Slot(slot) | LiteralType::Start(slot) => Fragment::Literal { slot, digits: digits.into() },
        LiteralType::Suffix("f32") => Fragment::Text(format!("f32({}f)", float_digits(digits))),
        LiteralType::Suffix("f64") => Fragment::Text(format!("f64({})", float_digits(digits))),
        LiteralType::Suffix(ty) => Fragment::Text(format!("{ty}({})", bare_integer(digits, false))),
    }])
}

/// Completes a float's digits: Rust accepts `1.` and `1e3` and, before a suffix, `1`.
fn float_digits(digits: &str) -> String {
    match digits.contains(['.', 'e', 'E']) {
        true if digits.ends_with('.') => format!("{digits}0"),
        true => digits.into(),
        false => format!("{digits}.0"),
    }
}

/// Returns an integer without its strong type, with the suffix that preserves its value in C++.
pub(super) fn bare_integer(digits: &str, negated: bool) -> String {
    let Some(value) = integer(digits) else { return digits.into() };
    let text = if digits.starts_with("0x") { digits.to_string() } else { value.to_string() };
    let fits = |largest: u64| value <= u128::from(largest);
    match negated {
        _ if fits(i32::MAX as u64) => text,
        // The literal is signed: an unsigned one would wrap before it is widened.
        true => format!("{text}ll"),
        false if fits(u64::from(u32::MAX)) => format!("{text}u"),
        false if fits(u64::MAX) => format!("{text}ull"),
        // The constructor of a 128-bit type takes two words: only a literal with a suffix is so large.
        false => format!("{}ull, {}ull", value >> 64, value as u64),
    }
}
