//! Finds threads that spin on memory that no thread will write. A thread counts as spinning after it has polled the
//! same location very often, and found the same value each time, while no thread of its cluster had an effect. If all
//! threads that can run spin, none will end, and the launch fails as a deadlock.
//!
//! A loop that gives up by itself is told apart only if it does so in fewer polls. Only atomics count as polls: a plain
//! read of the same element may be one of a computation. Loops that poll by plain reads end by the spin limit
//! (`Simulator::spin_limit`), which `serial` and `workers` watch.

use super::context::Context;
use super::memory::{Access, MemoryId};
use super::site::Site;
use super::state::{Cluster, Status, Thread};

/// The number of fruitless polls, of all threads of a cluster that poll, after which these threads count as spinning.
const ENOUGH: u32 = 1 << 17;

/// The number of fruitless polls that each of them has made by then, at least.
const FEWEST: u32 = 1 << 10;

/// The largest number of atomics in a loop that polls.
const LONGEST: u32 = 64;

/// A thread's polls since the last effect of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Polls {
    /// The number of effects before the first of these polls.
    effects: u64,
    /// The poll that is looked for again, with the bytes that it found.
    poll: Option<(Site, MemoryId, usize, usize, u128)>,
    /// The number of times that the poll was found again, and of other polls since.
    again: u32,
    others: u32,
    /// The number of loop iterations until the last of the polls.
    ticks: u64,
}

impl Polls {
    pub(in crate::sim) const NONE: Polls = Polls { effects: 0, poll: None, again: 0, others: 0, ticks: 0 };
}

impl Context<'_> {
    /// Notes an atomic that found these bytes and changed nothing.
    pub(super) fn note_poll(&self, access: Access<'_>, bytes: &[u8]) {
        let mut value = [0; 16];
        value[..bytes.len()].copy_from_slice(bytes);
        let poll = Some((access.site, access.memory, access.start, access.len, u128::from_ne_bytes(value)));
        let effects = self.cluster.effects.get();
        let mut polls = self.thread.polls.get();
        let place = |poll: Option<(Site, MemoryId, usize, usize, u128)>| {
            poll.map(|(site, memory, start, ..)| (site, memory, start))
        };
        if polls.poll == poll && polls.effects == effects {
            (polls.again, polls.others) = (polls.again.saturating_add(1), 0);
        } else if polls.effects != effects || polls.others > LONGEST || place(polls.poll) == place(poll) {
            polls = Polls { effects, poll, again: 0, others: 0, ticks: 0 };
        } else {
            polls.others += 1;
        }
        polls.ticks = self.thread.ticks.get();
        self.thread.polls.set(polls);
        // The runner looks at all threads when the turn ends.
        if polls.again >= FEWEST && polls.again.is_power_of_two() {
            self.cluster.may_be_stuck.set(true);
            self.suspend();
        }
    }
}

impl Cluster<'_> {
    /// Notes that a thread or a copy changed memory, or that a thread has exited.
    #[inline]
    pub(super) fn note_effect(&self) {
        self.effects.set(self.effects.get() + 1);
    }

    /// Returns whether no thread of the cluster can get on by itself: each spins, waits or has exited.
    pub(super) fn is_stuck(&self) -> bool {
        // Most calls end here, at the first thread that has not polled as often as any spinning thread must.
        self.all_stuck(FEWEST) && self.all_stuck(self.enough_polls()) && !self.has_copies_in_flight()
    }

    fn all_stuck(&self, polls: u32) -> bool {
        self.threads.iter().all(|thread| match thread.status.get() {
            Status::Ready => self.spins(thread, polls),
            // It continues once the others of its warp have iterated long enough.
            Status::Coalescing(_) => false,
            Status::AtGroupBarrier(_) | Status::AtPhaseBarrier(_) | Status::InExchange(_) | Status::Exited => true,
        })
    }

    /// Returns the number of fruitless polls after which a thread counts as spinning. Threads that poll together share
    /// it: a thousand of them need not find the same value as often as a single one.
    pub(super) fn enough_polls(&self) -> u32 {
        let effects = self.effects.get();
        let polls_on = |thread: &&Thread| {
            let polls = thread.polls.get();
            polls.effects == effects && polls.again >= FEWEST
        };
        let together = self.threads.iter().filter(polls_on).count().max(1) as u32;
        FEWEST.max(ENOUGH / together)
    }

    /// Returns the site of a thread's last poll and the memory that it reads, if no thread has had an effect since.
    pub(super) fn polled(&self, thread: &Thread) -> Option<(Site, MemoryId, usize, usize)> {
        let polls = thread.polls.get();
        let (site, memory, start, len, _) = polls.poll.filter(|_| polls.effects == self.effects.get())?;
        Some((site, memory, start, len))
    }

    /// Returns whether a thread that can run has polled at least this often, and still does.
    pub(super) fn spins(&self, thread: &Thread, enough: u32) -> bool {
        let polls = thread.polls.get();
        let lasts = polls.effects == self.effects.get() && thread.ticks.get() - polls.ticks <= LONGEST.into();
        matches!(thread.status.get(), Status::Ready) && polls.again >= enough && lasts
    }
}
