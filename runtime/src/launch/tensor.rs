//! A buffer with a shape, of which kernels copy tiles: `&TensorMap<Tile>`. The limits of tensor maps are checked here, and
//! those of tiles when the program is compiled; the launch makes the map, because only the kernel knows the tile.

use std::fmt;
use std::marker::PhantomData;

use super::buffer::Buffer;
use crate::kernel::numeric::Float;
use crate::kernel::tensor::{TensorMap, TensorMapMut, TensorTile};
use crate::program::tensor::{Fill, TensorElement, TensorShape};
use crate::report::error::Result;

/// A tensor of `R` dimensions, 1 to 5, in the memory of a [`Buffer`], which is borrowed to be read. A kernel takes
/// `&Tensor<T, R>` as its `&TensorMap<Tile>`, whose tiles have as many dimensions.
///
/// ```
/// use phalanx::prelude::*;
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let buffer = device.zeros::<f32>(6 * 12)?;
/// let matrix = buffer.tensor([6, 12])?;
/// let columns = buffer.tensor_with_strides([6, 5], [12, 1])?; // the first 5 columns
/// assert_eq!((matrix.shape(), columns.shape()), ([6, 12], [6, 5]));
///
/// let error = buffer.tensor([12, 6]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the strides of a tensor must be multiples of 16 bytes, from 16 to 2^40 - 16, but that of dimension 0 is 24 bytes; \
///      pad its rows"
/// );
/// # Ok(())
/// # }
/// ```
pub struct Tensor<'a, T: TensorElement, const R: usize> {
    buffer: Buffer<T>,
    shape: TensorShape,
    borrowed: PhantomData<&'a [T]>,
}

/// A tensor of `R` dimensions in the memory of a [`Buffer`], which is borrowed to be written. A kernel takes
/// `&mut TensorMut<T, R>` as its `&mut TensorMap<Tile>`.
pub struct TensorMut<'a, T: TensorElement, const R: usize> {
    buffer: Buffer<T>,
    shape: TensorShape,
    borrowed: PhantomData<&'a mut [T]>,
}

impl<T: TensorElement> Buffer<T> {
    /// Returns the buffer as a tensor of this shape, row by row: the last dimension is contiguous. The buffer may have more
    /// elements.
    pub fn tensor<const R: usize>(&self, shape: [usize; R]) -> Result<Tensor<'_, T, R>> {
        self.tensor_with_strides(shape, TensorShape::dense(shape))
    }

    /// Returns the buffer as a tensor of this shape, in which two neighbours of a dimension are so many elements apart. The
    /// last stride must be 1, and the others a multiple of 16 bytes.
    pub fn tensor_with_strides<const R: usize>(
        &self,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Tensor<'_, T, R>> {
        let shape = self.shape_of(&shape, &strides)?;
        Ok(Tensor { buffer: self.part(0, self.len()), shape, borrowed: PhantomData })
    }

    /// Returns the buffer as a tensor that kernels write, as [`Buffer::tensor`] does.
    pub fn tensor_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<TensorMut<'_, T, R>> {
        self.tensor_mut_with_strides(shape, TensorShape::dense(shape))
    }

    /// Returns the buffer as a tensor that kernels write, as [`Buffer::tensor_with_strides`] does.
    pub fn tensor_mut_with_strides<const R: usize>(
        &mut self,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<TensorMut<'_, T, R>> {
        let shape = self.shape_of(&shape, &strides)?;
        Ok(TensorMut { buffer: self.part(0, self.len()), shape, borrowed: PhantomData })
    }

    fn shape_of(&self, dims: &[usize], strides: &[usize]) -> Result<TensorShape> {
        let memory = (self.first_byte(), self.len());
        Ok(TensorShape::new(dims, strides, size_of::<T>(), memory)?)
    }
}

macro_rules! tensor {
    ($name:ident) => {
        impl<T: TensorElement, const R: usize> $name<'_, T, R> {
            /// Returns the number of elements in each dimension.
            pub fn shape(&self) -> [usize; R] {
                std::array::from_fn(|dimension| self.shape.dims[dimension] as usize)
            }

            /// Returns the tensor with NaN in place of zeros for what loads get from outside of it, so that a result shows whether it depends
            /// on that. Only floats have a NaN: f16, bf16, f32 and f64.
            #[must_use]
            pub fn filled_with_nan(mut self) -> Self
            where
                T: Float,
            {
                self.shape.fill = Fill::Nan;
                self
            }
        }

        impl<T: TensorElement, const R: usize> fmt::Debug for $name<'_, T, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?} of {:?})"), self.shape(), self.buffer)
            }
        }
    };
}

