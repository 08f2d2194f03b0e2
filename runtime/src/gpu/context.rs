//! A GPU with its context, its streams and the kernels loaded on it. The default stream is the legacy one, so that its work
//! comes after the work of other libraries there. `queue` has what belongs to one stream, `transfer` copies memory, and
//! `launch` makes the checks that need no GPU.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use cudarc::driver::{CudaContext, CudaStream};
use cudarc::nvrtc::Ptx;

use super::caps::Caps;
use super::capture::{self, Captured};
use super::ffi::{self, LaunchAttributes, driver};
use super::loaded::{Loaded, Ready};
use super::mode::{Access, Asked, Mode, Started};
use super::observe::{self, Stage};
use super::profile::Profile;
use super::queue::{GpuMemory, Queue, TimedRecord, counted_blocks};
use super::store;
use super::variant::Variant;
use crate::program::Program;
use crate::report::error::{Error, LaunchError, Result};
use crate::report::output::Output;
use crate::shape::Shape;

mod wait;

/// The GPUs in use, so that all handles of one share its kernels and its default stream.
static OPEN: Mutex<Vec<Weak<Gpu>>> = Mutex::new(Vec::new());

/// The version of CUDA that the driver must support, which is that of cudarc's bindings (`Cargo.toml`): 1000 * major + 10 * minor.
const OLDEST_DRIVER: i32 = 13_000;

/// A GPU with clusters, ready to launch on.
pub(crate) struct Gpu {
    ordinal: usize,
    caps: Caps,
    context: Arc<CudaContext>,
    default: Arc<Queue>,
    /// Whether there have been other streams.
    several: Arc<AtomicBool>,
    /// The GPUs whose memory kernels of this one may access, by their ordinals.
    peers: Mutex<Vec<usize>>,
    /// The other streams. One that the program has dropped stays until it has nothing to do and nothing to report.
    others: Mutex<Vec<Arc<Queue>>>,
    output: Output,
    deadline: Mutex<Option<Duration>>,
    kernels: Mutex<Kernels>,
    /// What the launches that others have captured leave.
    captured: Captured,
}

/// The loaded kernels, indexed by the number that their records have.
#[derive(Default)]
struct Kernels {
    numbers: BTreeMap<(TypeId, Variant), usize>,
    loaded: Vec<Loaded>,
}

impl Kernels {
    /// Returns the number of a kernel that has just been loaded: by another thread, too, perhaps.
    fn number(&mut self, key: (TypeId, Variant), loaded: Loaded) -> usize {
        let Kernels { numbers, loaded: all } = self;
        *numbers.entry(key).or_insert_with(|| {
            all.push(loaded);
            all.len() - 1
        })
    }

