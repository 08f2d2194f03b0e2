//! A launch, from the typed call of a kernel to the device that runs it. `Launch::start` makes the checks of `check` in
//! their order; `gpu` and `sim` compile and run the kernel.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::arguments::Arguments;
use super::check;
use super::checked::Checked;
use super::device::{Device, Target};
use super::stream::{Enqueued, Stream, StreamQueue};
use crate::gpu::caps::Caps;
use crate::gpu::variant::Variant;
use crate::gpu::{Mode, Started};
use crate::program::Program;
use crate::program::template::Function;
use crate::report::attributes::KernelAttributes;
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
    deadline: Option<Duration>,
    dependent: bool,
    /// The stream, if the launch names one.
    place: Place,
}

impl<'a> Launch<'a> {
    /// Creates the launch that a kernel's launcher returns. `arguments` and `threads` hold the same arguments in the
    /// kernel's order, for a GPU and for the simulator.
    #[doc(hidden)]
    pub fn new<K: Function + 'static>(arguments: Arguments, threads: Box<dyn Fn() + Send + Sync + 'a>) -> Self {
        let (kernel, program) = (TypeId::of::<K>(), Program::shared::<K>());
        Launch {
            kernel,
            program,
            arguments,
            threads,
            sizes: check::Sizes::default(),
            deadline: None,
            dependent: false,
            place: (),
        }
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
        let Launch { kernel, program, arguments, threads, sizes, deadline, dependent, place: () } = self;
        Launch { kernel, program, arguments, threads, sizes, deadline, dependent, place: stream.clone() }
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

    /// Ends the launch if it runs for longer than this ([`Device::set_deadline`] is for all that name none), and returns an error that says at which barriers its threads waited, instead of waiting
    /// forever. The time begins with the kernel's first block, by the GPU's clock.
    ///
    /// Waits at phase barriers, split barriers of the block and barriers of the grid end, and so do loops over atomics; the error is
    /// [`Cause::Deadline`](crate::Cause::Deadline), and the device is as usable as after any other failure. Nothing can end the barriers of the
    /// hardware, `block.sync()`, those of a cluster and a warp's collectives; but they wait for no thread that has been ended. If nothing of
    /// the kernel can be ended, the error is [`Cause::DeadlineIgnored`](crate::Cause::DeadlineIgnored), and the stream is of no use from then on.
    /// The kernel is compiled a second time for launches with a deadline, which are somewhat slower; others are as fast as without it.
    ///
    /// The simulator finds a deadlock at once, whatever the deadline, and takes no time into account.
    ///
    /// ```
    /// use std::time::Duration;
    /// use phalanx::prelude::*;
    /// use phalanx::{Cause, Error};
    ///
    /// /// Waits for a flag that nobody sets.
    /// #[cluster_kernel(block = 32)]
    /// fn forever(flag: &mut [u32]) {
    ///     while flag.atomic(0).load(Acquire) == 0 {}
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut flag = device.zeros(1)?;
    /// let error = forever(&mut flag).grid(1).deadline(Duration::from_secs(1)).launch(&device).unwrap_err();
    /// let Error::Kernel(failure) = error else { return Err(error) };
    /// let Cause::Deadline { waiting, .. } = &failure.cause else { panic!("{failure}") };
    /// assert_eq!(waiting[0].threads, 32);
    /// # Ok(())
    /// # }
    /// ```
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Lets the kernel begin before the launches in front of it on its stream have ended, once all of their blocks have called
    /// [`launch_dependents`](crate::launch_dependents) or ended: CUDA's programmatic dependent launch. The kernel waits for them by
    /// [`wait_previous`](crate::wait_previous), without which the launch is an `Err`.
    ///
    /// It is a permission. A launch runs in order where it could not overlap rightly: behind work that is no launch, after a wait for another
    /// stream, with a deadline or a timeline, and if the launches that may still run write what the kernel reads `early`.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn first(values: &mut [f32]) {
    ///     wait_previous();
    ///     values[this_grid().thread_rank()] += 1.0;
    ///     launch_dependents();
    /// }
    ///
    /// /// The weights are read while the launch before may still run.
    /// #[cluster_kernel(block = 64, early(weights))]
    /// fn second(weights: &[f32], values: &mut [f32]) {
    ///     let i = this_grid().thread_rank();
    ///     let weight = weights[i];
    ///     wait_previous();
    ///     values[i] *= weight;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let (weights, mut values) = (device.upload(&[3.0f32; 256])?, device.upload(&[1.0f32; 256])?);
    /// first(&mut values).grid(4).on(&stream).dependent().enqueue()?;
    /// second(&weights, &mut values).grid(4).on(&stream).dependent().enqueue()?;
    /// assert_eq!(values.read()?, [6.0; 256]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn dependent(mut self) -> Self {
        self.dependent = true;
        self
    }
}

