//! The operands of a warpgroup's products in shared memory: tiles whose rows are swizzled, as they are or transposed (PTX ISA,
//! wgmma: Strides, Matrix Descriptor). The device's implementation is `warpgroup.cuh`.

use half::{bf16, f16};

use super::product::Product;
use super::{MatrixElement, tf32};
use crate::fp8::{e4m3, e5m2};
use crate::kernel::memory::{SwizzledMemory, SwizzledTiles, exchanged};
use crate::program::tensor::TensorElement;
use crate::sim::CopyEnd;

/// A tile of the block's shared memory that is an operand of a warpgroup's product: rows of [`Swizzled`](crate::Swizzled)
/// elements of `f16`, `bf16`, `f32`, `e4m3`, `e5m2`, `i8` or `u8`, or a [`Transposed`] one of `f16` or `bf16`. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `mma_async`",
    note = "an operand is a tile with swizzled rows, such as the `&tiles[stage]` of `shared_array::<[Swizzled<bf16, 64>; 128], STAGES>()`",
    note = "only elements of 16 bits are taken from a tile whose rows are those of the other direction, `tiles[stage].transposed()`"
)]
pub trait WarpgroupOperand: sealed::Operand {
    /// The type of the elements in memory.
    type Scalar: OperandElement<Factor = Self::Factor>;
    /// The type as which the elements are multiplied: [`tf32`] for `f32`, and otherwise their own.
    type Factor: MatrixElement<Value = Self::Scalar>;
    /// The number of elements in the direction of the sum, if the type says it.
    #[doc(hidden)]
    const DEPTH: Option<usize>;
    #[doc(hidden)]
    fn tile(&self) -> OperandTile;
}

/// A tile that is an operand of a product by its transpose, `tiles[stage].transposed()`: its rows go in the direction of the sum, as
/// those of a `B` whose `K` by `N` elements are stored row by row, or of an `A` that is stored column by column. A row has as many
/// elements as the operand has in the other direction, or the operand is several such tiles, one after the other:
/// `[[Swizzled<bf16, 64>; K]; 2]` is one of 128.
///
/// The hardware takes elements of 16 bits so: `f16` and `bf16`.
#[derive(Debug)]
pub struct Transposed<'a, S>(&'a S);

/// Evaluates `tile.transposed()`. What is no tile has no operand, which rustc reports at the product.
#[inline]
pub fn transposed<S>(tile: &S) -> Transposed<'_, S> {
    Transposed(tile)
}

/// The place of an operand in shared memory.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct OperandTile {
    pub(crate) end: CopyEnd,
    /// The size of a row in bytes.
    pub(crate) row: usize,
    /// The number of rows or columns of the matrix.
    pub(crate) lines: usize,
    /// The number of elements in the direction of the sum.
    pub(crate) depth: usize,
    /// The number of lines that a row of memory has elements of, if rows go in the direction of the sum.
    across: Option<usize>,
}

impl OperandTile {
    /// Returns the byte at which an element of a line lies, counted from the first of the tile.
    pub(crate) fn place(&self, line: usize, depth: usize, size: usize) -> usize {
        let (number, byte) = match self.across {
            None => (line, depth * size),
            Some(across) => (line / across * self.depth + depth, line % across * size),
        };
        let start = number * self.row;
        start + exchanged(byte, self.end.start + start, self.row)
    }

    /// Returns the first byte and the length of the memory that has some lines.
    pub(crate) fn bytes_of_lines(&self, first: usize, count: usize) -> (usize, usize) {
        match self.across {
            None => (first * self.row, count * self.row),
            Some(across) => (0, self.lines / across * self.depth * self.row),
        }
    }
}

/// The type of the elements of an operand in shared memory.
#[doc(hidden)]
pub trait OperandElement: TensorElement {
    /// The type as which the tensor cores multiply them.
    type Factor: MatrixElement<Value = Self>;
    /// Returns the value that the tensor cores multiply.
    fn multiplied(self) -> Self;
}

/// The type of elements that are taken from a transposed tile.
#[doc(hidden)]
pub trait TransposedElement: OperandElement {}

