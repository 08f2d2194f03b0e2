//! What two GPUs do with each other's memory: copies from one to the other, and access to it.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use cudarc::driver::sys;
use cudarc::driver::{CudaContext, CudaStream};

use super::{Region, driver};
use crate::report::error::Result;

/// Copies a region of one GPU to one of another of its size, in stream order.
pub(in crate::gpu) fn copy_to_peer(
    stream: &CudaStream,
    (from, from_context): (Region<'_>, &CudaContext),
    (to, to_context): (Region<'_>, &CudaContext),
) -> Result<()> {
    assert_eq!(from.bytes, to.bytes, "a copy has one size");
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    if from.bytes == 0 {
        return Ok(());
    }
    let (to_context, from_context) = (to_context.cu_ctx(), from_context.cu_ctx());
    // SAFETY: both regions are alive, of so many bytes, in the memory of these contexts.
    unsafe {
        sys::cuMemcpyPeerAsync(to.address, to_context, from.address, from_context, from.bytes, stream.cu_stream())
    }
    .result()
    .map_err(driver("cuMemcpyPeerAsync"))
}

/// Returns whether a GPU can access another one's memory.
pub(in crate::gpu) fn can_access_peer(device: &CudaContext, peer: &CudaContext) -> Result<bool> {
    let mut can: c_int = 0;
    // SAFETY: writes one int.
    unsafe { sys::cuDeviceCanAccessPeer(&mut can, device.cu_device(), peer.cu_device()) }
        .result()
        .map_err(driver("cuDeviceCanAccessPeer"))?;
    Ok(can != 0)
}

/// Lets a GPU access another one's memory: that of the other's context, and that of its default pool, from which allocations in stream order come.
pub(in crate::gpu) fn enable_peer_access(device: &CudaContext, peer: &CudaContext) -> Result<()> {
    device.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: both contexts are alive as long as the process holds the GPUs.
    match unsafe { sys::cuCtxEnablePeerAccess(peer.cu_ctx(), 0) } {
        sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
        result => result.result().map_err(driver("cuCtxEnablePeerAccess"))?,
    }
    let mut pool = std::ptr::null_mut();
    // SAFETY: writes one handle.
    unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, peer.cu_device()) }
        .result()
        .map_err(driver("cuDeviceGetDefaultMemPool"))?;
    // SAFETY: plain data, of which zeros are values.
    let mut access: sys::CUmemAccessDesc = unsafe { MaybeUninit::zeroed().assume_init() };
    access.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device.ordinal() as c_int;
    access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    // SAFETY: the pool is the device's own, and one description is passed.
    unsafe { sys::cuMemPoolSetAccess(pool, &access, 1) }.result().map_err(driver("cuMemPoolSetAccess"))
}
