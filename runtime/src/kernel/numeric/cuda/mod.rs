//! CUDA's intrinsic functions of numbers that Rust has no method for, under CUDA's names without the underscores: `__dp4a` is
//! `cuda::dp4a`. A kernel calls them by their path, and so may the host. They compute the same in the simulator and on a GPU, bit
//! for bit, except for the bits of a NaN.
//!
//! What Rust has is not here: `__popc(x)` is `x.count_ones()`, `__clz(x)` is `x.leading_zeros()`, `__ffs(x) - 1` is
//! `x.trailing_zeros()`, `__brev(x)` is `x.reverse_bits()`, and `__float_as_uint(x)` is `x.to_bits()`.

mod bytes;
mod packed;
mod timers;
mod words;

pub use self::bytes::*;
pub use self::packed::*;
pub use self::timers::*;
pub use self::words::*;

#[cfg(test)]
mod tests;
