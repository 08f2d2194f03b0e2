//! The operators of `reduce` and the scans: CUDA's `cooperative_groups::plus` and its like, and closures.
//! The device has its own in `operator.cuh`.

use crate::kernel::numeric::{self, Integer, Number};

/// Joins two values of a group's threads. What `op` names, and closures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator on `{T}`",
    note = "`op::Plus`, `op::Min` and `op::Max` are for numbers, `op::And`, `op::Or` and `op::Xor` for integers and `bool`"
)]
pub trait Operator<T> {
    /// The value of the two, that of the lower ranks first.
    fn apply(&self, left: T, right: T) -> T;

    /// The value that leaves every other as it is. A closure has none.
    fn identity(&self) -> Option<T>;
}

impl<T, F: Fn(T, T) -> T> Operator<T> for F {
    fn apply(&self, left: T, right: T) -> T {
        self(left, right)
    }

    fn identity(&self) -> Option<T> {
        None
    }
}

/// Passes an operator through: that it is the one that generated code takes it for.
#[doc(hidden)]
pub fn operator<O>(operator: O) -> O {
    operator
}

/// `$name`, on every `T` of `$bound`.
macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident<$t:ident: $bound:ident>: |$a:ident, $b:ident| $value:expr, $identity:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

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
    /// The sum, wrapping.
    Plus<T: Number>: |a, b| numeric::add(a, b), T::default();
    /// The smaller number; of a number and a NaN, the number.
    Min<T: Number>: |a, b| numeric::min(a, b), T::MOST;
    /// The larger number; of a number and a NaN, the number.
    Max<T: Number>: |a, b| numeric::max(a, b), T::LEAST;
    /// `a & b`.
    And<T: Integer>: |a, b| a & b, !T::default();
    /// `a | b`.
    Or<T: Integer>: |a, b| a | b, T::default();
    /// `a ^ b`.
    Xor<T: Integer>: |a, b| a ^ b, T::default();
}

/// The same of `bool`.
macro_rules! of_bool {
    ($($name:ident $op:tt $identity:literal;)*) => {$(
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
