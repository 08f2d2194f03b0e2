//! The operators of reductions and scans: those of CUDA, such as `cooperative_groups::plus`, and closures.
//!
//! ```
//! # use phalanx::prelude::*;
//! #[cluster_kernel(block = 32)]
//! fn largest(values: &[f32], out: &mut [f32]) {
//!     let block = this_thread_block();
//!     let warp = tiled_partition::<32>(&block);
//!     let most = warp.reduce(values[block.thread_rank()], op::Max);
//!     if warp.thread_rank() == 0 {
//!         out[0] = most;
//!     }
//! }
//! # fn main() -> phalanx::Result<()> {
//! # let device = Device::simulator();
//! # let mut out = device.zeros(1)?;
//! # largest(&device.upload(&Vec::from_iter((0..32).map(|i| i as f32)))?, &mut out).grid(1).launch(&device)?;
//! # assert_eq!(out.read()?, [31.0]);
//! # Ok(())
//! # }
//! ```
// The device has its own in `operator.cuh`.

use crate::kernel::numeric::{self, Integer, Number};

/// An operator that joins two values of a group's threads: one of this module, or a closure. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operator on `{T}`",
    note = "`op::Plus`, `op::Min` and `op::Max` are for numbers, `op::And`, `op::Or` and `op::Xor` for integers and `bool`"
)]
pub trait Operator<T>: sealed::Sealed<T> {
    /// Joins two values, the first of which is that of the lower ranks.
    #[doc(hidden)]
    fn apply(&self, left: T, right: T) -> T;

    /// Returns the identity of the operator. A closure has none.
    #[doc(hidden)]
    fn identity(&self) -> Option<T>;
}

mod sealed {
    pub trait Sealed<T> {}
}

impl<T, F: Fn(T, T) -> T> sealed::Sealed<T> for F {}

impl<T, F: Fn(T, T) -> T> Operator<T> for F {
    fn apply(&self, left: T, right: T) -> T {
        self(left, right)
    }

    fn identity(&self) -> Option<T> {
        None
    }
}

/// Returns the operator. Generated code calls it, so that rustc rejects an operator other than the one that the macro
/// assumed.
#[doc(hidden)]
pub fn operator<O>(operator: O) -> O {
    operator
}

/// Declares operators on every `T` with a bound.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident<$t:ident: $bound:ident>: |$a:ident, $b:ident| $value:expr, $identity:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        impl<$t: $bound> sealed::Sealed<$t> for $name {}

        #[diagnostic::do_not_recommend]
        impl<$t: $bound> Operator<$t> for $name {
            fn apply(&self, $a: $t, $b: $t) -> $t {
                $value
            }

            fn identity(&self) -> Option<$t> {
                Some($identity)
            }
        }
    )*};
}

operators! {
    /// Adds the values. Integers wrap.
    Plus<T: Number>: |a, b| numeric::add(a, b), T::default();
    /// Takes the smaller value. For a number and a NaN, it is the number.
    Min<T: Number>: |a, b| numeric::min(a, b), T::MOST;
    /// Takes the larger value. For a number and a NaN, it is the number.
    Max<T: Number>: |a, b| numeric::max(a, b), T::LEAST;
    /// Takes the bitwise or logical and, `a & b`.
    And<T: Integer>: |a, b| a & b, !T::default();
    /// Takes the bitwise or logical or, `a | b`.
    Or<T: Integer>: |a, b| a | b, T::default();
    /// Takes the bitwise or logical exclusive or, `a ^ b`.
    Xor<T: Integer>: |a, b| a ^ b, T::default();
}

/// Implements operators on `bool`.
macro_rules! of_bool {
    ($($name:ident $op:tt $identity:literal;)*) => {$(
        impl sealed::Sealed<bool> for $name {}

        #[diagnostic::do_not_recommend]
        impl Operator<bool> for $name {
            fn apply(&self, left: bool, right: bool) -> bool {
                left $op right
            }

            fn identity(&self) -> Option<bool> {
                Some($identity)
            }
        }
    )*};
}

of_bool! {
    And & true;
    Or | false;
    Xor ^ false;
}
