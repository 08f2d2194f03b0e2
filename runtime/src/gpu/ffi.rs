//! The driver calls that have no safe form in cudarc, and the conversions between memory and elements: every `unsafe`
//! of the device side except NVRTC's; those of graphs are in `graph` and `capture`, of several GPUs in `peer`, NCCL's and NVTX's in `nccl` and `nvtx`, and those of the host's memory in `pinned`. No function keeps state.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{
    self, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDim, CUlaunchConfig,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop, UnifiedSlice,
};
use smallvec::SmallVec;

pub(super) mod capture;
pub(super) mod graph;
pub(super) mod managed;
pub(super) mod nccl;
#[cfg(feature = "nvtx")]
pub(super) mod nvtx;
pub(super) mod peer;
pub(super) mod pinned;

use super::record::Record;
use crate::program::tensor::MAX_RANK;
use crate::program::types::DeviceCopy;
use crate::program::validity;
use crate::report::error::{Error, Result};
use crate::shape::Shape;

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
/// cudarc's own test is there only if it loads the library itself, which another crate may have decided against.
pub(super) fn driver_is_present() -> bool {
    let names = if cfg!(windows) { &["nvcuda.dll"][..] } else { &["libcuda.so.1", "libcuda.so"] };
    // SAFETY: the initializers of the driver's library set up its own state only.
    names.iter().any(|name| unsafe { libloading::Library::new(*name) }.is_ok())
}

/// Returns the CUDA version that the driver supports, as 1000 * major + 10 * minor.
pub(super) fn driver_version() -> Result<i32> {
    let mut version: c_int = 0;
    // SAFETY: writes one int.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(driver("cuDriverGetVersion"))?;
    Ok(version)
}

/// The parts of a map, as the driver takes them: its dimensions stand with the innermost first.
pub(super) struct MapParts {
    pub(super) data_type: sys::CUtensorMapDataType,
    pub(super) rank: u32,
    pub(super) address: u64,
    pub(super) dims: [u64; MAX_RANK],
    /// The strides in bytes of all dimensions but the innermost.
    pub(super) strides: [u64; MAX_RANK],
    pub(super) tile: [u32; MAX_RANK],
    pub(super) interleave: sys::CUtensorMapInterleave,
    pub(super) swizzle: sys::CUtensorMapSwizzle,
    pub(super) promotion: sys::CUtensorMapL2promotion,
    pub(super) fill: sys::CUtensorMapFloatOOBfill,
}

/// Makes a tensor's map.
pub(super) fn tensor_map(parts: &MapParts) -> Result<[u64; 16]> {
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    // No element between two that are copied is left out.
    let steps = [1u32; MAX_RANK];
    // SAFETY: writes one map, and reads as many numbers as the rank says, which the arrays have. The address is not accessed.
    unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut map,
            parts.data_type,
            parts.rank,
            parts.address as *mut c_void,
            parts.dims.as_ptr(),
            parts.strides.as_ptr(),
            parts.tile.as_ptr(),
            steps.as_ptr(),
            parts.interleave,
            parts.swizzle,
            parts.promotion,
            parts.fill,
        )
    }
    .result()
    .map_err(driver("cuTensorMapEncodeTiled"))?;
    Ok(map.opaque)
}

/// Device memory, which is freed in the order of the stream that it was allocated on, unless it is borrowed.
pub(super) struct Allocation {
    storage: Storage,
    /// Kept here, because asking the slice for it may make calls of the driver.
    address: u64,
    bytes: usize,
}

/// What keeps device memory alive.
enum Storage {
    Owned(CudaSlice<u8>),
    Managed(UnifiedSlice<u8>),
    /// Its owner does.
    Foreign,
}

/// Who else works on borrowed memory: the stream that its owner uses it on.
pub(super) struct Owner {
    stream: Arc<CudaStream>,
    /// The event by which cudarc makes later work on other streams of the owner's wait: of readers for writers if memory is borrowed to be
    /// read, and of all work otherwise.
    event: Option<sys::CUevent>,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Owner {}
// SAFETY: as for Send.
unsafe impl Sync for Owner {}

impl Owner {
    /// Lets later work of `stream` wait for the owner's work so far.
    pub(super) fn precedes(&self, stream: &CudaStream) -> Result<()> {
        stream.join(&self.stream).map_err(driver("cuStreamWaitEvent"))
    }

