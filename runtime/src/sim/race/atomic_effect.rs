//! Describes an executed atomic to the race detector: whether it read and wrote, and how it synchronizes.

use super::history::Stored;
use super::order::{EpochCounter, Synchronization};
use super::shadow::{ConflictKind, CurrentAccess, Page};
use crate::scope::Scope;
use crate::sim::memory::MemoryId;

/// The effect of an executed atomic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtomicEffect {
    pub(crate) synchronization: Synchronization,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl AtomicEffect {
    /// Returns the kind of the access, for conflicts with others.
    pub(crate) fn kind(self, memory: MemoryId) -> ConflictKind {
        let scope = match (self.synchronization.scope, memory) {
            // All threads that can access an allocation of shared memory are in one cluster.
            (Scope::Cluster, MemoryId::Shared(_)) => Scope::Device,
            (scope, _) => scope,
        };
        if self.writes { ConflictKind::AtomicWrite(scope) } else { ConflictKind::AtomicRead(scope) }
    }

    /// Lets the atomic acquire from the store whose value it read: the current one, or a stale one.
    pub(crate) fn acquire(self, now: &CurrentAccess<'_>, page: &mut Page, at: usize, stale: Option<&Stored>) {
        if self.reads
            && let Some(released) = stale.map(|stale| &stale.released).or(page.released(at).map(|released| &*released))
        {
            now.actor.read(now.layout, released, self.synchronization, now.site);
        }
    }

    /// Lets the atomic release to the atomics that will read its value.
    pub(crate) fn release(self, now: &CurrentAccess<'_>, epochs: &EpochCounter, page: &mut Page, at: usize) {
        if !self.writes {
            return;
        }
        let releases = now.actor.releases(self.synchronization);
        if let Some(location) = if releases { Some(page.released_or_new(at)) } else { page.released(at) } {
            now.actor.write(epochs, now.layout, location, self.synchronization, now.site, !self.reads);
        }
    }
}
