//! The driver calls that have no safe form in cudarc, and the conversions between memory and elements: every `unsafe`
//! of the device side except NVRTC's. No function keeps state.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{
    self, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDim, CUlaunchConfig,
};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice};

use super::record::Record;
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::report::error::{Error, Result};
use crate::shape::Shape;

/// Device memory as bytes. It is freed in the order of its stream.
pub(crate) type GpuMemory = CudaSlice<u8>;

/// Adds to a driver's error the name of the call that returned it.
pub(super) fn driver(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| {
        let text =
            |text: Result<&std::ffi::CStr, DriverError>| text.ok().map(|text| text.to_string_lossy().into_owned());
        Error::Driver {
            call,
            name: text(error.error_name()).unwrap_or_else(|| format!("{:?}", error.0)),
            code: error.0 as u32,
            description: text(error.error_string()).unwrap_or_else(|| "the driver does not describe it".into()),
            source: Box::new(error),
        }
    }
}

/// Returns whether libcuda can be loaded. Nothing else may be called before this, because cudarc panics if it cannot.
pub(super) fn driver_is_present() -> bool {
    // SAFETY: loads a library without reading anything in it.
    unsafe { sys::is_culib_present() }
}

/// Returns the CUDA version that the driver supports, as 1000 * major + 10 * minor.
pub(super) fn driver_version() -> Result<i32> {
    let mut version: c_int = 0;
    // SAFETY: writes one int.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(driver("cuDriverGetVersion"))?;
    Ok(version)
}

/// Waits for `memory` and returns its first `len` elements of `T`. It must hold values of `T`, as memory does that was
/// uploaded as `T` and written by kernels as `T`.
pub(super) fn read<T: DeviceCopy>(stream: &Arc<CudaStream>, memory: &GpuMemory, len: usize) -> Result<Vec<T>> {
    const { T::LAYOUT };
    assert!(len * size_of::<T>() <= memory.len(), "a buffer's length fits its memory");
    let mut out = Vec::<T>::with_capacity(len);
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    let (source, _guard) = memory.device_ptr(stream);
    if len * size_of::<T>() > 0 {
        // SAFETY: `out` has room for `len` elements, and so many bytes are in `memory`, as asserted.
        let copied = unsafe {
            sys::cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), source, len * size_of::<T>(), stream.cu_stream())
        };
        copied.result().map_err(driver("cuMemcpyDtoHAsync"))?;
    }
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    // SAFETY: all elements were written, as bytes without padding.
    let bytes = unsafe { std::slice::from_raw_parts(out.as_ptr().cast::<u8>(), len * size_of::<T>()) };
    if let Some(index) = validity::first_invalid::<T>(bytes) {
        return Err(Error::InvalidValue { index, ty: T::info().to_string() });
    }
    // SAFETY: all elements were written, and their bytes are values of `T`.
    unsafe { out.set_len(len) };
    Ok(out)
}

/// Allocates `bytes` bytes of uninitialized memory. The caller must write all of it before anything reads it.
pub(super) fn allocate(stream: &Arc<CudaStream>, bytes: usize) -> Result<GpuMemory> {
    // The driver refuses an allocation of no bytes.
    // SAFETY: every value of a byte is valid, and the callers write the bytes before they are read.
    unsafe { stream.alloc::<u8>(bytes.max(1)) }.map_err(driver("cuMemAllocAsync"))
}

/// Returns the address of `memory`, for a kernel's parameter.
pub(super) fn address(stream: &Arc<CudaStream>, memory: &GpuMemory) -> u64 {
    memory.device_ptr(stream).0
}

/// Takes over memory that cudarc handed out as elements of `T`, after the pending work on its stream, and frees it in
/// the order of `stream` from then on.
pub(super) fn from_slice<T>(stream: &Arc<CudaStream>, slice: CudaSlice<T>) -> Result<GpuMemory> {
    slice.stream().synchronize().map_err(driver("cuStreamSynchronize"))?;
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    let bytes = slice.num_bytes();
    // SAFETY: the allocation is ours after `leak`, of so many bytes, and any bytes are valid as `u8`.
    Ok(unsafe { stream.upgrade_device_ptr::<u8>(slice.leak(), bytes) })
}

