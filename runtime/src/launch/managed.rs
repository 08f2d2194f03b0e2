//! Buffers that the host accesses, too, without copies of the program's own (CUDA C++ Programming Guide, Unified Memory).

use std::sync::Arc;

use super::buffer::{Buffer, Kind, Memory};
use super::device::{Device, Target};
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

impl Device {
    /// Returns a buffer of `len` elements, whose bytes are all zero, in managed memory: kernels use it as any other, and the host by
    /// [`Buffer::as_mut_slice`]. The driver moves pages to where they are used, so that it may be larger than the GPU's memory, and is slower than memory that stays there.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn double(values: &mut [u32]) {
    ///     values[this_grid().thread_rank()] *= 2;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut values = device.managed(64)?;
    /// values.as_mut_slice()?.fill(21);
    /// double(&mut values).grid(1).enqueue(&device)?;
    /// assert_eq!(values.as_mut_slice()?[63], 42);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Where the host may not access such memory while kernels run, as on Windows, there is none.
    pub fn managed<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeroed(self, len, Kind::Managed)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// Returns the elements of a buffer of [`Device::managed`] as memory of the host, after all work that uses them. If that has failed and
    /// the failure has not been returned yet, it returns that instead.
    ///
    /// As long as the slice is used, no kernel can take the buffer:
    ///
    /// ```compile_fail,E0502
    /// # use phalanx::Device;
    /// let device = Device::simulator();
    /// let mut buffer = device.managed::<u32>(4)?;
    /// let host = buffer.as_mut_slice()?;
    /// buffer.read()?;
    /// host[0] = 1;
    /// # Ok::<(), phalanx::Error>(())
    /// ```
    ///
    /// # Errors
    /// A graph that uses the buffer could be launched meanwhile. So it must have been dropped; and a part of a buffer has no such slice.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        let (device, len) = (self.device().clone(), self.len());
        let (memory, start) = self.place_mut();
        match (&device.target, memory) {
            (Target::Gpu(gpu), Memory::Gpu(memory)) => {
                gpu.host_slice(Arc::get_mut(memory).ok_or(Error::SharedMemory)?, start, len)
            }
            (_, Memory::Host(memory)) => {
                let host = Arc::get_mut(memory).ok_or(Error::SharedMemory)?;
                if host.kind != Kind::Managed {
                    return Err(Error::NotManaged);
                }
                device.synchronize()?;
                Ok(host.memory.as_mut_slice(start, len))
            }
            (Target::Simulator(_), Memory::Gpu(_)) => unreachable!("a buffer's memory is of its device's kind"),
        }
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

        #[cluster_kernel(block = 64)]
        pub(super) fn sum(values: &[u32], out: &mut [u32]) {
            let i = this_grid().thread_rank();
            out.atomic(0).fetch_add(values[i], Relaxed);
        }
    }
    use kernels::{halve, sum};

    #[test]
    fn the_host_and_kernels_take_turns() {
        on_each_device(|device| {
            let blocks = if device.is_simulator() { 4 } else { 1 << 14 };
            let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
            let mut values = device.managed::<u32>(64 * blocks as usize).unwrap();
            let mut total = device.zeros(1).unwrap();
            assert!(values.as_mut_slice().unwrap().iter().all(|value| *value == 0));
            for round in 1..5 {
                values.as_mut_slice().unwrap().fill(2 * round);
                halve(&mut values, 2).grid(blocks).on(&stream).enqueue().unwrap();
                sum(&values, &mut total).grid(blocks).on(&other).enqueue().unwrap();
                // The host waits for the kernel that reads, too.
                values.as_mut_slice().unwrap()[0] = 7;
                assert_eq!(values.as_mut_slice().unwrap()[1..], vec![round; 64 * blocks as usize - 1], "{device}");
            }
            assert_eq!(total.read().unwrap(), [64 * blocks * 10], "{device}");
            // Freed after the kernel.
            halve(&mut values, 1).grid(blocks).on(&stream).enqueue().unwrap();
            drop(values);
            stream.synchronize().unwrap();
            assert!(device.managed::<u64>(0).unwrap().as_mut_slice().unwrap().is_empty());
        });
    }

    #[test]
    fn a_failure_comes_before_the_slice() {
        on_each_device(|device| {
            let mut values = device.managed::<u32>(64).unwrap();
            halve(&mut values, 0).grid(1).enqueue(device).unwrap();
            let error = values.as_mut_slice().unwrap_err();
            let Error::Kernel(failure) = error else { panic!("{error}") };
            assert!(matches!(failure.cause, Cause::DivisionByZero { .. }), "{failure}");
            values.as_mut_slice().unwrap();
        });
    }

    #[test]
    fn memory_that_is_not_the_host_s_alone_is_refused() {
        on_each_device(|device| {
            assert!(matches!(device.zeros::<u32>(4).unwrap().as_mut_slice(), Err(Error::NotManaged)), "{device}");
            let mut values = device.managed::<u32>(64).unwrap();
            assert!(matches!(values.slice_mut(..4).unwrap().as_mut_slice(), Err(Error::SharedMemory)), "{device}");
            let graph = device.capture(|stream| halve(&mut values, 2).grid(1).on(stream).enqueue().map(drop)).unwrap();
            assert!(matches!(values.as_mut_slice(), Err(Error::SharedMemory)), "{device}");
            drop(graph);
            values.as_mut_slice().unwrap()[3] = 1;
            assert!(matches!(device.managed::<u64>(usize::MAX), Err(Error::BufferTooLarge { .. })), "{device}");
        });
    }

    #[test]
    #[cfg(feature = "gpu")]
    fn cudarc_gets_no_managed_memory() {
        on_each_device(|device| {
            let error = device.managed::<u32>(4).unwrap().into_cuda_slice().unwrap_err();
            let is_right = if device.is_simulator() {
                matches!(error, Error::WrongDevice { .. })
            } else {
                matches!(error, Error::ManagedMemory)
            };
            assert!(is_right, "{device}: {error}");
        });
    }
}
