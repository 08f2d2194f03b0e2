//! The synchronization between threads: the knowledge of a thread (`Actor`), what it leaves at a location for later
//! readers (`Message`), and what the threads of a barrier exchange (`Gathering`). A phase barrier is built from
//! `Actor::release` and `Actor::acquire`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::clock::{Clock, Epoch, Layout, Unit, Who};
use crate::scope::Scope;

/// What an atomic or a fence orders, and for whom.
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

/// Whether both threads are in one unit of the scope.
pub(super) fn within(scope: Scope, a: Who, b: Who) -> bool {
    match scope {
        Scope::Block => a.first(Unit::Block) == b.first(Unit::Block),
        Scope::Cluster => a.cluster() == b.cluster(),
        Scope::Device | Scope::System => true,
    }
}

/// The epochs of a cluster: each release of one of its threads takes the next.
pub(crate) type Epochs = Cell<Epoch>;

/// A thread, and what it knows of the others.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) who: Who,
    /// What it does now belongs to this epoch.
    epoch: Cell<Epoch>,
    clock: RefCell<Clock>,
    /// Up to which epoch it knows all of its block, and all of its cluster: spares most looks at the clock.
    known: Cell<(Epoch, Epoch)>,
    /// How often it has learned something.
    version: Cell<u64>,
    /// `version` at the last arrival at each group's barrier.
    at_arrival: [Cell<u64>; 3],
    /// What its fences released: relaxed atomics after them publish it.
    fenced: RefCell<Message>,
    /// What its relaxed atomics found: a fence after them acquires it.
    found: RefCell<Message>,
}

/// Clocks that were left for others, each with who may take it: those in one unit of the scope with the thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message(Vec<(Scope, Who, Clock)>);

impl Message {
    fn add(&mut self, scope: Scope, from: Who, clock: &Clock) {
        match self.0.iter_mut().find(|(known, who, _)| *known == scope && within(scope, *who, from)) {
            Some((_, who, known)) => {
                *who = from;
                known.join(clock);
            }
            None => self.0.push((scope, from, clock.clone())),
        }
    }
}

