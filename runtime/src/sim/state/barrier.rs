//! The state of the barriers of groups, and of a thread at them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::sim::group::Group;
use crate::sim::race::{Clock, Gathering};
use crate::sim::site::Site;

/// An operation of a thread at a group's barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Sync,
    Arrive,
    Wait,
}

/// An operation at a site, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) group: Group,
    pub(crate) operation: Operation,
    pub(crate) site: Site,
}

/// A thread's state at a barrier.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrival {
    /// The thread has never arrived without waiting.
    None,
    /// The thread arrived in this phase and has not waited.
    Pending { phase: u64, site: Site },
    /// The thread has waited for its last arrival here.
    Waited { site: Site },
    /// The thread has forgotten the token of its last arrival here.
    Forgotten { site: Site },
}

/// The state of a barrier's phases.
pub(crate) struct Phases {
    pub(in crate::sim) expected: u64,
    pub(in crate::sim) arrived: Cell<u64>,
    pub(in crate::sim) current: Cell<u64>,
    /// The step of the last arrival of this phase, and of the one before.
    pub(in crate::sim) reached: Cell<u64>,
    pub(in crate::sim) ended: Cell<u64>,
    /// What the threads of the current phase have released so far.
    pub(in crate::sim) gathering: RefCell<Gathering>,
    /// What the threads of the last phase released. The current phase cannot end before all of them have acquired it.
    pub(in crate::sim) gathered: RefCell<Clock>,
}

/// A group's barrier, as one cluster sees it: the grid's phases are shared by all clusters.
pub(crate) struct Barrier {
    pub(in crate::sim) phases: Rc<Phases>,
    /// The cluster ranks of the threads that wait for the phase to end.
    pub(in crate::sim) waiting: RefCell<Vec<usize>>,
}

impl Phases {
    /// Creates the barrier of a group of this many threads.
    pub(crate) fn new(expected: u64) -> Rc<Self> {
        Rc::new(Phases {
            expected,
            arrived: Cell::new(0),
            current: Cell::new(0),
            reached: Cell::new(0),
            ended: Cell::new(0),
            gathering: RefCell::default(),
            gathered: RefCell::default(),
        })
    }

    /// Returns the number of the current phase, which has not ended.
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
