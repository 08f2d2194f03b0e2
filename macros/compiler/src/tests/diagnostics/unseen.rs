//! The sentences that no file of `ui-tests/reject` shows by the macro alone, each with where it is seen.

/// The sentences that no test can show, with the reason.
pub(super) const UNSEEN: &[(&str, &str)] = &[
    (
        "this fault occurs with {}, and not with all other values",
        "said by rustc where it builds the instance, and `cargo check` builds none",
    ),
    ("`{name}` of `{of}` is not supported in a kernel [{rule}]", "said by rustc, in `methods_of_rust.stderr`"),
    (
        "`{name}` is another function than the device function of this name in the file",
        "said by rustc, if another macro renames one of the two",
    ),
    ("give one of the two another name", "the same"),
    ("the method `{name}` of this trait cannot stand in an `impl` of another file", "said of a crate of several files"),
    (
        "write `{name}` in the `impl`; of the trait's file, its body can name functions, constants and structures that are visible here, and of macros assertions and the like",
        "the same",
    ),
    ("the enum `{name}` is not a type of kernels", "said of the text of a file, in `enums.stderr`"),
    ("derive it: `#[derive(Clone, Copy, DeviceType)]` above `enum {name}`", "the same"),
    (
        "this function leaves a product in flight, which its caller must wait for, but on some path the caller ends without a wait: the sums are lost, and the tensor cores may still read the tiles",
        "said by rustc, in `mma_of_functions.stderr`",
    ),
    ("assertion failed: k <= self.len()", RUNTIME),
    ("assertion failed: mid <= self.len()", RUNTIME),
    ("assertion failed: step != 0", RUNTIME),
    ("assertion failed: {}", RUNTIME),
    ("assertion `left {} right` failed", RUNTIME),
    ("called `unwrap()` on a `None` or `Err` value", RUNTIME),
    ("called `Result::unwrap()` on an `Err` value", RUNTIME),
    ("chunk size must be non-zero", RUNTIME),
    ("copy_from_slice: source slice length does not match destination slice length", RUNTIME),
    ("explicit panic", RUNTIME),
    ("internal error: entered unreachable code", RUNTIME),
    ("not implemented", RUNTIME),
    ("not yet implemented", RUNTIME),
    ("range {}..{} out of bounds: the len is {}", RUNTIME),
    ("window size must be non-zero", RUNTIME),
    ("`?` after this is", "of what the macro writes itself, which it can read"),
    ("this comparison is", "the same"),
    ("this loop is", "the same"),
    ("this call is", "the same"),
    ("a closure of this form is", "the same"),
    (
        "the attribute must be on the `impl`, not on its functions",
        "attributes inside of an `impl` are not looked at: unsupported_signature.rs has it",
    ),
    ("write `#[device] impl Type { ... }`: all its functions become device functions", "the same"),
    (
        "this function executes a collective, so all threads of the group must reach this call, but some may not reach it",
        RUSTC,
    ),
    ("move the call out of the branch", RUSTC),
    (
        "this argument decides whether a collective is reached, or which part of shared memory is meant, so it must be uniform across the group, but it may differ between threads",
        RUSTC,
    ),
    ("pass a uniform value; if the argument is uniform, say so: `group.uniform(argument)`", RUSTC),
    (
        "this function accesses a peer's shared memory, so a barrier of the cluster must come before the call: the peer may not have started",
        CALLS,
    ),
    (
        "this function may end with an access to a peer's shared memory, so a barrier of the cluster must come after the call: the peer may have exited",
        CALLS,
    ),
    ("this function writes to its own shared memory, which peers may still be reading since the previous call", CALLS),
    (
        "this function is given the same shared memory twice, as the block's own and as a peer's, and accesses both with no barrier of the cluster in between",
        CALLS,
    ),
    ("pass different memory, or put a barrier between the accesses in the function", CALLS),
    (
        "two calls access the same shared memory, one as the block's own and one as a peer's, and at least one of them writes, with no barrier of the cluster in between",
        NAMED,
    ),
    ("the earlier call is here", NAMED),
    (
        "this call initializes a barrier that an earlier call of the function left in use: all calls of a device function share its barriers",
        NAMED,
    ),
    (
        "let one thread call `invalidate` at the function's end and synchronize the block, or initialize the barrier once and pass it to the function",
        NAMED,
    ),
    ("the called function names the dynamic shared memory itself", NAMED),
    ("the called function makes its access with no barrier of the cluster before or after it calls the closure", NAMED),
    (
        "this function accesses the dynamic shared memory both through this argument and by name, once as the block's own and once as a peer's, with no barrier of the cluster in between",
        NAMED,
    ),
    ("pass all of it to the function, or put a barrier between the accesses in the function", NAMED),
    ("it is called in a loop", CALLS),
    ("the previous call is here", CALLS),
    ("the memory is dynamic memory that both functions name, or an array of a function that both call", CALLS),
    ("let all threads execute `cluster.sync()` between the calls", CALLS),
    ("with the value of {names}, the two may access the same element", CONSTANTS),
    ("this function executes a collective of a group that must not be used after its token was forgotten", FORGOTTEN),
    ("wait for the token instead of forgetting it, on every path that leads to the call", FORGOTTEN),
    ("this expression is", "for syntax that Rust does not have yet"),
    ("this operator is", "the same"),
    (
        "a right side of `{op}` that changes what selects the element on the left is not part of the kernel language",
        TYPES,
    ),
    ("bind the right side to a name first: `let change = ...;`", TYPES),
];
const TYPES: &str = "said where the file shows the type, in `operators.stderr`";
const RUNTIME: &str = "said by a kernel that runs";
const CONSTANTS: &str = "said by rustc, in `values_of_constants.stderr`";
const RUSTC: &str = "said by rustc, in `divergent_in_a_call.stderr`: it knows what functions do";
const FORGOTTEN: &str = "said by rustc, in `forgotten_in_a_call.stderr`";
const NAMED: &str = "said by rustc, in `memory_of_functions.stderr`";
const CALLS: &str = "said by rustc, in `shared_in_calls.stderr`";
