//! The synchronization between threads: the vector clock of a thread (`Actor`), the clocks that atomics release at a
//! location (`ReleasedClocks`), and those that the arrivals of a barrier's phase release (`PhaseRelease`). What was too
//! weak to order anything is kept for the report of a race.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use phalanx_contract::fence::Fence;

use super::clock::{ActorId, Clock, Epoch, Layout, Unit};
use crate::scope::Scope;
use crate::sim::site::Site;

/// The number of synchronizations of too narrow a scope that a thread keeps.
const MOST_NARROW: usize = 8;

/// The memory order of an atomic or a fence, and its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Synchronization {
    pub(crate) order: Ordering,
    pub(crate) scope: Scope,
}

impl Synchronization {
    fn acquires(self) -> bool {
        matches!(self.order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    fn releases(self) -> bool {
        matches!(self.order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }
}

/// Returns whether both threads are in the same unit of the scope.
pub(super) fn within(scope: Scope, a: ActorId, b: ActorId) -> bool {
    match scope {
        Scope::Block => a.first(Unit::Block) == b.first(Unit::Block),
        Scope::Cluster => a.cluster() == b.cluster(),
        Scope::Device | Scope::System => true,
    }
}

/// The epoch counter of a cluster, from which each release by one of its threads takes the next epoch.
pub(crate) type EpochCounter = Cell<Epoch>;

/// A thread or a copy, with its vector clock.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) id: ActorId,
    /// The epoch of the actor's current accesses.
    epoch: Cell<Epoch>,
    clock: RefCell<Clock>,
    /// The smallest epochs in the clock of the threads of its block, and of its cluster: a cache that avoids most
    /// lookups.
    known: Cell<(Epoch, Epoch)>,
    /// The number of changes of the clock.
    version: Cell<u64>,
    /// The value of `version` at the last arrival at each group's barrier.
    at_arrival: [Cell<u64>; 3],
    /// The clocks that the thread's fences released, which its later relaxed atomics publish.
    fenced: RefCell<ReleasedClocks>,
    /// The clocks that the thread's relaxed atomics read, which a later fence acquires.
    found: RefCell<ReleasedClocks>,
    /// The last clocks that the thread read and did not acquire, because a scope did not include both threads.
    narrow: RefCell<VecDeque<(Clock, NarrowScope)>>,
}

/// A synchronization whose scope does not include both threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NarrowScope {
    pub(crate) scope: Scope,
    pub(crate) site: Site,
}

impl NarrowScope {
    /// Returns the narrower of the two.
    fn min(self, other: NarrowScope) -> NarrowScope {
        if other.scope < self.scope { other } else { self }
    }
}

/// The released clocks that later readers may acquire, each with a scope and the releasing actor. A thread may acquire
/// a clock if both are in the same unit of the scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReleasedClocks(Vec<Release>);

/// A clock that an actor released.
#[derive(Debug, Clone)]
struct Release {
    /// The scope, and the site of the atomic or the fence that has it.
    scope: NarrowScope,
    from: ActorId,
    clock: Clock,
}

impl ReleasedClocks {
    fn add(&mut self, scope: NarrowScope, from: ActorId, clock: &Clock) {
        let same = |known: &&mut Release| known.scope.scope == scope.scope && within(scope.scope, known.from, from);
        match self.0.iter_mut().find(same) {
            Some(known) => {
                (known.from, known.scope) = (from, scope);
                known.clock.join(clock);
            }
            None => self.0.push(Release { scope, from, clock: clock.clone() }),
        }
    }
}

impl Actor {
    pub(crate) fn new(id: ActorId) -> Self {
        Actor {
            id,
            epoch: Cell::new(1),
            clock: RefCell::default(),
            known: Cell::new((0, 0)),
            version: Cell::new(0),
            at_arrival: Default::default(),
            fenced: RefCell::default(),
            found: RefCell::default(),
            narrow: RefCell::default(),
        }
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch.get()
    }

    /// Returns whether an access of that actor in the epoch happens-before this actor's current accesses. The shortcuts are for
    /// threads: copies are a cluster of their own, which no barrier includes.
    #[inline]
    pub(super) fn knows(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        if id == self.id {
            return true;
        }
        let (block, cluster) = self.known.get();
        (id.first(Unit::Block) == self.id.first(Unit::Block) && epoch < block)
            || (id.first(Unit::Cluster) == self.id.first(Unit::Cluster) && epoch < cluster)
            || epoch < self.clock.borrow().of(layout, id)
    }

    /// Returns whether an access of that actor in the epoch, to its own block's shared memory, happens-before this actor's current
    /// accesses by a fence that orders those alone.
    pub(super) fn knows_own_shared(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        epoch < self.clock.borrow().of_own_shared(layout, id)
    }

    /// Returns whether a read of shared memory by that actor in the epoch happens-before this actor's current accesses because the actor
    /// waited for what it read before it arrived.
    pub(super) fn knows_peer_reads(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        epoch < self.clock.borrow().of_peer_reads(layout, id)
    }

