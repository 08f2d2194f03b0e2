//! Phase barriers between their calls: how far each is, and what its phase lacks.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use crate::scope::Scope;
use crate::sim::memory::SharedId;
use crate::sim::race::{Clock, Gathering};
use crate::sim::site::Site;

/// A barrier of a block: its place in an allocation.
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

/// Which phase an arrival was in, and of which barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) barrier: u32,
    pub(crate) phase: u64,
}

/// The barriers of a cluster.
#[derive(Default)]
pub(crate) struct PhaseBarriers {
    /// By allocation, rank of the block, and index.
    pub(in crate::sim) states: RefCell<BTreeMap<(u32, u32, usize), State>>,
    /// How many lives have begun.
    pub(in crate::sim) begun: Cell<u32>,
}

pub(in crate::sim) enum State {
    Live(Box<Live>),
    /// Invalidated here.
    Invalid(Site),
}

/// A barrier from its `init` to its `invalidate`.
pub(in crate::sim) struct Live {
    /// Which life it is, of all barriers'.
    pub(in crate::sim) number: u32,
    pub(in crate::sim) begun: Site,
    /// Arrivals of the phases to come.
    pub(in crate::sim) expected: u32,
    /// Arrivals of this phase, and those of them that have not come.
    pub(in crate::sim) all: u32,
    pub(in crate::sim) missing: u32,
    /// Bytes of asynchronous copies that have not come; less than none, if they came before somebody expected them.
    pub(in crate::sim) bytes: i64,
    pub(in crate::sim) phase: u64,
    /// The step of the last who came, and that at which the last phase was over.
    pub(in crate::sim) reached: u64,
    pub(in crate::sim) ended: u64,
    /// Ranks in the cluster of the threads that wait.
    pub(in crate::sim) waiting: Vec<usize>,
    /// What the arrivals of this phase released, and those of the phases before it.
    pub(in crate::sim) released: Gathering,
    pub(in crate::sim) over: Clock,
    /// What the copies did whose bytes have come in this phase.
    pub(in crate::sim) landed: Clock,
    /// The threads of its block that have arrived in this phase, a bit each.
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
    /// Ends the phase if nothing is missing. Gives the threads that may go on.
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
    /// What the current phase of a barrier lacks, in a sentence.
    pub(in crate::sim) fn lack(&self, barrier: BarrierId) -> String {
        match self.states.borrow().get(&barrier.key()) {
            Some(State::Live(live)) => live.lack(),
            Some(State::Invalid(_)) | None => "is over".into(),
        }
    }
}
