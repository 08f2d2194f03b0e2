//! Memory that the device and the host access at the same address, which the driver moves between the two.

use std::ops::Range;

use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;

use super::{Allocation, Storage, driver};
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::report::error::{Error, Result};

/// Allocates `bytes` bytes of uninitialized managed memory. The caller must write all of it before anything reads it.
pub(in crate::gpu) fn allocate_managed(stream: &CudaStream, bytes: usize) -> Result<Allocation> {
    let context = stream.context();
    // Without this, as on Windows, the host may access no managed memory while any kernel runs, and is killed if it does.
    let at_once = context.attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    if at_once.map_err(driver("cuDeviceGetAttribute"))? == 0 {
        return Err(Error::NoManagedMemory);
    }
    context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: every value of a byte is valid, and the callers write the bytes before they are read.
    let memory = unsafe { context.alloc_unified::<u8>(bytes.max(1), true) };
    Ok(Allocation::of(Storage::Managed(memory.map_err(driver("cuMemAllocManaged"))?), stream))
}

impl Allocation {
    /// Returns the elements of managed memory in a range of bytes, which no work of the device uses. They must be values of `T`, as for `read`.
    pub(in crate::gpu) fn host_slice<T: DeviceCopy>(&mut self, bytes: Range<usize>) -> Result<&mut [T]> {
        const { T::LAYOUT };
        if !matches!(self.storage, Storage::Managed(_)) {
            return Err(Error::NotManaged);
        }
        assert!(bytes.start <= bytes.end && bytes.end <= self.bytes, "the range lies in the memory");
        let first = self.address as usize + bytes.start;
        assert!(first.is_multiple_of(align_of::<T>()), "a buffer is aligned");
        let len = bytes.len().checked_div(size_of::<T>()).unwrap_or(0);
        let first = first as *mut T;
        // SAFETY: the memory is at this address of the host, too, of so many bytes, all of which have been written, and lives as long as `self`,
        // which is borrowed.
        let contents = unsafe { std::slice::from_raw_parts(first.cast::<u8>(), len * size_of::<T>()) };
        if let Some(index) = validity::first_invalid::<T>(contents) {
            return Err(Error::InvalidValue { index, ty: T::info().to_string() });
        }
        // SAFETY: as above, and the bytes are values of `T`.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, len) })
    }
}
