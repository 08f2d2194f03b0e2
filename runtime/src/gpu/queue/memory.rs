//! Memory of a GPU, and the streams that use it. Like cudarc, we let a stream wait for what other streams do with the memory that
//! it uses; unlike cudarc, which keeps one event for all readers, we remember each stream that reads.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::super::context::Gpu;
use super::super::ffi::{Allocation, Owner, Region};
use super::super::mode::Access;
use super::Queue;
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

/// Device memory as bytes. It is freed in the order of the default stream.
pub(crate) struct GpuMemory {
    /// `None` after [`GpuMemory::into_allocation`].
    allocation: Option<Allocation>,
    address: u64,
    /// The device's default stream.
    home: Arc<Queue>,
    uses: Mutex<Uses>,
    /// Who else works on the memory, if it is borrowed from cudarc.
    owner: Option<Owner>,
    /// Whether it is lent for a time, which the program does not vouch for.
    is_lent: bool,
    /// Whether the borrow has ended, although there is still a handle of the memory.
    ended: RwLock<bool>,
}

/// The last work on some memory, by the stream and the number of the work.
#[derive(Default)]
struct Uses {
    write: Option<(Arc<Queue>, u64)>,
    /// Of each stream that has read since.
    reads: Vec<(Arc<Queue>, u64)>,
}

impl GpuMemory {
    /// Makes memory of an allocation of the default stream `home`.
    pub(in crate::gpu) fn new(home: &Arc<Queue>, allocation: Allocation) -> GpuMemory {
        let address = allocation.address();
        let (home, uses, ended) = (home.clone(), Mutex::default(), RwLock::new(false));
        GpuMemory { allocation: Some(allocation), address, home, uses, owner: None, is_lent: false, ended }
    }

    /// Makes memory that is borrowed. It is used only as long as the borrow lasts.
    pub(in crate::gpu) fn borrowed(home: &Arc<Queue>, (allocation, owner): (Allocation, Owner)) -> GpuMemory {
        let mut memory = GpuMemory::new(home, allocation);
        (memory.owner, memory.is_lent) = (Some(owner), true);
        memory
    }

    /// Makes memory of an address that is the program's until [`GpuMemory::end_borrow`].
    pub(crate) fn lent(gpu: &Gpu, address: u64, bytes: usize) -> Result<GpuMemory> {
        let mut memory = GpuMemory::at(gpu, address, bytes)?;
        memory.is_lent = true;
        Ok(memory)
    }

    /// Makes memory of an address that the caller vouches for.
    pub(crate) fn at(gpu: &Gpu, address: u64, bytes: usize) -> Result<GpuMemory> {
        Ok(GpuMemory::new(gpu.default_queue(), Allocation::foreign(address, bytes)))
    }

    /// Returns whether the program vouches for it, for as long as any graph has its address.
    pub(in crate::gpu) fn is_vouched_for(&self) -> bool {
        self.is_borrowed() && !self.is_lent
    }

    /// Returns who else works on the memory, if it is borrowed from cudarc.
    pub(in crate::gpu) fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// Ends a borrow, after the uses that other threads of the host make of it right now.
    pub(crate) fn end_borrow(&self) {
        *self.ended.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Keeps a borrow from ending as long as the guard lives. Fails if it has ended.
    pub(in crate::gpu) fn keep_borrow(&self) -> Result<RwLockReadGuard<'_, bool>> {
        let ended = self.ended.read().unwrap_or_else(PoisonError::into_inner);
        if *ended { Err(Error::BorrowEnded) } else { Ok(ended) }
    }

    /// Returns whether the memory belongs to someone else: another user of cudarc, or whoever gave its address.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.allocation.as_ref().is_some_and(Allocation::is_foreign)
    }

    /// Returns whether the host accesses it, too. Such memory is freed at once, not in the order of a stream.
    fn is_managed(&self) -> bool {
        self.allocation.as_ref().is_some_and(Allocation::is_managed)
    }

    /// Returns elements as the host's, which no work uses.
    pub(in crate::gpu) fn host_slice<T: DeviceCopy>(&mut self, bytes: Range<usize>) -> Result<&mut [T]> {
        self.allocation.as_mut().expect("only `into_allocation` takes it, with `self`").host_slice(bytes)
    }

    /// Returns the address on the device.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the addresses of its bytes.
    pub(in crate::gpu) fn bytes(&self) -> Range<u64> {
        self.address..self.address + self.region().len() as u64
    }

    /// Returns all of its bytes.
    pub(in crate::gpu) fn region(&self) -> Region<'_> {
        self.allocation.as_ref().expect("only `into_allocation` takes it, with `self`").region()
    }

    /// Returns the allocation, which all work has left.
    pub(in crate::gpu) fn into_allocation(mut self) -> Allocation {
        self.allocation.take().expect("this method alone takes it, and `self` with it")
    }

    /// Returns the work that new work on the memory must not overtake.
    pub(in crate::gpu) fn before(&self, access: Access) -> Vec<(Arc<Queue>, u64)> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let reads = if access == Access::Write { &uses.reads[..] } else { &[] };
        uses.write.iter().chain(reads).cloned().collect()
    }

    /// Returns the streams whose work wrote the memory last.
    pub(in crate::gpu) fn writer(&self) -> Option<Arc<Queue>> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.write.as_ref().map(|(queue, _)| queue.clone())
    }

    /// Notes work that has been enqueued.
    pub(in crate::gpu) fn note(&self, queue: &Arc<Queue>, tick: u64, access: Access) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        match access {
            Access::Write => *uses = Uses { write: Some((queue.clone(), tick)), reads: Vec::new() },
            Access::Read => match uses.reads.iter_mut().find(|(reader, _)| Arc::ptr_eq(reader, queue)) {
                Some((_, last)) => *last = tick,
                None => uses.reads.push((queue.clone(), tick)),
            },
        }
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        if self.allocation.is_some() && !self.is_borrowed() {
            let home = self.home.clone();
            let is_left = home.outlive(self).is_ok() && (!self.is_managed() || home.synchronize().is_ok());
            if !is_left {
                // A kernel that cannot be ended may use it.
                std::mem::forget(self.allocation.take());
            }
        }
    }
}
