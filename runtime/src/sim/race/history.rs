//! The modification history of an atomic location. A load may find an older value unless newer stores happen-before it,
//! as on a GPU whose stores have not yet reached every thread. Coherence and happens-before bound the choice: no value
//! older than what the thread has found there before or written itself, nor older than those of the loads and stores
//! that it knows of. The schedule chooses among the rest.
//!
//! Not modelled: stores that become visible in another order than they were executed in, and loads that find later
//! stores ("load buffering"). Beyond the bounds below, the oldest stores and looks are forgotten and not found any
//! more.

use std::collections::VecDeque;

use super::clock::{ActorId, Epoch, Layout};
use super::order::{Actor, ReleasedClocks};

/// The number of stores that are kept, and of looks at them.
const MOST_STORES: usize = 8;
const MOST_OBSERVATIONS: usize = 128;

/// The history of one location.
#[derive(Debug, Clone)]
pub(crate) struct History {
    size: usize,
    /// The stores, oldest first; the last is the current value.
    stores: VecDeque<Stored>,
    /// The number of the first of them.
    first: u64,
    observations: Vec<Observation>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The value's bytes, at the front of the eight.
    pub(crate) bytes: u64,
    /// What the store left for threads that acquire it.
    pub(crate) message: ReleasedClocks,
}

/// A thread has found or made a store: a thread that knows of that finds no older one.
#[derive(Debug, Clone, Copy)]
struct Observation {
    id: ActorId,
    epoch: Epoch,
    store: u64,
}

impl Stored {
    fn new(bytes: &[u8], message: ReleasedClocks) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Stored { bytes: u64::from_ne_bytes(all), message }
    }
}

impl History {
    /// Creates a history that begins with the current value.
    pub(super) fn new(bytes: &[u8], message: ReleasedClocks) -> Self {
        let stores = VecDeque::from([Stored::new(bytes, message)]);
        History { size: bytes.len(), stores, first: 0, observations: Vec::new() }
    }

    /// Returns the size of the location in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns whether memory holds the last store. If not, plain writes or atomics of another size came after it, and
    /// everything in the history happens-before them.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.stores.back().is_some_and(|last| last.bytes.to_ne_bytes()[..self.size] == *bytes)
    }

    /// Returns how many stores, counted from the last, the thread may find.
    pub(crate) fn choices(&self, layout: &Layout, actor: &Actor) -> usize {
        let known = |observe: &&Observation| actor.knows(layout, observe.id, observe.epoch);
        let oldest = self.observations.iter().filter(known).map(|observe| observe.store).max().unwrap_or(self.first);
        self.stores.len() - (oldest - self.first) as usize
    }

    /// Returns the store that `back` newer ones follow.
    pub(crate) fn before(&self, back: usize) -> &Stored {
        &self.stores[self.stores.len() - 1 - back]
    }

    /// Records that a thread has found the store that `back` newer ones follow.
    pub(crate) fn observe(&mut self, (id, epoch): (ActorId, Epoch), back: usize) {
        let store = self.first + (self.stores.len() - 1 - back) as u64;
        // The oldest store and older finds of the same thread restrict nothing.
        if store == self.first || self.observations.iter().any(|observe| observe.id == id && observe.store >= store) {
            return;
        }
        if self.observations.len() == MOST_OBSERVATIONS {
            self.forget(self.stores.len() - 1);
        } else {
            self.observations.push(Observation { id, epoch, store });
        }
    }

    /// Records a store.
    pub(super) fn push(&mut self, observe: (ActorId, Epoch), bytes: &[u8], message: ReleasedClocks) {
        self.stores.push_back(Stored::new(bytes, message));
        self.forget(self.stores.len().saturating_sub(MOST_STORES));
        self.observe(observe, 0);
    }

    /// Drops the oldest stores, which no load will find any more.
    fn forget(&mut self, count: usize) {
        self.stores.drain(..count);
        self.first += count as u64;
        self.observations.retain(|observe| observe.store > self.first);
    }
}
