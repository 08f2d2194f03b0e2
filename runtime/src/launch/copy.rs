//! Copies on a stream, which the host does not wait for.

use std::sync::Arc;

use super::buffer::{Buffer, Memory};
use super::capture::Operation;
use super::device::Target;
use super::host::HostQueue;
use super::stream::{Stream, StreamQueue};
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};
use crate::report::graph::GraphError;

impl Stream {
    /// Copies all elements of a buffer to another of the same length, after all earlier work that uses either. The host
    /// does not wait for it. One of the two may be on another GPU, if no graph is captured. Both may be parts of buffers, [`View`](crate::View) and [`ViewMut`](crate::ViewMut).
    ///
    /// ```
    /// # use phalanx::Device;
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let (from, mut to) = (device.upload(&[1, 2, 3, 4])?, device.zeros(6)?);
    /// let mut part = to.slice_mut(1..5)?;
    /// stream.copy(&from, &mut part)?;
    /// assert_eq!(to.read()?, [0, 1, 2, 3, 4, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy<T: DeviceCopy>(&self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<()> {
        if from.len() != to.len() {
            return Err(Error::LengthMismatch { buffer: to.len(), data: from.len() });
        }
        if let Some(result) = self.copy_between(from, to) {
            return result;
        }
        for found in [from.device(), to.device()] {
            if !self.device().shares_memory(found) {
                return Err(Error::WrongDevice { expected: self.device().to_string(), found: found.to_string() });
            }
        }
        let (len, bytes) = (from.len(), from.len() * size_of::<T>());
        match (&self.device().target, from.place(), to.place()) {
            (Target::Gpu(gpu), (Memory::Gpu(from), from_start), (Memory::Gpu(to), to_start)) => match &self.queue {
                StreamQueue::Gpu(queue) => gpu.copy(queue, (from, from_start), (to, to_start), bytes),
                StreamQueue::Capture(_) if from.is_borrowed() || to.is_borrowed() => Err(GraphError::Borrowed.into()),
                StreamQueue::Capture(capture) => {
                    capture.add(|recorded| recorded.gpu().copy((from, from_start), (to, to_start), bytes))
                }
                StreamQueue::Simulator(_) => unreachable!("a stream is of its device's kind"),
            },
            (Target::Simulator(_), (Memory::Host(source), from_start), (Memory::Host(target), to_start)) => {
                let (source, target) = (source.clone(), target.clone());
                let copy = move |queue: &Arc<HostQueue>| {
                    target.memory.write(to_start, &source.memory.read_part::<T>(from_start, len));
                    target.written_on(queue);
                };
                match &self.queue {
                    StreamQueue::Simulator(queue) => copy(queue),
                    StreamQueue::Capture(capture) => {
                        capture.add(|recorded| {
                            recorded.simulator().push(Operation::Copy(Box::new(copy)));
                            Ok(())
                        })?;
                    }
                    StreamQueue::Gpu(_) => unreachable!("a stream is of its device's kind"),
                }
                Ok(())
            }
            (Target::Gpu(_) | Target::Simulator(_), _, _) => unreachable!("the memory is on the stream's device"),
        }
    }

    /// Copies from one GPU to another on a stream of one of the two; `None` if the buffers are not on two GPUs, or the stream is neither's.
    fn copy_between<T: DeviceCopy>(&self, from: &Buffer<T>, to: &Buffer<T>) -> Option<Result<()>> {
        let (Target::Gpu(gpu), Target::Gpu(source), Target::Gpu(target)) =
            (&self.device().target, &from.device().target, &to.device().target)
        else {
            return None;
        };
        let is_own = |device| self.device().shares_memory(device);
        if from.device().shares_memory(to.device()) || !is_own(from.device()) && !is_own(to.device()) {
            return None;
        }
        let ((Memory::Gpu(from_memory), from_start), (Memory::Gpu(to_memory), to_start)) = (from.place(), to.place())
        else {
            return None;
        };
        let bytes = from.len() * size_of::<T>();
        let StreamQueue::Gpu(queue) = &self.queue else { return Some(Err(GraphError::Peer.into())) };
        let (from, to) = ((&**source, &**from_memory, from_start), (&**target, &**to_memory, to_start));
        Some(gpu.copy_between(queue, from, to, bytes))
    }
}