    /// Lets later work of the owner wait for the work of `stream` so far, which uses the memory. The memory is still borrowed.
    pub(super) fn follows(&self, stream: &CudaStream) -> Result<()> {
        self.stream.join(stream).map_err(driver("cuStreamWaitEvent"))?;
        match self.event {
            // SAFETY: the event belongs to the slice, which is still borrowed, and to the stream's context.
            Some(event) => unsafe { cudarc::driver::result::event::record(event, self.stream.cu_stream()) }
                .map_err(driver("cuEventRecord")),
            None => Ok(()),
        }
    }
}

/// Borrows memory of cudarc's to be read, for as long as the caller keeps the borrow.
pub(super) fn borrow<T>(slice: &impl DevicePtr<T>) -> (Allocation, Owner) {
    let (stream, bytes) = (slice.stream().clone(), slice.num_bytes());
    // The owner's stream waits for writers on other streams.
    let (address, guard) = slice.device_ptr(&stream);
    let event = event_of(&guard);
    drop(guard);
    (Allocation::foreign(address, bytes), Owner { stream, event })
}

/// Borrows memory of cudarc's to be written, for as long as the caller keeps the borrow.
pub(super) fn borrow_mut<T>(slice: &mut impl DevicePtrMut<T>) -> (Allocation, Owner) {
    let (stream, bytes) = (slice.stream().clone(), slice.num_bytes());
    // The owner's stream waits for readers and writers on other streams.
    let (address, guard) = slice.device_ptr_mut(&stream);
    let event = event_of(&guard);
    drop(guard);
    (Allocation::foreign(address, bytes), Owner { stream, event })
}

fn event_of(guard: &SyncOnDrop<'_>) -> Option<sys::CUevent> {
    match guard {
        SyncOnDrop::Record(Some((event, _))) => Some(event.cu_event()),
        SyncOnDrop::Record(None) | SyncOnDrop::Sync(_) => None,
    }
}

impl Allocation {
    /// Makes an allocation of memory that someone else frees, and keeps as long as this is used.
    pub(super) fn foreign(address: u64, bytes: usize) -> Allocation {
        Allocation { storage: Storage::Foreign, address, bytes }
    }

    /// Returns whether someone else frees the memory.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.storage, Storage::Foreign)
    }

    /// Returns whether the host accesses it, too.
    pub(super) fn is_managed(&self) -> bool {
        matches!(self.storage, Storage::Managed(_))
    }

    fn of(storage: Storage, stream: &CudaStream) -> Allocation {
        let (address, bytes) = match &storage {
            Storage::Owned(slice) => (slice.device_ptr(stream).0, slice.len()),
            Storage::Managed(slice) => (slice.device_ptr(stream).0, slice.len()),
            Storage::Foreign => unreachable!("`foreign` is told where it is"),
        };
        Allocation { storage, address, bytes }
    }

    /// Returns the address on the device.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Returns all of its bytes.
    pub(super) fn region(&self) -> Region<'_> {
        Region { address: self.address, bytes: self.bytes, memory: PhantomData }
    }
}

/// Bytes of device memory that is alive for `'a`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'a> {
    address: u64,
    bytes: usize,
    memory: PhantomData<&'a Allocation>,
}

impl Region<'_> {
    /// Returns the address on the device.
    pub(super) fn address(self) -> u64 {
        self.address
    }

    /// Returns the number of its bytes.
    pub(super) fn len(self) -> usize {
        self.bytes
    }

    /// Returns so many bytes behind an offset.
    pub(super) fn part(self, offset: usize, bytes: usize) -> Self {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "the part lies in the memory");
        Region { address: self.address + offset as u64, bytes, ..self }
    }
}

