//! Simulates phase barriers in shared memory by the rules of mbarrier (PTX ISA, Parallel Synchronization and
//! Communication Instructions): a barrier counts pending arrivals and bytes, and each phase restarts the counts. Misuse
//! that the hardware does not detect ends the launch here.
//!
//! An arrival releases, and an observation of the completed phase acquires. Both access the barrier's own bytes as
//! relaxed atomics; `init` and `invalidate` write them plainly, so an operation that is not ordered with those is a
//! race.

use std::sync::atomic::Ordering;

use phalanx_contract::fence::Fence;

use super::context::Context;
use super::cost;
use super::memory::{Access, MemoryId, MemoryOp};
use super::race::{AtomicEffect, Clock, ForeignAccess, Participants, PhaseRelease, Synchronization};
use super::state::{ArrivalPhase, BarrierCall, BarrierId, BarrierState, Cluster, LiveBarrier, PhaseBarriers, Status};
use crate::report::failure::Cause;
use crate::report::timeline::EventKind;

/// The largest arrival count and byte count of a phase.
const MOST: u32 = (1 << 20) - 1;

/// The size of a barrier in bytes.
const BYTES: usize = 8;

impl BarrierCall {
    fn access(self, op: MemoryOp<'_>) -> Access<'_> {
        let BarrierId { memory, index, .. } = self.barrier;
        let memory = MemoryId::Shared(memory);
        Access { memory, start: index * BYTES, len: BYTES, op, site: self.site, type_name: "u64" }
    }
}

impl Cluster<'_> {
    /// Subtracts the bytes of a completed copy from those that a barrier expects, and joins the copy's clock. Returns
    /// an error, which ends a sentence, if the barrier is not initialized.
    pub(super) fn complete_copy(&self, barrier: BarrierId, bytes: usize, done: &Clock) -> Result<(), String> {
        let woken = match self.phase_barriers.states.borrow_mut().get_mut(&barrier.key()) {
            Some(BarrierState::Live(live)) => {
                live.tx_count -= bytes as i64;
                live.completing.join(done);
                live.complete()
            }
            Some(BarrierState::Invalid(site)) => return Err(format!("this one was invalidated at {site}")),
            None => return Err("no thread has initialized this one".into()),
        };
        woken.into_iter().for_each(|thread| self.wake(&self.threads[thread]));
        Ok(())
    }
}

