//! The state of phase barriers: the current phase of each, and the arrivals and bytes that it still expects.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use crate::scope::Scope;
use crate::sim::memory::SharedId;
use crate::sim::race::{Clock, PhaseRelease};
use crate::sim::site::Site;

/// Identifies a phase barrier by its position in a block's instance of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BarrierId {
    pub(crate) memory: SharedId,
    pub(crate) index: usize,
    pub(crate) scope: Scope,
}

impl BarrierId {
    /// Returns the same barrier of the block of this rank.
    pub(crate) fn of_block(self, rank: u32) -> BarrierId {
        BarrierId { memory: SharedId { rank, ..self.memory }, ..self }
    }
}

/// A thread's call of a barrier's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BarrierCall {
    pub(crate) name: &'static str,
    pub(crate) barrier: BarrierId,
    pub(crate) site: Site,
}

/// The phase of an arrival, with the number of the barrier's initialization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrivalPhase {
    pub(crate) barrier: u32,
    pub(crate) phase: u64,
}

/// The phase barriers of a cluster.
#[derive(Default)]
pub(crate) struct PhaseBarriers {
    /// The states by allocation, block rank and index.
    pub(in crate::sim) states: RefCell<BTreeMap<(u32, u32, usize), BarrierState>>,
    /// The number of initializations so far.
    pub(in crate::sim) inits: Cell<u32>,
}

/// The state of a phase barrier that was initialized at least once.
pub(in crate::sim) enum BarrierState {
    Live(Box<LiveBarrier>),
    /// The barrier was invalidated at this site.
    Invalid(Site),
}

/// A barrier from its `init` to its `invalidate`.
pub(in crate::sim) struct LiveBarrier {
    /// The number of this initialization, counted over all barriers.
    pub(in crate::sim) number: u32,
    pub(in crate::sim) init_site: Site,
    /// The expected arrival count of the phases after the current one.
    pub(in crate::sim) next_expected: u32,
    /// The expected and the pending arrival count of the current phase.
    pub(in crate::sim) expected: u32,
    pub(in crate::sim) pending: u32,
    /// The bytes of asynchronous copies that are pending; negative if more have arrived than are expected so far.
    pub(in crate::sim) tx_count: i64,
    pub(in crate::sim) phase: u64,
    /// The number of phases whose end some thread of its block has observed.
    pub(in crate::sim) observed: u64,
    /// The time of the current phase's last arrival, and the time at which the previous phase ended.
    pub(in crate::sim) last_arrival: u64,
    pub(in crate::sim) last_end: u64,
    /// The cluster ranks of the threads that wait.
    pub(in crate::sim) waiting: Vec<usize>,
    /// What the arrivals of the current phase have released.
    pub(in crate::sim) released: PhaseRelease,
    /// The clock that a thread acquires when it observes a completed phase.
    pub(in crate::sim) completed: Clock,
    /// What the copies and the arrivals of the current phase add to `completed` at its end.
    pub(in crate::sim) completing: Clock,
    /// The threads of the barrier's block that have arrived in the current phase, one bit each.
    pub(in crate::sim) arrived: Vec<u64>,
}

/// What tells a barrier from others: its memory's allocation, the rank of its block, and its index there.
pub(in crate::sim) type BarrierKey = (u32, u32, usize);

impl fmt::Display for BarrierCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`bar.{}()`", self.name)
    }
}

impl BarrierId {
    pub(in crate::sim) fn key(self) -> BarrierKey {
        (self.memory.allocation, self.memory.rank, self.index)
    }
}

impl LiveBarrier {
    /// Completes the phase if it expects nothing more, and returns the threads to wake.
    pub(in crate::sim) fn complete(&mut self) -> Vec<usize> {
        if self.pending > 0 || self.tx_count != 0 {
            return Vec::new();
        }
        self.phase += 1;
        self.completed.join(&std::mem::take(&mut self.completing));
        self.last_end = self.last_arrival;
        self.expected = self.next_expected;
        self.pending = self.next_expected;
        std::mem::take(&mut self.waiting)
    }

    /// Returns what keeps the current phase from completing, as the end of a sentence about the phase.
    pub(in crate::sim) fn missing(&self) -> String {
        let LiveBarrier { expected, pending, tx_count, .. } = self;
        let arrivals = format!("still expects {pending} of {expected} arrivals");
        match (*pending, *tx_count) {
            (_, 0) => arrivals,
            (0, bytes) if bytes > 0 => format!("still expects {bytes} bytes"),
            (_, bytes) if bytes > 0 => format!("{arrivals} and {bytes} bytes"),
            (0, bytes) => format!("has received {} bytes more than expected", -bytes),
            (_, bytes) => format!("{arrivals} and has received {} bytes more than expected", -bytes),
        }
    }
}

impl PhaseBarriers {
    /// Returns what keeps the current phase of a barrier from completing, as the end of a sentence about the phase.
    pub(in crate::sim) fn missing(&self, barrier: BarrierId) -> String {
        match self.states.borrow().get(&barrier.key()) {
            Some(BarrierState::Live(live)) => live.missing(),
            Some(BarrierState::Invalid(_)) | None => "was invalidated".into(),
        }
    }
}
