//! Data race detection by happens-before. Two accesses to a byte race if at least one writes, happens-before does not
//! order them, and they are not atomics whose scopes include each other's thread. A race is found in whatever order the
//! threads happen to run. `order` has the synchronization between threads, `clock` their vector clocks, `shadow` the
//! earlier accesses to each byte, `atomic_effect` what an atomic did, `history` the values that atomic loads may still
//! return, and `foreign_access` the accesses that must complete before a block exits.
//!
//! The happens-before relation is that of the PTX memory model. It is built from barriers of blocks, clusters and
//! grids; `sync` of a tile or a coalesced group; a release and an acquire that reads from it, at scopes that include
//! both threads; and fences with relaxed atomics. Shuffles, votes and reductions of a warp order nothing, nor does a
//! relaxed arrival.
//!
//! Two plain writes that store equal bytes race as well; unless that is to end the launch, only the last such writer is
//! remembered.
//!
//! Not detected: if more than 512 warps access the same bytes unordered, the oldest accesses are forgotten. An atomic is ordered by the store that it read in this run, even if it could read another one under another schedule.
//! Atomics of different sizes on the same bytes count as atomics with respect to each other. A `cuda!` counts as what
//! its closure does.

mod atomic_effect;
mod clock;
mod equal_writes;
mod foreign_access;
mod history;
mod order;
mod shadow;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use atomic_effect::AtomicEffect;
pub(crate) use clock::{ActorId, Clock, Epoch, Layout};
pub(crate) use equal_writes::EqualWrites;
pub(crate) use foreign_access::{ForeignAccess, ForeignAccesses};
pub(crate) use history::Stored;
pub(crate) use order::{Actor, EpochCounter, NarrowScope, Participants, PhaseRelease, Synchronization, WeakArrival};
pub(crate) use shadow::{ConflictKind, CurrentAccess, EarlierAccess, PAGE, Page, Shadow, pages};

use crate::sim::site::Site;
use order::ReleasedClocks;

/// The number of locks of global memory's shadow.
const SHARDS: usize = 64;

/// The state that a launch keeps for race detection.
#[derive(Debug)]
pub(crate) struct Detector {
    pub(crate) layout: Layout,
    /// The consequence of two unordered plain writes that store equal bytes.
    pub(crate) equal_writes: EqualWrites,
    /// The shadow of global memory by page number, in the shards that the numbers select.
    pages: Box<[Mutex<Pages>]>,
    /// The clocks that sequentially consistent fences have released so far, in their total order.
    fences: Mutex<ReleasedClocks>,
}

type Pages = BTreeMap<usize, Box<Page>>;

impl Detector {
    pub(crate) fn new(layout: Layout, equal_writes: EqualWrites) -> Self {
        let pages = std::iter::repeat_with(Mutex::default).take(SHARDS).collect();
        Detector { layout, equal_writes, pages, fences: Mutex::default() }
    }

    /// Runs `f` on a page of global memory while holding the page's lock.
    pub(crate) fn global<R>(&self, number: usize, f: impl FnOnce(&mut Page) -> R) -> R {
        let mut pages = lock(&self.pages[number % SHARDS]);
        f(pages.entry(number).or_default())
    }

    /// Executes a fence. SeqCst fences are totally ordered; each acquires what the earlier ones released.
    pub(crate) fn fence(&self, actor: &Actor, epochs: &EpochCounter, with: Synchronization, site: Site) {
        actor.fence(epochs, &self.layout, with, site);
        if with.order == std::sync::atomic::Ordering::SeqCst {
            let mut fences = lock(&self.fences);
            actor.read(&self.layout, &fences, with, site);
            actor.write(epochs, &self.layout, &mut fences, with, site, false);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
