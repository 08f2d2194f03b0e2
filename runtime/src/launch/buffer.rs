//! Memory on a device, as a typed array that the host copies to and from. Kernels borrow it as a slice.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::device::{Device, Target};
use super::host::{Host, HostQueue, Reserved};
use crate::gpu::{Gpu, GpuMemory};
use crate::kernel::memory::{Global, GlobalMemory, GlobalMut};
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

/// An array of `T` on a [`Device`]. A kernel takes `&Buffer<T>` as its `&[T]`, and `&mut Buffer<T>` as its `&mut [T]`.
/// The memory is freed when the buffer is dropped, after the kernels that use it.
///
/// ```
/// # use phalanx::Device;
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut buffer = device.upload(&[1, 2, 3])?;
/// buffer.write(&[4, 5, 6])?;
/// assert_eq!((buffer.len(), buffer.read()?), (3, vec![4, 5, 6]));
/// # Ok(())
/// # }
/// ```
pub struct Buffer<T: DeviceCopy> {
    device: Device,
    /// The first byte in the memory, which is not 0 in a [`View`](crate::View).
    start: usize,
    len: usize,
    memory: Memory,
    elements: PhantomData<T>,
}

/// The memory of a buffer, with at least as many bytes as the elements take.
#[derive(Clone)]
pub(super) enum Memory {
    Host(Arc<HostMemory>),
    Gpu(Arc<GpuMemory>),
}

/// Memory of a simulator, which counts towards what its device has.
pub(super) struct HostMemory {
    pub(super) memory: GlobalMemory,
    pub(super) kind: Kind,
    /// The stream whose work wrote it last, on which a read reports failures.
    writer: Mutex<Weak<HostQueue>>,
    _reserved: Reserved,
}

impl HostMemory {
    /// Notes work that may have written it.
    pub(super) fn written_on(&self, queue: &Arc<HostQueue>) {
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(queue);
    }

    /// Returns the first failure of the stream that wrote it last.
    fn finish(&self) -> Result<()> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        // A stream that is gone had no failures left.
        writer.map_or(Ok(()), |writer| writer.synchronize())
    }
}

/// Whether the host accesses the elements in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Device,
    Managed,
}

impl Memory {
    fn host(
        host: &Arc<Host>,
        bytes: usize,
        kind: Kind,
        memory: impl FnOnce() -> Option<GlobalMemory>,
    ) -> Result<Memory> {
        let reserved = Host::reserve(host, bytes).ok_or(Error::OutOfMemory { bytes })?;
        let memory = memory().ok_or(Error::OutOfMemory { bytes })?;
        Ok(Memory::Host(Arc::new(HostMemory { memory, kind, writer: Mutex::default(), _reserved: reserved })))
    }
}