impl Actor {
    pub(crate) fn new(who: Who) -> Self {
        Actor {
            who,
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

    /// Whether what the thread did in the epoch is ordered before what this one does now.
    #[inline]
    pub(super) fn knows(&self, layout: &Layout, who: Who, epoch: Epoch) -> bool {
        if who == self.who {
            return true;
        }
        let (block, cluster) = self.known.get();
        (who.first(Unit::Block) == self.who.first(Unit::Block) && epoch < block)
            || (who.cluster() == self.who.cluster() && epoch < cluster)
            || epoch < self.clock.borrow().of(layout, who)
    }

    /// The same of a whole warp. `false` where it is not known of all of its threads.
    #[inline]
    pub(super) fn knows_warp(&self, layout: &Layout, who: Who, epoch: Epoch) -> bool {
        let (block, cluster) = self.known.get();
        (who.first(Unit::Block) == self.who.first(Unit::Block) && epoch < block)
            || (who.cluster() == self.who.cluster() && epoch < cluster)
            || epoch < self.clock.borrow().least(layout, who, Unit::Warp)
    }

    /// All that it has done and knows, for whoever takes it. What it does from now on is not in it.
    pub(crate) fn release(&self, epochs: &Epochs, layout: &Layout) -> Clock {
        let epoch = next(epochs);
        self.epoch.set(epoch);
        let mut clock = self.clock.borrow().clone();
        clock.set(layout, self.who, Unit::Thread, epoch);
        clock
    }

    /// An asynchronous copy that the thread begins now: it comes after all that the thread knows, and who does not learn
    /// of its end does not know what it does.
    pub(crate) fn begin_copy(&self, slot: u32, epochs: &Epochs, layout: &Layout) -> Actor {
        let copy = Actor::new(self.who.copy(slot, layout));
        copy.epoch.set(next(epochs));
        copy.acquire(layout, &self.release(epochs, layout));
        copy
    }

    /// Adds what it knows at its end.
    pub(crate) fn end(&self, known: &mut Clock) {
        known.join(&self.clock.borrow());
    }

    /// Takes what somebody released.
    pub(crate) fn acquire(&self, layout: &Layout, clock: &Clock) {
        self.clock.borrow_mut().join(clock);
        self.learned(layout);
    }

    fn learned(&self, layout: &Layout) {
        let clock = self.clock.borrow();
        self.known.set((clock.least(layout, self.who, Unit::Block), clock.least(layout, self.who, Unit::Cluster)));
        self.version.set(self.version.get() + 1);
    }

    /// Arrives at a barrier, with all that it knows if it `releases`. `group` numbers the barriers of a thread.
    pub(crate) fn arrive(&self, group: usize, releases: bool) {
        self.at_arrival[group].set(if releases { self.version.get() } else { u64::MAX });
    }

    /// Takes what the others of a barrier brought.
    pub(crate) fn leave(&self, layout: &Layout, gathered: &Clock, group: usize) {
        if self.at_arrival[group].get() == self.version.get() {
            // It brought all that it knows.
            *self.clock.borrow_mut() = gathered.clone();
            self.learned(layout);
        } else {
            self.acquire(layout, gathered);
        }
    }

    /// An atomic that reads what `message` was left with.
    pub(super) fn read(&self, layout: &Layout, message: &Message, with: Synchronization) {
        for (scope, from, clock) in &message.0 {
            // Others' releases are in it too, where the thread itself was the last.
            if !within(*scope, *from, self.who) || !within(with.scope, *from, self.who) {
                continue;
            }
            if with.acquires() {
                self.acquire(layout, clock);
            } else {
                self.found.borrow_mut().add(with.scope.min(*scope), *from, clock);
            }
        }
    }

    /// Whether an atomic that writes leaves something for others.
    pub(super) fn leaves(&self, with: Synchronization) -> bool {
        with.releases() || !self.fenced.borrow().0.is_empty()
    }

    /// An atomic that writes where `message` is left. `replaces`: it is no read-modify-write, which would hand on what
    /// stood there.
    pub(super) fn write(
        &self,
        epochs: &Epochs,
        layout: &Layout,
        message: &mut Message,
        with: Synchronization,
        replaces: bool,
    ) {
        if replaces {
            message.0.clear();
        }
        if with.releases() {
            message.add(with.scope, self.who, &self.release(epochs, layout));
        } else {
            for (scope, _, clock) in &self.fenced.borrow().0 {
                message.add(with.scope.min(*scope), self.who, clock);
            }
        }
    }

    pub(super) fn fence(&self, epochs: &Epochs, layout: &Layout, with: Synchronization) {
        if with.acquires() {
            let found = std::mem::take(&mut *self.found.borrow_mut());
            for (scope, from, clock) in &found.0 {
                if within(with.scope.min(*scope), *from, self.who) {
                    self.acquire(layout, clock);
                }
            }
        }
        if with.releases() {
            let released = self.release(epochs, layout);
            let mut fenced = self.fenced.borrow_mut();
            fenced.0.retain(|(scope, ..)| *scope > with.scope);
            fenced.0.push((with.scope, self.who, released));
        }
    }
}

fn next(epochs: &Epochs) -> Epoch {
    epochs.set(epochs.get() + 1);
    epochs.get()
}

/// What the threads of a barrier bring in one phase. Those of one block take one epoch together, where they can, so that
/// what is known of the block after the phase is one number.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    clock: Clock,
    /// What was joined last: most threads of a block know the same.
    last: Clock,
    /// By the block's first thread, the epoch that its threads take here.
    begun: BTreeMap<Who, Epoch>,
    /// Threads that could not take it, or that brought nothing.
    single: Vec<(Who, Epoch)>,
}

/// Who meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// Whole blocks.
    Blocks,
    /// Some threads of one block.
    Lanes,
}

impl Gathering {
    /// An arrival. One that does not release publishes only what a fence of this scope released before it.
    pub(crate) fn arrive(&mut self, actor: &Actor, epochs: &Epochs, members: Members, releases: bool, scope: Scope) {
        let common = *self.begun.entry(actor.who.first(Unit::Block)).or_insert_with(|| next(epochs));
        if !releases {
            self.single.push((actor.who, 0));
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
        // Older than what the thread did since: it takes one of its own.
        let own = if actor.epoch.get() < common { common } else { next(epochs) };
        actor.epoch.set(own);
        if own != common || members == Members::Lanes {
            self.single.push((actor.who, own));
        }
    }

    /// The phase has ended: what all of its threads know now. Begins the next.
    pub(crate) fn end(&mut self, layout: &Layout, members: Members) -> Clock {
        let mut brought = Clock::default();
        if members == Members::Blocks {
            self.begun.iter().for_each(|(block, epoch)| brought.set(layout, *block, Unit::Block, *epoch));
        }
        self.single.iter().for_each(|(who, epoch)| brought.set(layout, *who, Unit::Thread, *epoch));
        let mut clock = std::mem::take(self).clock;
        clock.join(&brought);
        clock
    }
}
