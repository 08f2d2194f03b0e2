//! The synchronization between threads: the knowledge of a thread (`Actor`), what it leaves at a location for later
//! readers (`ReleasedClocks`), and what the threads of a barrier exchange (`PhaseRelease`). A phase barrier is built from
//! `Actor::release` and `Actor::acquire`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::clock::{ActorId, Clock, Epoch, Layout, Unit};
use crate::scope::Scope;

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

/// Returns whether both threads are in one unit of the scope.
pub(super) fn within(scope: Scope, a: ActorId, b: ActorId) -> bool {
    match scope {
        Scope::Block => a.first(Unit::Block) == b.first(Unit::Block),
        Scope::Cluster => a.cluster() == b.cluster(),
        Scope::Device | Scope::System => true,
    }
}

/// The epoch counter of a cluster: each release by one of its threads takes the next epoch.
pub(crate) type EpochCounter = Cell<Epoch>;

/// A thread, with what it knows of the others.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) id: ActorId,
    /// The epoch of what the thread does now.
    epoch: Cell<Epoch>,
    clock: RefCell<Clock>,
    /// The epochs up to which all of its block, and all of its cluster, are known: a cache that avoids most clock
    /// lookups.
    known: Cell<(Epoch, Epoch)>,
    /// How often the clock has changed.
    version: Cell<u64>,
    /// The value of `version` at the last arrival at each group's barrier.
    at_arrival: [Cell<u64>; 3],
    /// What the thread's fences released: relaxed atomics after them publish it.
    fenced: RefCell<ReleasedClocks>,
    /// What the thread's relaxed atomics found: a fence after them acquires it.
    found: RefCell<ReleasedClocks>,
}

/// Clocks left for later readers, each with a scope and the releasing thread: threads in the same unit of that scope
/// may acquire it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReleasedClocks(Vec<(Scope, ActorId, Clock)>);

impl ReleasedClocks {
    fn add(&mut self, scope: Scope, from: ActorId, clock: &Clock) {
        match self.0.iter_mut().find(|(known, id, _)| *known == scope && within(scope, *id, from)) {
            Some((_, id, known)) => {
                *id = from;
                known.join(clock);
            }
            None => self.0.push((scope, from, clock.clone())),
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
        }
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch.get()
    }

    /// Returns whether what the thread did in the epoch happens-before what this one does now.
    #[inline]
    pub(super) fn knows(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        if id == self.id {
            return true;
        }
        let (block, cluster) = self.known.get();
        (id.first(Unit::Block) == self.id.first(Unit::Block) && epoch < block)
            || (id.cluster() == self.id.cluster() && epoch < cluster)
            || epoch < self.clock.borrow().of(layout, id)
    }

    /// Returns whether what the threads of a whole warp did in the epoch happens-before what this one does now; `false`
    /// if that is not known of all of them.
    #[inline]
    pub(super) fn knows_warp(&self, layout: &Layout, id: ActorId, epoch: Epoch) -> bool {
        let (block, cluster) = self.known.get();
        (id.first(Unit::Block) == self.id.first(Unit::Block) && epoch < block)
            || (id.cluster() == self.id.cluster() && epoch < cluster)
            || epoch < self.clock.borrow().least(layout, id, Unit::Warp)
    }

    /// Returns everything the thread has done and knows, for others to acquire, and begins the next epoch.
    pub(crate) fn release(&self, epochs: &EpochCounter, layout: &Layout) -> Clock {
        let epoch = next(epochs);
        self.epoch.set(epoch);
        let mut clock = self.clock.borrow().clone();
        clock.set(layout, self.id, Unit::Thread, epoch);
        clock
    }

    /// Begins an asynchronous copy: everything the thread knows happens-before it, and its effects are known only to
    /// threads that learn of its end.
    pub(crate) fn begin_copy(&self, slot: u32, epochs: &EpochCounter, layout: &Layout) -> Actor {
        let copy = Actor::new(self.id.copy(slot, layout));
        copy.epoch.set(next(epochs));
        copy.acquire(layout, &self.release(epochs, layout));
        copy
    }

    /// Adds what the thread knows at its exit to `known`.
    pub(crate) fn join_into(&self, known: &mut Clock) {
        known.join(&self.clock.borrow());
    }

    /// Joins a released clock into the thread's.
    pub(crate) fn acquire(&self, layout: &Layout, clock: &Clock) {
        self.clock.borrow_mut().join(clock);
        self.learned(layout);
    }

    fn learned(&self, layout: &Layout) {
        let clock = self.clock.borrow();
        self.known.set((clock.least(layout, self.id, Unit::Block), clock.least(layout, self.id, Unit::Cluster)));
        self.version.set(self.version.get() + 1);
    }

    /// Arrives at a barrier, with everything the thread knows if it `releases`. `group` numbers the barriers of a
    /// thread.
    pub(crate) fn arrive(&self, group: usize, releases: bool) {
        self.at_arrival[group].set(if releases { self.version.get() } else { u64::MAX });
    }

