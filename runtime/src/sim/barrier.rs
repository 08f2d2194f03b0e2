//! The barriers of groups, by the abstract rules of cooperative groups: every thread of the group arrives once and
//! waits once in each phase. A thread that has exited does not arrive; today's hardware lets it count.

use std::cell::{Cell, RefCell};

use super::cluster::{Status, Thread};
use super::{Context, Site, cost};
use crate::failure::Cause;

/// A group with a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Block,
    Cluster,
}

/// What a thread does at a group's barrier.
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

/// A barrier of a group.
pub(crate) struct Barrier {
    expected: u32,
    arrived: Cell<u32>,
    phase: Cell<u64>,
    /// Ranks in the cluster of the threads that wait for the phase to end.
    waiting: RefCell<Vec<usize>>,
}

impl Barrier {
    /// For a group of this many threads.
    pub(crate) fn new(expected: u32) -> Self {
        Barrier { expected, arrived: Cell::new(0), phase: Cell::new(0), waiting: RefCell::default() }
    }
}

impl std::fmt::Display for Collective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let group = match self.group {
            Group::Block => "block",
            Group::Cluster => "cluster",
        };
        let operation = match self.operation {
            Operation::Sync => "sync",
            Operation::Arrive => "barrier_arrive",
            Operation::Wait => "barrier_wait",
        };
        write!(f, "`{group}.{operation}()`")
    }
}

impl Context<'_> {
    /// Arrives and waits.
    pub(crate) fn sync(&self, group: Group, site: Site) {
        let collective = Collective { group, operation: Operation::Sync, site };
        self.check_nothing_pending(collective);
        let phase = self.arrive(group);
        self.wait(phase, collective);
    }

    /// Arrives, and returns the phase that a wait has to name.
    pub(crate) fn barrier_arrive(&self, group: Group, site: Site) -> u64 {
        self.check_nothing_pending(Collective { group, operation: Operation::Arrive, site });
        let phase = self.arrive(group);
        self.thread.arrivals[group as usize].set(Arrival::Pending { phase, site });
        self.point(cost::ATOMIC);
        phase
    }

    /// Waits for the end of the phase that the thread arrived in.
    pub(crate) fn barrier_wait(&self, group: Group, phase: u64, site: Site) {
        let collective = Collective { group, operation: Operation::Wait, site };
        let arrival = &self.thread.arrivals[group as usize];
        let fault = match arrival.get() {
            Arrival::Pending { phase: arrived, .. } if arrived == phase => None,
            Arrival::Pending { site, .. } => Some(format!("the token is older than the arrival at {site}")),
            Arrival::Waited { site } => Some(format!("the last arrival was waited for at {site}")),
            Arrival::None => Some("this thread never arrived".to_owned()),
        };
        if let Some(fault) = fault {
            self.fail(Cause::Protocol(format!("{collective} without an arrival: {fault}")), site);
        }
        arrival.set(Arrival::Waited { site });
        self.wait(phase, collective);
    }

    /// A group's collective must not stand between an arrival and its wait, be the arrival at the group itself or at
    /// a group inside it: cooperative groups allow only smaller groups' collectives there.
    fn check_nothing_pending(&self, collective: Collective) {
        let groups: &[Group] = match collective.group {
            Group::Block => &[Group::Block],
            Group::Cluster => &[Group::Cluster, Group::Block],
        };
        for &group in groups {
            if let Arrival::Pending { site, .. } = self.thread.arrivals[group as usize].get() {
                let arrive = Collective { group, operation: Operation::Arrive, site };
                let wait = Collective { group, operation: Operation::Wait, site };
                let sentence = format!("{collective} between the {arrive} at {site} and its {wait}");
                self.fail(Cause::Protocol(sentence), collective.site);
            }
        }
    }

    fn barrier(&self, group: Group) -> &Barrier {
        match group {
            Group::Block => &self.cluster.blocks[self.thread.block_rank as usize].barrier,
            Group::Cluster => &self.cluster.barrier,
        }
    }

    /// Counts an arrival; the last one of a phase ends it.
    fn arrive(&self, group: Group) -> u64 {
        let barrier = self.barrier(group);
        let phase = barrier.phase.get();
        barrier.arrived.set(barrier.arrived.get() + 1);
        if barrier.arrived.get() == barrier.expected {
            barrier.arrived.set(0);
            barrier.phase.set(phase + 1);
            for thread in barrier.waiting.borrow_mut().drain(..) {
                self.cluster.wake(&self.cluster.threads[thread]);
            }
        }
        phase
    }

    /// Returns when `phase` has ended.
    fn wait(&self, phase: u64, collective: Collective) {
        let barrier = self.barrier(collective.group);
        if barrier.phase.get() == phase {
            barrier.waiting.borrow_mut().push(self.thread.rank);
            self.thread.status.set(Status::Waiting(collective));
            self.suspend();
        } else {
            self.point(cost::ATOMIC);
        }
        if collective.group == Group::Cluster {
            self.thread.peers_started.set(true);
        }
    }
}

/// What is wrong with a thread that ends now: an arrival that it never waited for, and where.
pub(super) fn check_exit(thread: &Thread) -> Option<(Cause, Site)> {
    [Group::Cluster, Group::Block].into_iter().find_map(|group| match thread.arrivals[group as usize].get() {
        Arrival::Pending { site, .. } => {
            let arrive = Collective { group, operation: Operation::Arrive, site };
            let wait = Collective { group, operation: Operation::Wait, site };
            Some((Cause::Protocol(format!("{arrive} was never waited for: the thread ended without {wait}")), site))
        }
        Arrival::None | Arrival::Waited { .. } => None,
    })
}
