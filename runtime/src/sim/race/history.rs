//! What an atomic's place held before: a load that nothing orders after the last stores may find an older value, as on a GPU whose
//! stores have not come everywhere yet. Which it may find, coherence and what orders threads say: not one older than what
//! the thread has found there before or written itself, nor than what others had whose looks and stores it knows of. Which of
//! them it does find, the schedule says.
//!
//! Not shown: stores that come in another order than they were executed in, and loads that find what is stored later
//! ("load buffering"). Of many stores and looks the oldest are forgotten, and not found any more.

use std::collections::VecDeque;

use super::clock::{Epoch, Layout, Who};
use super::order::{Actor, Message};

/// Stores that are kept, and looks at them.
const MOST_STORES: usize = 8;
const MOST_LOOKS: usize = 128;

/// Of one place.
#[derive(Debug, Clone)]
pub(crate) struct History {
    size: usize,
    /// The oldest first: the last is what is in memory.
    stores: VecDeque<Stored>,
    /// The number of the first of them.
    first: u64,
    looks: Vec<Look>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The value's bytes, the first ones of these.
    pub(crate) bytes: u64,
    /// What it left for those who acquire it.
    pub(crate) message: Message,
}

/// A thread found a store, or made it: who knows of that finds no older one.
#[derive(Debug, Clone, Copy)]
struct Look {
    who: Who,
    epoch: Epoch,
    store: u64,
}

impl Stored {
    fn new(bytes: &[u8], message: Message) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Stored { bytes: u64::from_ne_bytes(all), message }
    }
}

impl History {
    /// Begins with what is in memory.
    pub(super) fn new(bytes: &[u8], message: Message) -> Self {
        let stores = VecDeque::from([Stored::new(bytes, message)]);
        History { size: bytes.len(), stores, first: 0, looks: Vec::new() }
    }

    /// How many bytes the place has.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether memory holds what was stored last. If not, plain writes or atomics of another size came after it: they are ordered
    /// after all of it.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.stores.back().is_some_and(|last| last.bytes.to_ne_bytes()[..self.size] == *bytes)
    }

    /// How many stores the thread may find: these last ones.
    pub(crate) fn choices(&self, layout: &Layout, actor: &Actor) -> usize {
        let known = |look: &&Look| actor.knows(layout, look.who, look.epoch);
        let oldest = self.looks.iter().filter(known).map(|look| look.store).max().unwrap_or(self.first);
        self.stores.len() - (oldest - self.first) as usize
    }

    /// The store before which `back` others are newer.
    pub(crate) fn before(&self, back: usize) -> &Stored {
        &self.stores[self.stores.len() - 1 - back]
    }

    /// A thread has found it.
    pub(crate) fn look(&mut self, (who, epoch): (Who, Epoch), back: usize) {
        let store = self.first + (self.stores.len() - 1 - back) as u64;
        // What all find anyway, and what it found before, says nothing.
        if store == self.first || self.looks.iter().any(|look| look.who == who && look.store >= store) {
            return;
        }
        if self.looks.len() == MOST_LOOKS {
            self.forget(self.stores.len() - 1);
        } else {
            self.looks.push(Look { who, epoch, store });
        }
    }

    /// A store is executed.
    pub(super) fn push(&mut self, look: (Who, Epoch), bytes: &[u8], message: Message) {
        self.stores.push_back(Stored::new(bytes, message));
        self.forget(self.stores.len().saturating_sub(MOST_STORES));
        self.look(look, 0);
    }

    /// The oldest stores, which nobody will find any more.
    fn forget(&mut self, count: usize) {
        self.stores.drain(..count);
        self.first += count as u64;
        self.looks.retain(|look| look.store > self.first);
    }
}
