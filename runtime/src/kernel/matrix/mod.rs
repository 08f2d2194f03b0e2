//! The matrices that a warp's tensor cores multiply, each spread over the registers of its lanes: [`MatrixA`], [`MatrixB`]
//! and [`Accumulator`], which a warpgroup's products have, too (`in_flight`). `layout` has which lane holds which element, `product` the arithmetic. `kernel::group` has the
//! operations, which are a warp's. The device's implementation is `matrix.cuh`.

mod element;
mod in_flight;
mod layout;
mod operand;
mod product;

use std::fmt;

use half::{bf16, f16};
use phalanx_macros::device;

pub(crate) use self::element::Registers;
pub use self::element::{AccumulatorElement, ElementOfA, ElementOfB, MatrixElement, tf32};
pub use self::in_flight::{InFlight, Summed};
pub(crate) use self::layout::Layout;
pub(crate) use self::operand::{OperandElement, OperandTile};
pub use self::operand::{Transposed, WarpgroupElement, WarpgroupOperand, transposed};
pub use self::product::MultipliedBy;
use crate::fp8::{e4m3, e5m2};
use crate::kernel::memory::Elements;
use crate::program::type_info::{TypeArgument, TypeInfo};
use crate::program::types::{DeviceScalar, DeviceType};

/// The type of an element as a kernel reads and writes it: `f32` for [`tf32`], and otherwise the type itself.
type ValueOf<T> = <T as MatrixElement>::Value;

/// A matrix that is spread over the lanes of a warp. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of tensor cores",
    note = "kernels take the names `MatrixA`, `MatrixB` and `Accumulator` for phalanx's types"
)]
pub trait Matrix: DeviceType + Copy {
    /// The type of the elements.
    type Element: MatrixElement;
    #[doc(hidden)]
    const LAYOUT: Layout;
    #[doc(hidden)]
    const ROWS: usize;
    #[doc(hidden)]
    const COLUMNS: usize;
    #[doc(hidden)]
    fn splat(value: ValueOf<Self::Element>) -> Self;
    #[doc(hidden)]
    fn registers(&self) -> &[ValueOf<Self::Element>];
    #[doc(hidden)]
    fn registers_mut(&mut self) -> &mut [ValueOf<Self::Element>];
}

/// A matrix that `warp.load_matrix(..)` loads and `warp.store_matrix(..)` stores. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "no `{Self}` is loaded from or stored to memory that holds it row by row",
    note = "only elements of 16 bits are transposed on the way: keep a `MatrixB` of other elements transposed, for `load_matrix_transposed`",
    note = "the elements of an `Accumulator` of 32 bits, and those of a warpgroup's matrix of 64 rows, are read and written one by one: `c[i]` is that of row `c.row(rank, i)` and column `c.column(rank, i)`"
)]
pub trait StoredByRows: Matrix {}

/// A matrix that `warp.load_matrix_transposed(..)` loads and `warp.store_matrix_transposed(..)` stores. The trait is
/// sealed.
#[diagnostic::on_unimplemented(
    message = "no `{Self}` is loaded from or stored to memory that holds its transpose",
    note = "only elements of 16 bits are transposed on the way: keep a `MatrixA` of other elements row by row, for `load_matrix`",
    note = "the elements of an `Accumulator` of 32 bits, and those of a warpgroup's matrix of 64 rows, are read and written one by one: `c[i]` is that of row `c.row(rank, i)` and column `c.column(rank, i)`"
)]
pub trait StoredTransposed: Matrix {}

/// Returns the matrix. Generated code calls it, so that rustc rejects a constructor of another type.
#[doc(hidden)]
#[inline]
pub fn matrix<M: Matrix>(value: M) -> M {
    value
}

/// Returns the accumulator. Generated code calls it, so that rustc rejects another type with its name: the compiler knows where its elements
/// are.
#[doc(hidden)]
#[inline]
pub fn accumulator<T: AccumulatorElement<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize>(
    value: Accumulator<T, ROWS, COLUMNS>,
) -> Accumulator<T, ROWS, COLUMNS> {
    value
}

/// What `splat` is made of, under the names by which the kernel language recognizes it.
mod filled {
    pub(super) trait MatrixA<V> {
        fn splat(value: V) -> Self;
    }

