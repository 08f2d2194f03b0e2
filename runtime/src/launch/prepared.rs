//! A launch that is checked once and started many times.

use std::fmt;
use std::sync::Arc;

use super::builder::Launch;
use super::checked::Checked;
use super::device::{Device, Target};
use super::simulated::Simulated;
use super::stream::{Stream, StreamQueue};
use crate::gpu::{Mode, Ready};
use crate::report::error::{Error, LaunchError, Result};

/// A launch whose checks are done and whose kernel is loaded, to be started as often as the program likes with the same arguments.
/// [`Launch::prepare`] makes it. To start it costs the host hardly more than the driver's own call; a [`Graph`](crate::Graph) does the same for
/// many launches together.
///
/// It borrows the arguments, so that the program has its buffers back when it is dropped.
pub struct PreparedLaunch<'a> {
    stream: Stream,
    kernel: &'static str,
    work: Work<'a>,
}

enum Work<'a> {
    Gpu(Checked<'a>, Arc<Ready>),
    Simulator(Simulated<'a>),
}

impl<'a> Launch<'a> {
    /// Makes the checks of the launch, and loads the kernel, so that the launch can be started many times on the device's default stream.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn relax(values: &mut [f32]) {
    ///     values[this_grid().thread_rank()] *= 0.5;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut values = device.upload(&[8.0f32; 256])?;
    /// let mut step = relax(&mut values).grid(4).prepare(&device)?;
    /// for _ in 0..3 {
    ///     step.enqueue()?;
    /// }
    /// drop(step);
    /// assert_eq!(values.read()?, [1.0; 256]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare(self, device: &Device) -> Result<PreparedLaunch<'a>> {
        PreparedLaunch::new(self, device.default_stream())
    }
}

impl<'a> Launch<'a, Stream> {
    /// Makes the checks of the launch, and loads the kernel, so that the launch can be started many times on its stream.
    pub fn prepare(self) -> Result<PreparedLaunch<'a>> {
        let stream = self.stream().clone();
        PreparedLaunch::new(self, stream)
    }
}

impl<'a> PreparedLaunch<'a> {
    fn new<Place>(launch: Launch<'a, Place>, stream: Stream) -> Result<PreparedLaunch<'a>> {
        let launch = launch.checked(&stream.device, Mode::Enqueue)?;
        let kernel = launch.program.name();
        let work = match (&stream.device.target, &stream.queue) {
            (_, StreamQueue::Capture(_)) => {
                return Err(Error::Launch { kernel: kernel.into(), reason: LaunchError::PreparedInGraph });
            }
            (Target::Gpu(gpu), StreamQueue::Gpu(queue)) => {
                let ready = gpu.prepare_on(queue, launch.kernel, &launch.program, &launch.shape, launch.variant)?;
                Work::Gpu(launch, ready)
            }
            (Target::Simulator(host), StreamQueue::Simulator(_)) => Work::Simulator(launch.simulated(host)?),
            (Target::Gpu(_), StreamQueue::Simulator(_)) | (Target::Simulator(_), StreamQueue::Gpu(_)) => {
                unreachable!("a stream is of its device's kind")
            }
        };
        Ok(PreparedLaunch { stream, kernel, work })
    }

    /// Starts the kernel after all earlier work of the stream, and does not wait. Who next waits for the stream gets its failure.
    pub fn enqueue(&mut self) -> Result<()> {
        self.start(Mode::Enqueue)
    }

    /// Runs the kernel and waits for its end. It returns [`Error::Kernel`] if the kernel failed, or if an earlier one on the stream failed that
    /// nobody waits for and that has not been reported. Its deadline is the one that the launch names, and not that of
    /// [`Device::set_deadline`].
    pub fn launch(&mut self) -> Result<()> {
        self.start(Mode::Launch)
    }

    fn start(&mut self, mode: Mode) -> Result<()> {
        let PreparedLaunch { stream, work, .. } = self;
        let started = match (&stream.device.target, &stream.queue, work) {
            (Target::Gpu(gpu), StreamQueue::Gpu(queue), Work::Gpu(launch, ready)) => {
                launch.start(gpu, queue, ready, mode)
            }
            (Target::Simulator(host), StreamQueue::Simulator(queue), Work::Simulator(launch)) => {
                launch.start(host, queue, mode)
            }
            _ => unreachable!("`new` has made them of one kind"),
        };
        started.map(drop)
    }
}

impl fmt::Debug for PreparedLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedLaunch({})", self.kernel)
    }
}

#[cfg(test)]
mod tests;
