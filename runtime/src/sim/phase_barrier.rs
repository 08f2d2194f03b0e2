//! Phase barriers in shared memory, by the rules of mbarrier (PTX ISA, Parallel Synchronization and Communication
//! Instructions): a countdown of arrivals and of bytes, which begins anew by itself with the next phase. What a thread
//! may not do, the hardware does not look at; here it ends the launch.
//!
//! An arrival is a release and a wait an acquire of the barrier's own bytes, `init` and `invalidate` are plain writes of
//! them: what these order, and what nothing orders, is `race`'s to know.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;

use super::access::{Access, Kind, MemoryId};
use super::cluster::Status;
use super::race::{Done, Synchronization};
use super::{Context, SharedId, Site, cost};
use crate::failure::Cause;
use crate::scope::Scope;

/// The most arrivals and the most bytes of a phase.
const MOST: u32 = (1 << 20) - 1;

/// Bytes of a barrier.
const BYTES: usize = 8;

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
    states: RefCell<BTreeMap<(u32, u32, usize), State>>,
    /// How many lives have begun.
    begun: Cell<u32>,
}

enum State {
    Live(Live),
    /// Invalidated here.
    Invalid(Site),
}

/// A barrier from its `init` to its `invalidate`.
struct Live {
    /// Which life it is, of all barriers'.
    number: u32,
    begun: Site,
    /// Arrivals of the phases to come.
    expected: u32,
    /// Arrivals of this phase, and those of them that have not come.
    all: u32,
    missing: u32,
    /// Bytes of asynchronous copies that have not come.
    bytes: u32,
    phase: u64,
    /// Ranks in the cluster of the threads that wait.
    waiting: Vec<usize>,
}

impl fmt::Display for BarrierCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`bar.{}()`", self.name)
    }
}

impl BarrierCall {
    fn access(self, kind: Kind<'_>) -> Access<'_> {
        let BarrierId { memory, index, .. } = self.barrier;
        let memory = MemoryId::Shared(memory);
        Access { memory, start: index * BYTES, len: BYTES, kind, site: self.site, type_name: "u64" }
    }
}

impl BarrierId {
    fn key(self) -> (u32, u32, usize) {
        (self.memory.allocation, self.memory.rank, self.index)
    }
}

impl Live {
    /// Ends the phase if nothing is missing. Gives the threads that may go on.
    fn complete(&mut self) -> Vec<usize> {
        if self.missing > 0 || self.bytes > 0 {
            return Vec::new();
        }
        self.phase += 1;
        (self.all, self.missing) = (self.expected, self.expected);
        std::mem::take(&mut self.waiting)
    }
}

impl PhaseBarriers {
    /// What the current phase of a barrier lacks, in a sentence.
    pub(super) fn lack(&self, barrier: BarrierId) -> String {
        match self.states.borrow().get(&barrier.key()) {
            Some(State::Live(Live { all, missing, bytes: 0, .. })) => format!("lacks {missing} of {all} arrivals"),
            Some(State::Live(Live { missing: 0, bytes, .. })) => format!("lacks {bytes} bytes"),
            Some(State::Live(Live { all, missing, bytes, .. })) => {
                format!("lacks {missing} of {all} arrivals and {bytes} bytes")
            }
            Some(State::Invalid(_)) | None => "is over".into(),
        }
    }
}

impl Context<'_> {
    /// Begins a barrier's life.
    pub(crate) fn init_barrier(&self, call: BarrierCall, count: u32) {
        if !(1..=MOST).contains(&count) {
            self.fail(Cause::BarrierCount { count }, call.site);
        }
        let since = match self.cluster.phase_barriers.states.borrow().get(&call.barrier.key()) {
            Some(State::Live(live)) => Some(live.begun),
            Some(State::Invalid(_)) | None => None,
        };
        if let Some(since) = since {
            let sentence = format!("{call} of a barrier that is in use since {since}: `invalidate` it before");
            self.fail(Cause::Protocol(sentence), call.site);
        }
        let PhaseBarriers { states, begun } = &self.cluster.phase_barriers;
        begun.set(begun.get() + 1);
        self.access(call.access(Kind::Write(&u64::from(begun.get()).to_le_bytes())));
        let live = Live {
            number: begun.get(),
            begun: call.site,
            expected: count,
            all: count,
            missing: count,
            bytes: 0,
            phase: 0,
            waiting: Vec::new(),
        };
        states.borrow_mut().insert(call.barrier.key(), State::Live(live));
    }

    /// Ends a barrier's life.
    pub(crate) fn invalidate_barrier(&self, call: BarrierCall) {
        let (waiting, number) = self.live(call, |live| (live.waiting.len(), live.number));
        if waiting > 0 {
            self.fail(Cause::Protocol(format!("{call} while {waiting} thread(s) wait at the barrier")), call.site);
        }
        self.access(call.access(Kind::Write(&(!u64::from(number)).to_le_bytes())));
        self.cluster.phase_barriers.states.borrow_mut().insert(call.barrier.key(), State::Invalid(call.site));
    }