    pub(super) trait MatrixB<V> {
        fn splat(value: V) -> Self;
    }

    pub(super) trait Accumulator<V> {
        fn splat(value: V) -> Self;
    }
}

/// Implements what all matrices have.
macro_rules! matrix {
    ($name:ident of $element:ident, $cuda:literal, $layout:expr) => {
        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> $name<T, ROWS, COLUMNS> {
            /// Returns the number of elements that a lane holds.
            #[inline]
            pub fn len(&self) -> usize {
                T::Registers::LENGTH
            }

            /// Returns `false`, because every lane holds elements.
            #[inline]
            pub fn is_empty(&self) -> bool {
                false
            }
        }

        // A device function, for kernels in which the name of the type does not show that it is a matrix.
        #[device]
        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> $name<T, ROWS, COLUMNS> {
            /// Returns a matrix of which all elements are `value`.
            pub fn splat(value: ValueOf<T>) -> $name<T, ROWS, COLUMNS> {
                filled::$name::<ValueOf<T>>::splat(value)
            }
        }

        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> filled::$name<ValueOf<T>>
            for $name<T, ROWS, COLUMNS>
        {
            #[inline]
            fn splat(value: ValueOf<T>) -> Self {
                $name { alignment: [], elements: T::Registers::filled(value) }
            }
        }

        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> Matrix for $name<T, ROWS, COLUMNS> {
            type Element = T;
            const LAYOUT: Layout = $layout;
            const ROWS: usize = ROWS;
            const COLUMNS: usize = COLUMNS;

            #[inline]
            fn splat(value: ValueOf<T>) -> Self {
                $name::splat(value)
            }

            #[inline]
            fn registers(&self) -> &[ValueOf<T>] {
                self.elements.values()
            }

            #[inline]
            fn registers_mut(&mut self) -> &mut [ValueOf<T>] {
                self.elements.values_mut()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> DeviceType
            for $name<T, ROWS, COLUMNS>
        {
            fn info() -> TypeInfo {
                let length = |length: usize| TypeArgument::Value(length.scalar());
                let arguments = vec![TypeArgument::Type(T::info()), length(ROWS), length(COLUMNS)];
                TypeInfo::template::<Self>($cuda, "matrix.cuh", arguments)
            }
        }

        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> Elements for $name<T, ROWS, COLUMNS> {
            type Element = ValueOf<T>;
            const LENGTH: usize = T::Registers::LENGTH;
            #[inline]
            fn elements(&self) -> &[ValueOf<T>] {
                self.elements.values()
            }
            #[inline]
            fn elements_mut(&mut self) -> &mut [ValueOf<T>] {
                self.elements.values_mut()
            }
        }

        $crate::kernel::memory::indexed! {
            ValueOf<T>,
            $name<T, ROWS, COLUMNS>,
            I,
            [T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize]
        }

        impl<T: $element<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> fmt::Debug
            for $name<T, ROWS, COLUMNS>
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.elements.values()).finish()
            }
        }
    };
}

