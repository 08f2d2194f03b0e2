//! The modification history of an atomic location. A load may return an older value unless a newer store happens-before
//! it, as on a GPU whose stores have not yet become visible to every thread. Coherence and happens-before limit the
//! choice: a load returns no value older than one that was read or written by an access that happens-before it, which
//! includes the thread's own accesses. The schedule chooses among the remaining values.
//!
//! Not modelled: stores that become visible in another order than they were executed in, and loads that return the
//! values of later stores ("load buffering"). Beyond the limits below, the oldest stores and observations are
//! forgotten, and loads no longer return the values of those stores.

use std::collections::VecDeque;

use super::clock::{ActorId, Epoch};
use super::order::ReleasedClocks;

/// The numbers of stores and of observations that are kept.
const MOST_STORES: usize = 8;
const MOST_OBSERVATIONS: usize = 128;

/// The modification history of one location.
#[derive(Debug, Clone)]
pub(crate) struct History {
    size: usize,
    /// The stores, oldest first; the last is the current value.
    stores: VecDeque<Stored>,
    /// The number of the oldest store that is kept.
    first: u64,
    observations: Vec<Observation>,
}

/// A store to the location.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The value, in the first bytes of the eight.
    pub(crate) bytes: u64,
    /// The clocks that the store released.
    pub(crate) released: ReleasedClocks,
}

/// A thread read or made a store in an epoch. A load after that, by happens-before, returns no older value.
#[derive(Debug, Clone, Copy)]
struct Observation {
    id: ActorId,
    epoch: Epoch,
    store: u64,
}

impl Stored {
    fn new(bytes: &[u8], released: ReleasedClocks) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Stored { bytes: u64::from_ne_bytes(all), released }
    }
}

impl History {
    /// Creates a history that begins with the current value.
    pub(super) fn new(bytes: &[u8], released: ReleasedClocks) -> Self {
        let stores = VecDeque::from([Stored::new(bytes, released)]);
        History { size: bytes.len(), stores, first: 0, observations: Vec::new() }
    }

    /// Returns the size of the location in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns whether memory holds the last store's value. If not, plain writes or atomics of another size came later,
    /// and everything in the history happens-before them.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.stores.back().is_some_and(|last| last.bytes.to_ne_bytes()[..self.size] == *bytes)
    }

    /// Returns the number of stores, counted from the last, whose values the thread may read. `is_ordered` tells whether the access
    /// of an actor in an epoch happens-before the read.
    pub(crate) fn choices(&self, is_ordered: impl Fn(ActorId, Epoch) -> bool) -> usize {
        let known = |observation: &&Observation| is_ordered(observation.id, observation.epoch);
        let oldest =
            self.observations.iter().filter(known).map(|observation| observation.store).max().unwrap_or(self.first);
        self.stores.len() - (oldest - self.first) as usize
    }

    /// Returns the store after which there are `back` newer ones.
    pub(crate) fn before(&self, back: usize) -> &Stored {
        &self.stores[self.stores.len() - 1 - back]
    }

    /// Records that a thread has read the store after which there are `back` newer ones.
    pub(crate) fn observe(&mut self, (id, epoch): (ActorId, Epoch), back: usize) {
        let store = self.first + (self.stores.len() - 1 - back) as u64;
        // Observing the oldest store restricts nothing, nor does an older store than the thread has observed already.
        if store == self.first
            || self.observations.iter().any(|observation| observation.id == id && observation.store >= store)
        {
            return;
        }
        if self.observations.len() == MOST_OBSERVATIONS {
            self.forget(self.stores.len() - 1);
        } else {
            self.observations.push(Observation { id, epoch, store });
        }
    }

    /// Records a store.
    pub(super) fn push(&mut self, observer: (ActorId, Epoch), bytes: &[u8], released: ReleasedClocks) {
        self.stores.push_back(Stored::new(bytes, released));
        self.forget(self.stores.len().saturating_sub(MOST_STORES));
        self.observe(observer, 0);
    }

    /// Drops the oldest stores, whose values no load can return from then on.
    fn forget(&mut self, count: usize) {
        self.stores.drain(..count);
        self.first += count as u64;
        self.observations.retain(|observation| observation.store > self.first);
    }
}
