//! Memory and streams that other users of cudarc own: taken over, borrowed, and handed out.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::buffer::{Buffer, Memory};
use super::device::{Device, Target};
use super::stream::{Stream, StreamQueue};
use super::view::View;
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

impl<T: DeviceCopy> Buffer<T> {
    /// Creates a buffer from memory that cudarc allocated on this GPU, without a copy. It waits for the slice's stream.
    pub fn from_cuda_slice(device: &Device, slice: CudaSlice<T>) -> Result<Self> {
        let len = slice.len();
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(Arc::new(gpu.adopt(slice)?)),
            Target::Simulator(_) => {
                let found = format!("GPU {}", slice.ordinal());
                return Err(Error::WrongDevice { expected: device.to_string(), found });
            }
        };
        Ok(Buffer::new(device, len, memory))
    }

    /// Returns the memory as a slice of cudarc, without a copy, after all launches have ended.
    pub fn into_cuda_slice(self) -> Result<CudaSlice<T>> {
        let start = self.place().1;
        let (device, len, memory) = self.into_parts();
        match (&device.target, memory) {
            // Safe programs can move a part out of its view, and drop the whole.
            (Target::Gpu(_), Memory::Gpu(_)) if start > 0 => Err(Error::SharedMemory),
            (Target::Gpu(gpu), Memory::Gpu(memory)) => {
                // Launches and views have handles of their own, and borrow the buffer.
                gpu.release(Arc::into_inner(memory).ok_or(Error::Leaked)?, len)
            }
            (_, Memory::Host(_)) | (Target::Simulator(_), _) => {
                Err(Error::WrongDevice { expected: "a GPU".into(), found: device.to_string() })
            }
        }
    }
}

impl<'a, T: DeviceCopy> View<'a, T> {
    /// Borrows memory of cudarc's on this GPU, a `CudaSlice` or a `CudaView`, for kernels to read: without a copy, and without waiting.
    /// Each launch comes after the work so far on the slice's own stream, whose later work comes after the launch.
    ///
    /// ```no_run
    /// use phalanx::prelude::*;
    /// use phalanx::{View, cudarc};
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn double(input: &[f32], out: &mut [f32]) {
    ///     let i = this_grid().thread_rank();
    ///     out[i] = 2.0 * input[i];
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let theirs = cudarc::driver::CudaContext::new(0)?.new_stream()?;
    /// let slice = theirs.clone_htod(&[1.5f32; 256])?;
    /// let device = Device::gpu(0)?;
    /// let mut out = device.zeros(128)?;
    /// let half = slice.slice(128..);
    /// let input = View::of_cuda(&device, &half)?;
    /// double(&input, &mut out).grid(2).launch(&device)?;
    /// assert_eq!(out.read()?, [3.0; 128]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_cuda(device: &Device, slice: &'a impl DevicePtr<T>) -> Result<View<'a, T>> {
        match &device.target {
            Target::Gpu(gpu) => {
                let memory = Memory::Gpu(Arc::new(gpu.borrow(slice)?));
                Ok(View::new(Buffer::new(device, slice.len(), memory)))
            }
            Target::Simulator(_) => {
                let found = format!("GPU {}", slice.stream().context().ordinal());
                Err(Error::WrongDevice { expected: device.to_string(), found })
            }
        }
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// Lends memory of cudarc's on this GPU, a `CudaSlice` or a `CudaViewMut`, as a buffer that kernels may write: without a copy, and without
    /// waiting. Each launch comes after the work so far on the slice's own stream, whose later work comes after the launch; so the launches that
    /// `work` enqueues may still run when it returns. The buffer is of no use after that, also if `work` has put it elsewhere.
    ///
    /// ```no_run
    /// use phalanx::cudarc;
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn double(values: &mut [f32]) {
    ///     values[this_grid().thread_rank()] *= 2.0;
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let theirs = cudarc::driver::CudaContext::new(0)?.new_stream()?;
    /// let mut slice = theirs.clone_htod(&[1.5f32; 256])?;
    /// let device = Device::gpu(0)?;
    /// let mut half = slice.slice_mut(128..);
    /// Buffer::with_cuda(&device, &mut half, |values| double(values).grid(2).enqueue(&device))?;
    /// assert_eq!(theirs.clone_dtoh(&slice)?[127..129], [1.5, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_cuda<R>(
        device: &Device,
        slice: &mut impl DevicePtrMut<T>,
        work: impl FnOnce(&mut Buffer<T>) -> Result<R>,
    ) -> Result<R> {
        match &device.target {
            Target::Gpu(gpu) => {
                let len = slice.len();
                gpu.with_borrowed(slice, |memory| work(&mut Buffer::new(device, len, Memory::Gpu(memory))))?
            }
            Target::Simulator(_) => {
                let found = format!("GPU {}", slice.stream().context().ordinal());
                Err(Error::WrongDevice { expected: device.to_string(), found })
            }
        }
    }
}

impl Stream {
    /// Creates a handle of a stream that another user of cudarc has made, on this GPU. Launches then run in the order
    /// of its other work. It keeps the stream alive.
    pub fn from_cuda_stream(device: &Device, stream: Arc<CudaStream>) -> Result<Stream> {
        match &device.target {
            Target::Gpu(gpu) => {
                let queue = StreamQueue::Gpu(gpu.adopt_queue(stream)?);
                Ok(Stream { device: device.clone(), queue })
            }
            Target::Simulator(_) => {
                let found = format!("GPU {}", stream.context().ordinal());
                Err(Error::ForeignStream { expected: device.to_string(), found })
            }
        }
    }

    /// Creates a handle of a stream by its address, a `CUstream`: that of another library, or of another language. Launches then run in the
    /// order of its other work. 0 is the device's default stream. In the simulator, no address is a stream's.
    ///
    /// # Safety
    /// It is a stream of the device's primary context, and lives as long as the program uses the device, which keeps what its launches leave.
    pub unsafe fn from_raw(device: &Device, address: u64) -> Result<Stream> {
        match &device.target {
            Target::Gpu(_) if address == 0 => Ok(device.default_stream()),
            Target::Gpu(gpu) => {
                // SAFETY: passed on to the caller.
                let queue = StreamQueue::Gpu(unsafe { gpu.borrow_queue(address) }?);
                Ok(Stream { device: device.clone(), queue })
            }
            Target::Simulator(_) => Err(Error::ForeignStream {
                expected: device.to_string(),
                found: format!("a GPU, at address {address:#x}"),
            }),
        }
    }

    /// Returns the stream as cudarc has it, for other libraries, or `None` in the simulator and for a stream that captures a graph. Their work on it is ordered
    /// with launches on it; memory that they use on it is theirs to order with other streams.
    pub fn cuda_stream(&self) -> Option<&Arc<CudaStream>> {
        match &self.queue {
            StreamQueue::Gpu(queue) => Some(queue.stream()),
            StreamQueue::Simulator(_) | StreamQueue::Capture(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