    /// Returns the kernel as the launch before was given it, if that had this shape, as most have.
    fn last(&self, key: &(TypeId, Variant), shape: &Shape) -> Option<Arc<Ready>> {
        let loaded = &self.loaded[*self.numbers.get(key)?];
        loaded.last.as_ref().filter(|ready| ready.shape == *shape).cloned()
    }
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
        // cudarc panics at a call that the driver lacks, and its calls are those of this version: the time between events is one.
        let version = ffi::driver_version()?;
        if version < OLDEST_DRIVER {
            return Err(Error::DriverTooOld { major: version / 1000, minor: version % 1000 / 10 });
        }
        ffi::device_count()
    }

    /// The deadline of launches that wait and name none.
    pub(crate) fn deadline(&self) -> &Mutex<Option<Duration>> {
        &self.deadline
    }

    fn new(ordinal: usize) -> Result<Gpu> {
        use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as SHARED;
        let attribute = driver("cuDeviceGetAttribute");
        let context = ffi::context(ordinal)?;
        let caps = Caps {
            name: context.name().map_err(driver("cuDeviceGetName"))?,
            capability: context.compute_capability().map_err(&attribute)?,
            shared_bytes: context.attribute(SHARED).map_err(&attribute)?.max(0) as usize,
            memory_bytes: context.total_mem().map_err(driver("cuDeviceTotalMem"))?,
        };
        let (major, minor) = caps.capability;
        if major < 8 {
            return Err(Error::CapabilityTooLow { name: caps.name, major, minor });
        }
        let several = Arc::new(AtomicBool::new(false));
        let default = Arc::new(Queue::new(context.default_stream(), several.clone())?);
        {
            // Another library may be capturing a stream.
            let _relaxed = ffi::capture::Relaxed::begin()?;
            default.prepare()?;
        }
        let (others, output, kernels) = (Mutex::default(), Output::default(), Mutex::default());
        let (peers, deadline) = (Mutex::default(), Mutex::default());
        let captured = Captured::default();
        Ok(Gpu { ordinal, caps, context, default, several, peers, others, output, deadline, kernels, captured })
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

    /// Returns the default stream.
    pub(crate) fn default_queue(&self) -> &Arc<Queue> {
        &self.default
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Creates a stream.
    pub(crate) fn new_queue(&self) -> Result<Arc<Queue>> {
        self.add_queue(|| self.context.new_stream().map_err(driver("cuStreamCreate")))
    }

    /// Takes over a stream of cudarc's, if it belongs to this GPU's primary context.
    pub(crate) fn adopt_queue(&self, stream: Arc<CudaStream>) -> Result<Arc<Queue>> {
        if stream.context().cu_ctx() != self.context.cu_ctx() {
            let found = format!("GPU {}, in another context", stream.context().ordinal());
            return Err(Error::ForeignStream { expected: self.to_string(), found });
        }
        // The handle of the per-thread default stream (CU_STREAM_PER_THREAD) means another stream in each thread.
        if stream.cu_stream().addr() == 2 {
            return Err(Error::PerThreadStream);
        }
        self.add_queue(|| Ok(stream))
    }

    /// Makes a handle of a stream by its address.
    ///
    /// # Safety
    /// It is a stream of the primary context, and lives as long as `self`.
    pub(crate) unsafe fn borrow_queue(&self, address: u64) -> Result<Arc<Queue>> {
        // SAFETY: passed on to the caller.
        self.adopt_queue(unsafe { ffi::capture::borrowed_stream(&self.context, address) })
    }

    fn add_queue(&self, stream: impl FnOnce() -> Result<Arc<CudaStream>>) -> Result<Arc<Queue>> {
        let mut others = self.others();
        // The stream may be one that another library captures.
        let _relaxed = ffi::capture::Relaxed::begin()?;
        self.note_uses()?;
        let queue = Arc::new(Queue::new(stream()?, self.several.clone())?);
        others.retain(|other| Arc::strong_count(other) > 1 || !other.is_done());
        others.push(queue.clone());
        Ok(queue)
    }

    /// Has the use of memory noted from now on, because there are other streams, which begin after all work that was not.
    pub(super) fn note_uses(&self) -> Result<()> {
        if !self.several.swap(true, Ordering::SeqCst) {
            drop(self.default.state());
            // That is the only stream so far. While another library captures, the driver refuses to wait for the whole context.
            if let Err(error) = self.default.synchronize() {
                self.several.store(false, Ordering::SeqCst);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns whether kernels of this GPU could access the memory of another one.
    pub(crate) fn can_access(&self, peer: &Gpu) -> Result<bool> {
        ffi::peer::can_access_peer(&self.context, &peer.context)
    }

    /// Lets kernels of this GPU access the memory of another one.
    pub(crate) fn enable_access(&self, peer: &Gpu) -> Result<()> {
        if !self.can_access(peer)? {
            return Err(Error::NoPeerAccess { device: self.to_string(), peer: peer.to_string() });
        }
        // From now on, each has streams whose work the other must wait for.
        self.note_uses()?;
        peer.note_uses()?;
        ffi::peer::enable_peer_access(&self.context, &peer.context)?;
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).push(peer.ordinal);
        Ok(())
    }

    /// Returns whether kernels of this GPU may access the memory of another one.
    pub(crate) fn accesses(&self, peer: &Gpu) -> bool {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).contains(&peer.ordinal)
    }

    /// Returns the default stream and the others.
    fn queues(&self) -> Vec<Arc<Queue>> {
        std::iter::once(&self.default).chain(self.others().iter()).cloned().collect()
    }

    fn others(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a kernel on a stream. For [`Mode::Launch`] and [`Mode::Timeline`], it waits for the end and reports the launch's failure, or
    /// else that of an earlier launch on the stream for which nobody waits.
    ///
    /// # Safety
    /// `parameters` point to values of the types that the kernel's text declares, but for the last, which the launch sets. The memory that
    /// those point to is among `uses`, which says what the kernel may do to it.
    pub(crate) unsafe fn launch(
        &self,
        queue: &Arc<Queue>,
        ready: &Ready,
        parameters: &mut [*mut c_void],
        uses: &[(Arc<GpuMemory>, Access)],
        mode: Mode,
        asked: Asked<'_, Arc<GpuMemory>>,
    ) -> Result<Started> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let Ready { program, number, function, shape, attributes } = ready;
        let stream = queue.stream();
        if queue.is_capturing()? {
            if let Some(reason) = capture::refused(program, mode, asked.deadline.is_some(), uses) {
                return Err(Error::Launch { kernel: program.name().into(), reason });
            }
            // To allocate is no part of the graph.
            let _relaxed = ffi::capture::Relaxed::begin()?;
            let mut block = self.captured.block(stream, *number, shape)?;
            block.set_last(parameters);
            // SAFETY: as below. The caller vouches for memory that is given by its address, and the block's stays for ever.
            unsafe { ffi::launch(stream, function, shape, parameters, *attributes) }?;
            // The graph does not keep it.
            std::mem::forget(function.clone());
            return Ok(Started::CAPTURED);
        }
        let Asked { deadline, early } = asked;
        let profile = match mode {
            Mode::Timeline => Some(Profile::new(stream, shape)?),
            Mode::Enqueue | Mode::Keep | Mode::Launch => None,
        };
        let is_counted = counted_blocks(shape) > 0;
        let span = observe::span(Stage::Launch, program.name());
        let number = queue.enqueue_launch(uses, |state| {
            // A deadline and a timeline have work of their own in front of the kernel.
            let is_alone = deadline.is_some() || profile.is_some();
            let overlaps = early.is_some_and(|early| !is_alone && state.unfinished().allows(early, is_counted));
            let (mut block, overlaps) = state.block(stream, program, *number, shape, deadline.is_some(), overlaps)?;
            if !overlaps {
                state.unfinished().clear();
            }
            if let Some(profile) = &profile {
                profile.write(&mut block);
            }
            let timed = deadline.map(|limit| TimedRecord::begin(stream, &mut block, limit)).transpose()?;
            block.set_last(parameters);
            let attributes = LaunchAttributes { overlaps, ..*attributes };
            // SAFETY: the last parameter of each kernel is its block; the rest is passed on to the caller.
            unsafe { ffi::launch(stream, function, shape, parameters, attributes) }?;
            match timed {
                Some(timed) => {
                    state.unfinished().clear();
                    timed.end(stream, state)?;
                }
                None => state.unfinished().add(uses, is_counted),
            }
            if mode != Mode::Enqueue {
                state.keep(block.number);
            }
            Ok(block.number)
        })?;
        // Waiting is no part of it.
        drop(span);
        if matches!(mode, Mode::Launch | Mode::Timeline) {
            self.finish(queue, Some(number), true)?;
        }
        let timeline = profile.map(|profile| profile.timeline(stream, program)).transpose()?;
        Ok(Started { number, timeline })
    }

    /// Makes the kernel with this id ready for launches on a stream, which another library may capture: to load a kernel is no part of its
    /// graph.
    pub(crate) fn prepare_on(
        &self,
        queue: &Queue,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<Arc<Ready>> {
        let last = self.kernels().last(&(kernel, variant), &with_placed_arrays(shape, program));
        if let Some(ready) = last {
            return Ok(ready);
        }
        let _relaxed = queue.is_capturing()?.then(ffi::capture::Relaxed::begin).transpose()?;
        self.prepare(kernel, program, shape, variant)
    }

    /// Makes the kernel with this id ready for launches of this shape, and loads it if this is its first use here.
    pub(super) fn prepare(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<Arc<Ready>> {
        let shape = with_placed_arrays(shape, program);
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let (mut kernels, number, resident) = self.fitting(kernel, program, &shape, variant)?;
        let cooperative = program.has_grid_barrier();
        if cooperative {
            let refuse = |reason| Error::Launch { kernel: program.name().into(), reason };
            LaunchError::check_resident(&shape, resident as u64).map_err(refuse)?;
        }
        let clusters = shape.cluster.count() > 1 || program.sends_to_peers();
        let attributes = LaunchAttributes { clusters, cooperative, overlaps: false };
        let loaded = &mut kernels.loaded[number];
        let (program, function) = (program.clone(), loaded.function.clone());
        let ready = Arc::new(Ready { program, number, function, shape, attributes });
        loaded.last = Some(ready.clone());
        Ok(ready)
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
        Ok(self.fitting(kernel, program, &with_placed_arrays(shape, program), variant)?.2)
    }

    /// Returns the number of a variant of the kernel, which is loaded if it is not yet, and how many clusters of this shape can run
    /// concurrently. It fails if none fits.
    fn fitting(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<(MutexGuard<'_, Kernels>, usize, usize)> {
        let mut kernels = self.kernels();
        let number = match kernels.numbers.get(&(kernel, variant)) {
            Some(number) => *number,
            None => {
                // NVRTC takes its time, in which other threads launch other kernels.
                drop(kernels);
                let loaded = self.load(program, variant)?;
                kernels = self.kernels();
                kernels.number((kernel, variant), loaded)
            }
        };
        let resident = kernels.loaded[number].check_fits(self.default.stream(), shape, &self.caps)?;
        Ok((kernels, number, resident))
    }

    fn load(&self, program: &Arc<Program>, variant: Variant) -> Result<Loaded> {
        let cubin = store::cubin(program, &self.caps.architecture(), variant)?;
        let _span = observe::span(Stage::Load, program.name());
        let module =
            self.context.load_module(Ptx::from_binary(cubin.into_owned())).map_err(driver("cuModuleLoadData"))?;
        let function = module.load_function(program.entry()).map_err(driver("cuModuleGetFunction"))?;
        let max_threads = function.max_threads_per_block().map_err(driver("cuFuncGetAttribute"))?.max(0) as u64;
        if program.options().non_portable {
            ffi::allow_non_portable(&function)?;
        }
        Ok(Loaded::new(program.clone(), function, max_threads))
    }

    fn kernels(&self) -> MutexGuard<'_, Kernels> {
        // A panic while the lock was held leaves no inconsistent state that matters here.
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The kernels are unloaded now, and the streams may live on, with memory that is freed later.
        self.queues().iter().for_each(|queue| drop(queue.synchronize()));
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