tensor!(Tensor);
tensor!(TensorMut);

/// The coordinates of a tile, `[i32; R]`, whose number is that of its tensor's dimensions.
pub trait Ranked {
    /// The tensor that is read.
    type Tensor<'a, T: TensorElement>;
    /// The tensor that is written.
    type TensorMut<'a, T: TensorElement>;
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "generated code calls it with what it returns")]
    fn parts<'t, T: TensorElement>(tensor: &'t Self::Tensor<'_, T>) -> (&'t Buffer<T>, &'t TensorShape);
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "generated code calls it with what it returns")]
    fn parts_mut<'t, T: TensorElement>(tensor: &'t Self::TensorMut<'_, T>) -> (&'t Buffer<T>, &'t TensorShape);
}

impl<const R: usize> Ranked for [i32; R] {
    type Tensor<'a, T: TensorElement> = Tensor<'a, T, R>;
    type TensorMut<'a, T: TensorElement> = TensorMut<'a, T, R>;

    #[allow(private_interfaces, reason = "as in the trait")]
    fn parts<'t, T: TensorElement>(tensor: &'t Tensor<'_, T, R>) -> (&'t Buffer<T>, &'t TensorShape) {
        (&tensor.buffer, &tensor.shape)
    }

    #[allow(private_interfaces, reason = "as in the trait")]
    fn parts_mut<'t, T: TensorElement>(tensor: &'t TensorMut<'_, T, R>) -> (&'t Buffer<T>, &'t TensorShape) {
        (&tensor.buffer, &tensor.shape)
    }
}

/// The tensor that a launch takes for a `&TensorMap<Tile>`.
pub type TensorOf<'a, Tile> = <<Tile as TensorTile>::Coordinates as Ranked>::Tensor<'a, <Tile as TensorTile>::Element>;

/// The tensor that a launch takes for a `&mut TensorMap<Tile>`.
pub type TensorMutOf<'a, Tile> =
    <<Tile as TensorTile>::Coordinates as Ranked>::TensorMut<'a, <Tile as TensorTile>::Element>;

/// Returns a `&TensorMap<Tile>` parameter as the host body sees it.
pub fn tensor_map<'a, Tile: TensorTile<Coordinates = [i32; R]>, const R: usize>(
    tensor: &'a Tensor<'_, Tile::Element, R>,
) -> TensorMap<'a, Tile> {
    TensorMap::new(tensor.buffer.global(), tensor.shape)
}

/// Returns a `&mut TensorMap<Tile>` parameter as the host body sees it.
pub fn tensor_map_mut<'a, Tile: TensorTile<Coordinates = [i32; R]>, const R: usize>(
    tensor: &'a mut TensorMut<'_, Tile::Element, R>,
) -> TensorMapMut<'a, Tile> {
    TensorMapMut::new(tensor.buffer.global_mut(), tensor.shape)
}

#[cfg(test)]
mod tests {
    use crate::launch::Device;
    use crate::report::error::Error;
    use crate::report::tensor::TensorError;

    #[test]
    fn a_part_of_a_buffer_must_be_aligned() {
        let device = Device::simulator();
        let buffer = device.zeros::<u16>(256).unwrap();
        assert!(buffer.slice(8..).unwrap().tensor([2, 8]).is_ok());
        let error = buffer.slice(3..).unwrap().tensor([2, 8]).unwrap_err();
        assert!(matches!(error, Error::Tensor(TensorError::Misaligned { past: 6 })), "{error}");
    }

    #[test]
    fn the_last_element_is_in_the_buffer() {
        let device = Device::simulator();
        let mut buffer = device.zeros::<u32>(100).unwrap();
        // The last row is shorter than the stride.
        assert!(buffer.tensor_mut_with_strides([5, 20], [20, 1]).is_ok());
        assert!(buffer.tensor_with_strides([2, 52], [48, 1]).is_ok());
        let error = buffer.tensor_with_strides([2, 53], [48, 1]).unwrap_err();
        assert!(matches!(error, Error::Tensor(TensorError::OutOfBounds { last: 100, len: 100 })), "{error}");
    }
}