    /// Returns whether accesses of all threads of a warp in the epoch happen-before this actor's current accesses.
    #[inline]
    pub(super) fn knows_warp(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        let (block, cluster) = self.known.get();
        (id.first(Unit::Block) == self.id.first(Unit::Block) && epoch < block)
            || (id.first(Unit::Cluster) == self.id.first(Unit::Cluster) && epoch < cluster)
            || epoch < self.clock.borrow().least(layout, id, Unit::Warp)
    }

    /// Releases: returns the clock for others to acquire, which includes the actor's own accesses, and begins the next
    /// epoch.
    pub(crate) fn release(&self, epochs: &EpochCounter, layout: &Layout) -> Clock {
        let epoch = next(epochs);
        self.epoch.set(epoch);
        let mut clock = self.clock.borrow().clone();
        clock.set(layout, self.id, Unit::Thread, epoch);
        clock
    }

    /// Begins the epoch that the threads of a block share. A thread whose current epoch is newer takes one of its own.
    fn begin_epoch(&self, common: Epoch, epochs: &EpochCounter) {
        self.epoch.set(if self.epoch.get() < common { common } else { next(epochs) });
    }

    /// Begins an asynchronous copy. What happens-before this point and the actor's own accesses happen-before the copy,
    /// whose accesses happen-before those that acquire its release.
    pub(crate) fn begin_copy(&self, slot: u32, epochs: &EpochCounter, layout: &Layout) -> Actor {
        let copy = Actor::new(self.id.copy(slot, layout));
        copy.epoch.set(next(epochs));
        copy.acquire(layout, &self.release(epochs, layout));
        copy
    }

    /// Joins the thread's clock into `known`.
    pub(crate) fn join_into(&self, known: &mut Clock) {
        known.join(&self.clock.borrow());
    }

    /// Joins a released clock into the thread's.
    pub(crate) fn acquire(&self, layout: &Layout, clock: &Clock) {
        self.clock.borrow_mut().join(clock);
        self.clock_changed(layout);
    }

    fn clock_changed(&self, layout: &Layout) {
        let clock = self.clock.borrow();
        self.known.set((clock.least(layout, self.id, Unit::Block), clock.least(layout, self.id, Unit::Cluster)));
        self.version.set(self.version.get() + 1);
    }

    /// Records an arrival at the barrier of a group, with its fence.
    pub(crate) fn arrive(&self, group: usize, fence: Fence) {
        self.at_arrival[group].set(if fence == Fence::Full { self.version.get() } else { u64::MAX });
    }

    /// Acquires the clock that the arrivals at the barrier of a group released.
    pub(crate) fn wait(&self, layout: &Layout, released: &Clock, group: usize) {
        if self.at_arrival[group].get() == self.version.get() {
            // The thread has acquired nothing since its arrival, so the released clock includes its own.
            *self.clock.borrow_mut() = released.clone();
            self.clock_changed(layout);
        } else {
            self.acquire(layout, released);
        }
    }

    /// Performs the read of an atomic at a location with these released clocks.
    pub(super) fn read(&self, layout: &Layout, location: &ReleasedClocks, with: Synchronization, site: Site) {
        for Release { scope, from, clock } in &location.0 {
            let narrowest = scope.min(NarrowScope { scope: with.scope, site });
            // The thread's own releases are not skipped, because their clocks may include those of other threads.
            if !within(narrowest.scope, *from, self.id) {
                self.note_narrow(clock, narrowest);
            } else if with.acquires() {
                self.acquire(layout, clock);
            } else {
                self.found.borrow_mut().add(narrowest, *from, clock);
            }
        }
    }

    fn note_narrow(&self, clock: &Clock, scope: NarrowScope) {
        let mut narrow = self.narrow.borrow_mut();
        if narrow.len() == MOST_NARROW {
            narrow.pop_front();
        }
        narrow.push_back((clock.clone(), scope));
    }

