//! Records of accesses to shared memory that may be in flight: plain data, and how two records of one access join.

use std::collections::BTreeSet;

use bitflags::bitflags;

use super::index_path::IndexPath;
use crate::check::cfg::{AccessId, CallId, Completion, Shared};
use crate::span::SpanRange;

/// What a record stands for: one access, or all accesses that another function may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordKey {
    /// An access of the function itself.
    Access(AccessId),
    /// What a called function does to one of its arguments, before or after the arrival whose token it returns. At the position of
    /// the dynamic memory, it is what the function does to all memory that it names without being given it.
    Argument { call: CallId, argument: usize, arrived: bool },
    /// All accesses of a called function to peers' memory.
    Call(CallId),
    /// What the caller did before it called this function.
    Caller,
    /// The accesses are those that the caller made after the arrival whose token it gave to this function.
    CallerArrived,
}

/// One of the kinds of records that an access of a loop may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instance {
    /// A wait at a phase barrier follows the access. This comes first, so that those are the last.
    pub(super) waited: bool,
    pub(super) key: RecordKey,
    /// The access came before the last wait at a barrier of the cluster.
    pub(super) before_wait: bool,
    /// Only threads that took the other arm of a divergent branch make the access.
    pub(super) on_other_arm: bool,
    /// The gathers whose arrival follows the access, by their bits.
    pub(super) told: u8,
}

bitflags! {
    /// When an access may have been made, and what has not ordered it since.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Timing: u8 {
        /// Since the last wait, with no arrival pending.
        const SINCE_WAIT = 1;
        /// Since the last wait, while an arrival was pending.
        const SINCE_ARRIVAL = 1 << 1;
        /// Before the last wait, but after the arrival of that wait.
        const BEFORE_WAIT = 1 << 2;
        /// Before a wait whose arrival was relaxed and did not order it.
        const RELAXED = 1 << 3;
        /// No fence follows it.
        const UNFENCED = 1 << 4;
        /// No barrier of the block follows it, so the fence of a single thread would not order it.
        const UNSYNCED = 1 << 5;
        /// A relaxed arrival is pending that no fence orders it before.
        const MISSED = 1 << 6;
    }
}

/// An access in flight.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) path: IndexPath,
    pub(super) timing: Timing,
    /// Only threads that took the other arm of a divergent branch make the access.
    pub(super) on_other_arm: bool,
    /// The calls since the access, on all paths. If one of them has a barrier of the cluster, the access is not in flight.
    pub(super) calls_since: BTreeSet<u16>,
    /// A relaxed arrival that did not order it.
    pub(super) relaxed: Option<SpanRange>,
    /// On some path, a wait follows it that may show the completion of an asynchronous copy: of its own, or of one that the wait
    /// allows a peer to begin.
    pub(super) waited: bool,
    /// The completion of the asynchronous copy that makes the access, if one does. No barrier of the cluster waits for copies.
    pub(super) completion: Option<Completion>,
    /// A peer's copy makes it.
    pub(super) is_sent: bool,
    /// The barriers on which copies to peers complete that have begun since, on some path.
    pub(super) sent_since: BTreeSet<Shared>,
    /// The gathers whose arrival follows the access, by their bits.
    pub(super) told: u8,
}

/// An access to a peer's memory that is open: no arrival has ordered it before the peer's exit.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenAccess {
    /// The calls since the access, on all paths. If one of them arrives, the access is not open.
    pub(super) calls_since: BTreeSet<u16>,
    /// A relaxed arrival that did not order it.
    pub(super) relaxed: Option<SpanRange>,
    /// A fence follows it on all paths.
    pub(super) fenced: bool,
}

/// Keeps the calls that are in both sets; says whether any was removed.
pub(super) fn intersect(calls: &mut BTreeSet<u16>, others: &BTreeSet<u16>) -> bool {
    if calls.is_empty() {
        return false;
    }
    let before = calls.len();
    calls.retain(|call| others.contains(call));
    calls.len() != before
}

impl Record {
    pub(super) fn new(path: IndexPath, arrival_pending: bool) -> Record {
        let mut record = Record {
            path,
            timing: Timing::empty(),
            on_other_arm: false,
            calls_since: BTreeSet::new(),
            relaxed: None,
            waited: false,
            completion: None,
            is_sent: false,
            sent_since: BTreeSet::new(),
            told: 0,
        };
        record.renew(arrival_pending);
        record
    }

    /// Whether a copy of the memory's owner makes the access, which the record does not know to be complete.
    pub(super) fn is_copying(&self) -> bool {
        self.completion.is_some() && !self.is_sent && !self.waited
    }

    /// Whether a copy of the memory's owner makes the access, whose completion is none of those that have been shown.
    pub(super) fn is_copied_beyond(&self, shown: &BTreeSet<Completion>) -> bool {
        self.is_copying() && self.completion.is_some_and(|completion| !shown.contains(&completion))
    }

    /// Makes it an access at this moment, with the arrival at a barrier of the cluster that is pending, if there is one.
    pub(super) fn renew(&mut self, arrival_pending: bool) {
        let when = if arrival_pending { Timing::SINCE_ARRIVAL } else { Timing::SINCE_WAIT };
        self.timing = when | Timing::UNFENCED | Timing::UNSYNCED;
    }

    pub(super) fn join(&mut self, other: &Record) -> bool {
        let mut changed = intersect(&mut self.calls_since, &other.calls_since);
        changed |= !self.timing.contains(other.timing) || self.on_other_arm && !other.on_other_arm;
        self.timing |= other.timing;
        self.on_other_arm &= other.on_other_arm;
        let sent_before = self.sent_since.len();
        self.sent_since.extend(&other.sent_since);
        changed |= self.sent_since.len() != sent_before;
        self.relaxed = self.relaxed.or(other.relaxed);
        changed |= self.path.join(&other.path);
        changed
    }
}
