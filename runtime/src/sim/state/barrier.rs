//! The state of the barriers of groups, and a thread's arrivals at them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::sim::group::Group;
use crate::sim::race::{Clock, PhaseRelease, WeakArrival};
use crate::sim::site::Site;

/// An operation of a thread at a group's barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Sync,
    Arrive,
    Wait,
}

/// A call of an operation at a site, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) group: Group,
    pub(crate) operation: Operation,
    pub(crate) site: Site,
}

/// The state of a thread's last split arrival at a barrier.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrival {
    /// The thread has made no split arrival.
    None,
    /// The thread has arrived in this phase and has not waited.
    Pending { phase: u64, site: Site },
    /// The thread has waited for its last arrival, at this site.
    Waited { site: Site },
    /// The thread has forgotten the token of its last arrival here.
    Forgotten { site: Site },
}

/// The state of a barrier's phases.
pub(crate) struct Phases {
    pub(in crate::sim) expected: u64,
    pub(in crate::sim) arrived: Cell<u64>,
    pub(in crate::sim) current: Cell<u64>,
    /// The time of the current phase's last arrival, and the time at which the previous phase completed.
    pub(in crate::sim) reached: Cell<u64>,
    pub(in crate::sim) ended: Cell<u64>,
    /// What the arrivals of the current phase have released so far.
    pub(in crate::sim) releases: RefCell<PhaseRelease>,
    /// What the arrivals of the previous phase released. The current phase cannot complete before all threads have
    /// acquired it.
    pub(in crate::sim) released: RefCell<Clock>,
    /// The arrivals of the previous phase that did not release everything.
    pub(in crate::sim) weak: RefCell<Rc<[WeakArrival]>>,
}

/// A group's barrier in one cluster. All clusters share the phases of the grid's barrier.
pub(crate) struct Barrier {
    pub(in crate::sim) phases: Rc<Phases>,
    /// The cluster ranks of the threads that wait for the current phase to complete.
    pub(in crate::sim) waiting: RefCell<Vec<usize>>,
}

impl Phases {
    /// Creates the phases of a barrier of this many threads.
    pub(crate) fn new(expected: u64) -> Rc<Self> {
        Rc::new(Phases {
            expected,
            arrived: Cell::new(0),
            current: Cell::new(0),
            reached: Cell::new(0),
            ended: Cell::new(0),
            releases: RefCell::default(),
            released: RefCell::default(),
            weak: RefCell::default(),
        })
    }

    /// Returns the number of the current phase, which has not completed.
    pub(in crate::sim) fn current(&self) -> u64 {
        self.current.get()
    }
}

impl Barrier {
    pub(crate) fn new(phases: Rc<Phases>) -> Self {
        Barrier { phases, waiting: RefCell::default() }
    }
}

impl std::fmt::Display for Collective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let group = self.group.name();
        let operation = match self.operation {
            Operation::Sync => "sync",
            Operation::Arrive => "barrier_arrive",
            Operation::Wait => "barrier_wait",
        };
        write!(f, "`{group}.{operation}()`")
    }
}
