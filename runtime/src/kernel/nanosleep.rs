//! Suspends a thread for a while, for loops that wait for a flag. The simulator measures no time.

use crate::sim;

/// Suspends the thread for about this many nanoseconds, and at most for a millisecond: `__nanosleep`, which is `nanosleep.u32`.
/// Back-off in a loop that waits for a flag leaves the memory system to the other threads.
///
/// The hardware sleeps for any time from 0 to twice the duration, and a warp's threads may wake together (PTX ISA,
/// nanosleep). A sleep orders no memory accesses: what another thread wrote is read after an `Acquire` of the flag. The
/// simulator lets other threads run.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// The second block waits for the first one's value.
/// #[cluster_kernel(block = 1)]
/// fn hand_over(values: &mut [u32], flag: &mut [u32]) {
///     if this_grid().block_rank() == 0 {
///         values[0] = 42;
///         flag.atomic(0).store(1, Release);
///     } else {
///         let mut backoff = 32;
///         while flag.atomic(0).load(Acquire) == 0 {
///             nanosleep(backoff);
///             backoff = (2 * backoff).min(4_096);
///         }
///         values[1] = values[0] + 1;
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let (mut values, mut flag) = (device.zeros(2)?, device.zeros(1)?);
/// hand_over(&mut values, &mut flag).grid(2).launch(&device)?;
/// assert_eq!(values.read()?, [42, 43]);
/// # Ok(())
/// # }
/// ```
pub fn nanosleep(nanoseconds: u32) {
    let _ = nanoseconds; // The scheduler decides when the thread goes on.
    sim::with("`nanosleep()`", |context| context.suspend());
}
