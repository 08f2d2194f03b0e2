//! The elements of matrices: which types each of the three operands has, in which shapes, and the registers of a lane.

use std::fmt::Debug;

use half::{bf16, f16};

use crate::fp8::{e4m3, e5m2};
use crate::program::type_info::TypeInfo;
use crate::program::types::{DeviceCopy, DeviceScalar, DeviceType};

/// The element type of matrices whose elements are `f32` to a kernel, and which the tensor cores multiply with 10 bits after
/// the point (TensorFloat-32): `MatrixA<tf32, 16, 8>`. `mma` rounds the elements to nearest, ties away from zero (PTX ISA,
/// cvt.rna.tf32). There are no values of this type.
#[allow(non_camel_case_types, reason = "named as the other scalars")]
#[derive(Debug, Clone, Copy)]
pub enum tf32 {}

/// The type of a matrix's elements. The trait is sealed.
pub trait MatrixElement: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The type of an element as a kernel reads and writes it.
    type Value: DeviceScalar + Default + Debug;
    /// The elements of a word of 32 bits.
    #[doc(hidden)]
    type Word: DeviceCopy + Registers<Self::Value>;
    /// The number of elements of a word.
    #[doc(hidden)]
    const PER_WORD: u32;
    /// Returns the spelling of the type.
    #[doc(hidden)]
    fn info() -> TypeInfo;
}

/// The elements that a lane holds, or those of a word.
#[doc(hidden)]
pub trait Registers<T>: Copy + Send + Sync + 'static {
    const LENGTH: usize;
    fn filled(value: T) -> Self;
    fn values(&self) -> &[T];
    fn values_mut(&mut self) -> &mut [T];
}

impl<T: DeviceScalar, const N: usize> Registers<T> for [T; N] {
    const LENGTH: usize = N;
    #[inline]
    fn filled(value: T) -> Self {
        [value; N]
    }
    #[inline]
    fn values(&self) -> &[T] {
        self
    }
    #[inline]
    fn values_mut(&mut self) -> &mut [T] {
        self
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ident: $value:ident, $per_word:literal, $info:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl MatrixElement for $t {
            type Value = $value;
            type Word = [$value; $per_word];
            const PER_WORD: u32 = $per_word;
            fn info() -> TypeInfo {
                $info
            }
        }
    )*};
}

elements! {
    f16: f16, 2, <f16 as DeviceType>::info();
    bf16: bf16, 2, <bf16 as DeviceType>::info();
    tf32: f32, 1, TypeInfo::prelude::<f32>("tf32");
    i8: i8, 4, <i8 as DeviceType>::info();
    u8: u8, 4, <u8 as DeviceType>::info();
    e4m3: e4m3, 4, <e4m3 as DeviceType>::info();
    e5m2: e5m2, 4, <e5m2 as DeviceType>::info();
    f32: f32, 1, <f32 as DeviceType>::info();
    i32: i32, 1, <i32 as DeviceType>::info();
}

/// A type of which there is a [`MatrixA`](super::MatrixA) of this shape. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there is no `MatrixA` of {ROWS} by {COLUMNS} `{Self}`",
    note = "a warp's has 16 rows, and 16 columns of f16 or bf16, 8 of tf32, or 32 of i8, u8, e4m3 or e5m2",
    note = "a warpgroup's has 64 rows, and 16, 32, 64 or 128 columns of f16 or bf16, 8, 16 or 32 of tf32, or 32, 64 or 128 of i8, u8, e4m3 or e5m2"
)]
pub trait ElementOfA<const ROWS: usize, const COLUMNS: usize>: MatrixElement {
    /// The elements that a lane holds.
    #[doc(hidden)]
    type Registers: Registers<Self::Value>;
}

