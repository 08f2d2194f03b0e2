//! Operators of values whose type the macro does not see: numbers have those of the language, and a user's type has those of its
//! `#[device] impl Add` and its like. Each operator is a trait, whose marker says what the text has in its place.

use std::ops::{BitAnd, BitOr, BitXor, Neg, Not};

use phalanx_contract::uniformity::{Bound, UniformitySummary};

use super::numeric::{Integer, Number};
use crate::program::template::{Callee, Definition, Function, Summary};
use crate::program::types::DeviceScalar;

/// The marker of an operator of numbers, which is one of C++, too.
#[derive(Debug)]
pub struct BuiltIn;

impl Function for BuiltIn {
    const BUILT_IN: bool = true;

    fn definition() -> Definition {
        unreachable!("the text has the operator itself")
    }
}

impl Summary for BuiltIn {
    // It is as uniform as the operands.
    const UNIFORMITY: UniformitySummary = UniformitySummary { result: Bound::TOP, ..UniformitySummary::UNKNOWN };
}

macro_rules! binary {
    ($($trait:ident, $symbol:literal, $message:tt, $note:tt, $function:ident, [$($number:tt)*], [$($other:tt)*], $of_numbers:expr;)*) => {$(
        #[doc = concat!("Values with the operator `", $symbol, "` in kernels.")]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "numbers have it, and types with a `#[device] impl` of it",
            note = $note
        )]
        pub trait $trait<R> {
            /// The type of the result.
            type Output;
            /// What the text calls.
            type Marker: Function + Summary;

            /// Evaluates the operator.
            #[track_caller]
            fn evaluate(self, right: R) -> Self::Output;
        }

        #[diagnostic::do_not_recommend]
        impl<T: $($number)*, $($other)*> $trait<binary!(@right $($other)*)> for T {
            type Output = T;
            type Marker = BuiltIn;

            #[inline(always)]
            #[track_caller]
            fn evaluate(self, right: binary!(@right $($other)*)) -> T {
                $of_numbers(self, right)
            }
        }

        #[doc = concat!("Evaluates `left ", $symbol, " right`.")]
        #[inline(always)]
        #[track_caller]
        pub fn $function<L: $trait<R, Output = O, Marker = M>, R, O, M>(left: L, right: R, _slot: &Callee<M>) -> O {
            left.evaluate(right)
        }
    )*};
    (@right) => { T };
    (@right $name:ident: $bound:path) => { $name };
}

binary! {
    OperatorAdd, "+",
        "`{Self} + {R}` is not an operator of kernels",
        "write `#[device]` above `impl Add<{R}> for {Self}` if one of the types is yours",
        operator_add, [Number], [], super::numeric::add;
    OperatorSub, "-",
        "`{Self} - {R}` is not an operator of kernels",
        "write `#[device]` above `impl Sub<{R}> for {Self}` if one of the types is yours",
        operator_sub, [Number], [], super::numeric::sub;
    OperatorMul, "*",
        "`{Self} * {R}` is not an operator of kernels",
        "write `#[device]` above `impl Mul<{R}> for {Self}` if one of the types is yours",
        operator_mul, [Number], [], super::numeric::mul;
    OperatorDiv, "/",
        "`{Self} / {R}` is not an operator of kernels",
        "write `#[device]` above `impl Div<{R}> for {Self}` if one of the types is yours",
        operator_div, [Number], [], super::numeric::div;
    OperatorRem, "%",
        "`{Self} % {R}` is not an operator of kernels",
        "write `#[device]` above `impl Rem<{R}> for {Self}` if one of the types is yours",
        operator_rem, [Number], [], super::numeric::rem;
    OperatorBitAnd, "&",
        "`{Self} & {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitAnd<{R}> for {Self}` if one of the types is yours",
        operator_bitand, [DeviceScalar + BitAnd<Output = T>], [], BitAnd::bitand;
    OperatorBitOr, "|",
        "`{Self} | {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitOr<{R}> for {Self}` if one of the types is yours",
        operator_bitor, [DeviceScalar + BitOr<Output = T>], [], BitOr::bitor;
    OperatorBitXor, "^",
        "`{Self} ^ {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitXor<{R}> for {Self}` if one of the types is yours",
        operator_bitxor, [DeviceScalar + BitXor<Output = T>], [], BitXor::bitxor;
    OperatorShl, "<<",
        "`{Self} << {R}` is not an operator of kernels",
        "write `#[device]` above `impl Shl<{R}> for {Self}` if one of the types is yours",
        operator_shl, [Integer], [A: Integer], super::numeric::shl;
    OperatorShr, ">>",
        "`{Self} >> {R}` is not an operator of kernels",
        "write `#[device]` above `impl Shr<{R}> for {Self}` if one of the types is yours",
        operator_shr, [Integer], [A: Integer], super::numeric::shr;
}

