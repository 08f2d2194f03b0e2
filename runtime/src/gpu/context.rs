//! A GPU with its context and stream, its memory, the kernels loaded on it, and the records of failures. All launches
//! go through one stream, the device's default one, so they run in order, and after the work of other libraries on that
//! stream. `launch` makes the checks that need no GPU.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream};
use cudarc::nvrtc::Ptx;

use super::caps::Caps;
use super::ffi::{self, GpuMemory, LaunchAttributes, PinnedRecord, driver};
use super::nvrtc::Variant;
use super::print::{Prints, Records};
use super::profile::{self, Profile};
use super::record::{Record, Sink};
use super::store;
use crate::program::Program;
use crate::program::types::{DeviceCopy, bytes_of};
use crate::report::error::{Error, LaunchError, Result};
use crate::report::output::Output;
use crate::report::timeline::Timeline;
use crate::shape::{Dim3, Shape};

/// The GPUs in use, so that all handles of one share its kernels and its failure record.
static OPEN: Mutex<Vec<Weak<Gpu>>> = Mutex::new(Vec::new());

/// A GPU with clusters, ready to launch on.
pub(crate) struct Gpu {
    ordinal: usize,
    caps: Caps,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    output: Output,
    state: Mutex<State>,
}

/// What the host does after it has started a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The host does not wait for the end.
    Enqueue,
    Launch,
    /// The host waits, and the launch records its barriers.
    Timeline,
}

/// The state that launches change.
struct State {
    kernels: BTreeMap<(TypeId, Variant), usize>,
    /// The loaded kernels, indexed by [`Sink::kernel`].
    loaded: Vec<Loaded>,
    /// The `failure_record`.
    record: PinnedRecord,
    /// The word that the first failing thread claims.
    claim: GpuMemory,
    /// The counts of failed threads, one word per block of the largest grid with clusters so far.
    failed_threads: GpuMemory,
    /// The number of words of `failed_threads`.
    blocks: u32,
    /// The buffer that kernels print to; allocated at the first launch of a kernel that prints.
    prints: Option<Prints>,
    /// The word of the grid's barrier; allocated at the first launch of a kernel that uses it.
    grid_barrier: Option<GpuMemory>,
}

/// A kernel on the device.
struct Loaded {
    program: Arc<Program>,
    module: Arc<CudaModule>,
    function: CudaFunction,
    /// The largest block that the kernel's registers allow.
    max_threads: u64,
    /// The contents of `phalanx_sink`, if the module has one.
    sink: Option<Sink>,
    /// The dynamic shared memory that the kernel may have, in bytes. It only grows, so that earlier shapes still fit.
    dynamic_shared: usize,
    /// Whether the module knows the address of the grid barrier's word.
    knows_grid_barrier: bool,
    /// The cluster, block and shared bytes that are known to fit, with the number of such clusters that run at once.
    fits: Vec<((Dim3, Dim3, usize), usize)>,
}

