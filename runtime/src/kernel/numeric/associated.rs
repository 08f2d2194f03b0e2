//! The functions of scalar types that are called by path: `f32::from_bits(x)`, `u64::from(x)`, `T::default()`.

use half::{bf16, f16};

use super::integer;
use super::traits::{Integer, Number};
use crate::fp8::{e4m3, e5m2};
use crate::program::types::DeviceScalar;

/// A float that converts from and to its bits.
pub trait FloatBits: DeviceScalar {
    /// The unsigned integer of its size.
    type Bits: Integer;
    /// Returns the float of these bits.
    fn of_bits(bits: Self::Bits) -> Self;
    /// Returns the bits of this float.
    fn in_bits(self) -> Self::Bits;
}

macro_rules! bits {
    ($($t:ident: $bits:ident;)*) => {$(
        impl FloatBits for $t {
            type Bits = $bits;
            #[inline]
            fn of_bits(bits: $bits) -> $t {
                $t::from_bits(bits)
            }
            #[inline]
            fn in_bits(self) -> $bits {
                self.to_bits()
            }
        }
    )*};
}

bits! {
    f32: u32;
    f64: u64;
    f16: u16;
    bf16: u16;
    e4m3: u8;
    e5m2: u8;
}

/// Evaluates `T::from_bits(bits)`.
#[inline]
pub fn from_bits<T: FloatBits>(bits: T::Bits) -> T {
    T::of_bits(bits)
}

/// Evaluates `value.to_bits()`.
#[inline]
pub fn to_bits<T: FloatBits>(value: T) -> T::Bits {
    value.in_bits()
}

/// Evaluates `T::default()`.
#[inline]
pub fn zero<T: Number>() -> T {
    T::default()
}

/// The numbers of which iterators make sums and products.
#[diagnostic::on_unimplemented(
    message = "an iterator of `{Self}` has no sum and no product in a kernel",
    note = "integers, f32 and f64 have; write `.fold(start, |total, x| ..)` for others"
)]
pub trait Summed: Number {
    /// What a sum begins with, as in the standard library.
    const SUM: Self;
    /// What a product begins with.
    const PRODUCT: Self;
}

macro_rules! summed {
    ($($number:ident)*, $sum:literal, $product:literal) => {$(
        impl Summed for $number {
            const SUM: $number = $sum;
            const PRODUCT: $number = $product;
        }
    )*};
}

summed!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize, 0, 1);
summed!(f32 f64, -0.0, 1.0);

/// Evaluates the first partial sum of `iterator.sum()`.
#[inline]
pub fn start_of_sum<T: Summed>() -> T {
    T::SUM
}

/// Evaluates the first partial product of `iterator.product()`.
#[inline]
pub fn start_of_product<T: Summed>() -> T {
    T::PRODUCT
}

/// Evaluates `T::from(value)` between scalars, which is lossless.
#[inline]
pub fn from<T: Lossless + From<F>, F: DeviceScalar>(value: F) -> T {
    T::from(value)
}

/// Evaluates `T::try_from(value)` between integers, as an option.
#[inline]
pub fn checked_from<T: Integer + TryFrom<F>, F: Integer>(value: F) -> Option<T> {
    T::try_from(value).ok()
}

/// A scalar that other scalars convert to without loss.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a scalar that other scalars convert to")]
pub trait Lossless: DeviceScalar {}

macro_rules! lossless {
    ($($t:ident)*) => { $(impl Lossless for $t {})* };
}

lossless!(bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 f16 bf16);

/// Evaluates `T::from_be(value)`.
#[inline]
pub fn from_be<T: Integer>(value: T) -> T {
    integer::swap_bytes(value)
}

/// Evaluates `T::from_le(value)`.
#[inline]
pub fn from_le<T: Integer>(value: T) -> T {
    value
}

/// Returns `ours`. Both functions have the same type, so that rustc rejects a path that names another function than the
/// macro assumed.
#[inline]
pub fn same<F>(_named: F, ours: F) -> F {
    ours
}
