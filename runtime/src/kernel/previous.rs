//! Launches that begin before the earlier ones have ended, from inside of a kernel (CUDA C++ Programming Guide, programmatic dependent
//! launch). The simulator runs the launches of a stream one after another.

use crate::sim;

/// Lets launches behind this one begin that are [`dependent`](crate::Launch::dependent), once all blocks of this launch have called it or
/// ended: `griddepcontrol.launch_dependents`. A block has called it when one of its threads has.
///
/// It tells them nothing about memory. What this launch writes, before the call or after it, is visible to a later launch after that
/// one's [`wait_previous`], which waits for the end of this launch. So it may be called as early as resources allow: what begins early takes
/// registers and shared memory that blocks of this launch may want.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64)]
/// fn scale(values: &mut [f32], factor: f32) {
///     wait_previous();
///     launch_dependents();
///     values[this_grid().thread_rank()] *= factor;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut values = device.upload(&[1.0f32; 64])?;
/// for _ in 0..3 {
///     scale(&mut values, 2.0).grid(1).dependent().enqueue(&device)?;
/// }
/// assert_eq!(values.read()?, [8.0; 64]);
/// # Ok(())
/// # }
/// ```
pub fn launch_dependents() {
    sim::with("`launch_dependents()`", |context| context.suspend());
}

/// Waits, in the thread that calls it, until the launches before this one on its stream have ended and what they wrote is visible:
/// `griddepcontrol.wait`. In a launch that is not [`dependent`](crate::Launch::dependent), it returns at once.
///
/// A kernel that calls it accesses global memory after the call alone, in every thread and on every path, and calls it before it ends
/// ([`access_before_previous`](crate::rules#access_before_previous)). What may stand before it: whatever needs values, shared memory, and
/// parameters that the option `early` names. It stands in the kernel itself, not in a device function or a closure.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64, early(table))]
/// fn look_up(table: &[u32], keys: &[u32], out: &mut [u32]) {
///     let block = this_thread_block();
///     let shared = shared_array::<u32, 64>();
///     shared[block.thread_rank()] = table[block.thread_rank()];
///     block.sync();
///     wait_previous();
///     let i = this_grid().thread_rank();
///     out[i] = shared[keys[i] % 64];
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let table: Vec<u32> = (0..64).map(|i| i * i).collect();
/// let keys: Vec<u32> = (0..128).collect();
/// let mut out = device.zeros(128)?;
/// look_up(&device.upload(&table)?, &device.upload(&keys)?, &mut out).grid(2).dependent().launch(&device)?;
/// assert_eq!(out.read()?[70], 36);
/// # Ok(())
/// # }
/// ```
pub fn wait_previous() {
    sim::with("`wait_previous()`", |context| context.wait_previous());
}
