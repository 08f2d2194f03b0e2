//! What an atomic did, as the race detector sees it: whether it read and wrote, and how it synchronizes.

use super::history::Stored;
use super::order::{EpochCounter, Synchronization};
use super::shadow::{ConflictKind, CurrentAccess, Page};
use crate::scope::Scope;
use crate::sim::memory::MemoryId;

/// Says what an atomic did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtomicEffect {
    pub(crate) synchronization: Synchronization,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl AtomicEffect {
    pub(crate) fn kind(self, memory: MemoryId) -> ConflictKind {
        let scope = match (self.synchronization.scope, memory) {
            // All threads with access to shared memory are of one cluster.
            (Scope::Cluster, MemoryId::Shared(_)) => Scope::Device,
            (scope, _) => scope,
        };
        if self.writes { ConflictKind::AtomicWrite(scope) } else { ConflictKind::AtomicRead(scope) }
    }

    /// Makes the atomic acquire from the stores whose values it read: the current one, or a stale one.
    pub(crate) fn acquire(self, now: &CurrentAccess<'_>, page: &mut Page, at: usize, stale: Option<&Stored>) {
        if self.reads
            && let Some(message) = stale.map(|stale| &stale.message).or(page.message(at).map(|message| &*message))
        {
            now.actor.read(now.layout, message, self.synchronization);
        }
    }

    /// Makes the atomic release to those who will read its value.
    pub(crate) fn release(self, now: &CurrentAccess<'_>, epochs: &EpochCounter, page: &mut Page, at: usize) {
        if !self.writes {
            return;
        }
        let leaves = now.actor.leaves(self.synchronization);
        if let Some(message) = if leaves { Some(page.message_or_new(at)) } else { page.message(at) } {
            now.actor.write(epochs, now.layout, message, self.synchronization, !self.reads);
        }
    }
}
