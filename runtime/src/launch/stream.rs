//! Streams: work of a device that runs in order, while other streams run theirs. Also events, which mark a point of a stream, and the
//! handle of a launch that was enqueued on one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::capture::{Capture, HostEvent};
use super::device::{Device, Target};
use super::host::HostQueue;
use crate::gpu::{GpuEvent, Mark, Queue};
use crate::report::error::{Error, Result};
use crate::report::graph::GraphError;

/// A queue of work on a [`Device`]: launches, copies and events, in order. Work on different streams may run at the same time.
/// Clones are handles of the same stream.
///
/// Buffers keep the order that the program has: work waits for the earlier work on other streams that wrote the
/// memory it uses, or that reads memory it writes. It may also wait for what was enqueued behind that work meanwhile.
/// Nothing else orders two streams, except [`Stream::wait`]; in particular, they do not wait for the default stream, on which a launch
/// without [`Launch::on`](crate::Launch::on) runs.
///
/// The simulator runs each launch when it is enqueued, and reports its failure to the same one that a GPU does.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64)]
/// fn add(values: &mut [u32], amount: u32) {
///     let i = this_grid().thread_rank();
///     values[i] += amount;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (mut a, mut b) = (device.zeros(256)?, device.zeros(256)?);
/// let (first, second) = (device.stream()?, device.stream()?);
/// // These two may run side by side.
/// add(&mut a, 1).grid(4).on(&first).enqueue()?;
/// add(&mut b, 2).grid(4).on(&second).enqueue()?;
/// // This one waits for the first, because both use `a`.
/// add(&mut a, 3).grid(4).on(&second).enqueue()?;
/// second.synchronize()?;
/// assert_eq!((a.read()?[0], b.read()?[0]), (4, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stream {
    pub(super) device: Device,
    pub(super) queue: StreamQueue,
}

/// A stream of a GPU or of the simulator, of the same kind as its device, or one whose work is captured.
#[derive(Clone)]
pub(super) enum StreamQueue {
    Gpu(Arc<Queue>),
    Simulator(Arc<HostQueue>),
    Capture(Arc<Capture>),
}

impl Device {
    /// Creates a stream.
    pub fn stream(&self) -> Result<Stream> {
        let queue = match &self.target {
            Target::Gpu(gpu) => StreamQueue::Gpu(gpu.new_queue()?),
            Target::Simulator(host) => StreamQueue::Simulator(host.new_queue()),
        };
        Ok(Stream { device: self.clone(), queue })
    }

    /// Returns the stream on which launches run that name none. On a GPU, it is CUDA's legacy default stream.
    pub fn default_stream(&self) -> Stream {
        let queue = match &self.target {
            Target::Gpu(gpu) => StreamQueue::Gpu(gpu.default_queue().clone()),
            Target::Simulator(host) => StreamQueue::Simulator(host.default.clone()),
        };
        Stream { device: self.clone(), queue }
    }
}

impl Stream {
    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all work on this stream has ended, and returns the failure of the first kernel that failed on it, unless a handle
    /// waits for that ([`Enqueued`]).
    pub fn synchronize(&self) -> Result<()> {
        match (&self.device.target, &self.queue) {
            (Target::Gpu(gpu), StreamQueue::Gpu(queue)) => gpu.synchronize_queue(queue),
            (_, StreamQueue::Simulator(queue)) => queue.synchronize(),
            (_, StreamQueue::Capture(_)) => Err(GraphError::Waits.into()),
            (Target::Simulator(_), StreamQueue::Gpu(_)) => unreachable!("a stream is of its device's kind"),
        }
    }

    /// Records an event, which the work so far comes before. If the stream captures a graph, each launch of the graph records it.
    pub fn record(&self) -> Result<StreamEvent> {
        let point = match &self.queue {
            StreamQueue::Gpu(queue) => Point::Gpu(Arc::new(queue.record()?)),
            StreamQueue::Simulator(_) => Point::Simulator(Arc::new(Mutex::new(Some(Instant::now())))),
            StreamQueue::Capture(capture) => capture.record(Point::Gpu, Point::Simulator)?,
        };
        Ok(StreamEvent { device: self.device.clone(), point })
    }

    /// Makes the work that is enqueued here from now on wait for an event. The host does not wait. If the stream captures a graph, each launch
    /// of the graph waits for the event as it has been recorded last when the graph is launched.
    /// The event may be of another GPU.
    pub fn wait(&self, event: &StreamEvent) -> Result<()> {
        if !matches!((&self.device.target, &event.device.target), (Target::Gpu(_), Target::Gpu(_))) {
            event.check_device(&self.device)?;
        }
        match (&self.queue, &event.point) {
            (StreamQueue::Gpu(queue), Point::Gpu(event)) => queue.wait(event),
            (StreamQueue::Capture(capture), Point::Gpu(event)) => capture.add(|recorded| recorded.gpu().wait(event)),
            // Its work ends before later work begins, also in a graph.
            (StreamQueue::Capture(_), Point::Simulator(_)) => Ok(()),
            (StreamQueue::Simulator(_), Point::Simulator(event)) => time_of(event).map(drop),
            (StreamQueue::Simulator(_), Point::Gpu(_)) | (StreamQueue::Gpu(_), Point::Simulator(_)) => {
                unreachable!("events of one device are of one kind")
            }
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.device)
    }
}