/// Waits for the stream and returns the elements of `T` in a region. It must hold values of `T`, as memory does that was
/// uploaded as `T` and written by kernels as `T`.
pub(super) fn read<T: DeviceCopy>(stream: &CudaStream, region: Region<'_>) -> Result<Vec<T>> {
    const { T::LAYOUT };
    let len = region.bytes.checked_div(size_of::<T>()).unwrap_or(0);
    let mut out = Vec::<T>::with_capacity(len);
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    if region.bytes > 0 {
        // SAFETY: `out` has room for `len` elements, which are at most as many bytes as the region has.
        let copied = unsafe {
            let bytes = len * size_of::<T>();
            sys::cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), region.address, bytes, stream.cu_stream())
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

/// Copies to a region of the data's size, in stream order. The driver may read `data` until the stream has passed this.
pub(super) fn write(stream: &CudaStream, region: Region<'_>, data: &[u8]) -> Result<()> {
    assert_eq!(region.bytes, data.len(), "a copy has one size");
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    if data.is_empty() {
        return Ok(());
    }
    // SAFETY: the region is alive, of so many bytes. The driver copies from pageable memory before it returns.
    unsafe { sys::cuMemcpyHtoDAsync_v2(region.address, data.as_ptr().cast(), data.len(), stream.cu_stream()) }
        .result()
        .map_err(driver("cuMemcpyHtoDAsync"))
}

/// Copies a region to another of its size, in stream order.
pub(super) fn copy(stream: &CudaStream, from: Region<'_>, to: Region<'_>) -> Result<()> {
    assert_eq!(from.bytes, to.bytes, "a copy has one size");
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    if from.bytes == 0 {
        return Ok(());
    }
    // SAFETY: both regions are alive, of so many bytes.
    unsafe { sys::cuMemcpyDtoDAsync_v2(to.address, from.address, from.bytes, stream.cu_stream()) }
        .result()
        .map_err(driver("cuMemcpyDtoDAsync"))
}

/// Copies the record of a failure to a place among `PinnedRecords`, in stream order.
pub(super) fn copy_record(stream: &CudaStream, from: Region<'_>, to: u64) -> Result<()> {
    assert_eq!(from.bytes, size_of::<Record>(), "a record");
    // SAFETY: the region is alive, and `to` is the address of a record, whose memory outlives the stream's work.
    unsafe { sys::cuMemcpyAsync(to, from.address, from.bytes, stream.cu_stream()) }
        .result()
        .map_err(driver("cuMemcpyAsync"))
}

/// Sets a region to zero, in stream order.
pub(super) fn clear(stream: &CudaStream, region: Region<'_>) -> Result<()> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    if region.bytes == 0 {
        return Ok(());
    }
    // SAFETY: the region is alive, of so many bytes.
    unsafe { sys::cuMemsetD8Async(region.address, 0, region.bytes, stream.cu_stream()) }
        .result()
        .map_err(driver("cuMemsetD8Async"))
}

/// Returns whether a stream has nothing to do.
pub(super) fn is_idle(stream: &CudaStream) -> Result<bool> {
    stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    // SAFETY: the handle is valid as long as the stream.
    match unsafe { sys::cuStreamQuery(stream.cu_stream()) } {
        sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        result => result.result().map(|()| true).map_err(driver("cuStreamQuery")),
    }
}

/// Allocates `bytes` bytes of uninitialized memory. The caller must write all of it before anything reads it.
pub(super) fn allocate(stream: &Arc<CudaStream>, bytes: usize) -> Result<Allocation> {
    // The driver refuses an allocation of no bytes.
    // SAFETY: every value of a byte is valid, and the callers write the bytes before they are read.
    let slice = unsafe { stream.alloc::<u8>(bytes.max(1)) }.map_err(driver("cuMemAllocAsync"))?;
    Ok(Allocation::of(Storage::Owned(slice), stream))
}