impl Context<'_> {
    /// Initializes a barrier.
    pub(crate) fn init_barrier(&self, call: BarrierCall, count: u32) {
        if !(1..=MOST).contains(&count) {
            self.fail(Cause::BarrierCount { count }, call.site);
        }
        let since = match self.cluster.phase_barriers.states.borrow().get(&call.barrier.key()) {
            Some(BarrierState::Live(live)) => Some(live.init_site),
            Some(BarrierState::Invalid(_)) | None => None,
        };
        if let Some(since) = since {
            let sentence = format!(
                "{call} must not initialize a barrier that is in use: it was initialized at {since}; call `invalidate` first"
            );
            self.fail(Cause::Protocol(sentence), call.site);
        }
        let PhaseBarriers { states, inits } = &self.cluster.phase_barriers;
        let number = inits.get() + 1;
        inits.set(number);
        self.access(call.access(MemoryOp::Write(&u64::from(number).to_le_bytes())));
        let live = LiveBarrier {
            number,
            init_site: call.site,
            next_expected: count,
            expected: count,
            pending: count,
            tx_count: 0,
            phase: 0,
            observed: 0,
            last_arrival: 0,
            last_end: 0,
            waiting: Vec::new(),
            released: PhaseRelease::default(),
            completed: Clock::default(),
            completing: Clock::default(),
            arrived: vec![0; self.cluster.launch.block_threads.div_ceil(64) as usize],
        };
        states.borrow_mut().insert(call.barrier.key(), BarrierState::Live(Box::new(live)));
    }

    /// Invalidates a barrier.
    pub(crate) fn invalidate_barrier(&self, call: BarrierCall) {
        let (waiting, number) = self.live(call, |live| (live.waiting.len(), live.number));
        if waiting > 0 {
            self.fail(
                Cause::Protocol(format!(
                    "{call} must not be called while threads wait at the barrier, but {waiting} thread(s) wait"
                )),
                call.site,
            );
        }
        self.access(call.access(MemoryOp::Write(&(!u64::from(number)).to_le_bytes())));
        self.cluster.phase_barriers.states.borrow_mut().insert(call.barrier.key(), BarrierState::Invalid(call.site));
    }

    /// Counts arrivals. If the threads `drop` out, later phases no longer expect them.
    pub(crate) fn arrive_at_barrier(&self, call: BarrierCall, count: u32, drop: bool) -> ArrivalPhase {
        let fence = self.chosen_fence();
        let access = ForeignAccess::by(&self.thread.actor, false, call.site);
        let (arrival, woken) = self.change(call, MemoryOp::Arrival, |live| {
            let LiveBarrier { expected, pending, .. } = *live;
            match pending {
                _ if count == 0 => return Err(format!("{call} must count at least 1 arrival")),
                _ if count <= pending => {}
                _ if expected == 0 => {
                    return Err(format!("{call} must not be called after all threads have dropped out of the barrier"));
                }
                0 => {
                    return Err(format!(
                        "{call} exceeds the expected arrivals: the phase has received {expected} of {expected} and {}",
                        live.missing()
                    ));
                }
                _ => {
                    return Err(format!(
                        "{call} exceeds the expected arrivals: it counts {count}, but the phase still expects {pending} of {expected}"
                    ));
                }
            }
            let arrival = ArrivalPhase { barrier: live.number, phase: live.phase };
            live.pending -= count;
            live.last_arrival = live.last_arrival.max(self.thread.time.get());
            live.next_expected -= if drop { count } else { 0 };
            self.release_arrival(live, call, fence);
            Ok((arrival, live.complete()))
        });
        self.note_foreign_arrival(call.barrier, arrival, access);
        woken.into_iter().for_each(|thread| self.cluster.wake(&self.cluster.threads[thread]));
        self.record(EventKind::Arrive, "bar", call.site, self.thread.time.get());
        self.point(cost::ATOMIC);
        arrival
    }

    /// Releases the thread's effects to the threads that will observe the completed phase.
    fn release_arrival(&self, live: &mut LiveBarrier, BarrierCall { barrier, site, .. }: BarrierCall, fence: Fence) {
        let Some(detector) = &self.cluster.launch.races else { return };
        let (actor, epochs) = (&self.thread.actor, &self.cluster.epochs);
        live.released.arrive(actor, epochs, Participants::Lanes, fence, barrier.scope, site);
        if barrier.memory.rank == self.thread.block_rank {
            let rank = self.thread.rank_in_block;
            live.arrived[rank as usize / 64] |= 1 << (rank % 64);
        }
        if live.pending == 0 {
            let arrived: u32 = live.arrived.iter().map(|word| word.count_ones()).sum();
            // If the whole block has arrived, one epoch stands for all of its threads.
            let whole = arrived == self.cluster.launch.block_threads && live.expected == arrived;
            let members = if whole { Participants::Blocks } else { Participants::Lanes };
            // Kept apart from `completed`: a poll of the previous phase must not acquire this before the phase ends.
            live.completing.join(&live.released.end(&detector.layout, members));
            live.arrived.fill(0);
        }
    }

    /// Adds to the bytes that the current phase expects.
    pub(crate) fn expect_bytes(&self, call: BarrierCall, bytes: u32) {
        self.change(call, MemoryOp::Atomic, |live| match live.tx_count {
            before if i64::from(bytes) > i64::from(MOST) - before => {
                Err(format!("{call} exceeds the limit of {MOST} bytes per phase: it expects {bytes} more, but {before} are expected already"))
            }
            _ => {
                live.tx_count += i64::from(bytes);
                Ok(())
            }
        });
    }

    /// Adds the bytes of a copy that is being issued to those that the current phase expects.
    pub(super) fn expect_copy(&self, call: BarrierCall, bytes: usize) {
        self.change(call, MemoryOp::Atomic, |live| {
            live.tx_count += bytes as i64;
            Ok(())
        });
    }

    /// Waits until the phase of an arrival has completed.
    pub(crate) fn wait_at_barrier(&self, call: BarrierCall, arrival: ArrivalPhase) {
        self.check_token(call, arrival);
        self.wait_while(call, |live| live.phase == arrival.phase);
    }

    /// Returns whether the phase of an arrival has completed. The simulator has no clock: a turn of the thread counts
    /// as a microsecond.
    pub(crate) fn try_barrier(&self, call: BarrierCall, arrival: ArrivalPhase, nanoseconds: u64) -> bool {
        self.check_token(call, arrival);
        for _ in 0..nanoseconds / 1000 {
            if self.live(call, |live| live.phase != arrival.phase) {
                break;
            }
            self.suspend();
        }
        self.poll(call, |live| live.phase != arrival.phase)
    }

    /// Waits until the phase of this parity, which is the current or the previous one, has completed.
    pub(crate) fn wait_parity(&self, call: BarrierCall, parity: bool) {
        self.wait_while(call, |live| live.phase % 2 == u64::from(parity));
    }

    /// Returns whether the phase of this parity has completed.
    pub(crate) fn try_parity(&self, call: BarrierCall, parity: bool) -> bool {
        self.poll(call, |live| live.phase % 2 != u64::from(parity))
    }

    /// Tests a phase as one poll of a loop, which ends the turn sooner if the phase has not completed.
    fn poll(&self, call: BarrierCall, is_over: impl Fn(&LiveBarrier) -> bool) -> bool {
        let over = self.test(call, is_over);
        if !over {
            self.point(cost::ATOMIC_LOAD);
        }
        over
    }

    fn wait_while(&self, call: BarrierCall, lasts: impl Fn(&LiveBarrier) -> bool) {
        let (mut waited, start) = (false, self.thread.time.get());
        while !self.test(call, |live| !lasts(live)) {
            self.live(call, |live| live.waiting.push(self.thread.rank));
            self.thread.status.set(Status::AtPhaseBarrier(call));
            self.suspend();
            waited = true;
        }
        let last_end = self.live(call, |live| live.last_end);
        self.thread.time.set(self.thread.time.get().max(last_end));
        self.record(EventKind::Wait, "bar", call.site, start);
        if !waited {
            self.point(cost::ATOMIC);
        }
    }

    /// Executes an atomic that changes the barrier, which must be initialized.
    fn change<R>(
        &self,
        call: BarrierCall,
        op: MemoryOp<'_>,
        change: impl FnOnce(&mut LiveBarrier) -> Result<R, String>,
    ) -> R {
        self.live(call, |_| ());
        self.cluster.note_effect();
        let effect = AtomicEffect { synchronization: relaxed(call), reads: true, writes: true };
        let changed = self.access_atomic(call.access(op), |_| (self.live(call, change), effect));
        changed.unwrap_or_else(|fault| self.fail(Cause::Protocol(fault), call.site))
    }

    /// Executes an atomic load that tests whether a phase of the barrier, which must be initialized, has completed, and
    /// acquires if it has.
    fn test(&self, call: BarrierCall, is_over: impl Fn(&LiveBarrier) -> bool) -> bool {
        self.live(call, |_| ());
        let effect = AtomicEffect { synchronization: relaxed(call), reads: true, writes: false };
        let over =
            self.access_atomic(call.access(MemoryOp::AtomicLoad), |_| (self.live(call, |live| is_over(live)), effect));
        if let (true, Some(detector)) = (over, &self.cluster.launch.races) {
            self.live(call, |live| {
                live.observed = live.phase;
                self.thread.actor.acquire(&detector.layout, &live.completed);
            });
        }
        over
    }

    /// Checks that a token is of the barrier's current or previous phase.
    fn check_token(&self, call: BarrierCall, arrival: ArrivalPhase) {
        let (number, phase) = self.live(call, |live| (live.number, live.phase));
        let fault = match arrival.barrier == number {
            true if arrival.phase + 1 >= phase => return,
            true => format!(
                "{call} needs a token of the current or the previous phase: this token is of phase {}, but the barrier is in phase {phase}",
                arrival.phase
            ),
            false => {
                format!("{call} needs a token of this barrier since its last `init`, but this token is of another")
            }
        };
        self.fail(Cause::Protocol(fault), call.site);
    }

    /// Calls `f` with the state of the barrier, which must be initialized.
    fn live<R>(&self, call: BarrierCall, f: impl FnOnce(&mut LiveBarrier) -> R) -> R {
        if call.barrier.memory.rank != self.thread.block_rank {
            self.check_peer(call.barrier.memory.rank, call.site);
        }
        let fault = match self.cluster.phase_barriers.states.borrow_mut().get_mut(&call.barrier.key()) {
            Some(BarrierState::Live(live)) => return f(live),
            Some(BarrierState::Invalid(site)) => {
                format!("{call} needs an initialized barrier, but this one was invalidated at {site}")
            }
            None => format!("{call} needs an initialized barrier, but no thread has initialized this one"),
        };
        self.fail(Cause::Protocol(fault), call.site)
    }
}

fn relaxed(call: BarrierCall) -> Synchronization {
    Synchronization { order: Ordering::Relaxed, scope: call.barrier.scope }
}
