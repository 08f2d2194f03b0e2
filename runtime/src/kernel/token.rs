//! Arrival tokens, which an arrival at a barrier returns and a wait consumes. The type determines the group or the
//! barrier, and the value is the phase. rustc ensures that a token is used at most once, and the checks that it is used
//! at least once.

use std::marker::PhantomData;

use crate::sim::ArrivalPhase;

/// The proof of one arrival at the barrier of a group (`ArrivalToken<Cluster>`) or at a phase barrier
/// (`ArrivalToken<Barrier>`); its wait consumes it. A group's token must be waited for or forgotten on every path. A phase
/// barrier's token may be dropped, because a thread that arrives there need not wait.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[device]
/// fn publish(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> ArrivalToken<Cluster> {
///     array[i] = i * i;
///     cluster.barrier_arrive()
/// }
///
/// #[cluster_kernel(cluster = 2, block = 32)]
/// fn squares(out: &mut [u32]) {
///     let cluster = this_cluster();
///     let i = this_thread_block().thread_rank();
///     let array = shared_array::<u32, 32>();
///     let token: ArrivalToken<Cluster> = publish(&cluster, &array, i);
///     let remote = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
///     cluster.barrier_wait(token);
///     out[cluster.thread_rank()] = remote[31 - i];
///     cluster.sync();
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(64)?;
/// squares(&mut out).grid(2).launch(&device)?;
/// assert_eq!(out.read()?[..2], [961, 900]);
/// # Ok(())
/// # }
/// ```
#[must_use = "pass it to the barrier's wait, or write `let _ =` where others wait for this arrival"]
#[derive(Debug)]
pub struct ArrivalToken<G> {
    phase: u64,
    /// The number of the phase barrier's initialization; 0 for a group, which has only one barrier.
    barrier: u32,
    /// A pointer, so that the token stays with its thread.
    group: PhantomData<*const G>,
}

impl<G> ArrivalToken<G> {
    pub(crate) fn new(phase: u64) -> Self {
        ArrivalToken { phase, barrier: 0, group: PhantomData }
    }

    pub(crate) fn phase(self) -> u64 {
        self.phase
    }

    pub(crate) fn of_barrier(ArrivalPhase { barrier, phase }: ArrivalPhase) -> Self {
        ArrivalToken { phase, barrier, group: PhantomData }
    }

    pub(crate) fn ticket(&self) -> ArrivalPhase {
        ArrivalPhase { barrier: self.barrier, phase: self.phase }
    }
}
