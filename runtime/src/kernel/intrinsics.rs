//! The functions that generated code calls for the language itself, rather than for a group or memory: loop iterations,
//! failed assertions, prints and `unwrap`.

use std::panic::Location;

use super::memory::Index;
use crate::program::message::{MessageSlot, Values};
use crate::program::types::DeviceScalar;
use crate::report::failure::Cause;
use crate::scalar::Scalar;
use crate::sim::{fail_at, outside, try_with};

/// Counts one iteration of a loop. It lets other threads run from time to time, so that loops that wait for a flag
/// terminate. Outside of kernels it does nothing.
#[inline]
#[track_caller]
pub fn tick() {
    let site = Location::caller();
    try_with(|context| context.tick(site));
}

/// Ends the launch, because an `assert!` or a similar macro failed.
#[cold]
#[track_caller]
pub fn fail_assertion<V: Values, F: Fn(V) -> String>(_slot: &MessageSlot<V, F>, values: V, text: F) -> ! {
    fail_at(Cause::Assertion(outside(|| text(values))), Location::caller())
}

/// Ends the launch, because of a `panic!` or a similar macro.
#[cold]
#[track_caller]
pub fn fail_panic<V: Values, F: Fn(V) -> String>(_slot: &MessageSlot<V, F>, values: V, text: F) -> ! {
    fail_at(Cause::Panic(outside(|| text(values))), Location::caller())
}

/// Executes `print!` and `println!`. Outside of kernels it prints immediately.
pub fn print<V: Values, F: Fn(V) -> String>(_slot: &MessageSlot<V, F>, values: V, text: F) {
    if try_with(|context| context.print(V::BYTES, || text(values))).is_none() {
        std::print!("{}", text(values));
    }
}

/// Returns the step of a range, and ends the launch if it is 0, as Rust's `step_by` does. It may be a `u32`, as
/// `block.num_threads()` is; a negative one is larger than every range.
#[inline]
#[track_caller]
pub fn step<I: Index>(step: I) -> usize {
    let step = step.to_usize();
    if step == 0 {
        fail_at(Cause::step_of_zero(), Location::caller());
    }
    step
}

/// Evaluates `option.unwrap()` and `option.expect("..")`.
#[inline]
#[track_caller]
pub fn unwrap<T>(value: impl Held<T>, message: &str) -> T {
    match value.held() {
        Some(value) => value,
        None => fail_at(Cause::Panic(message.into()), Location::caller()),
    }
}

/// Evaluates `option.unwrap_or(other)`.
#[inline]
pub fn unwrap_or<T>(value: impl Held<T>, other: T) -> T {
    value.held().unwrap_or(other)
}

/// An `Option` or a `Result`.
#[diagnostic::on_unimplemented(message = "`{Self}` is neither an `Option` nor a `Result`")]
pub trait Held<T> {
    /// Returns the value in it.
    fn held(self) -> Option<T>;
}

impl<T> Held<T> for Option<T> {
    #[inline]
    fn held(self) -> Option<T> {
        self
    }
}

impl<T, E> Held<T> for Result<T, E> {
    #[inline]
    fn held(self) -> Option<T> {
        self.ok()
    }
}

/// Returns a constant of the program as data.
#[inline]
pub fn scalar<T: DeviceScalar>(value: T) -> Scalar {
    value.scalar()
}
