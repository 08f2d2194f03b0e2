//! `cuda!`, CUDA C++ in the middle of a kernel, as the simulator sees it: the closure beside the text, if there is one.
//! What the text does to memory, nobody here knows. The functions have the names that generated code calls.

use std::panic::Location;

use crate::report::failure::Cause;
use crate::sim::fail_at;

/// `cuda!` with a closure. A function pointer, so that the closure has nothing but the inputs, as the text.
///
/// # Safety
/// The text beside the closure does to its operands and to memory what Rust allows, and executes no collective.
#[inline]
pub unsafe fn by_hand<I, O>(inputs: I, closure: fn(I) -> O) -> O {
    closure(inputs)
}

/// `cuda!` without one: a failure where it is reached.
///
/// # Safety
/// As for [`by_hand`].
#[cold]
#[track_caller]
pub unsafe fn without_closure<I, O>(_inputs: I) -> O {
    fail_at(Cause::NoClosure, Location::caller())
}
