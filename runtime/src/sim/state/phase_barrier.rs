//! The state of phase barriers between calls: the phase of each, and what that phase still lacks.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use crate::scope::Scope;
use crate::sim::memory::SharedId;
use crate::sim::race::{Clock, Gathering};
use crate::sim::site::Site;

/// A barrier of a block: its position in an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BarrierId {
    pub(crate) memory: SharedId,
    pub(crate) index: usize,
    pub(crate) scope: Scope,
}

/// A method of a barrier, as one thread calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BarrierCall {
    pub(crate) name: &'static str,
    pub(crate) barrier: BarrierId,
    pub(crate) site: Site,
}

/// The phase of an arrival, and the initialization of the barrier that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) barrier: u32,
    pub(crate) phase: u64,
}

/// The phase barriers of a cluster.
#[derive(Default)]
pub(crate) struct PhaseBarriers {
    /// The states by allocation, rank of the block, and index.
    pub(in crate::sim) states: RefCell<BTreeMap<(u32, u32, usize), State>>,
    /// How many initializations there have been.
    pub(in crate::sim) begun: Cell<u32>,
}

pub(in crate::sim) enum State {
    Live(Box<Live>),
    /// The barrier was invalidated here.
    Invalid(Site),
}

/// A barrier from its `init` to its `invalidate`.
pub(in crate::sim) struct Live {
    /// The number of this initialization, counted over all barriers.
    pub(in crate::sim) number: u32,
    pub(in crate::sim) begun: Site,
    /// The arrivals that later phases expect.
    pub(in crate::sim) expected: u32,
    /// The arrivals that this phase expects, and how many of them are missing.
    pub(in crate::sim) all: u32,
    pub(in crate::sim) missing: u32,
    /// The bytes of asynchronous copies that are pending; negative if they arrived before they were expected.
    pub(in crate::sim) bytes: i64,
    pub(in crate::sim) phase: u64,
    /// The step of this phase's last arrival, and the step at which the last phase ended.
    pub(in crate::sim) reached: u64,
    pub(in crate::sim) ended: u64,
    /// The cluster ranks of the threads that wait.
    pub(in crate::sim) waiting: Vec<usize>,
    /// What the arrivals of this phase and of earlier ones released.
    pub(in crate::sim) released: Gathering,
    pub(in crate::sim) over: Clock,
    /// The effects of the copies whose bytes have arrived in this phase.
    pub(in crate::sim) landed: Clock,
    /// The threads of the barrier's block that have arrived in this phase, one bit each.
    pub(in crate::sim) arrived: Vec<u64>,
}

impl fmt::Display for BarrierCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`bar.{}()`", self.name)
    }
}

impl BarrierId {
    pub(in crate::sim) fn key(self) -> (u32, u32, usize) {
        (self.memory.allocation, self.memory.rank, self.index)
    }
}

impl Live {
    /// Ends the phase if nothing is missing, and returns the threads that may go on.
    pub(in crate::sim) fn complete(&mut self) -> Vec<usize> {
        if self.missing > 0 || self.bytes != 0 {
            return Vec::new();
        }
        self.phase += 1;
        self.over.join(&std::mem::take(&mut self.landed));
        self.ended = self.reached;
        (self.all, self.missing) = (self.expected, self.expected);
        std::mem::take(&mut self.waiting)
    }
}

impl Live {
    pub(in crate::sim) fn lack(&self) -> String {
        let Live { all, missing, bytes, .. } = self;
        let arrivals = format!("lacks {missing} of {all} arrivals");
        match (*missing, *bytes) {
            (_, 0) => arrivals,
            (0, bytes) if bytes > 0 => format!("lacks {bytes} bytes"),
            (_, bytes) if bytes > 0 => format!("{arrivals} and {bytes} bytes"),
            (0, bytes) => format!("has had {} bytes more than were expected", -bytes),
            (_, bytes) => format!("{arrivals} and has had {} bytes more than were expected", -bytes),
        }
    }
}

impl PhaseBarriers {
    /// Returns what the current phase of a barrier lacks, as part of a sentence.
    pub(in crate::sim) fn lack(&self, barrier: BarrierId) -> String {
        match self.states.borrow().get(&barrier.key()) {
            Some(State::Live(live)) => live.lack(),
            Some(State::Invalid(_)) | None => "is over".into(),
        }
    }
}
