//! Memory of the host that a GPU copies from and to while the host goes on, and such a copy while it is in flight.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::buffer::{Buffer, Memory};
use super::device::{Device, Target};
use super::host::HostQueue;
use super::stream::{Stream, StreamQueue};
use crate::gpu::{GpuCopy, Mark, Pinned};
use crate::kernel::memory::GlobalMemory;
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};
use crate::report::graph::GraphError;

/// Page-locked memory of the host, as a slice: what [`Stream::upload`] and [`Stream::download`] copy while the host goes on. In the
/// simulator, it is memory like any other.
pub struct PinnedBuffer<T: DeviceCopy> {
    pages: Pages<T>,
}

enum Pages<T> {
    Gpu(Pinned<T>),
    Simulator(Vec<T>),
}

impl Device {
    /// Returns page-locked memory of the host for copies with this device, with `len` elements whose bytes are all zero.
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let size = size_of::<T>();
        let bytes = len.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or(Error::BufferTooLarge { len, size })?;
        let pages = match &self.target {
            Target::Gpu(gpu) => Pages::Gpu(gpu.pinned(len)?),
            Target::Simulator(_) => {
                let zeros = GlobalMemory::try_zeros(bytes).ok_or(Error::OutOfMemory { bytes })?;
                Pages::Simulator(zeros.read_part(0, len))
            }
        };
        Ok(PinnedBuffer { pages })
    }
}

impl<T: DeviceCopy> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.pages {
            Pages::Gpu(pinned) => pinned.as_slice(),
            Pages::Simulator(elements) => elements,
        }
    }
}

impl<T: DeviceCopy> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.pages {
            Pages::Gpu(pinned) => pinned.as_mut_slice(),
            Pages::Simulator(elements) => elements,
        }
    }
}

/// A copy with memory of the host, which it has until [`PinnedCopy::wait`] or `.await` returns it: nothing can be written to it, or freed, while the
/// GPU accesses it. If the copy is dropped, the memory is freed after its end, for which the host waits then.
#[must_use = "dropping it waits for the copy, and frees the host's memory; call `.wait()`"]
pub struct PinnedCopy<T: DeviceCopy> {
    stream: Stream,
    copy: Copied<T>,
}

enum Copied<T: DeviceCopy> {
    Gpu(GpuCopy<T>),
    Simulator(Vec<T>),
}

impl Stream {
    /// Copies memory of the host to all elements of a buffer, after all earlier work that uses the buffer. The host does not wait for it, and gets
    /// the memory back from [`PinnedCopy::wait`].
    ///
    /// ```
    /// # use phalanx::Device;
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let (mut buffer, mut host) = (device.zeros(3)?, device.pinned(3)?);
    /// host.copy_from_slice(&[1, 2, 3]);
    /// let copy = stream.upload(host, &mut buffer)?;
    /// // Other work of the host is done here.
    /// let host = copy.wait()?;
    /// let host = stream.download(&buffer, host)?.wait()?;
    /// assert_eq!(host[..], [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The memory is the copy's meanwhile:
    ///
    /// ```compile_fail,E0382
    /// # use phalanx::Device;
    /// # let device = Device::simulator();
    /// # let stream = device.stream()?;
    /// let (mut buffer, mut host) = (device.zeros(3)?, device.pinned(3)?);
    /// let copy = stream.upload(host, &mut buffer)?;
    /// host[0] = 7;
    /// # Ok::<(), phalanx::Error>(())
    /// ```
    pub fn upload<T: DeviceCopy>(&self, from: PinnedBuffer<T>, to: &mut Buffer<T>) -> Result<PinnedCopy<T>> {
        self.check_copy(to, &from)?;
        let copy = match (&self.queue, to.place(), from.pages) {
            (StreamQueue::Capture(_), _, _) => return Err(GraphError::HostMemory.into()),
            (StreamQueue::Gpu(queue), (Memory::Gpu(to), start), Pages::Gpu(host)) => {
                Copied::Gpu(queue.upload(host, (to, start))?)
            }
            (StreamQueue::Simulator(queue), (Memory::Host(to), start), Pages::Simulator(host)) => {
                to.memory.write(start, &host);
                to.written_on(queue);
                Copied::Simulator(host)
            }
            (StreamQueue::Gpu(_) | StreamQueue::Simulator(_), _, _) => unreachable!("`check_copy` has compared them"),
        };
        Ok(PinnedCopy { stream: self.clone(), copy })
    }