impl<Place> Launch<'_, Place> {
    /// Returns the program, and the variant of it that the launch runs on a device with these capabilities.
    pub(super) fn variant(self, caps: &Caps) -> Result<(Arc<Program>, Variant)> {
        let program = self.program?;
        let shape = check::fitting(&program, &self.sizes, caps)?;
        let variant = self.arguments.variant(&program, &shape).with_deadline(self.deadline.is_some());
        Ok((program, variant))
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
    pub fn occupancy(self, device: &Device) -> Result<Occupancy> {
        let program = self.program?;
        let shape = check::fitting(&program, &self.sizes.with_one_cluster(&program), device.caps())?;
        let clusters = match &device.target {
            Target::Gpu(gpu) => {
                let variant = self.arguments.variant(&program, &shape);
                gpu.max_active_clusters(self.kernel, &program, &shape, variant)?
            }
            Target::Simulator(_) if program.has_grid_barrier() => sim::most_clusters(&shape) as usize,
            Target::Simulator(_) => 1,
        };
        Ok(Occupancy { clusters, blocks: clusters * shape.cluster.count() as usize })
    }

    /// Returns the registers and the memory that the kernel takes on a GPU, and how many blocks of this launch a multiprocessor holds, without
    /// running it. The grid may be left out. There is no machine code in the simulator, and so nothing to ask about.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 256)]
    /// fn scale(values: &mut [f32], factor: f32) {
    ///     values[this_grid().thread_rank()] *= factor;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::auto();
    /// let mut values = device.zeros(256)?;
    /// match scale(&mut values, 2.0).attributes(&device) {
    ///     Ok(attributes) => assert!(attributes.registers > 0 && attributes.local_bytes == 0),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn attributes(self, device: &Device) -> Result<KernelAttributes> {
        let program = self.program?;
        let shape = check::fitting(&program, &self.sizes.with_one_cluster(&program), device.caps())?;
        match &device.target {
            Target::Gpu(gpu) => {
                let variant = self.arguments.variant(&program, &shape);
                gpu.attributes(self.kernel, &program, &shape, variant)
            }
            Target::Simulator(_) => {
                Err(Error::Launch { kernel: program.name().into(), reason: LaunchError::NoMachineCode })
            }
        }
    }

    /// Returns the number of blocks in the largest cluster of this kernel that fits on the device, with the block and the shared memory of this
    /// launch: at most 8, or 16 if its attribute says `non_portable`. The grid and the cluster may be left out.
    ///
    /// The simulator knows the limits of an H100 that the shared memory and the threads set, and not those that registers set.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 128)]
    /// fn fill(out: &mut [u32]) {
    ///     out[this_grid().thread_rank()] = this_cluster().num_blocks();
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut out = device.zeros(8 * 128)?;
    /// let most = fill(&mut out).max_potential_cluster_size(&device)?;
    /// fill(&mut out).grid(8).cluster(most).launch(&device)?;
    /// assert_eq!(out.read()?[0], 8);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_potential_cluster_size(mut self, device: &Device) -> Result<u32> {
        let program = self.program?;
        // The cluster of the launch does not matter; one that the attribute fixes is checked as it is.
        self.sizes.cluster = None;
        let shape = check::fitting(&program, &self.sizes.with_one_cluster(&program), device.caps())?;
        match &device.target {
            Target::Gpu(gpu) => {
                let variant = self.arguments.variant(&program, &shape);
                gpu.largest_cluster(self.kernel, &program, &shape, variant)
            }
            Target::Simulator(_) => Ok(if program.options().non_portable { 16 } else { 8 }),
        }
    }
}

impl Launch<'_, Stream> {
    /// Returns the stream that the launch names.
    pub(super) fn stream(&self) -> &Stream {
        &self.place
    }

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

impl<'a, Place> Launch<'a, Place> {
    /// Makes the checks of a launch that need no driver.
    pub(super) fn checked(mut self, device: &Device, mode: Mode) -> Result<Checked<'a>> {
        let program = self.program?;
        let error = |reason| Error::Launch { kernel: program.name().into(), reason };
        self.arguments.check_device(device).map_err(error)?;
        self.arguments.check_overlap().map_err(error)?;
        if let Some(refused) = self.arguments.refused() {
            return Err(refused);
        }
        let shape = check::fitting(&program, &self.sizes, device.caps())?;
        let deadline = self.deadline.or_else(|| if mode == Mode::Launch { device.deadline() } else { None });
        let variant = self.arguments.variant(&program, &shape).with_deadline(deadline.is_some());
        if self.dependent {
            check::dependent(&program).map_err(error)?;
        }
        let early = self.dependent.then(|| self.arguments.early(program.options().early));
        let Launch { kernel, arguments, threads, .. } = self;
        Ok(Checked { kernel, program, arguments, threads, shape, variant, deadline, early })
    }

    fn start(self, stream: &Stream, mode: Mode) -> Result<Started> {
        let device = &stream.device;
        let mut launch = self.checked(device, mode)?;
        let error = |reason| Error::Launch { kernel: launch.program.name().into(), reason };
        if let StreamQueue::Capture(_) = &stream.queue {
            check::captured(&launch.program, mode, launch.arguments.are_borrowed(), launch.deadline).map_err(error)?;
        }
        match &device.target {
            Target::Gpu(gpu) => {
                if mode == Mode::Timeline && !launch.program.options().profile {
                    return Err(error(LaunchError::NoTimeline));
                }
                let Checked { kernel, program, shape, variant, .. } = &launch;
                match &stream.queue {
                    StreamQueue::Gpu(queue) => {
                        let ready = gpu.prepare_on(queue, *kernel, program, shape, *variant)?;
                        launch.start(gpu, queue, &ready, mode)
                    }
                    StreamQueue::Capture(capture) => capture.add(|recorded| launch.record(gpu, recorded.gpu())),
                    StreamQueue::Simulator(_) => unreachable!("a stream is of its device's kind"),
                }
            }
            Target::Simulator(host) => match &stream.queue {
                StreamQueue::Simulator(queue) => launch.simulated(host)?.start(host, queue, mode),
                StreamQueue::Capture(capture) => capture.add(|recorded| launch.simulate(host, recorded.simulator())),
                StreamQueue::Gpu(_) => unreachable!("a stream is of its device's kind"),
            },
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
