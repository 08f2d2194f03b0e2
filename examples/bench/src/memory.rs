//! Memory that both kernels use: a Phalanx buffer whose address is known, for the launch of a twin, and whose parts can be
//! read.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaStream, DevicePtr, result};
use phalanx::{Buffer, Device, DeviceCopy};

use crate::Result;

/// The size of the second-level cache of an H100, in bytes.
const L2: usize = 50 << 20;

/// Returns how many sets of `bytes` bytes exceed the second-level cache four times, so that no launch finds its data
/// there.
pub fn sets(device: &Device, bytes: usize) -> usize {
    if device.is_simulator() { 1 } else { (4 * L2).div_ceil(bytes).max(1) }
}

/// The stream of a GPU, on which Phalanx launches its kernels; none in the simulator.
pub fn stream(device: &Device) -> Result<Option<Arc<CudaStream>>> {
    if device.is_simulator() {
        return Ok(None);
    }
    Ok(Some(device.zeros::<u32>(1)?.into_cuda_slice()?.stream().clone()))
}

/// The multiprocessors of a stream's GPU.
pub fn multiprocessors(stream: &CudaStream) -> Result<u32> {
    Ok(stream.context().attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.try_into()?)
}

/// The highest clock of a stream's GPU, in cycles in a microsecond.
pub fn cycles_per_microsecond(stream: &CudaStream) -> Result<f64> {
    Ok(f64::from(stream.context().attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?) / 1e3)
}

/// An array on a device.
pub struct Memory<T: DeviceCopy> {
    /// The array as Phalanx kernels take it.
    pub buffer: Buffer<T>,
    /// The address on the GPU, and its stream.
    gpu: Option<(u64, Arc<CudaStream>)>,
}

impl<T: DeviceCopy + Default> Memory<T> {
    /// Copies `data` to the device.
    pub fn upload(device: &Device, data: &[T]) -> Result<Self> {
        Memory::of(device, device.upload(data)?)
    }

    /// Allocates `len` elements that are zero.
    pub fn zeros(device: &Device, len: usize) -> Result<Self> {
        Memory::of(device, device.zeros(len)?)
    }

    fn of(device: &Device, buffer: Buffer<T>) -> Result<Self> {
        if device.is_simulator() {
            return Ok(Memory { buffer, gpu: None });
        }
        let slice = buffer.into_cuda_slice()?;
        let stream = slice.stream().clone();
        let address = slice.device_ptr(&stream).0;
        Ok(Memory { buffer: Buffer::from_cuda_slice(device, slice)?, gpu: Some((address, stream)) })
    }

    /// Returns the address on the GPU.
    pub fn address(&self) -> u64 {
        self.gpu.as_ref().map_or(0, |(address, _)| *address)
    }

    /// Fills the array with ones, in bits: NaN in floats, and no count. The simulator has no need of it, because it
    /// runs one kernel on fresh memory.
    pub fn spoil(&mut self) -> Result<()> {
        let Some((address, stream)) = &self.gpu else { return Ok(()) };
        stream.context().bind_to_thread()?;
        // SAFETY: the buffer has so many bytes, and any bytes are values of the numbers that it holds.
        unsafe { result::memset_d8_async(*address, 0xff, size_of::<T>() * self.buffer.len(), stream.cu_stream())? };
        Ok(())
    }

    /// Fills the array with zeros, for kernels that add to it.
    pub fn zero(&mut self) -> Result<()> {
        match &self.gpu {
            None => self.buffer.write(&vec![T::default(); self.buffer.len()])?,
            Some((address, stream)) => {
                stream.context().bind_to_thread()?;
                // SAFETY: as in `spoil`; zeros are a value of every `DeviceCopy`.
                unsafe {
                    result::memset_d8_async(*address, 0, size_of::<T>() * self.buffer.len(), stream.cu_stream())?;
                }
            }
        }
        Ok(())
    }

    /// Returns a copy of a part, after all launches.
    pub fn read(&self, part: Range<usize>) -> Result<Vec<T>> {
        let Some((address, stream)) = &self.gpu else { return Ok(self.buffer.read()?[part].to_vec()) };
        assert!(part.end <= self.buffer.len(), "the part is in the buffer");
        self.buffer.device().synchronize()?;
        stream.context().bind_to_thread()?;
        let mut copy = vec![T::default(); part.len()];
        // SAFETY: the part is in the buffer, whose elements are numbers, of which any bytes are values.
        unsafe { result::memcpy_dtoh_sync(&mut copy, address + (part.start * size_of::<T>()) as u64)? };
        Ok(copy)
    }
}
