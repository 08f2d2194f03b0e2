//! Data race detection by happens-before. Two accesses to a byte race if at least one writes, happens-before does not
//! order them, and they are not atomics whose scopes include each other's thread. A race is found whatever the order in
//! which the threads happen to run. `order` holds what orders threads, `clock` what a thread knows, `shadow` what was
//! done to a byte, `history` what atomics may still find there, and `foreign_access` the accesses that must complete
//! before a block exits.
//!
//! The happens-before relation is that of the PTX memory model: barriers of blocks, clusters and grids; `sync` of a
//! tile or a coalesced group; a release and an acquire that reads from it, at scopes that include both; fences with
//! relaxed atomics. Shuffles, votes and reductions of a warp order nothing, nor does a relaxed arrival.
//!
//! Not detected: a race of two plain writes of the same bytes, which kernels use for flags; of the threads that wrote
//! so, only the last is remembered. If more than 512 warps touch the same bytes unordered, the oldest are forgotten. An
//! atomic that finds less than it would under another schedule is ordered by what it found in this run. Atomics of
//! different sizes on the same bytes count as atomics for each other. A `cuda!` block counts as what its closure does.

mod clock;
mod foreign_access;
mod history;
mod order;
mod shadow;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use clock::{Clock, Epoch, Layout, Who};
pub(crate) use foreign_access::ForeignAccesses;
pub(crate) use history::Stored;
pub(crate) use order::{Actor, Epochs, Gathering, Members, Synchronization};
pub(crate) use shadow::{Doing, Earlier, Now, PAGE, Page};

use order::Message;

use crate::scope::Scope;
use crate::sim::memory::MemoryId;

/// The number of locks of the global memory's shadow.
const SHARDS: usize = 64;

/// The state that a launch keeps for race detection.
#[derive(Debug)]
pub(crate) struct Detector {
    pub(crate) layout: Layout,
    /// The shadow of global memory by page number, in the shard that the number selects.
    pages: Box<[Mutex<Pages>]>,
    /// What sequentially consistent fences have released so far, in their total order.
    fences: Mutex<Message>,
}

type Pages = BTreeMap<usize, Box<Page>>;

/// The shadow of memory that one OS thread accesses: a block's instance of an allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Vec<Option<Box<Page>>>);

/// Says what an atomic did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) synchronization: Synchronization,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Done {
    pub(crate) fn doing(self, memory: MemoryId) -> Doing {
        let scope = match (self.synchronization.scope, memory) {
            // All threads with access to shared memory are of one cluster.
            (Scope::Cluster, MemoryId::Shared(_)) => Scope::Device,
            (scope, _) => scope,
        };
        if self.writes { Doing::AtomicWrite(scope) } else { Doing::AtomicRead(scope) }
    }

    /// Makes the atomic acquire from the stores whose values it read: the current one, or a stale one.
    pub(crate) fn acquire(self, now: &Now<'_>, page: &mut Page, at: usize, stale: Option<&Stored>) {
        if self.reads
            && let Some(message) = stale.map(|stale| &stale.message).or(page.message(at).map(|message| &*message))
        {
            now.actor.read(now.layout, message, self.synchronization);
        }
    }

    /// Makes the atomic release to those who will read its value.
    pub(crate) fn release(self, now: &Now<'_>, epochs: &Epochs, page: &mut Page, at: usize) {
        if !self.writes {
            return;
        }
        let leaves = now.actor.leaves(self.synchronization);
        if let Some(message) = if leaves { Some(page.message_or_new(at)) } else { page.message(at) } {
            now.actor.write(epochs, now.layout, message, self.synchronization, !self.reads);
        }
    }
}

/// Splits a range at page boundaries. Each part has the page's number, the first byte in it, and the number of bytes.
pub(crate) fn pages(start: usize, len: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let (mut at, end) = (start, start + len);
    std::iter::from_fn(move || {
        let len = (PAGE - at % PAGE).min(end - at);
        (len > 0).then(|| {
            let part = (at / PAGE, at % PAGE, len);
            at += len;
            part
        })
    })
}

impl Shadow {
    pub(crate) fn page(&mut self, number: usize) -> &mut Page {
        if number >= self.0.len() {
            self.0.resize_with(number + 1, || None);
        }
        self.0[number].get_or_insert_default()
    }
}

impl Detector {
    pub(crate) fn new(layout: Layout) -> Self {
        let pages = std::iter::repeat_with(Mutex::default).take(SHARDS).collect();
        Detector { layout, pages, fences: Mutex::default() }
    }

    /// Runs `f` on a page of global memory while holding the page's lock.
    pub(crate) fn global<R>(&self, number: usize, f: impl FnOnce(&mut Page) -> R) -> R {
        let mut pages = lock(&self.pages[number % SHARDS]);
        f(pages.entry(number).or_default())
    }

    /// Executes a fence. SeqCst fences are totally ordered; each acquires what the earlier ones released.
    pub(crate) fn fence(&self, actor: &Actor, epochs: &Epochs, with: Synchronization) {
        actor.fence(epochs, &self.layout, with);
        if with.order == std::sync::atomic::Ordering::SeqCst {
            let mut fences = lock(&self.fences);
            actor.read(&self.layout, &fences, with);
            actor.write(epochs, &self.layout, &mut fences, with, false);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
