//! A part of a buffer, memory that another library owns, or elements as others, which kernels read (`View`) or write (`ViewMut`).

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, RangeBounds};

use super::buffer::Buffer;
use super::device::Device;
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

/// Memory by its address.
impl<'a, T: DeviceCopy> View<'a, T> {
    /// Makes a view of memory at an address of the GPU, for kernels to read: that of another library, or of another language. In the simulator, no
    /// address is one of the device's.
    ///
    /// # Safety
    /// For `'a`, as many values of `T` lie there, on this device, and nobody writes to them. Work of others that wrote them, or frees them
    /// later, is ordered with the launches that read them: on the same stream ([`Stream::from_cuda_stream`](crate::Stream::from_cuda_stream)), by
    /// events, or because the host waits.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize) -> Result<View<'a, T>> {
        Buffer::at(device, address, len).map(View::new)
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

/// Memory that is borrowed to be written: a part of a [`Buffer`]. A kernel takes `&mut ViewMut<T>` as its `&mut [T]`, as it
/// takes a `&mut Buffer<T>`, and the methods of a buffer are there.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 4)]
/// fn add(values: &mut [u32], amount: u32) {
///     values[this_grid().thread_rank()] += amount;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut values = device.zeros(8)?;
/// let (mut left, mut right) = values.split_at_mut(4)?;
/// add(&mut left, 1).grid(1).launch(&device)?;
/// add(&mut right, 2).grid(1).launch(&device)?;
/// let mut middle = values.slice_mut(2..6)?;
/// add(&mut middle, 10).grid(1).launch(&device)?;
/// assert_eq!(values.read()?, [1, 1, 11, 11, 12, 12, 2, 2]);
/// # Ok(())
/// # }
/// ```
///
/// The buffer is borrowed as long as there is such a part:
///
/// ```compile_fail,E0502
/// # use phalanx::Device;
/// let mut buffer = Device::simulator().upload(&[1, 2, 3])?;
/// let mut part = buffer.slice_mut(1..)?;
/// buffer.read()?;
/// part.write(&[5, 6])?;
/// # Ok::<(), phalanx::Error>(())
/// ```
pub struct ViewMut<'a, T: DeviceCopy> {
    buffer: Buffer<T>,
    borrowed: PhantomData<&'a mut [T]>,
}

impl<T: DeviceCopy> Buffer<T> {
    /// Returns a part of the buffer, for kernels to write.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>> {
        let range = self.checked(range)?;
        Ok(ViewMut::new(self.part(range.start, range.len())))
    }

    /// Returns the elements before `middle`, and those from it on, which kernels may write at the same time. Work on one part is
    /// still ordered with work on the other, if the two are on different streams.
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(ViewMut<'_, T>, ViewMut<'_, T>)> {
        let head = self.checked(..middle)?;
        Ok((ViewMut::new(self.part(0, head.len())), ViewMut::new(self.part(middle, self.len() - middle))))
    }
}

/// Memory by its address.
impl<'a, T: DeviceCopy> ViewMut<'a, T> {
    /// Makes a view of memory at an address of the GPU, for kernels to write: that of another library, or of another language. In the simulator, no
    /// address is one of the device's.
    ///
    /// # Safety
    /// For `'a`, as many values of `T` lie there, on this device, and nobody else uses them. The buffer that the view is stays in it: it is not swapped
    /// for another, which would outlive `'a`. Work of others that used them, or uses or frees
    /// them later, is ordered with the launches that write them: on the same stream
    /// ([`Stream::from_cuda_stream`](crate::Stream::from_cuda_stream)), by events, or because the host waits.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize) -> Result<ViewMut<'a, T>> {
        Buffer::at(device, address, len).map(ViewMut::new)
    }
}

impl<T: DeviceCopy> ViewMut<'_, T> {
    /// Returns a buffer as a view. The caller has borrowed its memory, and no one else has, for as long as the view lives.
    pub(super) fn new(buffer: Buffer<T>) -> Self {
        ViewMut { buffer, borrowed: PhantomData }
    }
}

impl<T: DeviceCopy> Deref for ViewMut<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: DeviceCopy> DerefMut for ViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

impl<T: DeviceCopy> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ViewMut({:?})", self.buffer)
    }
}

impl<T: DeviceCopy> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({:?})", self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::mem;

    use crate::launch::on_each_device::on_each_device;
    use crate::report::error::{Error, LaunchError};

    mod kernels {
        use crate::prelude::*;

        #[cluster_kernel(block = 16)]
        pub(super) fn copy(from: &[u32], to: &mut [u32], also: Option<&mut [u32]>) {
            let i = this_grid().thread_rank();
            to[i] = from[i];
            if let Some(also) = also {
                also[i] = from[i];
            }
        }
    }
    use kernels::copy;

    /// Safe programs can make two buffers of one memory.
    #[test]
    fn buffers_of_one_memory_are_no_arguments_of_one_kernel() {
        on_each_device(|device| {
            let (mut whole, mut kept) = (device.upload(&[1u32; 64]).unwrap(), device.zeros(32).unwrap());
            whole.write_at(16, &[7; 32]).unwrap();
            mem::swap(&mut *whole.slice_mut(16..48).unwrap(), &mut kept);
            let overlap = |error| match error {
                Error::Launch { reason: LaunchError::Overlap { first, second }, .. } => (first, second),
                other => panic!("{device}: {other}"),
            };
            let mut apart = device.zeros(16).unwrap();
            assert_eq!(overlap(copy(&kept, &mut whole, None).grid(1).launch(device).unwrap_err()), (1, 2));
            let last = &mut *kept.slice_mut(31..).unwrap();
            let second = copy(&whole.slice(..48).unwrap(), &mut apart, Some(last)).grid(1).launch(device).unwrap_err();
            assert_eq!(overlap(second), (1, 3), "{device}");
            // Parts that follow each other share nothing, and what is read may be read twice.
            copy(&kept, &mut whole.slice_mut(48..).unwrap(), Some(&mut apart)).grid(1).launch(device).unwrap();
            assert_eq!(apart.read().unwrap(), [7; 16], "{device}");
            assert_eq!(whole.read().unwrap(), [[1; 16], [7; 16], [7; 16], [7; 16]].concat(), "{device}");
            // The memory of a part is no slice of its own.
            drop(whole);
            #[cfg(feature = "gpu")]
            match kept.into_cuda_slice().unwrap_err() {
                Error::SharedMemory => assert!(!device.is_simulator()),
                error => {
                    assert!(matches!(error, Error::WrongDevice { .. }) && device.is_simulator(), "{device}: {error}")
                }
            }
        });
    }
}