    /// Counts arrivals, which are not expected any more in the phases to come if they `drop` out.
    pub(crate) fn arrive_at_barrier(&self, call: BarrierCall, count: u32, drop: bool) -> Ticket {
        let (ticket, woken) = self.change(call, Ordering::Release, |live| {
            let Live { all, missing, bytes, .. } = *live;
            match missing {
                _ if count == 0 => return Err(format!("{call} that counts for nothing")),
                _ if count <= missing => {}
                _ if all == 0 => {
                    return Err(format!("{call} at a barrier that nobody is expected at: all have dropped out"));
                }
                0 => {
                    return Err(format!(
                        "{call} in a phase that has had all of its {all} arrivals, and waits for {bytes} bytes"
                    ));
                }
                _ => {
                    return Err(format!("{call} counts for {count} in a phase that lacks {missing} of {all} arrivals"));
                }
            }
            let ticket = Ticket { barrier: live.number, phase: live.phase };
            live.missing -= count;
            live.expected -= if drop { count } else { 0 };
            Ok((ticket, live.complete()))
        });
        woken.into_iter().for_each(|thread| self.cluster.wake(&self.cluster.threads[thread]));
        self.point(cost::ATOMIC);
        ticket
    }

    /// The current phase lacks so many bytes more.
    pub(crate) fn expect_bytes(&self, call: BarrierCall, bytes: u32) {
        self.change(call, Ordering::Relaxed, |live| match live.bytes {
            before if bytes > MOST - before => {
                Err(format!("{call} of {bytes} bytes, and {before} are expected already; {MOST} can be"))
            }
            _ => {
                live.bytes += bytes;
                Ok(())
            }
        });
    }

    /// Returns when the phase of an arrival is over.
    pub(crate) fn wait_at_barrier(&self, call: BarrierCall, ticket: Ticket) {
        self.check_ticket(call, ticket);
        self.wait_while(call, |live| live.phase == ticket.phase);
    }

    /// Whether the phase of an arrival is over. A clock is not there: a turn of the thread counts for a microsecond.
    pub(crate) fn try_barrier(&self, call: BarrierCall, ticket: Ticket, nanoseconds: u64) -> bool {
        self.check_ticket(call, ticket);
        for _ in 0..nanoseconds / 1000 {
            if self.live(call, |live| live.phase != ticket.phase) {
                break;
            }
            self.suspend();
        }
        self.look(call, |live| live.phase != ticket.phase)
    }

    /// Returns when the phase of this parity is over: the current one, or the one before.
    pub(crate) fn wait_parity(&self, call: BarrierCall, parity: bool) {
        self.wait_while(call, |live| live.phase % 2 == u64::from(parity));
    }

    /// Whether it is over.
    pub(crate) fn try_parity(&self, call: BarrierCall, parity: bool) -> bool {
        self.look(call, |live| live.phase % 2 != u64::from(parity))
    }

    fn look(&self, call: BarrierCall, is_over: impl Fn(&Live) -> bool) -> bool {
        let over = self.sees(call, is_over);
        if !over {
            self.point(cost::ATOMIC_LOAD);
        }
        over
    }

    fn wait_while(&self, call: BarrierCall, lasts: impl Fn(&Live) -> bool) {
        let mut waited = false;
        while !self.sees(call, |live| !lasts(live)) {
            self.live(call, |live| live.waiting.push(self.thread.rank));
            self.thread.status.set(Status::AtBarrier(call));
            self.suspend();
            waited = true;
        }
        if !waited {
            self.point(cost::ATOMIC);
        }
    }

    /// An atomic that changes the barrier, which lives.
    fn change<R>(&self, call: BarrierCall, order: Ordering, change: impl FnOnce(&mut Live) -> Result<R, String>) -> R {
        self.live(call, |_| ());
        let synchronization = Synchronization { order, scope: call.barrier.scope };
        let done = Done { synchronization, reads: true, writes: true };
        let changed = self.access_atomic(call.access(Kind::Atomic), |_| (self.live(call, change), done));
        changed.unwrap_or_else(|fault| self.fail(Cause::Protocol(fault), call.site))
    }

    /// An atomic that looks at the barrier, which lives.
    fn sees(&self, call: BarrierCall, is_over: impl Fn(&Live) -> bool) -> bool {
        self.live(call, |_| ());
        let synchronization = Synchronization { order: Ordering::Acquire, scope: call.barrier.scope };
        let done = Done { synchronization, reads: true, writes: false };
        self.access_atomic(call.access(Kind::AtomicLoad), |_| (self.live(call, |live| is_over(live)), done))
    }

    /// A token is of this barrier's current phase, or of the one before.
    fn check_ticket(&self, call: BarrierCall, ticket: Ticket) {
        let (number, phase) = self.live(call, |live| (live.number, live.phase));
        let fault = match ticket.barrier == number {
            true if ticket.phase + 1 >= phase => return,
            true => format!(
                "{call} with a token of phase {}, in phase {phase}: a token is good in its own phase and in the next",
                ticket.phase
            ),
            false => format!("{call} with the token of another barrier"),
        };
        self.fail(Cause::Protocol(fault), call.site);
    }

    /// The barrier of a call, which lives.
    fn live<R>(&self, call: BarrierCall, f: impl FnOnce(&mut Live) -> R) -> R {
        if call.barrier.memory.rank != self.thread.block_rank {
            self.check_peer(call.barrier.memory.rank, call.site);
        }
        let fault = match self.cluster.phase_barriers.states.borrow_mut().get_mut(&call.barrier.key()) {
            Some(State::Live(live)) => return f(live),
            Some(State::Invalid(site)) => format!("{call} at a barrier that was invalidated at {site}"),
            None => format!("{call} at a barrier that nobody has initialised"),
        };
        self.fail(Cause::Protocol(fault), call.site)
    }
}
