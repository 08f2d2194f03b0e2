//! Simulates asynchronous copies. A pending copy is an actor of its own, the copying hardware, which reads the source
//! and writes the destination at times of its own (PTX ISA, Data Movement and Conversion Instructions: Asynchronous
//! copy). Here the bytes land when the schedule decides, at the latest when a thread waits for them or when nothing
//! else can run; until then the destination keeps its old contents.
//!
//! The race detector treats a copy as a thread beside the cluster's (`Who::copy`). Everything the issuing thread knew
//! happens-before the copy; the copy's end happens-before whoever observes the completed phase of its barrier, or waits
//! for it by its group. A use of the destination or a change of the source that is not ordered after such a wait is
//! therefore a race under every schedule.
//!
//! Not detected: for a copy that a group makes together, only the knowledge of the first thread is considered. Copies
//! reuse clock slots, two per thread of the cluster; waiting for a later copy also orders the earlier one in that slot.

use super::access::{read_bytes, write_bytes};
use super::context::Context;
use super::memory::{Access, Kind, MemoryId};
use super::race::Clock;
use super::site::Site;
use super::state::{BarrierCall, Batch, Cluster, Flight, Tells};
use crate::report::failure::Cause;

/// The number of turns, per thread of the cluster, after which a copy lands if no thread has waited for it.
const PATIENCE: u64 = 4;

/// A copy that a thread begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyCall<'v> {
    /// The copy's name in reports: `bulk_copy_async`.
    pub(crate) name: &'static str,
    pub(crate) to: End,
    pub(crate) from: From<'v>,
    /// The number of bytes, at least one.
    pub(crate) len: usize,
    pub(crate) tells: Tells,
    pub(crate) site: Site,
    /// The name of the element type.
    pub(crate) type_name: &'static str,
}

/// Names the first byte of the source or the destination of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) memory: MemoryId,
    pub(crate) start: usize,
}

/// The source of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum From<'v> {
    Memory(End),
    /// A value that the thread passes by value.
    Value(&'v [u8]),
}

impl Flight {
    fn touches_block(&self, rank: u32) -> bool {
        let of = |memory| matches!(memory, MemoryId::Shared(id) if id.rank == rank);
        of(self.to.0) || self.from.is_some_and(|(memory, _)| self.bytes.is_none() && of(memory))
    }

    fn read(&mut self) {
        if let (None, Some((_, from))) = (&self.bytes, self.from) {
            self.bytes = Some(read_bytes(from, self.len).into());
        }
    }
}

impl Context<'_> {
    /// Begins a copy.
    pub(crate) fn begin_copy(&self, call: CopyCall<'_>) {
        let CopyCall { name, to, from, len, tells, site, type_name } = call;
        let copies = &self.cluster.copies;
        let end = |End { memory, start }, kind| Access { memory, start, len, kind, site, type_name };
        let source = match from {
            From::Memory(from) => Some((from, self.address(end(from, Kind::Read)))),
            From::Value(_) => None,
        };
        let bytes: Box<[u8]> = match from {
            From::Memory(_) => source.map(|(_, address)| read_bytes(address, len).into()).unwrap_or_default(),
            From::Value(bytes) => bytes.into(),
        };
        let target = self.target_address(end(to, Kind::Write(&bytes)));
        if let Tells::Barrier { barrier, expect } = tells {
            self.expect_copy(BarrierCall { name, barrier, site }, if expect { len } else { 0 });
        }
        let number = copies.begun.replace(copies.begun.get() + 1);
        let (mut read, mut done) = (Clock::default(), Clock::default());
        if let Some(detector) = &self.cluster.launch.races {
            let (layout, epochs) = (&detector.layout, &self.cluster.epochs);
            // Each copy takes two slots: one reads, the other writes once everything is read.
            let reader = self.thread.actor.begin_copy(2 * number as u32, epochs, layout);
            if let Some((from, address)) = source {
                self.order(&reader, end(from, Kind::Read), address);
            }
            read = reader.release(epochs, layout);
            let writer = reader.begin_copy(2 * number as u32 + 1, epochs, layout);
            self.order(&writer, end(to, Kind::Write(&bytes)), target);
            done = writer.release(epochs, layout);
        }
        copies.flying.borrow_mut().push(Flight {
            name,
            site,
            thread: self.thread.rank,
            to: (to.memory, to.start, target),
            from: source.map(|(from, address)| (from.memory, address)),
            bytes: source.is_none().then_some(bytes),
            len,
            tells,
            read,
            done,
            due: copies.turns.get() + self.cluster.patience(),
            landed: false,
            waited_read: false,
        });
    }

    /// Returns when all but the last `prior` of the thread's copies of a batch have completed, or, if `only_read`, when
    /// their sources have been read.
    pub(crate) fn wait_for_copies(&self, batch: Batch, prior: usize, only_read: bool, site: Site) {
        let copies = &self.cluster.copies;
        let is_bulk = |tells| tells == Tells::Batch(Batch::Bulk);
        let mine = |flight: &Flight| {
            let counted = matches!(flight.tells, Tells::Batch(_)) && is_bulk(flight.tells) == (batch == Batch::Bulk);
            flight.thread == self.thread.rank && counted
        };
        let count = copies.flying.borrow().iter().filter(|flight| mine(flight)).count();
        let (mut left, mut at) = (count.saturating_sub(prior), 0);
        while left > 0 {
            let is_mine = mine(&copies.flying.borrow()[at]);
            left -= usize::from(is_mine);
            if !is_mine || copies.flying.borrow()[at].tells != Tells::Batch(batch) {
                at += 1;
                continue;
            }
            let mut flight = copies.flying.borrow_mut().remove(at);
            let learned = if only_read {
                flight.read();
                flight.waited_read = true;
                flight.read.clone()
            } else {
                if let Err(fault) = self.cluster.land(&mut flight) {
                    self.fail(Cause::Protocol(fault), site);
                }
                flight.done.clone()
            };
            if let Some(detector) = &self.cluster.launch.races {
                self.thread.actor.acquire(&detector.layout, &learned);
            }
            if only_read {
                copies.flying.borrow_mut().insert(at, flight);
                at += 1;
            }
        }
    }
}

