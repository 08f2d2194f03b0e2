//! The attributes of phalanx. This file is the whole crate: it hands rustc's tokens to `phalanx-compiler` and says in its
//! docs what the attributes do. It checks and prints nothing itself.

use proc_macro::TokenStream;

/// Makes a function a cluster kernel: checked here, compiled for the GPU at its first launch, run by the simulator
/// where there is no GPU.
///
/// ```text
/// #[cluster_kernel(
///     cluster = 4,            // blocks in a cluster: 4, (4, 2) or (4, 2, 1)
///     block = (32, WARPS),    // threads in a block
///     min_blocks = 2,         // blocks that a multiprocessor should hold at once; needs `block`
///     max_registers = 64,     // registers of a thread, at most; not with `min_blocks`
///     shared_bytes = 4096,    // dynamic shared memory of a block
///     non_portable,           // clusters of more than 8 blocks
///     fmad,                   // `a * b + c` is rounded once
///     fast_math,              // `f32` as fast as the hardware can
///     profile,                // the GPU records barriers for `Launch::timeline`, as the simulator does
///     fence = "full",         // what barriers order: all memory
///     unchecked(rule, ...),   // rules that the caller keeps: the kernel is `unsafe` to call
/// )]
/// ```
///
/// All of them are optional. Sizes are constants of any integer type, generic parameters too; what is not given, the
/// launch says. `docs/language/options.md` has each option with an example.
#[proc_macro_attribute]
pub fn cluster_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    phalanx_compiler::kernel(options.into(), item.into()).into()
}

/// Makes a function callable from kernels and from other device functions. Takes one option: `unchecked(rule, ...)`, as
/// kernels do.
#[proc_macro_attribute]
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    phalanx_compiler::device(options.into(), item.into()).into()
}

/// Lets values of a struct or a fieldless enum be kept in device memory and used in kernels.
///
/// A struct has `#[repr(C)]` or `#[repr(transparent)]`, fields that are `DeviceCopy` themselves, and no padding. An enum has
/// `#[repr(u8)]` or another integer, no fields, a variant of value 0, and derives `PartialEq`. Both are `Copy`. What is missing
/// is a compile error that says how to mend it. The trait's own page has an example.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    phalanx_compiler::device_copy(item.into()).into()
}

/// Lets values of an enum whose variants have fields be used in kernels, as values of a thread: in variables, in local arrays, and as
/// arguments and results of device functions. No memory holds them, because Rust does not specify their layout.
///
/// The enum is `Copy`, has no parameters, and its fields are numbers, `bool`s, structs and enums of kernels, or arrays and tuples of
/// these. One that derives `PartialEq` in a source file is compared with `==`. An enum without fields has
/// [`DeviceCopy`](macro@DeviceCopy).
#[proc_macro_derive(DeviceType)]
pub fn device_type(item: TokenStream) -> TokenStream {
    phalanx_compiler::device_type(item.into()).into()
}
