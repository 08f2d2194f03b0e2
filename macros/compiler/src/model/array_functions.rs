//! The calls of the library's own functions that the parser writes: those that make arrays by closures, of `array.map(f)` and of
//! `std::array::from_fn(f)`, and the comparison of keys, of `array.sort_by_key(f)`.

use super::expr::Callee;

/// Whether a call is `array.map(f)`.
pub(crate) fn maps_array(callee: &Callee) -> bool {
    is_own(callee, "mapped")
}

/// Whether a call is `std::array::from_fn(f)`.
pub(crate) fn is_array_of(callee: &Callee) -> bool {
    is_own(callee, "array_of")
}

/// Whether a call is either of them.
pub(crate) fn makes_array(callee: &Callee) -> bool {
    maps_array(callee) || is_array_of(callee)
}

/// Whether a call is the comparison of two keys, whose result depends on them alone.
pub(crate) fn compares_keys(callee: &Callee) -> bool {
    is_own(callee, "is_less")
}

/// Whether a call is that of a function of the library's own, which no user can name so.
fn is_own(callee: &Callee, name: &str) -> bool {
    let Callee::Function(function) = callee else { return false };
    function.name == name && function.path.to_string().contains("__private")
}
