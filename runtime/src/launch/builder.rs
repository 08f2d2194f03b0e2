//! A launch, from the typed call of a kernel to the device that runs it. `Launch::start` makes the checks of `check` in
//! their order; `gpu` and `sim` compile and run the kernel.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use super::arguments::Arguments;
use super::capture::Operation;
use super::check;
use super::device::{Device, Target};
use super::simulated::Simulated;
use super::stream::{Enqueued, Stream, StreamQueue};
use crate::gpu::store;
use crate::gpu::variant::Variant;
use crate::gpu::{Mode, Started};
use crate::program::Program;
use crate::program::template::Function;
use crate::report::error::{Error, LaunchError, Result};
use crate::report::timeline::Timeline;
use crate::shape::Dim3;
use crate::sim;

/// A kernel with its arguments, ready to be launched. The call of a kernel returns one.
///
/// Sizes are CUDA's: the grid counts blocks, not clusters.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel]
/// fn fill(out: &mut [u32], value: u32) {
///     out[this_grid().thread_rank()] = value;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(256)?;
/// fill(&mut out, 7).grid(4).cluster(2).block(64).launch(&device)?;
/// assert_eq!(out.read()?, [7; 256]);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing runs before `.launch(&device)`"]
pub struct Launch<'a, Place = ()> {
    kernel: TypeId,
    program: Result<Arc<Program>>,
    arguments: Arguments,
    /// The function of a simulated thread, which runs the host body.
    threads: Box<dyn Fn() + Send + Sync + 'a>,
    sizes: check::Sizes,
    /// The stream, if the launch names one.
    place: Place,
}

impl<'a> Launch<'a> {
    /// Creates the launch that a kernel's launcher returns. `arguments` and `threads` hold the same arguments in the
    /// kernel's order, for a GPU and for the simulator.
    #[doc(hidden)]
    pub fn new<K: Function + 'static>(arguments: Arguments, threads: Box<dyn Fn() + Send + Sync + 'a>) -> Self {
        let (kernel, program) = (TypeId::of::<K>(), Program::shared::<K>());
        Launch { kernel, program, arguments, threads, sizes: check::Sizes::default(), place: () }
    }

    /// Sets the stream on which the kernel runs, and with it the device.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn fill(out: &mut [u32], value: u32) {
    ///     out[this_grid().thread_rank()] = value;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let mut out = device.zeros(256)?;
    /// fill(&mut out, 7).grid(4).on(&stream).enqueue()?;
    /// assert_eq!(out.read()?, [7; 256]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(self, stream: &Stream) -> Launch<'a, Stream> {
        let Launch { kernel, program, arguments, threads, sizes, place: () } = self;
        Launch { kernel, program, arguments, threads, sizes, place: stream.clone() }
    }
}

impl<Place> Launch<'_, Place> {
    /// Sets the number of blocks: `8`, `(4, 2)` or `(4, 2, 2)`. It must be a multiple of the cluster in each dimension.
    pub fn grid(mut self, blocks: impl Into<Dim3>) -> Self {
        self.sizes.grid = Some(blocks.into());
        self
    }

    /// Sets the number of blocks in a cluster, if the attribute does not fix it. The default is one.
    pub fn cluster(mut self, blocks: impl Into<Dim3>) -> Self {
        self.sizes.cluster = Some(blocks.into());
        self
    }

    /// Sets the number of threads in a block, if the attribute does not fix it.
    pub fn block(mut self, threads: impl Into<Dim3>) -> Self {
        self.sizes.block = Some(threads.into());
        self
    }

    /// Sets the size in bytes of each block's dynamic shared memory, for `dynamic_shared`, if the attribute does not
    /// fix it.
    pub fn shared_bytes(mut self, bytes: usize) -> Self {
        self.sizes.shared_bytes = Some(bytes);
        self
    }
}

impl Launch<'_> {
    /// Runs the kernel and waits for its end. It returns [`Error::Kernel`] if the kernel failed, or if an earlier one
    /// failed that was enqueued on the default stream and has not been reported.
    pub fn launch(self, device: &Device) -> Result<()> {
        self.start(&device.default_stream(), Mode::Launch).map(drop)
    }

    /// Starts the kernel after all earlier launches on the device's default stream, and does not wait. The next
    /// [`Device::synchronize`], [`Buffer::read`](crate::Buffer::read) or [`Launch::launch`], in any host thread, returns its
    /// failure.
    pub fn enqueue(self, device: &Device) -> Result<()> {
        self.start(&device.default_stream(), Mode::Enqueue).map(drop)
    }

    /// Runs the kernel as [`Launch::launch`] does, and returns the times of its warps at barriers: how long they
    /// waited, and how much of the latency the work between an arrival and its wait hid. On a GPU, the kernel must have
    /// the option `profile`.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(cluster = 2, block = 32)]
    /// fn uneven(out: &mut [u32]) {
    ///     let cluster = this_cluster();
    ///     let at = this_grid().thread_rank();
    ///     let mut sum = 0;
    ///     for i in 0..100 * cluster.block_rank() {
    ///         sum += i;
    ///     }
    ///     cluster.sync();
    ///     out[at] = sum;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut out = device.zeros(64)?;
    /// let timeline = uneven(&mut out).grid(2).timeline(&device)?;
    /// println!("{timeline}");
    /// // The first block waits for the iterations of the other's loop.
    /// assert_eq!(timeline.stalls()[0].stalled, 100);
    /// # let _ = (timeline.to_svg(), timeline.to_trace());
    /// # Ok(())
    /// # }
    /// ```
    pub fn timeline(self, device: &Device) -> Result<Timeline> {
        self.start(&device.default_stream(), Mode::Timeline).map(|started| started.timeline.unwrap_or_default())
    }

    /// Returns how many clusters of this launch can be resident on the device at once, without running it. This bounds
    /// the grid of a kernel whose clusters wait for each other. The grid may be left out.
    ///
    /// The simulator runs one cluster at a time, or, if the kernel has a barrier of the grid, as many as it has memory
    /// for.
    pub fn occupancy(mut self, device: &Device) -> Result<Occupancy> {
        let program = self.program?;
        self.sizes.grid = Some(program.options().cluster.map(Dim3::from).or(self.sizes.cluster).unwrap_or(1.into()));
        let shape = check::fitting(&program, &self.sizes, device.caps())?;
        let clusters = match &device.target {
            Target::Gpu(gpu) => {
                let variant = Variant::of(&program, &shape, self.arguments.known());
                gpu.max_active_clusters(self.kernel, &program, &shape, variant)?
            }
            Target::Simulator(_) if program.has_grid_barrier() => sim::most_clusters(&shape) as usize,
            Target::Simulator(_) => 1,
        };
        Ok(Occupancy { clusters, blocks: clusters * shape.cluster.count() as usize })
    }
}