impl Gpu {
    /// Returns the GPU with this ordinal of the driver.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Gpu>> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|gpu| gpu.strong_count() > 0);
        if let Some(gpu) = open.iter().filter_map(Weak::upgrade).find(|gpu| gpu.ordinal == ordinal) {
            return Ok(gpu);
        }
        let count = Gpu::count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let gpu = Arc::new(Gpu::new(ordinal)?);
        open.push(Arc::downgrade(&gpu));
        Ok(gpu)
    }

    /// Returns the number of GPUs of any capability.
    pub(crate) fn count() -> Result<usize> {
        if !ffi::driver_is_present() {
            return Err(Error::DriverMissing);
        }
        // cudarc panics at a call that the driver lacks; the launch with clusters is the newest that we use.
        let version = ffi::driver_version()?;
        if version < 12_000 {
            return Err(Error::DriverTooOld { major: version / 1000, minor: version % 1000 / 10 });
        }
        ffi::device_count()
    }

    fn new(ordinal: usize) -> Result<Gpu> {
        use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as SHARED;
        let attribute = driver("cuDeviceGetAttribute");
        let context = ffi::context(ordinal)?;
        let caps = Caps {
            name: context.name().map_err(driver("cuDeviceGetName"))?,
            capability: context.compute_capability().map_err(&attribute)?,
            shared_bytes: context.attribute(SHARED).map_err(&attribute)?.max(0) as usize,
        };
        let (major, minor) = caps.capability;
        if major < 9 {
            return Err(Error::CapabilityTooLow { name: caps.name, major, minor });
        }
        let stream = context.default_stream();
        let words = |count: usize| {
            let mut memory = ffi::allocate(&stream, count * size_of::<u32>())?;
            ffi::clear(&stream, &mut memory).map(|()| memory)
        };
        let state = State {
            kernels: BTreeMap::new(),
            loaded: Vec::new(),
            record: PinnedRecord::new(&context)?,
            claim: words(1)?,
            failed_threads: words(0)?,
            blocks: 0,
            prints: None,
            grid_barrier: None,
        };
        Ok(Gpu { ordinal, caps, context, stream, output: Output::default(), state: Mutex::new(state) })
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub(crate) fn caps(&self) -> &Caps {
        &self.caps
    }

    /// Returns the destination of the kernels' output.
    pub(crate) fn output(&self) -> &Output {
        &self.output
    }

    /// Waits for all launches, forwards what they printed, and reports the first kernel that failed.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.finish(self.state())
    }

    fn finish(&self, mut state: MutexGuard<'_, State>) -> Result<()> {
        let ended = self.stream.synchronize().map_err(driver("cuStreamSynchronize"));
        // After an error of the driver there is nothing to read.
        let records = ended.and_then(|()| state.take_prints(&self.stream));
        let failure = state.take_failure(&self.stream);
        let programs = state.programs_of(&records);
        // Formatting the values runs user code, and so does the sink that takes the text.
        drop(state);
        let printed = records.map(|records| self.output.write(records.printed(&programs)));
        // The kernel's failure comes first, because it may have caused an error of the driver.
        if let Some((record, program)) = failure? {
            return Err(record.failure(&program).into());
        }
        printed
    }

    /// Returns memory with a copy of `data`.
    pub(crate) fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<GpuMemory> {
        let mut memory = ffi::allocate(&self.stream, size_of_val(data))?;
        self.write(&mut memory, data)?;
        Ok(memory)
    }

    /// Returns memory with `bytes` zeros.
    pub(crate) fn zeros(&self, bytes: usize) -> Result<GpuMemory> {
        let mut memory = ffi::allocate(&self.stream, bytes)?;
        ffi::clear(&self.stream, &mut memory)?;
        Ok(memory)
    }

    /// Overwrites the first bytes of `memory`, after all launches. `memory` is at least as long as `data`.
    pub(crate) fn write<T: DeviceCopy>(&self, memory: &mut GpuMemory, data: &[T]) -> Result<()> {
        self.stream.memcpy_htod(bytes_of(data), memory).map_err(driver("cuMemcpyHtoDAsync"))?;
        // The driver may still be reading `data`.
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// Returns the first `len` elements, after all launches.
    pub(crate) fn read<T: DeviceCopy>(&self, memory: &GpuMemory, len: usize) -> Result<Vec<T>> {
        self.synchronize()?;
        ffi::read(&self.stream, memory, len)
    }

    /// Returns the address of `memory`, for a kernel's parameter.
    pub(crate) fn address(&self, memory: &GpuMemory) -> u64 {
        ffi::address(&self.stream, memory)
    }

    /// Takes over memory from cudarc, if it belongs to this GPU's primary context.
    pub(crate) fn adopt<T>(&self, slice: CudaSlice<T>) -> Result<GpuMemory> {
        if slice.context().cu_ctx() != self.context.cu_ctx() {
            return Err(Error::WrongDevice {
                expected: self.to_string(),
                found: format!("GPU {}, in another context", slice.ordinal()),
            });
        }
        ffi::from_slice(&self.stream, slice)
    }

    /// Hands over memory to cudarc.
    pub(crate) fn release<T: DeviceCopy>(&self, memory: GpuMemory, len: usize) -> Result<CudaSlice<T>> {
        self.synchronize()?;
        ffi::into_slice(&self.stream, memory, len)
    }

    /// Starts `program`, which is the kernel with this id, and loads it if this is its first launch here. Unless the
    /// mode is [`Mode::Enqueue`], it waits for the end and reports as [`Gpu::synchronize`] does, before another thread
    /// can, and returns the recorded timeline.
    ///
    /// # Safety
    /// `parameters` point to values of the types that the kernel's text declares; the memory that those point to lives
    /// until the stream has passed the launch, as memory of this GPU does, which is freed in the stream's order.
    pub(crate) unsafe fn launch(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
        parameters: &mut [*mut c_void],
        mode: Mode,
    ) -> Result<Option<Timeline>> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut state = self.state();
        let index = self.loaded(&mut state, kernel, program, variant)?;
        state.prepare_sink(&self.stream, index, shape)?;
        let shape = &with_placed_arrays(shape, program);
        let loaded = &mut state.loaded[index];
        let clusters = loaded.check_fits(&self.stream, shape)?;
        let cooperative = program.has_grid_barrier();
        if cooperative {
            LaunchError::check_resident(shape, clusters as u64)
                .map_err(|reason| Error::Launch { kernel: program.name().into(), reason })?;
            state.prepare_grid_barrier(&self.stream, index)?;
        }
        let profile = match mode {
            Mode::Timeline => Some(Profile::new(&self.stream, shape)?),
            Mode::Enqueue | Mode::Launch => None,
        };
        if program.records() {
            // The memory of the previous launch has been freed.
            let sink = profile.as_ref().map_or_else(profile::Sink::default, |profile| profile.sink(&self.stream));
            ffi::write_symbol(&self.stream, &state.loaded[index].module, "phalanx_profile_sink", &sink)?;
        }
        let function = &state.loaded[index].function;
        let clusters = shape.cluster.count() > 1 || program.sends_to_peers();
        // SAFETY: passed on to the caller.
        unsafe { ffi::launch(&self.stream, function, shape, parameters, LaunchAttributes { clusters, cooperative }) }?;
        if mode != Mode::Enqueue {
            self.finish(state)?;
        }
        profile.map(|profile| profile.timeline(&self.stream, program)).transpose()
    }

    /// Returns how many clusters of `shape` can run concurrently. Loads the kernel if this is its first use here.
    pub(crate) fn max_active_clusters(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<usize> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut state = self.state();
        let index = self.loaded(&mut state, kernel, program, variant)?;
        let shape = &with_placed_arrays(shape, program);
        state.loaded[index].check_fits(&self.stream, shape)
    }

    /// Returns the index, among the kernels that are loaded, of a variant of the kernel, which is loaded if it is not yet.
    fn loaded(&self, state: &mut State, kernel: TypeId, program: &Arc<Program>, variant: Variant) -> Result<usize> {
        if let Some(&index) = state.kernels.get(&(kernel, variant)) {
            return Ok(index);
        }
        let loaded = self.load(program, variant)?;
        state.loaded.push(loaded);
        let index = state.loaded.len() - 1;
        state.kernels.insert((kernel, variant), index);
        Ok(index)
    }

    fn load(&self, program: &Arc<Program>, variant: Variant) -> Result<Loaded> {
        let cubin = store::cubin(program, &self.caps.architecture(), variant)?;
        let module = self.context.load_module(Ptx::from_binary(cubin)).map_err(driver("cuModuleLoadData"))?;
        let function = module.load_function(program.entry()).map_err(driver("cuModuleGetFunction"))?;
        let max_threads = function.max_threads_per_block().map_err(driver("cuFuncGetAttribute"))?.max(0) as u64;
        if program.options().non_portable {
            ffi::allow_non_portable(&function)?;
        }
        let program = program.clone();
        Ok(Loaded {
            program,
            module,
            function,
            max_threads,
            sink: None,
            dynamic_shared: 0,
            knows_grid_barrier: false,
            fits: Vec::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves no inconsistent state that matters here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Display for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GPU {} ({})", self.ordinal, self.caps.name)
    }
}

/// Returns `shape` enlarged by the shared arrays of `program` that lie in the dynamic segment.
fn with_placed_arrays(shape: &Shape, program: &Program) -> Shape {
    Shape { dynamic_shared_bytes: shape.dynamic_shared_bytes + program.placed_shared_bytes(), ..*shape }
}

impl State {
    /// Grows the counters to the size of the grid, and tells the kernel's module where to record a failure.
    fn prepare_sink(&mut self, stream: &Arc<CudaStream>, index: usize, shape: &Shape) -> Result<()> {
        // Only blocks with peers count their failed threads.
        let blocks = if shape.cluster.count() > 1 { u32::try_from(shape.grid.count()).unwrap_or(u32::MAX) } else { 0 };
        if blocks > self.blocks {
            // The old memory is freed in the stream's order, after the kernels that use it.
            self.failed_threads = ffi::allocate(stream, blocks as usize * size_of::<u32>())?;
            ffi::clear(stream, &mut self.failed_threads)?;
            self.blocks = blocks;
        }
        let sink = Sink {
            record: self.record.address(),
            claim: ffi::address(stream, &self.claim),
            failed_threads: ffi::address(stream, &self.failed_threads),
            blocks: self.blocks,
            kernel: index as u32,
        };
        let loaded = &mut self.loaded[index];
        if loaded.sink != Some(sink) {
            ffi::write_symbol(stream, &loaded.module, "phalanx_sink", &sink)?;
            loaded.sink = Some(sink);
        }
        if loaded.program.prints() {
            let prints = match &mut self.prints {
                Some(prints) => prints,
                None => self.prints.insert(Prints::new(stream)?),
            };
            ffi::write_symbol(stream, &loaded.module, "phalanx_print_sink", &prints.sink(stream, index))?;
        }
        Ok(())
    }

    /// Clears the word of the grid's barrier, which the previous launch may have left at any value, and tells the
    /// kernel's module its address.
    fn prepare_grid_barrier(&mut self, stream: &Arc<CudaStream>, index: usize) -> Result<()> {
        let word = match &mut self.grid_barrier {
            Some(word) => word,
            None => self.grid_barrier.insert(ffi::allocate(stream, size_of::<u32>())?),
        };
        ffi::clear(stream, word)?;
        let loaded = &mut self.loaded[index];
        if !loaded.knows_grid_barrier {
            ffi::write_symbol(stream, &loaded.module, "phalanx_grid_barrier", &ffi::address(stream, word))?;
            loaded.knows_grid_barrier = true;
        }
        Ok(())
    }

    /// Returns what kernels have printed. The stream must be idle.
    fn take_prints(&mut self, stream: &Arc<CudaStream>) -> Result<Records> {
        self.prints.as_mut().map_or(Ok(Records::default()), |prints| prints.take(stream))
    }

    /// Returns the kernels by their numbers, if there are records of theirs.
    fn programs_of(&self, records: &Result<Records>) -> Vec<Arc<Program>> {
        match records {
            Ok(records) if !records.is_empty() => self.loaded.iter().map(|loaded| loaded.program.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the failure that a kernel has recorded, and clears the record. The stream must be idle.
    fn take_failure(&mut self, stream: &Arc<CudaStream>) -> Result<Option<(Record, Arc<Program>)>> {
        let record = self.record.read();
        if record.state != 1 {
            return Ok(None);
        }
        self.record.clear();
        // If the driver fails, too, the context is lost, and the next call reports it.
        let _ = ffi::clear(stream, &mut self.claim).and_then(|()| ffi::clear(stream, &mut self.failed_threads));
        let program = self.loaded[record.kernel as usize].program.clone();
        Ok(Some((record, program)))
    }
}

impl Loaded {
    /// Returns how many clusters of this shape fit on the device at once, and fails if none does. It asks the driver
    /// once for each shape.
    fn check_fits(&mut self, stream: &CudaStream, shape: &Shape) -> Result<usize> {
        let key = (shape.cluster, shape.block, shape.dynamic_shared_bytes);
        if let Some((_, clusters)) = self.fits.iter().find(|(fitting, _)| *fitting == key) {
            return Ok(*clusters);
        }
        let error = |reason| Err(Error::Launch { kernel: self.program.name().into(), reason });
        let (threads, blocks) = (shape.block.count(), shape.cluster.count());
        if threads > self.max_threads {
            return error(LaunchError::TooManyRegisters { threads, limit: self.max_threads });
        }
        // Arrays that are placed in the dynamic segment are counted there.
        let fixed = self.program.static_shared_bytes() - self.program.placed_shared_bytes();
        let shared = fixed + shape.dynamic_shared_bytes;
        if shared > 48 * 1024 && shape.dynamic_shared_bytes > self.dynamic_shared {
            ffi::allow_dynamic_shared(&self.function, shape.dynamic_shared_bytes)?;
            self.dynamic_shared = shape.dynamic_shared_bytes;
        }
        let clusters = ffi::max_active_clusters(stream, &self.function, shape)?;
        if clusters == 0 {
            return error(LaunchError::NoActiveCluster { blocks, threads, shared });
        }
        self.fits.push((key, clusters));
        Ok(clusters)
    }
}