    /// Returns the last synchronization that would have ordered an access of that actor in the epoch before this actor's
    /// current accesses if its scope had included both.
    pub(crate) fn too_narrow(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> Option<NarrowScope> {
        let narrow = self.narrow.borrow();
        narrow.iter().rev().find(|(clock, _)| epoch < clock.of(layout, id)).map(|(_, scope)| *scope)
    }

    /// Returns whether an atomic that writes releases a clock.
    pub(super) fn releases(&self, with: Synchronization) -> bool {
        with.releases() || !self.fenced.borrow().0.is_empty()
    }

    /// Performs the write of an atomic to a location with these released clocks, which it `replaces` unless it is a
    /// read-modify-write, which continues the release sequence.
    pub(super) fn write(
        &self,
        epochs: &EpochCounter,
        layout: &Layout,
        location: &mut ReleasedClocks,
        with: Synchronization,
        site: Site,
        replaces: bool,
    ) {
        let own = NarrowScope { scope: with.scope, site };
        if replaces {
            location.0.clear();
        }
        if with.releases() {
            location.add(own, self.id, &self.release(epochs, layout));
        } else {
            for Release { scope, clock, .. } in &self.fenced.borrow().0 {
                location.add(scope.min(own), self.id, clock);
            }
        }
    }

    pub(super) fn fence(&self, epochs: &EpochCounter, layout: &Layout, with: Synchronization, site: Site) {
        let own = NarrowScope { scope: with.scope, site };
        if with.acquires() {
            let found = std::mem::take(&mut *self.found.borrow_mut());
            // What this fence does not include, a wider one after it may still acquire.
            let (acquired, left): (Vec<_>, Vec<_>) =
                found.0.into_iter().partition(|found| within(found.scope.min(own).scope, found.from, self.id));
            acquired.iter().for_each(|found| self.acquire(layout, &found.clock));
            left.iter().for_each(|found| self.note_narrow(&found.clock, found.scope.min(own)));
            self.found.borrow_mut().0 = left;
        }
        if with.releases() {
            let released = self.release(epochs, layout);
            let mut fenced = self.fenced.borrow_mut();
            fenced.0.retain(|fence| fence.scope.scope > with.scope);
            fenced.0.push(Release { scope: own, from: self.id, clock: released });
        }
    }
}

fn next(epochs: &EpochCounter) -> Epoch {
    epochs.set(epochs.get() + 1);
    epochs.get()
}

/// The clocks that the arrivals of one phase of a barrier release. The threads of a block share one epoch where
/// possible, so that one number stands for the block after the phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseRelease {
    clock: Clock,
    /// The clock that was joined last, because most threads of a block have the same clock.
    last: Clock,
    /// The epochs that the threads of each block share, by the block's first thread.
    shared: BTreeMap<ActorId, Epoch>,
    /// The epochs of the threads that cannot stand for their block, and epoch 0 for those that did not release everything.
    single: Vec<(ActorId, Epoch)>,
    /// The epochs of the threads that released their accesses to their own block's shared memory alone, and at the cluster's barrier
    /// their reads of their peers'.
    own_shared: Vec<(ActorId, Epoch)>,
    /// The arrivals that did not release everything.
    weak: Vec<WeakArrival>,
}

/// An arrival that did not release all of the thread's accesses until then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeakArrival {
    pub(crate) id: ActorId,
    /// The epoch of the thread's last accesses before the arrival.
    pub(crate) epoch: Epoch,
    pub(crate) fence: Fence,
    pub(crate) site: Site,
}

/// The threads that arrive at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Participants {
    /// All threads of each block arrive.
    Blocks,
    /// Some threads of a block arrive.
    Lanes,
}

impl PhaseRelease {
    /// Records an arrival with its fence. A relaxed arrival publishes only the clocks that earlier fences of at least this
    /// scope released, and one that orders shared memory, besides those, the thread's own accesses to its own block's. At the cluster's
    /// barrier, that one also waits for what the thread has read of its peers. At a phase
    /// barrier, where it may arrive for other threads, it also publishes what those did to that of their blocks and had told it by then.
    pub(crate) fn arrive(
        &mut self,
        actor: &Actor,
        epochs: &EpochCounter,
        members: Participants,
        fence: Fence,
        scope: Scope,
        site: Site,
    ) {
        let common = *self.shared.entry(actor.id.first(Unit::Block)).or_insert_with(|| next(epochs));
        if fence != Fence::Full {
            self.weak.push(WeakArrival { id: actor.id, epoch: actor.epoch(), fence, site });
            self.single.push((actor.id, 0));
            actor.begin_epoch(common, epochs);
            if fence == Fence::Shared {
                self.own_shared.push((actor.id, actor.epoch()));
                if members == Participants::Lanes {
                    self.clock.join(&actor.clock.borrow().confined_to_own_shared());
                }
            }
            for fenced in &actor.fenced.borrow().0 {
                if fenced.scope.scope >= scope {
                    self.clock.join(&fenced.clock);
                }
            }
            return;
        }
        let clock = actor.clock.borrow();
        if !self.last.is(&clock) {
            self.clock.join(&clock);
            self.last = clock.clone();
        }
        actor.begin_epoch(common, epochs);
        let own = actor.epoch();
        if own != common || members == Participants::Lanes {
            self.single.push((actor.id, own));
        }
    }

    /// Takes the phase's arrivals that did not release everything.
    pub(crate) fn take_weak(&mut self) -> Vec<WeakArrival> {
        std::mem::take(&mut self.weak)
    }

    /// Ends the phase and returns the clock that its waits acquire. The next phase begins empty.
    pub(crate) fn end(&mut self, layout: &Layout, members: Participants) -> Clock {
        let mut arrived = Clock::default();
        if members == Participants::Blocks {
            self.shared.iter().for_each(|(block, epoch)| arrived.set(layout, *block, Unit::Block, *epoch));
        }
        self.single.iter().for_each(|(id, epoch)| arrived.set(layout, *id, Unit::Thread, *epoch));
        for (id, epoch) in &self.own_shared {
            arrived.set_own_shared(layout, *id, *epoch);
            if members == Participants::Blocks {
                arrived.set_peer_reads(layout, *id, *epoch);
            }
        }
        let mut clock = std::mem::take(self).clock;
        clock.join(&arrived);
        clock
    }
}