/// An element of which warpgroups multiply two tiles and add to sums of `V`: the bound of a kernel that is generic over its elements. Those of
/// `f32` are multiplied as [`tf32`], and are not among them. The trait is sealed.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::WarpgroupElement;
///
/// /// Multiplies 64 rows by the transpose of 64 rows of 128 bytes.
/// #[cluster_kernel(block = 128)]
/// fn product<T: WarpgroupElement<f32>, const N: usize>(
///     a: &TensorMap<[Swizzled<T, N>; 64]>,
///     c: &mut [f32],
/// ) {
///     let block = this_thread_block();
///     let warpgroup = tiled_partition::<128>(&block);
///     let tile = shared_array::<Swizzled<T, N>, 64>();
///     let full = shared_barrier();
///     full.init_collective(&block, 1);
///     if block.thread_rank() == 0 {
///         a.load_async([0, 0], &tile, &full);
///         let _ = full.arrive();
///     }
///     full.wait_parity(false);
///     let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
///     let sum = warpgroup.wait_mma(warpgroup.mma_async(zeros, &tile, &tile));
///     for i in 0..32 {
///         let (row, column) = (sum.row(block.thread_rank(), i), sum.column(block.thread_rank(), i));
///         c[row * 64 + column] = sum[i];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut c = device.zeros(64 * 64)?;
/// let wide = device.upload(&vec![bf16::from_f32(2.0); 64 * 64])?;
/// product::<bf16, 64>(&wide.tensor([64, 64])?, &mut c).grid(1).launch(&device)?;
/// assert_eq!(c.read()?, [256.0; 64 * 64]);
/// let narrow = device.upload(&vec![e4m3::from_f32(2.0); 64 * 128])?;
/// product::<e4m3, 128>(&narrow.tensor([64, 128])?, &mut c).grid(1).launch(&device)?;
/// assert_eq!(c.read()?, [512.0; 64 * 64]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "warpgroups do not multiply `{Self}` with sums of `{V}`",
    note = "two operands of `f16` add to `f32` or `f16`, two of `bf16`, `e4m3` or `e5m2` to `f32`, and two of `i8` or `u8` to `i32`"
)]
pub trait WarpgroupElement<V: MatrixElement>: OperandElement<Factor = Self> + Product<Self, V> {}
#[diagnostic::do_not_recommend]
impl<T: OperandElement<Factor = T> + Product<T, V>, V: MatrixElement> WarpgroupElement<V> for T {}

mod sealed {
    pub trait Operand {}
}

macro_rules! operands {
    ($($t:ident as $factor:ident: $multiplied:expr;)*) => {$(
        impl OperandElement for $t {
            type Factor = $factor;
            #[inline]
            fn multiplied(self) -> $t {
                let multiplied: fn($t) -> $t = $multiplied;
                multiplied(self)
            }
        }
    )*};
}

operands! {
    f16 as f16: |value| value;
    bf16 as bf16: |value| value;
    // No thread rounds what a copy brought: the lower 13 bits are left out.
    f32 as tf32: |value| f32::from_bits(value.to_bits() & !0x1fff);
    e4m3 as e4m3: |value| value;
    e5m2 as e5m2: |value| value;
    i8 as i8: |value| value;
    u8 as u8: |value| value;
}

impl TransposedElement for f16 {}
impl TransposedElement for bf16 {}

impl<S: SwizzledMemory> sealed::Operand for S {}
#[diagnostic::do_not_recommend]
impl<S: SwizzledMemory> WarpgroupOperand for S
where
    S::Scalar: OperandElement,
{
    type Scalar = S::Scalar;
    type Factor = <S::Scalar as OperandElement>::Factor;
    const DEPTH: Option<usize> = Some(S::COLUMNS);

    fn tile(&self) -> OperandTile {
        let end = CopyEnd { memory: self.id(), start: self.start() };
        let row = S::COLUMNS * size_of::<S::Scalar>();
        OperandTile { end, row, lines: self.length(), depth: S::COLUMNS, across: None }
    }
}

impl<S: SwizzledTiles> sealed::Operand for Transposed<'_, S> {}
#[diagnostic::do_not_recommend]
impl<S: SwizzledTiles> WarpgroupOperand for Transposed<'_, S>
where
    S::Scalar: TransposedElement,
{
    type Scalar = S::Scalar;
    type Factor = <S::Scalar as OperandElement>::Factor;
    const DEPTH: Option<usize> = None;

    fn tile(&self) -> OperandTile {
        let (tiles, depth) = self.0.tiles();
        let end = CopyEnd { memory: self.0.id(), start: self.0.start() };
        let row = S::COLUMNS * size_of::<S::Scalar>();
        OperandTile { end, row, lines: tiles * S::COLUMNS, depth, across: Some(S::COLUMNS) }
    }
}
