//! Graphs: work that is captured once and launched many times, for the cost of one launch.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::capture::{Capture, Operation, Recorded};
use super::device::{Device, Target};
use super::host::{Host, HostQueue, Told};
use super::stream::{Enqueued, Stream, StreamQueue};
use crate::gpu::GpuGraph;
use crate::report::error::Result;
use crate::report::failure::Failure;
use crate::report::graph::GraphError;

/// Launches, copies and events that were captured once, by [`Device::capture`], and are launched together: a CUDA graph.
///
/// A launch of the graph gives what its operations would give in their order. Those that use different memory may run at
/// the same time, because the graph knows which memory each of them uses.
///
/// The graph shares the memory of the buffers that it uses, and keeps it alive: between two launches, the program writes its
/// input to them and reads its output, and everything comes in the order of the program, as it does for kernels. It keeps the values of the
/// other arguments, until [`Graph::update`].
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64)]
/// fn scale(values: &mut [f32], factor: f32) {
///     let i = this_grid().thread_rank();
///     values[i] *= factor;
/// }
///
/// #[cluster_kernel(block = 64)]
/// fn add(a: &[f32], out: &mut [f32]) {
///     let i = this_grid().thread_rank();
///     out[i] += a[i];
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let stream = device.stream()?;
/// let (mut input, mut sum) = (device.zeros(256)?, device.zeros(256)?);
/// let graph = device.capture(|stream| {
///     scale(&mut input, 0.5).grid(4).on(stream).enqueue()?;
///     add(&input, &mut sum).grid(4).on(stream).enqueue()?;
///     Ok(())
/// })?;
/// assert_eq!(sum.read()?[0], 0.0, "nothing has run yet");
/// for step in 1..=3 {
///     input.write(&[step as f32; 256])?;
///     graph.launch(&stream)?;
/// }
/// assert_eq!(sum.read()?, [3.0; 256]);
/// # Ok(())
/// # }
/// ```
///
/// # Failures
///
/// If a kernel of the graph fails, the launch of the graph returns the failure, with the kernel's place. It is the first one:
/// kernels behind it may still run, and what they compute is not to be used.
///
/// # What is not captured
///
/// - A kernel that prints is refused: nobody could tell the prints of the launches apart.
/// - Memory that is borrowed from another user of cudarc is refused, because the graph would outlive the borrow.
/// - A `read`, `write` or `upload` of a buffer while work is captured is done at once.
/// - Work that other libraries enqueue: the stream of a capture is none of CUDA's.
pub struct Graph {
    device: Device,
    recorded: Launchable,
}

/// A graph of a GPU or of the simulator, of the same kind as its device.
enum Launchable {
    Gpu(GpuGraph),
    Simulator(Vec<Operation>),
}

impl Device {
    /// Captures the work that `work` enqueues on the stream which it is given, and runs none of it.
    ///
    /// The stream captures launches ([`Launch::on`](crate::Launch::on), with `enqueue`), copies ([`Stream::copy`]) and events
    /// ([`Stream::record`], [`Stream::wait`]). An event is recorded by each launch of the graph, so that `elapsed` gives the time in the
    /// last launch.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.default_stream();
    /// let (mut from, mut to) = (device.upload(&[1, 2, 3])?, device.zeros(3)?);
    /// let mut events = Vec::new();
    /// let graph = device.capture(|stream| {
    ///     events.push(stream.record()?);
    ///     stream.copy(&from, &mut to)?;
    ///     events.push(stream.record()?);
    ///     Ok(())
    /// })?;
    /// from.write(&[4, 5, 6])?;
    /// graph.launch(&stream)?;
    /// println!("{:?} for the copy", events[0].elapsed(&events[1])?);
    /// assert_eq!(to.read()?, [4, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        let recorded = match self.captured(work)? {
            Recorded::Gpu(recording) => Launchable::Gpu(recording.finish()?),
            Recorded::Simulator(operations) => Launchable::Simulator(operations),
        };
        Ok(Graph { device: self.clone(), recorded })
    }

    fn captured(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Recorded> {
        let capture = Arc::new(Capture::new(match &self.target {
            Target::Gpu(gpu) => Recorded::Gpu(gpu.recording()?),
            Target::Simulator(_) => Recorded::Simulator(Vec::new()),
        }));
        let result = work(&Stream { device: self.clone(), queue: StreamQueue::Capture(capture.clone()) });
        // Also after an error, so that a stream that `work` kept captures no more.
        let recorded = capture.finish();
        result.and(recorded)
    }
}