/// A type of which there is a [`MatrixB`](super::MatrixB) of this shape. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there is no `MatrixB` of {ROWS} by {COLUMNS} `{Self}`",
    note = "it has 8 or 16 columns, and 16 rows of f16 or bf16, 8 of tf32, or 32 of i8, u8, e4m3 or e5m2"
)]
pub trait ElementOfB<const ROWS: usize, const COLUMNS: usize>: MatrixElement {
    /// The elements that a lane holds.
    #[doc(hidden)]
    type Registers: Registers<Self::Value>;
}

/// A type of which there is an [`Accumulator`](super::Accumulator) of this shape. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there is no `Accumulator` of {ROWS} by {COLUMNS} `{Self}`",
    note = "a warp's has 16 rows and 8 or 16 columns, of f32, f16, bf16 or i32",
    note = "a warpgroup's has 64 rows and a multiple of 8 columns up to 256, of f32, f16 or bf16, or of i32 in 8, 24 or a multiple of 16 columns"
)]
pub trait AccumulatorElement<const ROWS: usize, const COLUMNS: usize>: MatrixElement {
    /// The elements that a lane holds.
    #[doc(hidden)]
    type Registers: Registers<Self::Value>;
}

macro_rules! shapes {
    ($trait:ident: $rows:literal by $columns:literal, $length:literal a lane: $($t:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $trait<$rows, $columns> for $t {
            type Registers = [<$t as MatrixElement>::Value; $length];
        }
    )*};
}

shapes!(ElementOfA: 16 by 16, 8 a lane: f16 bf16);
shapes!(ElementOfA: 16 by 8, 4 a lane: tf32);
shapes!(ElementOfA: 16 by 32, 16 a lane: i8 u8 e4m3 e5m2);

shapes!(ElementOfA: 64 by 16, 8 a lane: f16 bf16);
shapes!(ElementOfA: 64 by 32, 16 a lane: f16 bf16);
shapes!(ElementOfA: 64 by 64, 32 a lane: f16 bf16);
shapes!(ElementOfA: 64 by 128, 64 a lane: f16 bf16);
// A tile of other elements is not transposed, so that no right operand has a depth beyond 128 bytes.
shapes!(ElementOfA: 64 by 8, 4 a lane: tf32);
shapes!(ElementOfA: 64 by 16, 8 a lane: tf32);
shapes!(ElementOfA: 64 by 32, 16 a lane: tf32 i8 u8 e4m3 e5m2);
shapes!(ElementOfA: 64 by 64, 32 a lane: i8 u8 e4m3 e5m2);
shapes!(ElementOfA: 64 by 128, 64 a lane: i8 u8 e4m3 e5m2);

shapes!(ElementOfB: 16 by 8, 4 a lane: f16 bf16);
shapes!(ElementOfB: 16 by 16, 8 a lane: f16 bf16);
shapes!(ElementOfB: 8 by 8, 2 a lane: tf32);
shapes!(ElementOfB: 8 by 16, 4 a lane: tf32);
shapes!(ElementOfB: 32 by 8, 8 a lane: i8 u8 e4m3 e5m2);
shapes!(ElementOfB: 32 by 16, 16 a lane: i8 u8 e4m3 e5m2);

shapes!(AccumulatorElement: 16 by 8, 4 a lane: f32 f16 bf16 i32);
shapes!(AccumulatorElement: 16 by 16, 8 a lane: f32 f16 bf16 i32);

/// The accumulators of a warpgroup (PTX ISA, wgmma: Matrix Shape).
macro_rules! of_a_warpgroup {
    ($types:tt $($columns:literal)*) => {$(
        of_a_warpgroup!(@ $types $columns);
    )*};
    (@ [$($t:ident)*] $columns:literal) => {$(
        #[diagnostic::do_not_recommend]
        impl AccumulatorElement<64, $columns> for $t {
            type Registers = [<$t as MatrixElement>::Value; $columns / 2];
        }
    )*};
}

of_a_warpgroup!([f32 f16 bf16] 8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256);
of_a_warpgroup!([i32] 8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256);