/// The left operand of `warp.mma(a, b, c)`, spread over the lanes of a warp. It has 16 rows, and 16 columns of
/// [`f16`](struct@f16) or [`bf16`], 8 of [`tf32`], or 32 of `i8`, `u8`, [`e4m3`] or [`e5m2`]. That of
/// [`warpgroup.mma_async(sum, a, &b)`](crate::Tile::mma_async) is spread over four warps: 64 rows, and 16, 32, 64 or 128 columns
/// of `f16` or `bf16`, 8, 16 or 32 of `tf32`, or 32, 64 or 128 of the others.
///
/// `warp.load_matrix(&tile, row, column)` loads one of 16 rows from shared memory. In a kernel, `a[i]` is an element that the lane
/// holds, in row `a.row(lane, i)` and column `a.column(lane, i)` (PTX ISA, Matrix Fragments for mma; Register Fragments for wgmma).
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Multiplies 16 rows of 16 by 16 rows of 8.
/// #[cluster_kernel(block = 32)]
/// fn multiply(a: &[bf16], b: &[bf16], c: &mut [f32]) {
///     let block = this_thread_block();
///     let warp = tiled_partition::<32>(&block);
///     let lane = warp.thread_rank();
///     let left = shared_array::<[bf16; 16], 16>();
///     let right = shared_array::<[bf16; 8], 16>();
///     for i in (lane..256).step_by(32) {
///         left[i / 16][i % 16] = a[i];
///     }
///     for i in (lane..128).step_by(32) {
///         right[i / 8][i % 8] = b[i];
///     }
///     block.sync();
///     let x: MatrixA<bf16, 16, 16> = warp.load_matrix(&left, 0, 0);
///     let y: MatrixB<bf16, 16, 8> = warp.load_matrix(&right, 0, 0);
///     let sum = warp.mma(x, y, Accumulator::<f32, 16, 8>::splat(0.0));
///     for i in 0..4 {
///         c[sum.row(lane, i) * 8 + sum.column(lane, i)] = sum[i];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let number = |i: usize| bf16::from_f32(i as f32);
/// let a = device.upload(&Vec::from_iter((0..256).map(|i| number(i % 7))))?;
/// let b = device.upload(&Vec::from_iter((0..128).map(|i| number(i % 5))))?;
/// let mut c = device.zeros(128)?;
/// multiply(&a, &b, &mut c).grid(1).launch(&device)?;
/// let sum = |row: usize, column: usize| (0..16).map(|k| (row * 16 + k) % 7 * ((k * 8 + column) % 5)).sum::<usize>();
/// assert_eq!(c.read()?, Vec::from_iter((0..128).map(|i| sum(i / 8, i % 8) as f32)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MatrixA<T: ElementOfA<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> {
    alignment: [u32; 0],
    elements: T::Registers,
}

matrix!(MatrixA of ElementOfA, "matrix_a", Layout::of_rows(T::PER_WORD as usize));

/// The right operand of `warp.mma(a, b, c)`, spread over the lanes of a warp. It has 8 or 16 columns, and 16 rows of
/// [`f16`](struct@f16) or [`bf16`], 8 of [`tf32`], or 32 of `i8`, `u8`, [`e4m3`] or [`e5m2`].
///
/// `warp.load_matrix(&tile, row, column)` loads it from shared memory, and `warp.load_matrix_transposed(..)` where its
/// columns lie there as rows. In a kernel, `b[i]` is an element that the lane holds, in row `b.row(lane, i)` and
/// column `b.column(lane, i)` (PTX ISA, Matrix Fragments for mma). [`MatrixA`] has an example.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MatrixB<T: ElementOfB<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> {
    alignment: [u32; 0],
    elements: T::Registers,
}

matrix!(MatrixB of ElementOfB, "matrix_b", Layout::of_columns(ROWS / 8));

/// The sums of `warp.mma(a, b, c)`, spread over the lanes of a warp: 16 rows and 8 or 16 columns of `f32`,
/// [`f16`](struct@f16) or `i32`. Those of [`warpgroup.mma_async(c, &a, &b)`](crate::Tile::mma_async) are spread over four warps:
/// 64 rows and up to 256 columns. There are accumulators of [`bf16`], too, which no product adds to, to be stored or converted.
///
/// In a kernel, `c[i]` is an element that the lane holds, in row `c.row(lane, i)` and column `c.column(lane, i)` (PTX
/// ISA, Matrix Fragments for mma; Register Fragments for wgmma), where `lane` is the thread's rank in the warp or the
/// warpgroup. [`MatrixA`] has an example.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Accumulator<T: AccumulatorElement<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> {
    alignment: [u32; 0],
    elements: T::Registers,
}

matrix!(Accumulator of AccumulatorElement, "accumulator", Layout::of_rows(2));

/// Implements the traits of the orders in memory, which matrices of a warp have.
macro_rules! stored {
    ($order:ident: $($name:ident of $element:ident<$rows:tt, $columns:tt>[$($n:ident)*], $($t:ident)*;)*) => {$(
        stored!(@ $order $name $element $rows $columns [$($n)*] $($t)*);
    )*};
    (@ $order:ident $name:ident $element:ident $rows:tt $columns:tt $n:tt $($t:ident)*) => {$(
        stored!(@@ $order $name $element $rows $columns $n $t);
    )*};
    (@@ $order:ident $name:ident $element:ident $rows:tt $columns:tt [$($n:ident)*] $t:ident) => {
        #[diagnostic::do_not_recommend]
        impl<$(const $n: usize),*> $order for $name<$t, $rows, $columns>
        where
            $t: $element<$rows, $columns>
        {
        }
    };
}