/// Takes over memory that cudarc handed out as elements of `T`, after the pending work on its stream, and frees it in
/// the order of `stream` from then on.
pub(super) fn from_slice<T>(stream: &Arc<CudaStream>, slice: CudaSlice<T>) -> Result<Allocation> {
    let (owner, bytes) = (slice.stream().clone(), slice.num_bytes());
    // Its stream then waits for the others that use the memory.
    let address = slice.leak();
    let ended = owner.synchronize().and_then(|()| stream.synchronize());
    // SAFETY: the allocation is ours after `leak`, of so many bytes, and any bytes are valid as `u8`.
    let memory = unsafe { stream.upgrade_device_ptr::<u8>(address, bytes) };
    ended.map(|()| Allocation::of(Storage::Owned(memory), stream)).map_err(driver("cuStreamSynchronize"))
}

/// Hands memory to cudarc as `len` elements of `T`, after all pending work on it.
pub(super) fn into_slice<T: DeviceCopy>(
    stream: &Arc<CudaStream>,
    memory: Allocation,
    len: usize,
) -> Result<CudaSlice<T>> {
    assert!(len * size_of::<T>() <= memory.bytes, "a buffer's length fits its memory");
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    let Storage::Owned(slice) = memory.storage else { return Err(Error::ManagedMemory) };
    // SAFETY: the allocation is ours after `leak`, holds so many elements, and they are values of `T` as for `read`.
    Ok(unsafe { stream.upgrade_device_ptr::<T>(slice.leak(), len) })
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

/// Returns the number of blocks in the largest cluster of `function` with the block and the shared memory of `shape`.
pub(super) fn largest_cluster(stream: &CudaStream, function: &CudaFunction, shape: &Shape) -> Result<u32> {
    let config = config(stream, shape, &mut []);
    let mut blocks: c_int = 0;
    // SAFETY: `config` lives to the end of the call; the function's module is loaded.
    unsafe { sys::cuOccupancyMaxPotentialClusterSize(&mut blocks, function.cu_function(), &config) }
        .result()
        .map_err(driver("cuOccupancyMaxPotentialClusterSize"))?;
    Ok(blocks.max(0) as u32)
}

/// How the blocks of a launch belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchAttributes {
    /// The launch has the cluster attribute. Without it, blocks are launched up to three times as fast; each is a cluster then.
    pub(super) clusters: bool,
    /// All blocks run at once.
    pub(super) cooperative: bool,
    /// The launch may begin before the one in front of it has ended, for which it waits by itself.
    pub(super) overlaps: bool,
}

impl LaunchAttributes {
    /// Returns the attributes that the launch has. Without `on_stream`, it is a node of a graph, whose edges say how it overlaps.
    fn of(self, shape: &Shape, on_stream: bool) -> SmallVec<[CUlaunchAttribute; 3]> {
        if !(self.clusters || self.cooperative || self.overlaps) {
            return SmallVec::new();
        }
        let clusters = self.clusters.then(|| cluster_attribute(shape));
        let cooperative = self.cooperative.then(cooperative_attribute);
        let overlap = (self.overlaps && on_stream).then(overlap_attribute);
        [clusters, cooperative, overlap].into_iter().flatten().collect()
    }
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
    wanted: LaunchAttributes,
) -> Result<()> {
    let mut attributes = wanted.of(shape, true);
    let config = config(stream, shape, &mut attributes);
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

fn overlap_attribute() -> CUlaunchAttribute {
    // SAFETY: as for the cluster's.
    let mut value: CUlaunchAttributeValue = unsafe { MaybeUninit::zeroed().assume_init() };
    value.programmaticStreamSerializationAllowed = 1;
    let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    CUlaunchAttribute { id, pad: [0; 4], value }
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

/// Returns the number of GPUs.
pub(super) fn device_count() -> Result<usize> {
    // A driver without a GPU has counted them: there are none.
    match CudaContext::device_count() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        count => Ok(count.map_err(driver("cuInit"))?.max(0) as usize),
    }
}

/// Returns the primary context of a GPU.
pub(super) fn context(ordinal: usize) -> Result<Arc<CudaContext>> {
    CudaContext::new(ordinal).map_err(driver("cuDevicePrimaryCtxRetain"))
}
