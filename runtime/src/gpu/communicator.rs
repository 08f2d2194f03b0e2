//! Collectives of several GPUs, which NCCL computes on their streams. Each rank's part waits for the earlier work on its memory, as any work
//! on a stream does, and later work waits for it.

use std::sync::{Arc, Mutex, PoisonError};

use super::context::Gpu;
use super::ffi::driver;
use super::ffi::nccl::{self, Comm};
use super::mode::Access;
use super::queue::{GpuMemory, Queue};
use crate::report::error::Result;
use crate::report::nccl::{Collective, ElementKind, UniqueId};

/// The ranks of a communicator that this process has.
pub(crate) struct GpuCommunicator {
    ranks: Mutex<Vec<Comm>>,
}

/// What a rank brings to a collective: a stream, and so many elements of a memory from a byte on.
pub(crate) struct Part<'a> {
    pub(crate) queue: &'a Arc<Queue>,
    pub(crate) memory: &'a GpuMemory,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) count: usize,
}

/// Returns the identity of a new communicator.
pub(crate) fn unique_id() -> Result<UniqueId> {
    nccl::unique_id()
}

impl GpuCommunicator {
    /// Makes a communicator of these GPUs, one rank each.
    pub(crate) fn of_gpus(gpus: &[&Arc<Gpu>]) -> Result<GpuCommunicator> {
        let ordinals: Vec<usize> = gpus.iter().map(|gpu| gpu.ordinal()).collect();
        Ok(GpuCommunicator { ranks: Mutex::new(Comm::all(&ordinals)?) })
    }

    /// Joins a communicator of several processes with one GPU, and waits for the others.
    pub(crate) fn of_rank(gpu: &Gpu, rank: usize, size: usize, id: UniqueId) -> Result<GpuCommunicator> {
        gpu.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        Ok(GpuCommunicator { ranks: Mutex::new(vec![Comm::of_rank(rank, size, id)?]) })
    }

    /// Enqueues a collective, with the parts of the ranks in their order, each on another GPU.
    pub(crate) fn enqueue(&self, collective: Collective, kind: ElementKind, parts: &[Part<'_>]) -> Result<()> {
        parts.iter().try_for_each(|part| part.queue.check_not_capturing())?;
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        // NCCL enqueues at the end of the group, on all streams, which until then take no other work.
        in_order(parts, &mut || {
            nccl::together(|| {
                ranks.iter_mut().zip(parts).try_for_each(|(rank, part)| {
                    let region = part.memory.region().part(part.start, part.bytes);
                    rank.enqueue(part.queue.stream(), region, (kind, part.count), collective)
                })
            })
        })
    }
}

/// Does `work` as work of all streams, each of which comes after what its memory is used by. Ranks are locked in their order, so that two
/// threads do not wait for each other.
fn in_order(parts: &[Part<'_>], work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    match parts.split_first() {
        None => work(),
        Some((first, rest)) => first.queue.enqueue(&[(first.memory, Access::Write)], |_| in_order(rest, work)),
    }
}
