//! How far the barriers of groups are, and a thread at them.

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

/// An operation at a place: what a report names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) group: Group,
    pub(crate) operation: Operation,
    pub(crate) site: Site,
}

/// A thread's standing at a barrier.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrival {
    /// Never arrived alone.
    None,
    /// Arrived in this phase, not waited.
    Pending { phase: u64, site: Site },
    /// Waited for its last arrival here.
    Waited { site: Site },
}

/// How far a barrier is.
pub(crate) struct Phases {
    pub(in crate::sim) expected: u64,
    pub(in crate::sim) arrived: Cell<u64>,
    pub(in crate::sim) current: Cell<u64>,
    /// The step of the last who came in this phase, and in the one before.
    pub(in crate::sim) reached: Cell<u64>,
    pub(in crate::sim) ended: Cell<u64>,
    /// What the threads of the phase bring.
    pub(in crate::sim) gathering: RefCell<Gathering>,
    /// What those of the last one brought. The next cannot end before all of them have it.
    pub(in crate::sim) gathered: RefCell<Clock>,
}

/// A barrier of a group, as one cluster has it: the grid's phases are those of all clusters.
pub(crate) struct Barrier {
    pub(in crate::sim) phases: Rc<Phases>,
    /// Ranks in the cluster of the threads that wait for the phase to end.
    pub(in crate::sim) waiting: RefCell<Vec<usize>>,
}

impl Phases {
    /// For a group of this many threads.
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

    /// The phase that has not ended.
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