    /// Copies all elements of a buffer to memory of the host, after the earlier work that writes the buffer. The host does not wait for it, and
    /// gets the memory back from [`PinnedCopy::wait`].
    pub fn download<T: DeviceCopy>(&self, from: &Buffer<T>, to: PinnedBuffer<T>) -> Result<PinnedCopy<T>> {
        self.check_copy(from, &to)?;
        let copy = match (&self.queue, from.place(), to.pages) {
            (StreamQueue::Capture(_), _, _) => return Err(GraphError::HostMemory.into()),
            (StreamQueue::Gpu(queue), (Memory::Gpu(from), start), Pages::Gpu(host)) => {
                Copied::Gpu(queue.download((from, start), host)?)
            }
            (StreamQueue::Simulator(_), (Memory::Host(memory), start), Pages::Simulator(_)) => {
                Copied::Simulator(memory.memory.read_part(start, from.len()))
            }
            (StreamQueue::Gpu(_) | StreamQueue::Simulator(_), _, _) => unreachable!("`check_copy` has compared them"),
        };
        Ok(PinnedCopy { stream: self.clone(), copy })
    }

    fn check_copy<T: DeviceCopy>(&self, buffer: &Buffer<T>, host: &PinnedBuffer<T>) -> Result<()> {
        if buffer.len() != host.len() {
            return Err(Error::LengthMismatch { buffer: buffer.len(), data: host.len() });
        }
        let device = self.device();
        if !device.shares_memory(buffer.device()) {
            return Err(Error::WrongDevice { expected: device.to_string(), found: buffer.device().to_string() });
        }
        match (&device.target, &host.pages) {
            (Target::Gpu(_), Pages::Gpu(_)) | (Target::Simulator(_), Pages::Simulator(_)) => Ok(()),
            (Target::Gpu(_) | Target::Simulator(_), _) => {
                let found = if device.is_simulator() { "a GPU" } else { "the simulator" };
                Err(Error::ForeignPinned { expected: device.to_string(), found: found.into() })
            }
        }
    }
}

impl<T: DeviceCopy> PinnedCopy<T> {
    /// Waits for the end of the copy, and returns the memory of the host. If a kernel before it on the stream has failed, for which no handle waits,
    /// it returns that failure instead.
    pub fn wait(self) -> Result<PinnedBuffer<T>> {
        let pages = match (&self.stream.device.target, &self.stream.queue, self.copy) {
            (Target::Gpu(gpu), _, Copied::Gpu(copy)) => Pages::Gpu(gpu.finish_copy(copy)?),
            (_, StreamQueue::Simulator(queue), Copied::Simulator(host)) => {
                HostQueue::synchronize(queue)?;
                Pages::Simulator(host)
            }
            (Target::Gpu(_) | Target::Simulator(_), _, _) => unreachable!("a copy is of its stream's kind"),
        };
        Ok(PinnedBuffer { pages })
    }

    /// Returns its end on a GPU.
    pub(super) fn mark(&self) -> Option<&Arc<Mark>> {
        match &self.copy {
            Copied::Gpu(copy) => Some(copy.ended()),
            Copied::Simulator(_) => None,
        }
    }

