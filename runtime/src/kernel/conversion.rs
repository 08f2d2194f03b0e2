//! Conversions of types, `B::from(a)`: `#[device] impl From<A> for B` implements the trait by which bodies find the function, beside Rust's own.
//! Those of numbers are casts, which the text has itself.

use crate::program::template::{Callee, Function, Summary};

/// Types with a conversion from another type in kernels.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no conversion from `{T}` in kernels",
    label = "numbers have it, and types with a `#[device] impl` of it",
    note = "write `#[device]` above `impl From<{T}> for {Self}`"
)]
pub trait DeviceFrom<T>: Sized {
    /// What the text calls.
    type Marker: Function + Summary;

    /// Converts a value.
    #[allow(non_snake_case, reason = "named after the function")]
    #[track_caller]
    fn from__on_device(value: T, slot: &Callee<Self::Marker>) -> Self;
}