macro_rules! assigning {
    ($($trait:ident, $symbol:literal, $message:tt, $note:tt, $function:ident, $operator:ident, [$($number:tt)*], [$($other:tt)*];)*) => {$(
        #[doc = concat!("Values with the operator `", $symbol, "` in kernels.")]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "numbers have it, and types with a `#[device] impl` of it",
            note = $note
        )]
        pub trait $trait<R> {
            /// What the text calls.
            type Marker: Function + Summary;

            /// Evaluates the operator.
            #[track_caller]
            fn evaluate(&mut self, right: R);
        }

        #[diagnostic::do_not_recommend]
        impl<T: $($number)*, $($other)*> $trait<binary!(@right $($other)*)> for T {
            type Marker = BuiltIn;

            #[inline(always)]
            #[track_caller]
            fn evaluate(&mut self, right: binary!(@right $($other)*)) {
                *self = $operator::evaluate(*self, right);
            }
        }

        #[doc = concat!("Evaluates `left ", $symbol, " right`.")]
        #[inline(always)]
        #[track_caller]
        pub fn $function<L: $trait<R>, R>(left: &mut L, right: R, _slot: &Callee<L::Marker>) {
            left.evaluate(right);
        }
    )*};
}

assigning! {
    OperatorAddAssign, "+=",
        "`{Self} += {R}` is not an operator of kernels",
        "write `#[device]` above `impl AddAssign<{R}> for {Self}` if one of the types is yours",
        operator_add_assign, OperatorAdd, [Number], [];
    OperatorSubAssign, "-=",
        "`{Self} -= {R}` is not an operator of kernels",
        "write `#[device]` above `impl SubAssign<{R}> for {Self}` if one of the types is yours",
        operator_sub_assign, OperatorSub, [Number], [];
    OperatorMulAssign, "*=",
        "`{Self} *= {R}` is not an operator of kernels",
        "write `#[device]` above `impl MulAssign<{R}> for {Self}` if one of the types is yours",
        operator_mul_assign, OperatorMul, [Number], [];
    OperatorDivAssign, "/=",
        "`{Self} /= {R}` is not an operator of kernels",
        "write `#[device]` above `impl DivAssign<{R}> for {Self}` if one of the types is yours",
        operator_div_assign, OperatorDiv, [Number], [];
    OperatorRemAssign, "%=",
        "`{Self} %= {R}` is not an operator of kernels",
        "write `#[device]` above `impl RemAssign<{R}> for {Self}` if one of the types is yours",
        operator_rem_assign, OperatorRem, [Number], [];
    OperatorBitAndAssign, "&=",
        "`{Self} &= {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitAndAssign<{R}> for {Self}` if one of the types is yours",
        operator_bitand_assign, OperatorBitAnd, [DeviceScalar + BitAnd<Output = T>], [];
    OperatorBitOrAssign, "|=",
        "`{Self} |= {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitOrAssign<{R}> for {Self}` if one of the types is yours",
        operator_bitor_assign, OperatorBitOr, [DeviceScalar + BitOr<Output = T>], [];
    OperatorBitXorAssign, "^=",
        "`{Self} ^= {R}` is not an operator of kernels",
        "write `#[device]` above `impl BitXorAssign<{R}> for {Self}` if one of the types is yours",
        operator_bitxor_assign, OperatorBitXor, [DeviceScalar + BitXor<Output = T>], [];
    OperatorShlAssign, "<<=",
        "`{Self} <<= {R}` is not an operator of kernels",
        "write `#[device]` above `impl ShlAssign<{R}> for {Self}` if one of the types is yours",
        operator_shl_assign, OperatorShl, [Integer], [A: Integer];
    OperatorShrAssign, ">>=",
        "`{Self} >>= {R}` is not an operator of kernels",
        "write `#[device]` above `impl ShrAssign<{R}> for {Self}` if one of the types is yours",
        operator_shr_assign, OperatorShr, [Integer], [A: Integer];
}

macro_rules! unary {
    ($($trait:ident, $symbol:literal, $message:tt, $note:tt, $function:ident, [$($number:tt)*], $of_numbers:expr;)*) => {$(
        #[doc = concat!("Values with the operator `", $symbol, "` before them in kernels.")]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "numbers have it, and types with a `#[device] impl` of it",
            note = $note
        )]
        pub trait $trait {
            /// The type of the result.
            type Output;
            /// What the text calls.
            type Marker: Function + Summary;

            /// Evaluates the operator.
            fn evaluate(self) -> Self::Output;
        }

        #[diagnostic::do_not_recommend]
        impl<T: $($number)*> $trait for T {
            type Output = T;
            type Marker = BuiltIn;

            #[inline(always)]
            fn evaluate(self) -> T {
                $of_numbers(self)
            }
        }

        #[doc = concat!("Evaluates `", $symbol, "value`.")]
        #[inline(always)]
        #[track_caller]
        pub fn $function<T: $trait>(value: T, _slot: &Callee<T::Marker>) -> T::Output {
            value.evaluate()
        }
    )*};
}

unary! {
    OperatorNeg, "-",
        "`-{Self}` is not an operator of kernels",
        "write `#[device]` above `impl Neg for {Self}` if the type is yours",
        operator_neg, [Number + Neg<Output = T>], super::numeric::neg;
    OperatorNot, "!",
        "`!{Self}` is not an operator of kernels",
        "write `#[device]` above `impl Not for {Self}` if the type is yours",
        operator_not, [DeviceScalar + Not<Output = T>], Not::not;
}
