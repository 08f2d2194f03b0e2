//! The timers of the hardware, which threads read to measure themselves.

use crate::sim;

/// Returns the cycles that the thread's multiprocessor has counted: CUDA's `clock64()`, `%clock64`. Differences of two reads by one thread
/// are times; multiprocessors count from different beginnings. It orders no accesses to memory.
///
/// The simulator counts the steps of the thread instead. The value differs between threads, so that no barrier may depend on it.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 32)]
/// fn timed(data: &mut [f32], cycles: &mut [u64]) {
///     let i = this_grid().thread_rank();
///     let begin = cuda::clock64();
///     for _ in 0..100 {
///         data[i] = data[i].mul_add(0.5, 1.0);
///     }
///     cycles[i] = cuda::clock64() - begin;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (mut data, mut cycles) = (device.zeros(32)?, device.zeros(32)?);
/// timed(&mut data, &mut cycles).grid(1).launch(&device)?;
/// assert!(cycles.read()?.iter().all(|cycles| *cycles > 0));
/// # Ok(())
/// # }
/// ```
pub fn clock64() -> u64 {
    sim::with("`cuda::clock64()`", |context| context.thread.time.get())
}

/// Returns the nanoseconds of the device's timer, which all multiprocessors share: CUDA's `__globaltimer()`, `%globaltimer`. Its resolution
/// is about a microsecond on some devices. It orders no accesses to memory. The simulator measures no time, and counts as
/// [`clock64`] does.
pub fn globaltimer() -> u64 {
    sim::with("`cuda::globaltimer()`", |context| context.thread.time.get())
}