stored! {
    StoredByRows:
    MatrixA of ElementOfA<16, C>[C], f16 bf16 tf32 i8 u8 e4m3 e5m2;
    MatrixB of ElementOfB<R, C>[R C], f16 bf16;
    Accumulator of AccumulatorElement<16, C>[C], f16 bf16;
}
stored! {
    StoredTransposed:
    MatrixA of ElementOfA<16, C>[C], f16 bf16;
    MatrixB of ElementOfB<R, C>[R C], f16 bf16 tf32 i8 u8 e4m3 e5m2;
    Accumulator of AccumulatorElement<16, C>[C], f16 bf16;
}

#[device]
impl<T: ElementOfA<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> MatrixA<T, ROWS, COLUMNS> {
    /// Returns the row of the element `i` of this lane.
    pub fn row(&self, lane: u32, i: u32) -> u32 {
        lane / 32 * 16 + lane % 32 / 4 + i / T::PER_WORD % 2 * 8
    }

    /// Returns the column of the element `i` of this lane.
    pub fn column(&self, lane: u32, i: u32) -> u32 {
        let each = T::PER_WORD;
        lane % 4 * each + i % each + i / (2 * each) * (4 * each)
    }
}

#[device]
impl<T: ElementOfB<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> MatrixB<T, ROWS, COLUMNS> {
    /// Returns the row of the element `i` of this lane.
    pub fn row(&self, lane: u32, i: u32) -> u32 {
        let each = ROWS as u32 / 8;
        lane % 4 * each + i % each + i / each % 2 * (4 * each)
    }

    /// Returns the column of the element `i` of this lane.
    pub fn column(&self, lane: u32, i: u32) -> u32 {
        lane / 4 + i / (ROWS as u32 / 4) * 8
    }
}

#[device]
impl<T: AccumulatorElement<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize> Accumulator<T, ROWS, COLUMNS> {
    /// Returns the row of the element `i` of this lane.
    pub fn row(&self, lane: u32, i: u32) -> u32 {
        lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8
    }

    /// Returns the column of the element `i` of this lane.
    pub fn column(&self, lane: u32, i: u32) -> u32 {
        lane % 4 * 2 + i % 2 + i / 4 * 8
    }
}

#[device]
impl<T, const ROWS: usize, const COLUMNS: usize> MatrixA<T, ROWS, COLUMNS>
where
    T: ElementOfA<ROWS, COLUMNS> + AccumulatorElement<ROWS, COLUMNS>,
{
    /// Returns a sum of `f16` or `bf16` as the left operand of another product: each lane already holds the elements that it needs.
    pub fn from_accumulator(sum: Accumulator<T, ROWS, COLUMNS>) -> MatrixA<T, ROWS, COLUMNS> {
        let mut a = MatrixA::<T, ROWS, COLUMNS>::splat(sum[0]);
        #[unroll]
        for i in 0..a.len() {
            a[i] = sum[i];
        }
        a
    }
}

#[device]
impl<const ROWS: usize, const COLUMNS: usize> Accumulator<f32, ROWS, COLUMNS>
where
    f32: AccumulatorElement<ROWS, COLUMNS>,
    bf16: AccumulatorElement<ROWS, COLUMNS>,
    f16: AccumulatorElement<ROWS, COLUMNS>,
{
    /// Returns the elements, each rounded to `bf16`.
    pub fn to_bf16(&self) -> Accumulator<bf16, ROWS, COLUMNS> {
        let mut rounded = Accumulator::<bf16, ROWS, COLUMNS>::splat(bf16::from_f32(0.0));
        for i in 0..rounded.len() {
            rounded[i] = bf16::from_f32(self[i]);
        }
        rounded
    }

    /// Returns the elements, each rounded to `f16`.
    pub fn to_f16(&self) -> Accumulator<f16, ROWS, COLUMNS> {
        let mut rounded = Accumulator::<f16, ROWS, COLUMNS>::splat(f16::from_f32(0.0));
        for i in 0..rounded.len() {
            rounded[i] = f16::from_f32(self[i]);
        }
        rounded
    }
}
