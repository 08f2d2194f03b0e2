//! A product of matrices that a warpgroup has begun and not waited for. `operand` has its tiles, `kernel::group` the operations. The
//! device's implementation is `warpgroup.cuh`.

use std::fmt;
use std::marker::PhantomData;

use super::product::Product;
use super::{Accumulator, AccumulatorElement, Matrix, MatrixElement, ValueOf};
use crate::program::type_info::{TypeArgument, TypeInfo};
use crate::program::types::DeviceType;

/// The sums of a product that a warpgroup has begun: [`mma_async`](crate::Tile::mma_async) returns it. The elements are not
/// known before [`wait_mma`](crate::Tile::wait_mma), which takes it and returns the [`Accumulator`]. Until then, the tensor
/// cores may read the tiles.
///
/// It can be added to by another `mma_async`, and is used exactly once: rustc refuses a second use, and the macro a product
/// that is not waited for (rule `mma_in_flight`).
#[must_use = "a product in flight must be waited for: `warpgroup.wait_mma(product)`"]
pub struct InFlight<C: Matrix, T: MatrixElement, U: MatrixElement> {
    sum: C,
    number: u64,
    operands: PhantomData<(T, U)>,
}

impl<C: Matrix, T: MatrixElement, U: MatrixElement> InFlight<C, T, U> {
    /// Returns the product of this number, of those that the thread has begun.
    pub(crate) fn new(sum: C, number: u64) -> Self {
        InFlight { sum, number, operands: PhantomData }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn sum(self) -> C {
        self.sum
    }
}

impl<C: Matrix, T: MatrixElement, U: MatrixElement> fmt::Debug for InFlight<C, T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InFlight(..)")
    }
}

impl<C: Matrix, T: MatrixElement, U: MatrixElement> DeviceType for InFlight<C, T, U> {
    fn info() -> TypeInfo {
        let arguments = [C::info(), T::info(), U::info()].map(TypeArgument::Type).to_vec();
        TypeInfo::template::<Self>("in_flight", "warpgroup.cuh", arguments)
    }
}

/// What a product of a warpgroup is added to: an [`Accumulator`] of 64 rows, or a product in flight of the same types, which is
/// not waited for. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`mma_async` does not add products of `{T}` and `{U}` to a `{Self}`",
    note = "it adds to an `Accumulator<V, 64, N>`, or to what another `mma_async` of the same types returned",
    note = "two operands of `f16` add to `f32` or `f16`, two of `bf16` or of `f32` to `f32`, `e4m3` and `e5m2` to `f32`, and `i8` and `u8` to `i32`"
)]
pub trait Summed<T: MatrixElement, U: MatrixElement>: sealed::Summed {
    /// The sums.
    type Sum: Matrix;
    #[doc(hidden)]
    fn into_sum(self) -> Self::Sum;
    /// Returns the sum of an element and the products of a row and a column.
    #[doc(hidden)]
    fn added(
        element: ValueOf<<Self::Sum as Matrix>::Element>,
        row: &[ValueOf<T>],
        column: &[ValueOf<U>],
    ) -> ValueOf<<Self::Sum as Matrix>::Element>;
}

mod sealed {
    pub trait Summed {}
}

/// Returns `sum` with the products of a row and a column added, one after the other.
fn added<T: Product<U, V>, U: MatrixElement, V: MatrixElement>(
    sum: ValueOf<V>,
    row: &[ValueOf<T>],
    column: &[ValueOf<U>],
) -> ValueOf<V> {
    T::end(row.iter().zip(column).fold(T::start(sum), |sum, (a, b)| T::step(*a, *b, sum)))
}

macro_rules! summed {
    () => {
        type Sum = Accumulator<V, 64, N>;

        fn added(element: ValueOf<V>, row: &[ValueOf<T>], column: &[ValueOf<U>]) -> ValueOf<V> {
            added::<T, U, V>(element, row, column)
        }
    };
}

impl<V: AccumulatorElement<64, N>, const N: usize> sealed::Summed for Accumulator<V, 64, N> {}
#[diagnostic::do_not_recommend]
impl<T, U, V, const N: usize> Summed<T, U> for Accumulator<V, 64, N>
where
    T: Product<U, V>,
    U: MatrixElement,
    V: AccumulatorElement<64, N>,
{
    summed!();

    fn into_sum(self) -> Accumulator<V, 64, N> {
        self
    }
}

impl<C: Matrix, T: MatrixElement, U: MatrixElement> sealed::Summed for InFlight<C, T, U> {}
#[diagnostic::do_not_recommend]
impl<T, U, V, const N: usize> Summed<T, U> for InFlight<Accumulator<V, 64, N>, T, U>
where
    T: Product<U, V>,
    U: MatrixElement,
    V: AccumulatorElement<64, N>,
{
    summed!();

    fn into_sum(self) -> Accumulator<V, 64, N> {
        self.sum
    }
}