/// A point in the work of a [`Stream`], which [`Stream::record`] returns.
///
/// ```
/// # use phalanx::Device;
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (copies, work) = (device.stream()?, device.stream()?);
/// let before = copies.record()?;
/// let after = copies.record()?;
/// // What `work` gets from now on comes after both.
/// work.wait(&after)?;
/// println!("{:?} between them", before.elapsed(&after)?);
/// # Ok(())
/// # }
/// ```
pub struct StreamEvent {
    device: Device,
    point: Point,
}

enum Point {
    Gpu(Arc<GpuEvent>),
    /// The time at which all work of the stream had ended.
    Simulator(HostEvent),
}

/// Returns the time of an event, unless it is that of a graph that has not been launched.
fn time_of(event: &HostEvent) -> Result<Instant> {
    let time = *event.lock().unwrap_or_else(PoisonError::into_inner);
    time.ok_or_else(|| GraphError::NotLaunched.into())
}

impl StreamEvent {
    /// Waits until the work before the event has ended. Failures of kernels are left to [`Stream::synchronize`].
    pub fn synchronize(&self) -> Result<()> {
        match &self.point {
            Point::Gpu(event) => event.synchronize(),
            Point::Simulator(event) => time_of(event).map(drop),
        }
    }

    /// Returns whether the work before the event has ended.
    pub fn is_complete(&self) -> Result<bool> {
        match &self.point {
            Point::Gpu(event) => event.is_complete(),
            Point::Simulator(event) => time_of(event).map(|_| true),
        }
    }

    /// Waits for both events, and returns the time from this one to `later`: on a GPU in steps of about half a microsecond, and zero if
    /// `later` came first.
    pub fn elapsed(&self, later: &StreamEvent) -> Result<Duration> {
        later.check_device(&self.device)?;
        match (&self.point, &later.point) {
            (Point::Gpu(event), Point::Gpu(later)) => event.elapsed(later),
            (Point::Simulator(start), Point::Simulator(end)) => {
                Ok(time_of(end)?.saturating_duration_since(time_of(start)?))
            }
            (Point::Gpu(_), Point::Simulator(_)) | (Point::Simulator(_), Point::Gpu(_)) => {
                unreachable!("events of one device are of one kind")
            }
        }
    }

    fn check_device(&self, device: &Device) -> Result<()> {
        match self.device.shares_memory(device) {
            true => Ok(()),
            false => Err(Error::WrongEvent { expected: device.to_string(), found: self.device.to_string() }),
        }
    }
}

impl fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamEvent({})", self.device)
    }
}

/// A launch that was enqueued on a [`Stream`].
///
/// Its failure is kept for [`Enqueued::wait`], or `.await` ([`Completion`](crate::Completion)). If the handle is dropped, who next waits for the stream gets the failure, or
/// [`Device::synchronize`].
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 1)]
/// fn divide(out: &mut [u32], by: u32) {
///     out[0] = 12 / by;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let stream = device.stream()?;
/// let (mut a, mut b) = (device.zeros(1)?, device.zeros(1)?);
/// let fails = divide(&mut a, 0).grid(1).on(&stream).enqueue()?;
/// let works = divide(&mut b, 3).grid(1).on(&stream).enqueue()?;
/// assert!(works.wait().is_ok());
/// assert!(fails.wait().unwrap_err().to_string().contains("divide 12 by zero"));
/// # Ok(())
/// # }
/// ```
pub struct Enqueued {
    pub(super) stream: Stream,
    /// The launch's number in its stream, until it has been waited for.
    pub(super) number: Option<u64>,
}

impl Enqueued {
    /// Waits until the launch has ended, and returns its failure, if it has failed. It may wait for later launches on the stream, too.
    pub fn wait(mut self) -> Result<()> {
        let number = self.number.take();
        match (&self.stream.device.target, &self.stream.queue) {
            (Target::Gpu(gpu), StreamQueue::Gpu(queue)) => number.map_or(Ok(()), |number| gpu.wait(queue, number)),
            (_, StreamQueue::Simulator(queue)) => number.map_or(Ok(()), |number| queue.wait(number)),
            (_, StreamQueue::Capture(_)) => Err(GraphError::Waits.into()),
            (Target::Simulator(_), StreamQueue::Gpu(_)) => unreachable!("a stream is of its device's kind"),
        }
    }
}

impl Enqueued {
    /// Returns the failure of the launch, at a mark behind it that has come on a GPU.
    pub(super) fn finish(mut self, mark: Option<&Mark>) -> Result<()> {
        match (&self.stream.device.target, mark) {
            (Target::Gpu(gpu), Some(mark)) => {
                self.number.take().map_or(Ok(()), |number| gpu.finish_at(mark, Some(number)))
            }
            (Target::Gpu(_) | Target::Simulator(_), _) => self.wait(),
        }
    }
}

impl Drop for Enqueued {
    fn drop(&mut self) {
        match (self.number, &self.stream.queue) {
            (None, _) | (_, StreamQueue::Capture(_)) => {}
            (Some(number), StreamQueue::Gpu(queue)) => queue.release(number),
            (Some(number), StreamQueue::Simulator(queue)) => queue.release(number),
        }
    }
}

impl fmt::Debug for Enqueued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enqueued({:?})", self.stream)
    }
}

#[cfg(test)]
mod tests;
