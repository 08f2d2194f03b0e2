//! A large stack for the compiler. Parsing, checks and printing recurse as deeply as expressions nest, and a chain of a
//! thousand `+` or `else if` nests more deeply than the stack of the thread on which rustc calls a macro allows.

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

/// The size in bytes of address space; only memory that is touched is used.
const BYTES: usize = 1 << 30;

/// Calls `work` on a large stack of its own, or on the current one if the system cannot allocate it.
pub(crate) fn with_large_stack<R>(work: impl FnOnce() -> R) -> R {
    match DefaultStack::new(BYTES) {
        Ok(stack) => on_stack(stack, work),
        Err(_) => work(),
    }
}
