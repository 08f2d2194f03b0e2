//! Memory on a device, as a typed array that the host copies to and from. Kernels borrow it as a slice.

use std::fmt;
use std::marker::PhantomData;

use cudarc::driver::CudaSlice;

use super::device::{Device, Target};
use crate::gpu::GpuMemory;
use crate::kernel::memory::{Global, GlobalMemory, GlobalMut};
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

/// An array of `T` on a [`Device`]. A kernel takes `&Buffer<T>` as its `&[T]`, and `&mut Buffer<T>` as its `&mut [T]`.
/// The memory is freed when the buffer is dropped, after the kernels that use it.
///
/// ```
/// # use phalanx::Device;
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut buffer = device.upload(&[1, 2, 3])?;
/// buffer.write(&[4, 5, 6])?;
/// assert_eq!((buffer.len(), buffer.read()?), (3, vec![4, 5, 6]));
/// # Ok(())
/// # }
/// ```
pub struct Buffer<T: DeviceCopy> {
    device: Device,
    len: usize,
    memory: Memory,
    elements: PhantomData<T>,
}

/// The memory of a buffer, with at least as many bytes as the elements take.
enum Memory {
    Host(GlobalMemory),
    Gpu(GpuMemory),
}

impl Memory {
    fn host(memory: Option<GlobalMemory>, bytes: usize) -> Result<Memory> {
        memory.map(Memory::Host).ok_or(Error::OutOfMemory { bytes })
    }
}

impl<T: DeviceCopy> Buffer<T> {
    fn uploaded(device: &Device, data: &[T]) -> Result<Self> {
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(gpu.upload(data)?),
            Target::Simulator(_) => Memory::host(GlobalMemory::try_from_slice(data), size_of_val(data))?,
        };
        Ok(Buffer::new(device, data.len(), memory))
    }

    fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let size = size_of::<T>();
        let bytes = len.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or(Error::BufferTooLarge { len, size })?;
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(gpu.zeros(bytes)?),
            Target::Simulator(_) => Memory::host(GlobalMemory::try_zeros(bytes), bytes)?,
        };
        Ok(Buffer::new(device, len, memory))
    }

    /// Creates a buffer from memory that cudarc allocated on this GPU, without a copy. It waits for the slice's stream.
    pub fn from_cuda_slice(device: &Device, slice: CudaSlice<T>) -> Result<Self> {
        let len = slice.len();
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(gpu.adopt(slice)?),
            Target::Simulator(_) => {
                let found = format!("GPU {}", slice.ordinal());
                return Err(Error::WrongDevice { expected: device.to_string(), found });
            }
        };
        Ok(Buffer::new(device, len, memory))
    }

    /// Returns the memory as a slice of cudarc, without a copy, after all launches have ended.
    pub fn into_cuda_slice(self) -> Result<CudaSlice<T>> {
        match (&self.device.target, self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.release(memory, self.len),
            (_, Memory::Host(_)) | (Target::Simulator(_), _) => {
                Err(Error::WrongDevice { expected: "a GPU".into(), found: self.device.to_string() })
            }
        }
    }

    fn new(device: &Device, len: usize, memory: Memory) -> Self {
        Buffer { device: device.clone(), len, memory, elements: PhantomData }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device that the memory is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all launches have ended, and returns a copy of the elements. If a kernel has failed and the failure
    /// has not been returned yet, it returns that failure instead.
    pub fn read(&self) -> Result<Vec<T>> {
        match (&self.device.target, &self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.read(memory, self.len),
            (_, Memory::Host(memory)) => self.device.synchronize().map(|()| memory.read()),
            (Target::Simulator(_), Memory::Gpu(_)) => unreachable!("`new` is given memory of the device"),
        }
    }

    /// Overwrites all elements, after all launches have ended. The data must have as many elements as the buffer.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        if data.len() != self.len {
            return Err(Error::LengthMismatch { buffer: self.len, data: data.len() });
        }
        match (&self.device.target, &mut self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.write(memory, data),
            (_, Memory::Host(memory)) => {
                memory.write(data);
                Ok(())
            }
            (Target::Simulator(_), Memory::Gpu(_)) => unreachable!("`new` is given memory of the device"),
        }
    }

    /// Returns the address on the GPU, or 0 in the simulator, where no kernel uses it.
    pub(crate) fn address(&self) -> u64 {
        match (&self.device.target, &self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.address(memory),
            (Target::Gpu(_) | Target::Simulator(_), _) => 0,
        }
    }

    /// Returns the memory as the host body sees it. It is empty if the memory is a GPU's, because the host body then
    /// does not run.
    pub(crate) fn global(&self) -> Global<'_, T> {
        match &self.memory {
            Memory::Host(memory) => Global::new(memory),
            Memory::Gpu(_) => Global::empty(),
        }
    }

    /// Returns the memory as the host body sees a `&mut [T]`.
    pub(crate) fn global_mut(&mut self) -> GlobalMut<'_, T> {
        match &self.memory {
            Memory::Host(memory) => GlobalMut::new(memory),
            Memory::Gpu(_) => GlobalMut::empty(),
        }
    }
}

/// Allocates memory.
impl Device {
    /// Returns a buffer with a copy of `data`.
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>> {
        Buffer::uploaded(self, data)
    }

    /// Returns a buffer of `len` elements, whose bytes are all zero.
    pub fn zeros<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeroed(self, len)
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} elements, {})", T::info(), self.len, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let device = Device::simulator();
        let mut buffer = device.zeros::<u64>(3).unwrap();
        assert_eq!(buffer.read().unwrap(), [0; 3]);
        buffer.write(&[1, 2, u64::MAX]).unwrap();
        assert_eq!(buffer.read().unwrap(), [1, 2, u64::MAX]);
        assert!(matches!(buffer.write(&[1]), Err(Error::LengthMismatch { buffer: 3, data: 1 })));
        assert!(device.upload::<f32>(&[]).unwrap().is_empty());
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        let bytes = isize::MAX as usize / 16 * 16;
        let error = Device::simulator().zeros::<u64>(bytes / 8).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { bytes: asked } if asked == bytes), "{error}");
    }

    #[test]
    fn memory_of_the_host_is_no_cuda_slice() {
        let error = Device::simulator().upload(&[1.0f32]).unwrap().into_cuda_slice().unwrap_err();
        assert_eq!(error.to_string(), "this needs memory of a GPU, but the buffer is on simulator");
        assert!(matches!(Device::simulator().zeros::<u64>(usize::MAX), Err(Error::BufferTooLarge { .. })));
    }
}
