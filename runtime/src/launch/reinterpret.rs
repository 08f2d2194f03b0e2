//! The elements of a buffer as others: `[T]` as `[[T; N]]` or as vectors, and back, without a copy.

use super::buffer::Buffer;
use super::view::{View, ViewMut};
use crate::kernel::memory::{Vector, VectorElement};
use crate::program::types::{DeviceCopy, DeviceType};
use crate::report::error::{Error, Result};

/// The elements as arrays or as vectors.
impl<T: DeviceCopy> Buffer<T> {
    /// Returns the elements as arrays of `N`, for kernels that read them as `&[[T; N]]`. Their number must be a multiple of `N`.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// /// Adds each row.
    /// #[cluster_kernel(block = 2)]
    /// fn sums(rows: &[[f32; 3]], out: &mut [f32]) {
    ///     let i = this_grid().thread_rank();
    ///     for x in rows[i] {
    ///         out[i] += x;
    ///     }
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let values = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let (rows, mut out) = (values.as_chunks()?, device.zeros(2)?);
    /// sums(&rows, &mut out).grid(1).launch(&device)?;
    /// assert_eq!(out.read()?, [6.0, 15.0]);
    /// assert_eq!(
    ///     values.as_chunks::<4>().unwrap_err().to_string(),
    ///     "6 elements are no whole number of chunks of 4; take a part of 4 with `slice`",
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_chunks<const N: usize>(&self) -> Result<View<'_, [T; N]>> {
        Ok(View::new(self.reinterpreted(self.chunks(N)?)))
    }

    /// Returns the elements as arrays of `N`, for kernels that write them as `&mut [[T; N]]`.
    pub fn as_chunks_mut<const N: usize>(&mut self) -> Result<ViewMut<'_, [T; N]>> {
        Ok(ViewMut::new(self.reinterpreted(self.chunks(N)?)))
    }

    /// Returns the elements as vectors of `N`, for kernels that read them as `&[f32x4]`. Their number must be a multiple of `N`, and the first
    /// must lie at a multiple of the vector's size, as the first of a whole buffer does.
    pub fn as_vectors<const N: usize>(&self) -> Result<View<'_, Vector<T, N>>>
    where
        T: VectorElement<N>,
    {
        Ok(View::new(self.reinterpreted(self.vectors::<N>()?)))
    }

    /// Returns the elements as vectors of `N`, for kernels that write them as `&mut [f32x4]`.
    pub fn as_vectors_mut<const N: usize>(&mut self) -> Result<ViewMut<'_, Vector<T, N>>>
    where
        T: VectorElement<N>,
    {
        Ok(ViewMut::new(self.reinterpreted(self.vectors::<N>()?)))
    }

    /// Returns the number of chunks of `chunk` elements.
    fn chunks(&self, chunk: usize) -> Result<usize> {
        match self.len().checked_rem(chunk) {
            Some(0) => Ok(self.len() / chunk),
            Some(_) | None => Err(Error::NoWholeChunks { len: self.len(), chunk }),
        }
    }

    fn vectors<const N: usize>(&self) -> Result<usize>
    where
        T: VectorElement<N>,
    {
        let (count, alignment) = (self.chunks(N)?, align_of::<Vector<T, N>>());
        match self.first_byte() % alignment as u64 {
            0 => Ok(count),
            past => Err(Error::MisalignedElements { ty: Vector::<T, N>::info().to_string(), past, alignment }),
        }
    }
}

/// The elements of arrays.
impl<T: DeviceCopy, const N: usize> Buffer<[T; N]> {
    /// Returns the elements of the arrays, one after the other, for kernels that read them as `&[T]`.
    pub fn as_flattened(&self) -> View<'_, T> {
        View::new(self.reinterpreted(self.len() * N))
    }

    /// Returns the elements of the arrays, one after the other, for kernels that write them as `&mut [T]`.
    pub fn as_flattened_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(self.reinterpreted(self.len() * N))
    }
}

