//! The one door to memory: every access of a simulated thread to global or shared memory passes `Context::access`,
//! which checks it. It does not touch the bytes; `memory` does.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::{Context, SharedId, Site, cost};
use crate::failure::Cause;
use crate::scope::Scope;

/// What memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryId {
    /// A buffer in global memory, by its first byte.
    Global(NonNull<u8>),
    /// Shared memory, of the thread's own block or of a peer.
    Shared(SharedId),
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Reads, and may write.
    Atomic(Synchronization),
    /// An atomic that only writes.
    AtomicStore(Synchronization),
}

/// What an atomic or a fence orders, and for whom. Data races, which it is there for, are not looked for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Synchronization {
    pub(crate) order: Ordering,
    pub(crate) scope: Scope,
}

/// An access to the bytes `start..start + len`, which lie inside the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) memory: MemoryId,
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) kind: Kind,
    pub(crate) site: Site,
}

impl Context<'_> {
    /// Checks an access by the running thread and returns the address of its first byte. The address is good until
    /// the thread's next scheduling point.
    #[inline]
    pub(crate) fn access(&self, access: Access) -> NonNull<u8> {
        match access.memory {
            // SAFETY: the range lies inside the buffer.
            MemoryId::Global(base) => unsafe { base.add(access.start) },
            MemoryId::Shared(id) => self.access_shared(id, access),
        }
    }

    fn access_shared(&self, id: SharedId, Access { start, len, kind, site, .. }: Access) -> NonNull<u8> {
        if id.rank != self.thread.block_rank {
            self.check_peer(id.rank, site);
        }
        let shared = &self.cluster.shared;
        match kind {
            Kind::Read | Kind::Atomic(_) => {
                if let Some(byte) = shared.first_unwritten(id, start, len) {
                    self.fail(Cause::UninitializedShared { byte, rank: id.rank }, site);
                }
            }
            Kind::Write | Kind::AtomicStore(_) => shared.mark_written(id, start, len),
        }
        shared.pointer(id, start, len)
    }

    /// A fence of the running thread.
    pub(crate) fn fence(&self, _orders: Synchronization) {
        self.point(cost::ATOMIC);
    }

    /// Checks the rank of a block of the cluster.
    pub(crate) fn check_rank(&self, rank: u32, site: Site) {
        let num_blocks = self.cluster.launch.cluster_blocks;
        if rank >= num_blocks {
            self.fail(Cause::RankOutOfRange { rank, num_blocks }, site);
        }
    }

    /// A peer's shared memory exists from the peer's start, which only a barrier of the cluster shows, to its exit.
    pub(super) fn check_peer(&self, rank: u32, site: Site) {
        if !self.thread.peers_started.get() {
            self.fail(Cause::PeerMayNotHaveStarted { rank }, site);
        }
        if self.cluster.blocks[rank as usize].exited.get() == self.cluster.launch.block_threads {
            self.fail(Cause::PeerHasExited { rank }, site);
        }
    }
}