/// Hands memory to cudarc as `len` elements of `T`, after all pending work on it.
pub(super) fn into_slice<T: DeviceCopy>(
    stream: &Arc<CudaStream>,
    memory: GpuMemory,
    len: usize,
) -> Result<CudaSlice<T>> {
    assert!(len * size_of::<T>() <= memory.len(), "a buffer's length fits its memory");
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    // SAFETY: the allocation is ours after `leak`, holds so many elements, and they are values of `T` as for `read`.
    Ok(unsafe { stream.upgrade_device_ptr::<T>(memory.leak(), len) })
}

/// A record in pinned host memory, which kernels write.
pub(super) struct PinnedRecord {
    /// It keeps the memory alive. Its own accessors ask the driver for pending copies, of which there are none, at each call.
    _memory: PinnedHostSlice<u64>,
    host: *mut Record,
    device: u64,
}

// SAFETY: the pointer is to memory that the value owns, and that no other value points to.
unsafe impl Send for PinnedRecord {}

impl PinnedRecord {
    /// Allocates and clears a record.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<PinnedRecord> {
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: cleared below before anything reads it.
        let mut memory = unsafe { context.alloc_pinned_with_flags(size_of::<Record>() / size_of::<u64>(), flags) }
            .map_err(driver("cuMemHostAlloc"))?;
        memory.as_mut_slice().map_err(driver("cuEventSynchronize"))?.fill(0);
        let host = memory.as_mut_ptr().map_err(driver("cuEventSynchronize"))?;
        let mut device = 0;
        // SAFETY: `host` is pinned memory that was allocated as mapped, and `device` takes the address.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut device, host.cast(), 0) }
            .result()
            .map_err(driver("cuMemHostGetDevicePointer"))?;
        Ok(PinnedRecord { _memory: memory, host: host.cast(), device })
    }

    /// Returns the address on the device.
    pub(super) fn address(&self) -> u64 {
        self.device
    }

    /// Returns the record as far as the device has written it.
    pub(super) fn read(&self) -> Record {
        // SAFETY: the memory is a record's size and alignment, and every bit pattern is a record. Volatile, because a
        // device may write it meanwhile; `state` is written last, and the caller trusts the rest only if that is set.
        unsafe { self.host.read_volatile() }
    }

    /// Clears the record, which no kernel is writing.
    pub(super) fn clear(&mut self) {
        // SAFETY: the memory is a record's size, and zeros are a record.
        unsafe { self.host.write_bytes(0, 1) }
    }
}

/// Writes the module's variable of this name, in stream order. Returns false if the module has none, as a kernel that
/// cannot fail has no `phalanx_sink`.
pub(super) fn write_symbol<T: Copy>(
    stream: &Arc<CudaStream>,
    module: &Arc<cudarc::driver::CudaModule>,
    name: &str,
    value: &T,
) -> Result<bool> {
    let mut symbol = match module.get_global(name, stream) {
        Ok(symbol) => symbol,
        Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)) => return Ok(false),
        Err(error) => return Err(driver("cuModuleGetGlobal")(error)),
    };
    assert_eq!(symbol.len(), size_of::<T>(), "the prelude and the host declare one `{name}`");
    let (target, _guard) = symbol.device_ptr_mut(stream);
    // SAFETY: the symbol has the size of `T`. The driver copies from pageable memory before it returns.
    unsafe { sys::cuMemcpyHtoDAsync_v2(target, std::ptr::from_ref(value).cast(), size_of::<T>(), stream.cu_stream()) }
        .result()
        .map_err(driver("cuMemcpyHtoDAsync"))?;
    Ok(true)
}