    /// Returns whether the copy has ended.
    pub fn is_complete(&self) -> Result<bool> {
        match &self.copy {
            Copied::Gpu(copy) => copy.is_complete(),
            Copied::Simulator(_) => Ok(true),
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer<{}>({} elements)", T::info(), self.len())
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedCopy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedCopy<{}>({:?})", T::info(), self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::on_each_device::on_each_device;
    use crate::report::failure::Cause;

    mod kernels {
        use crate::prelude::*;

        #[cluster_kernel(block = 64)]
        pub(super) fn halve(values: &mut [u32], divisor: u32) {
            values[this_grid().thread_rank()] /= divisor;
        }

        #[cluster_kernel(block = 1)]
        pub(super) fn no_bool(out: &mut [bool]) {
            out[0] = true;
            // SAFETY: the test is that what is no value does not become one.
            unsafe {
                cuda!("*reinterpret_cast<unsigned char*>(&out[usize(1)]) = 7;", in(out); else |_out| ());
            }
        }
    }
    use kernels::{halve, no_bool};

    /// Enough elements that a copy takes longer than to enqueue it.
    const ELEMENTS: usize = 1 << 20;

    #[test]
    fn copies_keep_the_order_of_the_stream() {
        on_each_device(|device| {
            let elements = if device.is_simulator() { 1 << 10 } else { ELEMENTS };
            let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
            let mut buffer = device.zeros::<u32>(elements).unwrap();
            let mut host = device.pinned(elements).unwrap();
            assert!(host.iter().all(|value| *value == 0));
            for round in 1..=10 {
                host.fill(4 * round);
                let upload = stream.upload(host, &mut buffer).unwrap();
                halve(&mut buffer, 2).grid(elements as u32 / 64).on(&other).enqueue().unwrap();
                let download = stream.download(&buffer, device.pinned(elements).unwrap()).unwrap();
                host = download.wait().unwrap();
                assert!(host.iter().all(|value| *value == 2 * round), "{device}, round {round}");
                let first = upload.wait().unwrap();
                assert!(first.iter().all(|value| *value == 4 * round), "{device}, round {round}");
            }
            // The memory outlives the copy, and the buffer's memory too.
            drop(stream.upload(host, &mut buffer).unwrap());
            let copy = stream.download(&buffer, device.pinned(elements).unwrap()).unwrap();
            drop(buffer);
            assert_eq!(copy.wait().unwrap()[elements - 1], 20, "{device}");
            let mut part = device.upload(&[1u32, 2, 3, 4]).unwrap();
            let two = stream.download(&part.slice(1..3).unwrap(), device.pinned(2).unwrap()).unwrap().wait().unwrap();
            assert_eq!(two[..], [2, 3], "{device}");
            stream.upload(two, &mut part.slice_mut(2..).unwrap()).unwrap().wait().unwrap();
            assert_eq!(part.read().unwrap(), [1, 2, 2, 3], "{device}");
            let none = stream.download(&device.zeros::<u32>(0).unwrap(), device.pinned(0).unwrap()).unwrap();
            assert!(none.wait().unwrap().is_empty());
        });
    }

    #[test]
    fn a_failure_before_the_copy_is_its_error() {
        on_each_device(|device| {
            let stream = device.stream().unwrap();
            let mut buffer = device.zeros::<u32>(64).unwrap();
            drop(halve(&mut buffer, 0).grid(1).on(&stream).enqueue().unwrap());
            let error = stream.download(&buffer, device.pinned(64).unwrap()).unwrap().wait().unwrap_err();
            let Error::Kernel(failure) = error else { panic!("{error}") };
            assert!(matches!(failure.cause, Cause::DivisionByZero { .. }), "{failure}");
            stream.synchronize().unwrap();
            let kept = halve(&mut buffer, 0).grid(1).on(&stream).enqueue().unwrap();
            stream.download(&buffer, device.pinned(64).unwrap()).unwrap().wait().unwrap();
            kept.wait().unwrap_err();
        });
    }

    #[test]
    fn bytes_that_are_no_value_are_an_error() {
        on_each_device(|device| {
            let stream = device.stream().unwrap();
            let mut buffer = device.zeros::<bool>(2).unwrap();
            no_bool(&mut buffer).grid(1).on(&stream).launch().unwrap();
            let result = stream.download(&buffer, device.pinned(2).unwrap()).unwrap().wait();
            match device.is_simulator() {
                true => assert_eq!(result.unwrap()[..], [true, false]),
                false => assert!(matches!(result, Err(Error::InvalidValue { index: 1, .. }))),
            }
        });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        on_each_device(|device| {
            let stream = device.stream().unwrap();
            let mut buffer = device.zeros::<u32>(3).unwrap();
            let error = stream.upload(device.pinned(4).unwrap(), &mut buffer).unwrap_err();
            assert!(matches!(error, Error::LengthMismatch { buffer: 3, data: 4 }), "{error}");
            let error = stream.download(&buffer, device.pinned(2).unwrap()).unwrap_err();
            assert!(matches!(error, Error::LengthMismatch { buffer: 3, data: 2 }), "{error}");
            let host = device.pinned(3).unwrap();
            let error = device.capture(|stream| stream.upload(host, &mut buffer).map(drop)).unwrap_err();
            assert!(matches!(error, Error::Graph(GraphError::HostMemory)), "{error}");
            assert!(matches!(device.pinned::<u64>(usize::MAX), Err(Error::BufferTooLarge { .. })));
            if !device.is_simulator() {
                let host = Device::simulator().pinned(3).unwrap();
                let error = stream.upload(host, &mut buffer).unwrap_err();
                assert!(matches!(error, Error::ForeignPinned { .. }), "{error}");
            }
        });
    }
}