impl<T: DeviceCopy> Buffer<T> {
    fn uploaded(device: &Device, data: &[T]) -> Result<Self> {
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(Arc::new(gpu.upload(data)?)),
            Target::Simulator(host) => {
                Memory::host(host, size_of_val(data), Kind::Device, || GlobalMemory::try_from_slice(data))?
            }
        };
        Ok(Buffer::new(device, data.len(), memory))
    }

    /// Makes a buffer of zeros.
    pub(super) fn zeroed(device: &Device, len: usize, kind: Kind) -> Result<Self> {
        let size = size_of::<T>();
        let bytes = len.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or(Error::BufferTooLarge { len, size })?;
        let memory = match &device.target {
            Target::Gpu(gpu) => Memory::Gpu(Arc::new(match kind {
                Kind::Device => gpu.zeros(bytes)?,
                Kind::Managed => gpu.managed(bytes)?,
            })),
            Target::Simulator(host) => Memory::host(host, bytes, kind, || GlobalMemory::try_zeros(bytes))?,
        };
        Ok(Buffer::new(device, len, memory))
    }

    pub(super) fn new(device: &Device, len: usize, memory: Memory) -> Self {
        Buffer { device: device.clone(), start: 0, len, memory, elements: PhantomData }
    }

    /// Makes a buffer of memory of a GPU by its address, which the caller vouches for.
    pub(super) fn at(device: &Device, address: u64, len: usize) -> Result<Self> {
        Buffer::made(device, address, len, GpuMemory::at)
    }

    /// Makes a buffer of memory that `make` makes of an address of a GPU.
    pub(super) fn made(
        device: &Device,
        address: u64,
        len: usize,
        make: fn(&Gpu, u64, usize) -> Result<GpuMemory>,
    ) -> Result<Self> {
        let Target::Gpu(gpu) = &device.target else {
            return Err(Error::WrongDevice { expected: device.to_string(), found: "a GPU".into() });
        };
        let (size, alignment) = (size_of::<T>(), align_of::<T>());
        match address % alignment as u64 {
            0 => {}
            past => return Err(Error::MisalignedElements { ty: T::info().to_string(), past, alignment }),
        }
        let bytes = len.checked_mul(size).ok_or(Error::BufferTooLarge { len, size })?;
        make(gpu, address, bytes).map(|memory| Buffer::new(device, len, Memory::Gpu(Arc::new(memory))))
    }

    /// Returns the same memory from the element `start` on. The caller sees to it that nobody writes to one of the two
    /// while the other is used.
    pub(super) fn part(&self, start: usize, len: usize) -> Self {
        let (device, memory) = (self.device.clone(), self.memory.clone());
        Buffer { device, start: self.start + start * size_of::<T>(), len, memory, elements: PhantomData }
    }

    /// Returns the same memory as so many elements of a type of which, as of `T`, all values are sequences of one and the same type. The first is
    /// aligned, and they take no more bytes. The caller sees to it that nobody writes to one of the two while the other is used.
    pub(super) fn reinterpreted<U: DeviceCopy>(&self, len: usize) -> Buffer<U> {
        assert!(T::scalar_type() == U::scalar_type() && len * size_of::<U>() <= self.len * size_of::<T>());
        let (device, memory) = (self.device.clone(), self.memory.clone());
        Buffer { device, start: self.start, len, memory, elements: PhantomData }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device that the memory is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns a copy of the elements, after the launches on the device's default stream and on the stream that wrote the buffer last have
    /// ended. If one of those has failed and the failure has not been returned yet, it returns that failure instead.
    pub fn read(&self) -> Result<Vec<T>> {
        self.read_range(..)
    }

    /// Returns a copy of these elements, as [`Buffer::read`] does of all.
    ///
    /// ```
    /// # use phalanx::Device;
    /// # fn main() -> phalanx::Result<()> {
    /// let mut buffer = Device::simulator().upload(&[1, 2, 3, 4, 5])?;
    /// buffer.write_at(1, &[20, 30])?;
    /// assert_eq!(buffer.read_range(..3)?, [1, 20, 30]);
    /// assert_eq!(buffer.read_range(4..9).unwrap_err().to_string(), "elements 4..9 are not all in a buffer of 5");
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_range(&self, range: impl RangeBounds<usize>) -> Result<Vec<T>> {
        let range = self.checked(range)?;
        let start = self.start + range.start * size_of::<T>();
        match (&self.device.target, &self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.read(memory, start, range.len()),
            (Target::Simulator(device), Memory::Host(memory)) => {
                device.default.synchronize()?;
                memory.finish()?;
                Ok(memory.memory.read_part(start, range.len()))
            }
            (Target::Gpu(_), Memory::Host(_)) => unreachable!("`new` is given memory of the device"),
            (Target::Simulator(_), Memory::Gpu(_)) => unreachable!("`new` is given memory of the device"),
        }
    }

    /// Returns the range, if the buffer has all of its elements.
    pub(super) fn checked(&self, range: impl RangeBounds<usize>) -> Result<Range<usize>> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        match start <= end && end <= self.len {
            true => Ok(start..end),
            false => Err(Error::RangeOutOfBounds { start, end, len: self.len }),
        }
    }

    /// Overwrites all elements, after all launches that use the buffer have ended. The data must have as many elements as the buffer.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        if data.len() != self.len {
            return Err(Error::LengthMismatch { buffer: self.len, data: data.len() });
        }
        self.write_at(0, data)
    }

    /// Overwrites the elements from `start` on, as [`Buffer::write`] does all.
    pub fn write_at(&mut self, start: usize, data: &[T]) -> Result<()> {
        let range = self.checked(start..start.saturating_add(data.len()))?;
        let start = self.start + range.start * size_of::<T>();
        match (&self.device.target, &self.memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => gpu.write(memory, start, data),
            (_, Memory::Host(host)) => {
                host.memory.write(start, data);
                Ok(())
            }
            (Target::Simulator(_), Memory::Gpu(_)) => unreachable!("`new` is given memory of the device"),
        }
    }

    /// Overwrites all elements with those of another buffer of the device, which has as many. It comes after the earlier launches
    /// that use either, and the host does not wait for it.
    ///
    /// ```
    /// # use phalanx::Device;
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let (from, mut to) = (device.upload(&[1, 2, 3])?, device.zeros(3)?);
    /// to.copy_from(&from)?;
    /// assert_eq!(to.read()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<()> {
        self.device.default_stream().copy(source, self)
    }

    /// Returns the memory, and the place of the first element in it, in bytes.
    pub(super) fn place(&self) -> (&Memory, usize) {
        (&self.memory, self.start)
    }

    /// The same, to change the memory.
    pub(super) fn place_mut(&mut self) -> (&mut Memory, usize) {
        (&mut self.memory, self.start)
    }

    /// Returns the device, the number of elements and the memory.
    pub(super) fn into_parts(self) -> (Device, usize, Memory) {
        (self.device, self.len, self.memory)
    }

    /// Returns the address on the GPU, or 0 in the simulator, where no kernel uses it.
    pub(crate) fn address(&self) -> u64 {
        match (&self.device.target, &self.memory) {
            (Target::Gpu(_), Memory::Gpu(memory)) => memory.address() + self.start as u64,
            (Target::Gpu(_) | Target::Simulator(_), _) => 0,
        }
    }

    /// Returns the address of the first element, or its distance from the start of its memory in the simulator, where all memory
    /// starts at a multiple of 16 bytes.
    pub(super) fn first_byte(&self) -> u64 {
        match &self.memory {
            Memory::Gpu(_) => self.address(),
            Memory::Host(_) => self.start as u64,
        }
    }

    /// Returns the memory.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the memory on the GPU, or `None` in the simulator.
    pub(crate) fn gpu_memory(&self) -> Option<&Arc<GpuMemory>> {
        match &self.memory {
            Memory::Gpu(memory) => Some(memory),
            Memory::Host(_) => None,
        }
    }

    /// Returns the memory as the host body sees it. It is empty if the memory is a GPU's, because the host body then
    /// does not run.
    pub(crate) fn global(&self) -> Global<'_, T> {
        match &self.memory {
            Memory::Host(host) => Global::part_of(&host.memory, self.start, self.len),
            Memory::Gpu(_) => Global::empty(),
        }
    }

    /// Returns the memory as the host body sees a `&mut [T]`.
    pub(crate) fn global_mut(&mut self) -> GlobalMut<'_, T> {
        match &self.memory {
            Memory::Host(host) => GlobalMut::part_of(&host.memory, self.start, self.len),
            Memory::Gpu(_) => GlobalMut::empty(),
        }
    }
}

