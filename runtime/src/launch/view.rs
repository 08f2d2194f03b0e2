//! A part of a buffer, or memory that another library owns, which kernels read.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, RangeBounds};

use super::buffer::Buffer;
use crate::program::types::DeviceCopy;
use crate::report::error::Result;

/// Memory that is borrowed to be read: a part of a [`Buffer`]. A kernel takes `&View<T>` as its `&[T]`, as it takes a
/// `&Buffer<T>`, and the methods of a buffer that read it are there.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 4)]
/// fn copy(input: &[u32], out: &mut [u32]) {
///     let i = this_grid().thread_rank();
///     out[i] = input[i];
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?;
/// let mut out = device.zeros(4)?;
/// let part = input.slice(3..7)?;
/// copy(&part, &mut out).grid(1).launch(&device)?;
/// assert_eq!(out.read()?, part.read()?);
/// # Ok(())
/// # }
/// ```
///
/// The buffer is borrowed as long as there is a view:
///
/// ```compile_fail,E0502
/// # use phalanx::Device;
/// let mut buffer = Device::simulator().upload(&[1, 2, 3])?;
/// let part = buffer.slice(1..)?;
/// buffer.write(&[4, 5, 6])?;
/// part.read()?;
/// # Ok::<(), phalanx::Error>(())
/// ```
pub struct View<'a, T: DeviceCopy> {
    buffer: Buffer<T>,
    borrowed: PhantomData<&'a [T]>,
}

impl<T: DeviceCopy> Buffer<T> {
    /// Returns a part of the buffer, for kernels to read.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>> {
        let range = self.checked(range)?;
        Ok(View::new(self.part(range.start, range.len())))
    }
}

impl<T: DeviceCopy> View<'_, T> {
    /// Returns a buffer as a view. The caller has borrowed its memory for as long as the view lives.
    pub(super) fn new(buffer: Buffer<T>) -> Self {
        View { buffer, borrowed: PhantomData }
    }
}

impl<T: DeviceCopy> Deref for View<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: DeviceCopy> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({:?})", self.buffer)
    }
}
