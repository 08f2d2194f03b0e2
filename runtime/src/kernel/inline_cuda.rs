//! Runs `cuda!`, which is CUDA C++ in the middle of a kernel, in the simulator: it calls the closure beside the text,
//! if there is one. It does not know what the text does to memory.

use std::panic::Location;

use crate::report::failure::Cause;
use crate::sim::fail_at;

/// Runs the closure of a `cuda!`. It is a function pointer, so that, like the text, it captures nothing and has only
/// the inputs.
///
/// # Safety
/// The text beside the closure does to its operands and to memory what Rust allows, and executes no collective.
#[inline]
pub unsafe fn inline_cuda<I, O>(inputs: I, closure: fn(I) -> O) -> O {
    closure(inputs)
}

/// Ends the launch with a failure, because a thread has reached a `cuda!` without a closure.
///
/// # Safety
/// The same conditions as for [`inline_cuda`].
#[cold]
#[track_caller]
pub unsafe fn without_closure<I, O>(_inputs: I) -> O {
    fail_at(Cause::NoClosure, Location::caller())
}

/// Inserts CUDA C++ into a kernel or a device function, whose attribute reads it; nothing else can write it. [The
/// language](https://docs.rs/phalanx/latest/phalanx/language/index.html) says what stands in it.
///
/// ```compile_fail
/// phalanx::cuda!("x = 1;");
/// ```
#[macro_export]
macro_rules! cuda {
    ($($tokens:tt)*) => {
        ::std::compile_error!("`cuda!` can only be written in a kernel or a device function")
    };
}

pub use cuda;
