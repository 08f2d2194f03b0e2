//! The calls that make arrays by closures: what the parser makes of `array.map(f)` and of `std::array::from_fn(f)`.

use proc_macro2::TokenStream;
use quote::quote;

use super::expr::Callee;

/// Whether a call is `array.map(f)`.
pub(crate) fn maps_array(callee: &Callee) -> bool {
    is_path(callee, &quote!(::phalanx::__private::mapped))
}

/// Whether a call is `std::array::from_fn(f)`.
pub(crate) fn is_array_of(callee: &Callee) -> bool {
    is_path(callee, &quote!(::phalanx::__private::array_of))
}

/// Whether a call is either of them.
pub(crate) fn makes_array(callee: &Callee) -> bool {
    maps_array(callee) || is_array_of(callee)
}

fn is_path(callee: &Callee, path: &TokenStream) -> bool {
    matches!(callee, Callee::Function(function) if function.path.to_string() == path.to_string())
}