/// The elements of vectors.
impl<T: VectorElement<N> + DeviceCopy, const N: usize> Buffer<Vector<T, N>> {
    /// Returns the elements of the vectors, one after the other, for kernels that read them as `&[T]`.
    pub fn as_flattened(&self) -> View<'_, T> {
        View::new(self.reinterpreted(self.len() * N))
    }

    /// Returns the elements of the vectors, one after the other, for kernels that write them as `&mut [T]`.
    pub fn as_flattened_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(self.reinterpreted(self.len() * N))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::on_each_device::on_each_device;

    mod kernels {
        use crate::prelude::*;

        #[cluster_kernel(block = 4)]
        pub(super) fn scale_rows(rows: &mut [[u32; 3]], by: u32) {
            let i = this_grid().thread_rank();
            if i < rows.len() {
                for k in 0..3 {
                    rows[i][k] *= by;
                }
            }
        }

        #[cluster_kernel(block = 4)]
        pub(super) fn add_vectors(from: &[u32x4], to: &mut [u32x4]) {
            let i = this_grid().thread_rank();
            if i < to.len() {
                for lane in 0..4 {
                    to[i][lane] += from[i][lane];
                }
            }
        }
    }
    use kernels::{add_vectors, scale_rows};

    #[test]
    fn kernels_see_the_same_elements() {
        on_each_device(|device| {
            let values: Vec<u32> = (0..24).collect();
            let mut buffer = device.upload(&values).unwrap();
            scale_rows(&mut buffer.as_chunks_mut().unwrap(), 10).grid(2).launch(device).unwrap();
            let scaled: Vec<u32> = values.iter().map(|value| 10 * value).collect();
            assert_eq!(buffer.read().unwrap(), scaled, "{device}");
            let mut part = buffer.slice_mut(3..9).unwrap();
            scale_rows(&mut part.as_chunks_mut().unwrap(), 2).grid(2).launch(device).unwrap();
            assert_eq!(buffer.read_range(2..10).unwrap(), [20, 60, 80, 100, 120, 140, 160, 90], "{device}");

            let (from, mut to) = (device.upload(&[1u32; 8]).unwrap(), device.zeros::<u32>(8).unwrap());
            let mut vectors = to.as_vectors_mut::<4>().unwrap();
            add_vectors(&from.as_vectors().unwrap(), &mut vectors).grid(1).launch(device).unwrap();
            assert_eq!(vectors.as_flattened().read().unwrap(), [1; 8], "{device}");
            vectors.as_flattened_mut().write_at(7, &[5]).unwrap();
            assert_eq!(to.read_range(6..).unwrap(), [1, 5], "{device}");

            let mut rows = device.upload(&[[1u16, 2], [3, 4]]).unwrap();
            rows.as_flattened_mut().write_at(1, &[20, 30]).unwrap();
            assert_eq!(rows.read().unwrap(), [[1, 20], [30, 4]], "{device}");
            assert_eq!(rows.slice(1..).unwrap().as_flattened().read().unwrap(), [30, 4], "{device}");
            assert_eq!(rows.as_chunks::<2>().unwrap().len(), 1);
        });
    }

    #[test]
    fn elements_that_do_not_fit_are_refused() {
        on_each_device(|device| {
            let buffer = device.zeros::<f32>(10).unwrap();
            let error = buffer.as_chunks::<3>().unwrap_err();
            assert!(matches!(error, Error::NoWholeChunks { len: 10, chunk: 3 }), "{error}");
            assert!(matches!(buffer.as_chunks::<0>(), Err(Error::NoWholeChunks { len: 10, chunk: 0 })));
            assert!(matches!(buffer.as_vectors::<4>(), Err(Error::NoWholeChunks { len: 10, chunk: 4 })));
            let error = buffer.slice(1..9).unwrap().as_vectors::<4>().unwrap_err();
            assert_eq!(
                error.to_string(),
                "the first element lies 4 bytes past a multiple of 16, where each `f32x4` must begin; begin the part at another element",
            );
            assert_eq!(buffer.slice(4..8).unwrap().as_vectors::<4>().unwrap().len(), 1);
            assert!(device.zeros::<f32>(0).unwrap().as_chunks::<3>().unwrap().is_empty());
        });
    }
}