impl Graph {
    /// Returns the device that the graph is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches the graph on a stream and waits for its end. It returns [`Error::Kernel`](crate::Error::Kernel) if a kernel of the graph
    /// failed, or if earlier work on the stream failed that nobody waits for and that has not been reported.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        match self.enqueue(stream)?.wait() {
            Ok(()) => stream.synchronize(),
            failed => failed,
        }
    }

    /// Launches the graph after all earlier work on the stream, and after its own earlier launches, and does not wait. The handle
    /// returns the failure of this launch of the graph; it may be dropped.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 1)]
    /// fn divide(values: &mut [u32], by: &[u32]) {
    ///     values[0] /= by[0];
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let (mut values, mut by) = (device.upload(&[12u32])?, device.upload(&[3])?);
    /// let graph = device.capture(|stream| divide(&mut values, &by).grid(1).on(stream).enqueue().map(drop))?;
    /// let works = graph.enqueue(&stream)?;
    /// by.write(&[0])?;
    /// let fails = graph.enqueue(&stream)?;
    /// assert!(works.wait().is_ok());
    /// assert!(fails.wait().unwrap_err().to_string().contains("divide 4 by zero"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn enqueue(&self, stream: &Stream) -> Result<Enqueued> {
        if !self.device.shares_memory(&stream.device) {
            let (expected, found) = (self.device.to_string(), stream.device.to_string());
            return Err(GraphError::WrongDevice { expected, found }.into());
        }
        let number = match (&self.recorded, &stream.device.target, &stream.queue) {
            (_, _, StreamQueue::Capture(_)) => return Err(GraphError::Nested.into()),
            (Launchable::Gpu(graph), Target::Gpu(gpu), StreamQueue::Gpu(queue)) => gpu.launch_graph(graph, queue)?,
            (Launchable::Simulator(operations), Target::Simulator(host), StreamQueue::Simulator(queue)) => {
                repeat(operations, host, queue)?
            }
            (Launchable::Gpu(_) | Launchable::Simulator(_), _, StreamQueue::Gpu(_) | StreamQueue::Simulator(_)) => {
                unreachable!("a stream is of its device's kind, and so is a graph")
            }
        };
        Ok(Enqueued { stream: stream.clone(), number: Some(number) })
    }

    /// Replaces the work by what `work` enqueues, for later launches: the same operations with other arguments, most often.
    /// Launches that have been enqueued are not affected. If the operations and the memory that orders them are the same, the driver changes the
    /// arguments alone, which is faster than capturing a new graph.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn fill(out: &mut [u32], value: u32) {
    ///     out[this_grid().thread_rank()] = value;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let mut out = device.zeros(64)?;
    /// let mut graph = device.capture(|stream| fill(&mut out, 1).grid(2).on(stream).enqueue().map(drop))?;
    /// graph.update(|stream| fill(&mut out, 7).grid(1).on(stream).enqueue().map(drop))?;
    /// graph.launch(&stream)?;
    /// assert_eq!(out.read()?, [[7; 32], [0; 32]].concat());
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&mut self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        match (self.device.captured(work)?, &mut self.recorded, &self.device.target) {
            (Recorded::Gpu(recording), Launchable::Gpu(graph), Target::Gpu(gpu)) => gpu.update_graph(graph, recording),
            (Recorded::Simulator(operations), recorded, _) => {
                *recorded = Launchable::Simulator(operations);
                Ok(())
            }
            (Recorded::Gpu(_), _, _) => unreachable!("what is captured is of the device's kind"),
        }
    }
}

/// Runs the operations of a graph in their order up to the first failure, and returns the number of this launch.
fn repeat(operations: &[Operation], host: &Host, queue: &Arc<HostQueue>) -> Result<u64> {
    let run = |operation: &Operation| -> Option<Failure> {
        match operation {
            Operation::Launch(launch) => launch.run(host, queue, None),
            Operation::Copy(copy) => {
                copy(queue);
                None
            }
            Operation::Record(event) => {
                *event.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                None
            }
        }
    };
    queue.record(operations.iter().find_map(run), Told::Handle)
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({})", self.device)
    }
}

#[cfg(test)]
mod tests;
