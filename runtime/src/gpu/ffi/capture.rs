//! The driver calls for a stream that another library owns, and may capture.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaStream};

use super::{Region, driver};
use crate::report::error::Result;

/// Lets the thread make calls that do not belong to the graph that some stream captures, as long as this lives.
pub(in crate::gpu) struct Relaxed {
    before: CUstreamCaptureMode,
    /// The mode is the thread's.
    thread: PhantomData<*const ()>,
}

impl Relaxed {
    pub(in crate::gpu) fn begin() -> Result<Relaxed> {
        let before = exchange(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
        Ok(Relaxed { before, thread: PhantomData })
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // It fails only where the driver itself has failed, which the next call says.
        let _ = exchange(self.before);
    }
}

/// Sets the thread's mode, and returns the one before.
fn exchange(mut mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    // SAFETY: reads and writes one mode.
    unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) }
        .result()
        .map_err(driver("cuThreadExchangeStreamCaptureMode"))?;
    Ok(mode)
}

/// Makes a handle of a stream by its address, a `CUstream`.
///
/// # Safety
/// It is a stream of the context, and lives as long as the handle and the work on it.
pub(in crate::gpu) unsafe fn borrowed_stream(context: &Arc<CudaContext>, address: u64) -> Arc<CudaStream> {
    // SAFETY: passed on to the caller.
    unsafe { context.wrap_borrowed_stream(address as sys::CUstream) }
}

/// Allocates memory of the current context that is never freed.
pub(in crate::gpu) fn allocate_for_ever(bytes: usize) -> Result<Region<'static>> {
    // SAFETY: nothing reads the memory before it is cleared.
    let address = unsafe { cudarc::driver::result::malloc_sync(bytes) }.map_err(driver("cuMemAlloc"))?;
    Ok(Region { address, bytes, memory: PhantomData })
}