/// Allocates memory.
impl Device {
    /// Returns a buffer with a copy of `data`.
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>> {
        Buffer::uploaded(self, data)
    }

    /// Returns a buffer of `len` elements, whose bytes are all zero.
    pub fn zeros<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeroed(self, len, Kind::Device)
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} elements, {})", T::info(), self.len, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let device = Device::simulator();
        let mut buffer = device.zeros::<u64>(3).unwrap();
        assert_eq!(buffer.read().unwrap(), [0; 3]);
        buffer.write(&[1, 2, u64::MAX]).unwrap();
        assert_eq!(buffer.read().unwrap(), [1, 2, u64::MAX]);
        assert!(matches!(buffer.write(&[1]), Err(Error::LengthMismatch { buffer: 3, data: 1 })));
        assert!(device.upload::<f32>(&[]).unwrap().is_empty());
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        let bytes = isize::MAX as usize / 16 * 16;
        let error = Device::simulator().zeros::<u64>(bytes / 8).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { bytes: asked } if asked == bytes), "{error}");
    }

    #[test]
    fn a_simulator_has_as_much_memory_as_an_h100() {
        let device = Device::simulator();
        let limit = device.caps().memory_bytes;
        let error = device.zeros::<u8>(limit + 1).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { bytes } if bytes == limit + 1), "{error}");
        let Target::Simulator(host) = &device.target else { unreachable!("it is a simulator") };
        let most = Host::reserve(host, limit - 16).unwrap();
        let rest = device.zeros::<u64>(2).unwrap();
        assert!(matches!(device.zeros::<u8>(1), Err(Error::OutOfMemory { bytes: 1 })));
        drop((most, rest));
        assert_eq!(device.zeros::<u64>(2).unwrap().read().unwrap(), [0; 2]);
    }

    #[test]
    fn ranges_are_read_and_written() {
        let device = Device::simulator();
        let mut buffer = device.upload(&[0u16, 1, 2, 3, 4]).unwrap();
        buffer.write_at(3, &[30, 40]).unwrap();
        assert_eq!((buffer.read_range(2..=3).unwrap(), buffer.read_range(5..).unwrap()), (vec![2, 30], vec![]));
        assert!(matches!(buffer.write_at(4, &[1, 2]), Err(Error::RangeOutOfBounds { start: 4, end: 6, len: 5 })));
        #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
        let reversed = buffer.read_range(3..2);
        assert!(matches!(reversed, Err(Error::RangeOutOfBounds { start: 3, end: 2, len: 5 })));
        assert!(matches!(buffer.read_range(..usize::MAX), Err(Error::RangeOutOfBounds { .. })));
        let mut other = device.zeros(4).unwrap();
        assert!(matches!(other.copy_from(&buffer), Err(Error::LengthMismatch { buffer: 4, data: 5 })));
    }

    #[test]
    fn more_elements_than_an_address_reaches_are_refused() {
        assert!(matches!(Device::simulator().zeros::<u64>(usize::MAX), Err(Error::BufferTooLarge { .. })));
    }
}