impl Launch<'_, Stream> {
    /// Runs the kernel and waits for its end. It returns [`Error::Kernel`] if the kernel failed, or if an earlier one on
    /// the stream failed that nobody waits for and that has not been reported.
    pub fn launch(self) -> Result<()> {
        let stream = self.place.clone();
        self.start(&stream, Mode::Launch).map(drop)
    }

    /// Starts the kernel after all earlier work on the stream, and does not wait. The handle returns the failure of this
    /// launch; it may be dropped.
    pub fn enqueue(self) -> Result<Enqueued> {
        let stream = self.place.clone();
        let started = self.start(&stream, Mode::Keep)?;
        Ok(Enqueued { stream, number: Some(started.number) })
    }

    /// Runs the kernel as [`Launch::launch`] does, and returns the times of its warps at barriers.
    pub fn timeline(self) -> Result<Timeline> {
        let stream = self.place.clone();
        self.start(&stream, Mode::Timeline).map(|started| started.timeline.unwrap_or_default())
    }
}

impl<Place> Launch<'_, Place> {
    fn start(mut self, stream: &Stream, mode: Mode) -> Result<Started> {
        let device = &stream.device;
        let program = self.program?;
        let error = |reason| Error::Launch { kernel: program.name().into(), reason };
        self.arguments.check_device(device).map_err(error)?;
        if let Some(refused) = self.arguments.refused() {
            return Err(refused);
        }
        let shape = check::fitting(&program, &self.sizes, device.caps())?;
        let variant = Variant::of(&program, &shape, self.arguments.known());
        if let StreamQueue::Capture(_) = &stream.queue {
            check::captured(&program, mode, self.arguments.are_borrowed()).map_err(error)?;
        }

        match &device.target {
            Target::Gpu(gpu) => {
                if mode == Mode::Timeline && !program.options().profile {
                    return Err(error(LaunchError::NoTimeline));
                }
                let parameters = self.arguments.pointers();
                let uses = self.arguments.uses();
                // SAFETY: the macro made both the text's parameters and the arguments from the same signature. They point to
                // the memory of buffers on this GPU, as checked, which are borrowed until here and are all noted. A graph keeps them.
                unsafe {
                    match &stream.queue {
                        StreamQueue::Gpu(queue) => {
                            gpu.launch(queue, self.kernel, &program, &shape, variant, parameters, uses, mode)
                        }
                        StreamQueue::Capture(capture) => capture.add(|recorded| {
                            let recording = recorded.gpu();
                            gpu.record_launch(recording, self.kernel, &program, &shape, variant, parameters, uses)?;
                            Ok(Started::CAPTURED)
                        }),
                        StreamQueue::Simulator(_) => unreachable!("a stream is of its device's kind"),
                    }
                }
            }
            Target::Simulator(host) => {
                store::precompile(&program, &host.caps.architecture(), variant)?;
                let buffers = self.arguments.named(program.parameters());
                let memory = self.arguments.into_host_memory();
                let launch = Simulated { program, shape, buffers, threads: self.threads, memory };
                launch.check()?;
                match &stream.queue {
                    StreamQueue::Simulator(queue) => launch.start(host, queue, mode),
                    StreamQueue::Capture(capture) => capture.add(|recorded| {
                        // SAFETY: the threads have the arguments as the host body sees them, which are plain data and handles of
                        // the arguments' memory.
                        recorded.simulator().push(Operation::Launch(unsafe { launch.lasting() }));
                        Ok(Started::CAPTURED)
                    }),
                    StreamQueue::Gpu(_) => unreachable!("a stream is of its device's kind"),
                }
            }
        }
    }
}

/// The number of clusters and blocks that can be resident on a device at once; [`Launch::occupancy`] returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// The number of clusters on the whole device (CUDA driver API, `cuOccupancyMaxActiveClusters`).
    pub clusters: usize,
    /// The number of their blocks.
    pub blocks: usize,
}

impl<Place> fmt::Debug for Launch<'_, Place> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.program.as_ref().map_or("?", |program| program.name());
        write!(f, "Launch({name}, {:?})", self.sizes)
    }
}

#[cfg(test)]
mod tests;
