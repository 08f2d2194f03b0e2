//! What a thread does in a launch, as data: its accesses, each with how far the thread had come. Who records and compares traces
//! is elsewhere.

use std::collections::BTreeSet;

use super::elements::{Element, Part};
use crate::check::cfg::{AccessId, BlockId, Completion};
use crate::check::runs::ThreadId;
use crate::span::SpanRange;

/// A step: its block of the graph, and its number there.
pub(super) type Point = (BlockId, usize);

/// How an access meets others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
}

impl Use {
    pub(super) fn writes(self) -> bool {
        matches!(self, Use::Write | Use::AtomicWrite)
    }

    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Use::AtomicRead | Use::AtomicWrite)
    }
}

/// Arrivals at and waits for the barriers of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phases {
    pub(super) arrivals: u32,
    /// The last arrival that orders memory, counted from 1: a relaxed one orders only what a fence follows.
    pub(super) releases: u32,
    /// The last arrival that orders memory and that the thread has waited for.
    pub(super) waits: u32,
}

/// How far a thread has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Time {
    /// The barriers of the block, the cluster and the grid.
    pub(super) phases: [Phases; 3],
    /// The number of arrivals and waits so far.
    pub(super) barriers: usize,
    /// What the thread's warp has done together so far, as a hash.
    pub(super) with_warp: u64,
    /// The number of times that the warp has done something together so far.
    pub(super) meetings: usize,
    /// Whether no arrival has followed the thread's last fence.
    pub(super) is_fenced: bool,
    /// Whether the thread may have learned since the last barrier of the block what another did, by something that is not one.
    pub(super) may_know: bool,
    /// Whether it may have learned so by more than waits at phase barriers.
    pub(super) knows_more: bool,
    /// The waits at phase barriers so far, as a hash.
    pub(super) waits: u64,
    /// Whether the thread has passed over a part of a split barrier, so that its arrivals and waits are not all counted.
    pub(super) is_lost: bool,
}

/// What a thread has learned of others, until its warp does something together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Met {
    /// A hash of its waits at phase barriers.
    pub(super) waits: u64,
    /// Whether it may have learned something by more than these since the last barrier of the block.
    pub(super) knows_more: bool,
}

impl Time {
    /// Whether a barrier orders this time before another: one of the block or a larger group, or only of larger ones, from the index of the
    /// smallest one on. That is so if the other's thread has waited for an arrival behind this time.
    pub(super) fn comes_before(self, other: Time, smallest: usize) -> bool {
        (smallest..self.phases.len()).any(|group| self.phases[group].arrivals < other.phases[group].waits)
    }

    /// Whether two threads that may have learned of others have come here by the same waits for the same phases. Then some run has both of
    /// them here at once: what lets the one go on lets the other, too.
    pub(super) fn has_waited_alike(self, other: Time) -> bool {
        self.waits != 0 && self.waits == other.waits && !self.knows_more && !other.knows_more
    }
}

impl Trace {
    /// Whether the two threads are of one warp, if they are of one block.
    pub(super) fn is_in_warp_of(&self, other: &Trace) -> bool {
        self.id.rank / 32 == other.id.rank / 32
    }
}

/// The traces, each with the number of barriers up to which its times compare with those of the others: as far as the threads come to the
/// same ones.
pub(super) fn comparable(traces: &[Trace]) -> impl Iterator<Item = (&Trace, usize)> {
    let reference = traces.first().map_or(&[][..], |first| &first.barriers);
    traces.iter().map(move |trace| (trace, trace.barriers.iter().zip(reference).take_while(|(a, b)| a == b).count()))
}

/// An access with the trace that it is in.
pub(super) type MadeBy<'t> = (&'t Trace, &'t Made);

/// An access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub(super) element: Element,
    /// The index in an array that is a field of the element, if the access is of one of its elements and that is known.
    pub(super) inside: Option<u64>,
    pub(super) by: Use,
    /// Whether it is made as a peer's memory, even if it is the thread's own.
    pub(super) is_remote: bool,
    pub(super) time: Time,
    pub(super) access: AccessId,
    /// Whether the thread may tell another of it, by something that is no barrier of a group.
    pub(super) may_be_told: bool,
    /// Whether it is made on an arm that the thread is taken to enter.
    pub(super) is_assumed: bool,
    /// What a plain write stores, as far as it is known.
    pub(super) stored: Option<Stored>,
    /// Whether the thread may have learned before what threads of other blocks did, by something that is no barrier of a group.
    pub(super) may_know_peers: bool,
}

/// An access of an array at an index that is not known. Its element tells the array alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Somewhere {
    pub(super) made: Made,
    /// Whether all threads of the block make it, each time at one index.
    pub(super) is_shared: bool,
}

/// An access of a part of memory at an element of it that is not known. Its element tells the array alone.
#[derive(Debug, Clone)]
pub(super) struct Within {
    pub(super) made: Made,
    pub(super) part: Part,
}

/// A value that a thread stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Number(i64),
    /// A hash that another thread's value has only if the two are equal.
    Hash(u64),
}

/// What a thread's copy does to shared memory of its block.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    pub(super) part: Part,
    pub(super) writes: bool,
    pub(super) completion: Completion,
    pub(super) begin: Time,
    /// When the thread has waited for it.
    pub(super) end: Option<Time>,
    /// Whether the threads of a warp do it together, at once.
    pub(super) is_of_warp: bool,
    pub(super) at: SpanRange,
}

impl Transfer {
    /// A matrix that a warp loads or stores.
    pub(super) fn of_warp(part: Part, writes: bool, now: Time, at: SpanRange) -> Transfer {
        let (completion, end) = (Completion::Group, Some(now));
        Transfer { part, writes, completion, begin: now, end, is_of_warp: true, at }
    }
}

/// What one thread does.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) id: ThreadId,
    pub(super) made: Vec<Made>,
    pub(super) somewhere: Vec<Somewhere>,
    pub(super) within: Vec<Within>,
    /// The arrivals and waits, by where they are.
    pub(super) barriers: Vec<Point>,
    /// By the number of times that the thread's warp has done something together, what that was, as a hash.
    pub(super) with_warp: Vec<u64>,
    /// The arrivals that order no memory, each with the number of arrivals at the cluster's barrier before it.
    pub(super) relaxed: Vec<(u32, SpanRange)>,
    /// The copies of shared memory that the thread begins.
    pub(super) transfers: Vec<Transfer>,
    /// The branches whose arms the thread has passed over.
    pub(super) passed: BTreeSet<BlockId>,
    /// Whether it has come to an index that depends on an argument.
    pub(super) has_given: bool,
    /// Whether the thread is taken to enter an arm of a branch on data.
    pub(super) is_assumed: bool,
}

/// What the threads of some launches have come to that other launches may show more of.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The branches whose arms some thread has passed over.
    pub(super) passed: BTreeSet<BlockId>,
    /// Whether an index depended on an argument.
    pub(super) has_given: bool,
}

impl Seen {
    pub(super) fn add(&mut self, traces: &[Trace]) {
        self.passed.extend(traces.iter().flat_map(|trace| &trace.passed));
        self.has_given |= traces.iter().any(|trace| trace.has_given);
    }
}