/// Lets `function` have `bytes` of dynamic shared memory, where more than 48 KiB need an opt-in.
pub(super) fn allow_dynamic_shared(function: &CudaFunction, bytes: usize) -> Result<()> {
    set(function, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
}

/// Lets `function` run in clusters of more than eight blocks.
pub(super) fn allow_non_portable(function: &CudaFunction) -> Result<()> {
    set(function, CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
}

fn set(function: &CudaFunction, attribute: CUfunction_attribute, value: i32) -> Result<()> {
    function.set_attribute(attribute, value).map_err(driver("cuFuncSetAttribute"))
}

/// Returns how many clusters of `shape` the device can run concurrently, regardless of the grid.
pub(super) fn max_active_clusters(stream: &CudaStream, function: &CudaFunction, shape: &Shape) -> Result<usize> {
    let mut attributes = [cluster_attribute(shape)];
    let config = config(stream, shape, &mut attributes);
    let mut clusters: c_int = 0;
    // SAFETY: `config` and the attributes that it points to live to the end of the call; the function's module is
    // loaded.
    let result = unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, function.cu_function(), &config) };
    if result == sys::CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE {
        return Ok(0);
    }
    result.result().map_err(driver("cuOccupancyMaxActiveClusters"))?;
    Ok(clusters.max(0) as usize)
}

/// How the blocks of a launch belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchAttributes {
    /// The launch has the cluster attribute. Without it, blocks are launched up to three times as fast; each is a cluster then.
    pub(super) clusters: bool,
    /// All blocks run at once.
    pub(super) cooperative: bool,
}

/// Starts `function`. Each parameter is one value, at an address with room for the largest type.
///
/// # Safety
/// The parameters have the types that the function declares, and what they point to lives until it has run.
pub(super) unsafe fn launch(
    stream: &CudaStream,
    function: &CudaFunction,
    shape: &Shape,
    parameters: &mut [*mut c_void],
    LaunchAttributes { clusters, cooperative }: LaunchAttributes,
) -> Result<()> {
    let mut attributes = [cluster_attribute(shape), cooperative_attribute()];
    let wanted = match (clusters, cooperative) {
        (true, true) => &mut attributes[..],
        (true, false) => &mut attributes[..1],
        (false, true) => &mut attributes[1..],
        (false, false) => &mut [],
    };
    let config = config(stream, shape, wanted);
    // SAFETY: `config` and what it points to live to the end of the call, which copies the parameters; the rest is the
    // caller's promise.
    unsafe { sys::cuLaunchKernelEx(&config, function.cu_function(), parameters.as_mut_ptr(), std::ptr::null_mut()) }
        .result()
        .map_err(driver("cuLaunchKernelEx"))
}

fn cluster_attribute(shape: &Shape) -> CUlaunchAttribute {
    let cluster = shape.cluster;
    // SAFETY: a union of plain data, for which zeros are valid; the driver reads the field that `id` names.
    let mut value: CUlaunchAttributeValue = unsafe { MaybeUninit::zeroed().assume_init() };
    value.clusterDim = ClusterDim { x: cluster.x, y: cluster.y, z: cluster.z };
    CUlaunchAttribute { id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value }
}

fn cooperative_attribute() -> CUlaunchAttribute {
    // SAFETY: as for the cluster's.
    let mut value: CUlaunchAttributeValue = unsafe { MaybeUninit::zeroed().assume_init() };
    value.cooperative = 1;
    CUlaunchAttribute { id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, pad: [0; 4], value }
}

fn config(stream: &CudaStream, shape: &Shape, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: shape.grid.x,
        gridDimY: shape.grid.y,
        gridDimZ: shape.grid.z,
        blockDimX: shape.block.x,
        blockDimY: shape.block.y,
        blockDimZ: shape.block.z,
        sharedMemBytes: shape.dynamic_shared_bytes as u32,
        hStream: stream.cu_stream(),
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

/// Sets memory to zero, in stream order.
pub(super) fn clear(stream: &Arc<CudaStream>, memory: &mut GpuMemory) -> Result<()> {
    stream.memset_zeros(memory).map_err(driver("cuMemsetD8Async"))
}

/// Returns the number of GPUs.
pub(super) fn device_count() -> Result<usize> {
    //         // A driver without a GPU has counted them: there are none.
    match CudaContext::device_count() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        count => Ok(count.map_err(driver("cuInit"))?.max(0) as usize),
    }
}

/// Returns the primary context of a GPU.
pub(super) fn context(ordinal: usize) -> Result<Arc<CudaContext>> {
    CudaContext::new(ordinal).map_err(driver("cuDevicePrimaryCtxRetain"))
}
