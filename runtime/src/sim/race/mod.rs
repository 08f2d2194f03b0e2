//! Data races by happens-before: two accesses to a byte, one of which writes, that nothing orders, and that are not both
//! atomics for each other's threads. `order` says what orders, `clock` what a thread knows, `shadow` what was done to a byte,
//! `history` what atomics may still find there, and `foreign_access` whose accesses must be over before a block leaves.
//! Whatever the order in which the threads happen to run, what no synchronisation orders is a race.
//!
//! What orders is what the PTX memory model promises: barriers of blocks, clusters and grids; `sync` of a tile or a coalesced
//! group; a release and an acquire that reads from it, at scopes that include both; fences with relaxed atomics. Shuffles,
//! votes and reductions of a warp order nothing, and neither does an arrival that does not release.
//!
//! Not found: a race of two plain writes of the same bytes, which kernels use for flags; of the threads that so wrote, only the
//! last is remembered. Of more than 512 warps that touch the same bytes with nothing to order them, the oldest are
//! forgotten. An atomic that finds less than another schedule would show it is ordered by what it found in this one. Atomics
//! of different sizes on the same bytes count as atomics for each other. What `cuda!` does is what its closure does.

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

/// Locks of the global memory's shadow.
const SHARDS: usize = 64;

/// What a launch keeps to find races.
#[derive(Debug)]
pub(crate) struct Detector {
    pub(crate) layout: Layout,
    /// Of global memory, by the page's number, in the shard that its number says.
    pages: Box<[Mutex<Pages>]>,
    /// The order of sequentially consistent fences.
    fences: Mutex<Message>,
}

type Pages = BTreeMap<usize, Box<Page>>;

/// The shadow of memory that one OS thread accesses: a block's instance of an allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Vec<Option<Box<Page>>>);

/// What an atomic did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) synchronization: Synchronization,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Done {
    pub(crate) fn doing(self, memory: MemoryId) -> Doing {
        let scope = match (self.synchronization.scope, memory) {
            // All who have access to it are of one cluster.
            (Scope::Cluster, MemoryId::Shared(_)) => Scope::Device,
            (scope, _) => scope,
        };
        if self.writes { Doing::AtomicWrite(scope) } else { Doing::AtomicRead(scope) }
    }

    /// Orders the atomic after those whose values it saw: those that are in memory, or a stale one.
    pub(crate) fn acquire(self, now: &Now<'_>, page: &mut Page, at: usize, stale: Option<&Stored>) {
        if self.reads
            && let Some(message) = stale.map(|stale| &stale.message).or(page.message(at).map(|message| &*message))
        {
            now.actor.read(now.layout, message, self.synchronization);
        }
    }

    /// Orders it before those who will see its value.
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

/// The parts of a range that lie in one page each: the page, the first byte in it, the bytes.
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

    /// Runs `f` on a page of global memory, which no other thread touches meanwhile.
    pub(crate) fn global<R>(&self, number: usize, f: impl FnOnce(&mut Page) -> R) -> R {
        let mut pages = lock(&self.pages[number % SHARDS]);
        f(pages.entry(number).or_default())
    }

    /// A fence. Those that are sequentially consistent come one after another, and each knows those before it.
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