    /// Acquires what the other threads of a barrier released.
    pub(crate) fn leave(&self, layout: &Layout, gathered: &Clock, group: usize) {
        if self.at_arrival[group].get() == self.version.get() {
            // The gathered clock contains everything the thread knows.
            *self.clock.borrow_mut() = gathered.clone();
            self.learned(layout);
        } else {
            self.acquire(layout, gathered);
        }
    }

    /// Performs the read of an atomic that found `message`.
    pub(super) fn read(&self, layout: &Layout, message: &ReleasedClocks, with: Synchronization) {
        for (scope, from, clock) in &message.0 {
            // Not skipped for the thread's own message: it may hold other threads' releases, too.
            if !within(*scope, *from, self.id) || !within(with.scope, *from, self.id) {
                continue;
            }
            if with.acquires() {
                self.acquire(layout, clock);
            } else {
                self.found.borrow_mut().add(with.scope.min(*scope), *from, clock);
            }
        }
    }

    /// Returns whether an atomic that writes leaves something for others to acquire.
    pub(super) fn leaves(&self, with: Synchronization) -> bool {
        with.releases() || !self.fenced.borrow().0.is_empty()
    }

    /// Performs the write of an atomic to the location of `message`. It `replaces` the message if it is not a
    /// read-modify-write, which would continue the release sequence.
    pub(super) fn write(
        &self,
        epochs: &EpochCounter,
        layout: &Layout,
        message: &mut ReleasedClocks,
        with: Synchronization,
        replaces: bool,
    ) {
        if replaces {
            message.0.clear();
        }
        if with.releases() {
            message.add(with.scope, self.id, &self.release(epochs, layout));
        } else {
            for (scope, _, clock) in &self.fenced.borrow().0 {
                message.add(with.scope.min(*scope), self.id, clock);
            }
        }
    }

    pub(super) fn fence(&self, epochs: &EpochCounter, layout: &Layout, with: Synchronization) {
        if with.acquires() {
            let found = std::mem::take(&mut *self.found.borrow_mut());
            for (scope, from, clock) in &found.0 {
                if within(with.scope.min(*scope), *from, self.id) {
                    self.acquire(layout, clock);
                }
            }
        }
        if with.releases() {
            let released = self.release(epochs, layout);
            let mut fenced = self.fenced.borrow_mut();
            fenced.0.retain(|(scope, ..)| *scope > with.scope);
            fenced.0.push((with.scope, self.id, released));
        }
    }
}

fn next(epochs: &EpochCounter) -> Epoch {
    epochs.set(epochs.get() + 1);
    epochs.get()
}

/// The clocks that the threads of a barrier release in one phase. The threads of a block share one epoch where
/// possible, so that one number tells what is known of the block after the phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseRelease {
    clock: Clock,
    /// The clock that was joined last, since most threads of a block know the same.
    last: Clock,
    /// The epoch that the threads of a block take here, by the block's first thread.
    begun: BTreeMap<ActorId, Epoch>,
    /// The threads that could not take the shared epoch, or that released nothing.
    single: Vec<(ActorId, Epoch)>,
}

/// Says which threads meet at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Participants {
    /// Whole blocks meet.
    Blocks,
    /// Some threads of a block meet.
    Lanes,
}

impl PhaseRelease {
    /// Records an arrival. One that does not release publishes only what a fence of at least this scope released before
    /// it.
    pub(crate) fn arrive(
        &mut self,
        actor: &Actor,
        epochs: &EpochCounter,
        members: Participants,
        releases: bool,
        scope: Scope,
    ) {
        let common = *self.begun.entry(actor.id.first(Unit::Block)).or_insert_with(|| next(epochs));
        if !releases {
            self.single.push((actor.id, 0));
            for (fenced, _, clock) in &actor.fenced.borrow().0 {
                if *fenced >= scope {
                    self.clock.join(clock);
                }
            }
            return;
        }
        let clock = actor.clock.borrow();
        if !self.last.is(&clock) {
            self.clock.join(&clock);
            self.last = clock.clone();
        }
        // If the shared epoch is older than the thread's current one, the thread takes an epoch of its own.
        let own = if actor.epoch.get() < common { common } else { next(epochs) };
        actor.epoch.set(own);
        if own != common || members == Participants::Lanes {
            self.single.push((actor.id, own));
        }
    }

    /// Ends the phase and returns what all of its threads know now. The next phase begins empty.
    pub(crate) fn end(&mut self, layout: &Layout, members: Participants) -> Clock {
        let mut brought = Clock::default();
        if members == Participants::Blocks {
            self.begun.iter().for_each(|(block, epoch)| brought.set(layout, *block, Unit::Block, *epoch));
        }
        self.single.iter().for_each(|(id, epoch)| brought.set(layout, *id, Unit::Thread, *epoch));
        let mut clock = std::mem::take(self).clock;
        clock.join(&brought);
        clock
    }
}
