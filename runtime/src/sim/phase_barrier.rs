//! Phase barriers in shared memory, by the rules of mbarrier (PTX ISA, Parallel Synchronization and Communication
//! Instructions): a countdown of arrivals and of bytes, which begins anew by itself with the next phase. What a thread
//! may not do, the hardware does not look at; here it ends the launch.
//!
//! An arrival releases, and who sees its phase over acquires. All are relaxed atomics on the barrier's own bytes, and `init` and
//! `invalidate` plain writes of them: what nothing orders with those is a race.

use std::sync::atomic::Ordering;

use super::context::Context;
use super::cost;
use super::memory::{Access, Kind, MemoryId};
use super::race::{Clock, Done, Gathering, Members, Synchronization};
use super::state::{BarrierCall, BarrierId, Cluster, Live, PhaseBarriers, State, Status, Ticket};
use crate::report::failure::Cause;
use crate::report::timeline::EventKind;

/// The most arrivals and the most bytes of a phase.
const MOST: u32 = (1 << 20) - 1;

/// Bytes of a barrier.
const BYTES: usize = 8;

impl BarrierCall {
    fn access(self, kind: Kind<'_>) -> Access<'_> {
        let BarrierId { memory, index, .. } = self.barrier;
        let memory = MemoryId::Shared(memory);
        Access { memory, start: index * BYTES, len: BYTES, kind, site: self.site, type_name: "u64" }
    }
}

impl Cluster<'_> {
    /// The bytes of a copy have come to a barrier, with what it did. Else what is wrong with the barrier.
    pub(super) fn complete_copy(&self, barrier: BarrierId, bytes: usize, done: &Clock) -> Result<(), String> {
        let woken = match self.phase_barriers.states.borrow_mut().get_mut(&barrier.key()) {
            Some(State::Live(live)) => {
                live.bytes -= bytes as i64;
                live.landed.join(done);
                live.complete()
            }
            Some(State::Invalid(site)) => return Err(format!("was invalidated at {site}")),
            None => return Err("nobody has initialised".into()),
        };
        woken.into_iter().for_each(|thread| self.wake(&self.threads[thread]));
        Ok(())
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
        let number = begun.get() + 1;
        begun.set(number);
        self.access(call.access(Kind::Write(&u64::from(number).to_le_bytes())));
        let live = Live {
            number,
            begun: call.site,
            expected: count,
            all: count,
            missing: count,
            bytes: 0,
            phase: 0,
            reached: 0,
            ended: 0,
            waiting: Vec::new(),
            released: Gathering::default(),
            over: Clock::default(),
            landed: Clock::default(),
            arrived: vec![0; self.cluster.launch.block_threads.div_ceil(64) as usize],
        };
        states.borrow_mut().insert(call.barrier.key(), State::Live(Box::new(live)));
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
        let (ticket, woken) = self.change(call, |live| {
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
            live.reached = live.reached.max(self.thread.clock.get());
            live.expected -= if drop { count } else { 0 };
            self.release_to(live, call.barrier);
            Ok((ticket, live.complete()))
        });
        woken.into_iter().for_each(|thread| self.cluster.wake(&self.cluster.threads[thread]));
        self.record(EventKind::Arrive, "bar", call.site, self.thread.clock.get());
        self.point(cost::ATOMIC);
        ticket
    }

    /// What the thread has done, those will know who see the phase over.
    fn release_to(&self, live: &mut Live, barrier: BarrierId) {
        let Some(detector) = &self.cluster.launch.races else { return };
        live.released.arrive(&self.thread.actor, &self.cluster.epochs, Members::Lanes, true, barrier.scope);
        if barrier.memory.rank == self.thread.block_rank {
            let rank = self.thread.rank_in_block;
            live.arrived[rank as usize / 64] |= 1 << (rank % 64);
        }
        if live.missing == 0 {
            let arrived: u32 = live.arrived.iter().map(|word| word.count_ones()).sum();
            // All of a block are known by one number.
            let whole = arrived == self.cluster.launch.block_threads && live.all == arrived;
            let members = if whole { Members::Blocks } else { Members::Lanes };
            // Who looks for the phase before this one's end must not learn of it.
            live.landed.join(&live.released.end(&detector.layout, members));
            live.arrived.fill(0);
        }
    }

    /// The current phase lacks so many bytes more.
    pub(crate) fn expect_bytes(&self, call: BarrierCall, bytes: u32) {
        self.change(call, |live| match live.bytes {
            before if i64::from(bytes) > i64::from(MOST) - before => {
                Err(format!("{call} of {bytes} bytes, and {before} are expected already; {MOST} can be"))
            }
            _ => {
                live.bytes += i64::from(bytes);
                Ok(())
            }
        });
    }

    /// A copy begins whose bytes will come here: the phase lacks so many more.
    pub(super) fn expect_copy(&self, call: BarrierCall, bytes: usize) {
        self.change(call, |live| {
            live.bytes += bytes as i64;
            Ok(())
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
        let (mut waited, start) = (false, self.thread.clock.get());
        while !self.sees(call, |live| !lasts(live)) {
            self.live(call, |live| live.waiting.push(self.thread.rank));
            self.thread.status.set(Status::AtBarrier(call));
            self.suspend();
            waited = true;
        }
        let ended = self.live(call, |live| live.ended);
        self.thread.clock.set(self.thread.clock.get().max(ended));
        self.record(EventKind::Wait, "bar", call.site, start);
        if !waited {
            self.point(cost::ATOMIC);
        }
    }

    /// An atomic that changes the barrier, which lives.
    fn change<R>(&self, call: BarrierCall, change: impl FnOnce(&mut Live) -> Result<R, String>) -> R {
        self.live(call, |_| ());
        let done = Done { synchronization: relaxed(call), reads: true, writes: true };
        let changed = self.access_atomic(call.access(Kind::Atomic), |_| (self.live(call, change), done));
        changed.unwrap_or_else(|fault| self.fail(Cause::Protocol(fault), call.site))
    }

    /// An atomic that looks whether a phase of the barrier, which lives, is over.
    fn sees(&self, call: BarrierCall, is_over: impl Fn(&Live) -> bool) -> bool {
        self.live(call, |_| ());
        let done = Done { synchronization: relaxed(call), reads: true, writes: false };
        let over = self.access_atomic(call.access(Kind::AtomicLoad), |_| (self.live(call, |live| is_over(live)), done));
        if let (true, Some(detector)) = (over, &self.cluster.launch.races) {
            self.live(call, |live| self.thread.actor.acquire(&detector.layout, &live.over));
        }
        over
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

fn relaxed(call: BarrierCall) -> Synchronization {
    Synchronization { order: Ordering::Relaxed, scope: call.barrier.scope }
}