impl Cluster<'_> {
    /// Returns for how many turns a copy stays in flight if no thread waits for it.
    fn patience(&self) -> u64 {
        let most = PATIENCE * self.threads.len() as u64;
        match self.scheduler.borrow_mut().lots() {
            Some(lots) => lots.draw() % most.next_power_of_two(),
            None => most,
        }
    }

    /// Lands the copies that are due after a thread's turn.
    pub(super) fn land_due(&self) {
        if self.copies.flying.borrow().is_empty() {
            return;
        }
        let now = self.copies.turns.get() + 1;
        self.copies.turns.set(now);
        while self.land_first(|flight| flight.due <= now) {}
    }

    /// Lands one copy because no thread can run. Returns whether one was in flight.
    pub(super) fn land_next(&self) -> bool {
        self.land_first(|_| true)
    }

    fn land_first(&self, which: impl Fn(&Flight) -> bool) -> bool {
        if self.failure.borrow().is_some() {
            return false;
        }
        let at = self.copies.flying.borrow().iter().position(|flight| !flight.landed && which(flight));
        let Some(at) = at else { return false };
        let mut flight = self.copies.flying.borrow_mut().remove(at);
        match self.land(&mut flight) {
            Err(fault) => self.copy_failed(&flight, fault),
            // The issuing thread still has to wait for it.
            Ok(()) if matches!(flight.tells, Tells::Batch(_)) => self.copies.flying.borrow_mut().insert(at, flight),
            Ok(()) => {}
        }
        true
    }

    /// Writes the copy's bytes and completes them at its barrier.
    fn land(&self, flight: &mut Flight) -> Result<(), String> {
        if std::mem::replace(&mut flight.landed, true) {
            return Ok(());
        }
        flight.read();
        let (memory, start, address) = flight.to;
        let bytes = flight.bytes.as_deref().unwrap_or_default();
        write_bytes(address, bytes);
        if let MemoryId::Shared(id) = memory {
            self.shared.mark_written(id, start, bytes.len());
        }
        match flight.tells {
            Tells::Barrier { barrier, .. } => self.complete_copy(barrier, flight.len, &flight.done).map_err(|what| {
                format!("the bytes of `{}()` at {} arrive at a barrier that {what}", flight.name, flight.site)
            }),
            Tells::Batch(_) => Ok(()),
        }
    }

    /// Checks, after a thread and perhaps its whole block has exited, that no copy is left in flight that it had to
    /// wait for.
    pub(super) fn check_copies_at_exit(&self, thread: usize) {
        let (block, ended) = {
            let rank = self.threads[thread].block_rank;
            (rank, self.blocks[rank as usize].exited.get() == self.launch.block_threads)
        };
        let mut flying = self.copies.flying.borrow_mut();
        let waits = |flight: &Flight| flight.thread == thread && matches!(flight.tells, Tells::Batch(_));
        let unwaited = flying.iter().position(|flight| waits(flight) && !flight.waited_read);
        let cut = || flying.iter().position(|flight| ended && !flight.landed && flight.touches_block(block));
        let (at, what) = match (unwaited, cut()) {
            (Some(at), _) => (at, "was never waited for: its thread has ended".to_owned()),
            (None, Some(at)) => {
                (at, format!("is under way, and block rank {block}, whose shared memory it uses, has ended"))
            }
            (None, None) => {
                flying.retain(|flight| !(waits(flight) && flight.landed));
                return;
            }
        };
        let flight = flying.remove(at);
        drop(flying);
        let fault = format!("`{}()` {what}", flight.name);
        self.copy_failed(&flight, fault);
    }

    fn copy_failed(&self, flight: &Flight, fault: String) {
        let failure = self.failure(&self.threads[flight.thread], Cause::Protocol(fault), Some(flight.site));
        self.failure.borrow_mut().get_or_insert(failure);
    }
}
