//! `cuda!`, CUDA C++ in the middle of a kernel, as the simulator runs it: the closure beside the text, if there is one.
//! Nothing here knows what the text does to memory.

use std::panic::Location;

use crate::report::failure::Cause;
use crate::sim::fail_at;

/// Runs the closure of a `cuda!`. It is a function pointer, so that it captures nothing and has the inputs only, as the text
/// does.
///
/// # Safety
/// The text beside the closure does to its operands and to memory what Rust allows, and executes no collective.
#[inline]
pub unsafe fn inline_cuda<I, O>(inputs: I, closure: fn(I) -> O) -> O {
    closure(inputs)
}

/// Ends the launch with a failure, where a `cuda!` without a closure is reached.
///
/// # Safety
/// The same conditions as for [`inline_cuda`].
#[cold]
#[track_caller]
pub unsafe fn without_closure<I, O>(_inputs: I) -> O {
    fail_at(Cause::NoClosure, Location::caller())
}
