//! Memory of the host that the device accesses itself: records that kernels write (`PinnedRecords`), and what copies on a stream read and
//! write while the host goes on (`Pinned`).

use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::{CudaContext, CudaStream, PinnedHostSlice};

use super::super::record::Record;
use super::{Region, driver};
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::report::error::Result;

/// Records in pinned host memory, which kernels write.
pub(in crate::gpu) struct PinnedRecords {
    /// It keeps the memory alive. Its own accessors ask the driver for pending copies, of which there are none, at each call.
    _memory: PinnedHostSlice<u64>,
    host: *mut Record,
    device: u64,
    count: usize,
}

// SAFETY: the pointer is to memory that the value owns, and that no other value points to.
unsafe impl Send for PinnedRecords {}

impl PinnedRecords {
    /// Allocates and clears so many records.
    pub(in crate::gpu) fn new(context: &Arc<CudaContext>, count: usize) -> Result<PinnedRecords> {
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        let words = count * size_of::<Record>() / size_of::<u64>();
        // SAFETY: cleared below before anything reads it.
        let mut memory = unsafe { context.alloc_pinned_with_flags(words, flags) }.map_err(driver("cuMemHostAlloc"))?;
        memory.as_mut_slice().map_err(driver("cuEventSynchronize"))?.fill(0);
        let host = memory.as_mut_ptr().map_err(driver("cuEventSynchronize"))?;
        let mut device = 0;
        // SAFETY: `host` is pinned memory that was allocated as mapped, and `device` takes the address.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut device, host.cast(), 0) }
            .result()
            .map_err(driver("cuMemHostGetDevicePointer"))?;
        Ok(PinnedRecords { _memory: memory, host: host.cast(), device, count })
    }

    /// Returns the address of a record on the device.
    pub(in crate::gpu) fn address(&self, index: usize) -> u64 {
        assert!(index < self.count);
        self.device + (index * size_of::<Record>()) as u64
    }

    /// Returns a record as far as the device has written it.
    pub(in crate::gpu) fn read(&self, index: usize) -> Record {
        assert!(index < self.count);
        // SAFETY: so many records fit, and every bit pattern is a record. Volatile, because a device may write it
        // meanwhile; `state` is written last, and the caller trusts the rest only if that is set.
        unsafe { self.host.add(index).read_volatile() }
    }

    /// Returns the state of a record.
    pub(in crate::gpu) fn state(&self, index: usize) -> u32 {
        assert!(index < self.count);
        // SAFETY: so many records fit, and every bit pattern is a state. Volatile, because a device may write it meanwhile.
        unsafe { (&raw const (*self.host.add(index)).state).read_volatile() }
    }

    /// Clears a record, which no kernel is writing.
    pub(in crate::gpu) fn clear(&mut self, index: usize) {
        assert!(index < self.count);
        // SAFETY: so many records fit, and zeros are a record.
        unsafe { self.host.add(index).write_bytes(0, 1) }
    }
}

/// Elements in page-locked memory, which begin as zeros.
pub(crate) struct Pinned<T> {
    /// It keeps the memory alive.
    _memory: PinnedHostSlice<u64>,
    /// The first element, at the beginning of a page.
    first: NonNull<T>,
    len: usize,
}

// SAFETY: the pointer is to plain data that the value owns, and that no other value points to.
unsafe impl<T: DeviceCopy> Send for Pinned<T> {}
// SAFETY: a shared reference gives no access but to read.
unsafe impl<T: DeviceCopy> Sync for Pinned<T> {}

impl<T: DeviceCopy> Pinned<T> {
    /// Allocates so many elements, whose bytes are not more than an address reaches.
    pub(in crate::gpu) fn zeroed(context: &Arc<CudaContext>, len: usize) -> Result<Pinned<T>> {
        const { T::LAYOUT };
        let words = (len * size_of::<T>()).div_ceil(size_of::<u64>()).max(1);
        // SAFETY: cleared below before anything reads it.
        let memory = unsafe { context.alloc_pinned_with_flags(words, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let mut memory = memory.map_err(driver("cuMemHostAlloc"))?;
        let words = memory.as_mut_slice().map_err(driver("cuEventSynchronize"))?;
        words.fill(0u64);
        let first = NonNull::from(words).cast();
        Ok(Pinned { _memory: memory, first, len })
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: so many elements are in the memory, which are values of `T`: zeros, or what was written or found to be one since.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as for `as_slice`, and no one else has the memory.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }

    /// Copies all elements to a region of the size, in stream order.
    ///
    /// # Safety
    /// Until the stream has passed this, the memory lives, and nobody writes to it.
    pub(in crate::gpu) unsafe fn write(&self, stream: &CudaStream, to: Region<'_>) -> Result<()> {
        let bytes = self.checked(stream, to)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the region is alive, of so many bytes, as is the memory, by the caller's promise.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to.address, self.first.as_ptr().cast(), bytes, stream.cu_stream()) }
            .result()
            .map_err(driver("cuMemcpyHtoDAsync"))
    }

    /// Copies a region of the size to all elements, in stream order.
    ///
    /// # Safety
    /// Until the stream has passed this, the memory lives, and nobody accesses it. Nobody does after that either, unless
    /// [`Pinned::first_invalid`] is `None`.
    pub(in crate::gpu) unsafe fn read(&mut self, stream: &CudaStream, from: Region<'_>) -> Result<()> {
        let bytes = self.checked(stream, from)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the region is alive, of so many bytes, as is the memory, by the caller's promise.
        unsafe { sys::cuMemcpyDtoHAsync_v2(self.first.as_ptr().cast(), from.address, bytes, stream.cu_stream()) }
            .result()
            .map_err(driver("cuMemcpyDtoHAsync"))
    }

    fn checked(&self, stream: &CudaStream, region: Region<'_>) -> Result<usize> {
        assert_eq!(region.bytes, self.len * size_of::<T>(), "a copy has one size");
        stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        Ok(region.bytes)
    }

    /// Returns the index of the first element whose bytes are no value of the type.
    pub(in crate::gpu) fn first_invalid(&self) -> Option<usize> {
        // SAFETY: so many bytes are in the memory, which were all written.
        let bytes = unsafe { std::slice::from_raw_parts(self.first.as_ptr().cast::<u8>(), self.len * size_of::<T>()) };
        validity::first_invalid::<T>(bytes)
    }
}
