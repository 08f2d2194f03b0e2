//! Room on the stack. Parsing, checks and printing go down into expressions as deep as they are written, and a chain of a
//! thousand `+` or `else if` is deeper than the thread has room for on which rustc calls a macro.

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

/// Address space; memory is used only where it is touched.
const BYTES: usize = 1 << 30;

/// Calls `work` on a stack of its own, where the system gives one.
pub(crate) fn with_room<R>(work: impl FnOnce() -> R) -> R {
    match DefaultStack::new(BYTES) {
        Ok(stack) => on_stack(stack, work),
        Err(_) => work(),
    }
}
