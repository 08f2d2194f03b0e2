//! Checks every memory access of a simulated thread. Each access to global or shared memory passes through
//! `Context::access` or `Context::access_atomic`. Neither changes memory: they read the bytes only to compare and to
//! report them, and `kernel::memory` performs the access itself.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::context::Context;
use super::cost;
use super::memory::{Access, LocationKey, MemoryId, MemoryOp, SharedId};
use super::race::{
    Actor, ActorId, AtomicEffect, ConflictKind, CurrentAccess, EarlierAccess, EqualWrites, PAGE, Page, Synchronization,
    pages,
};
use super::race_report::RacingAccess;
use super::schedule::AtomicAccess;
use super::site::{Site, location};
use super::state::Combine;
use crate::report::failure::Cause;
use crate::scope::Scope;

/// The longest time for which a host thread may be kept from the store behind its check.
const LONGEST_STORE: Duration = Duration::from_millis(100);

impl Context<'_> {
    /// Checks a plain access by the running thread and returns the address of its first byte, which stays valid until
    /// the thread's next scheduling point.
    ///
    /// It is never inlined, because a crate of kernels may be built without optimization while this crate is optimized.
    #[inline(never)]
    pub(crate) fn access(&self, access: Access<'_>) -> NonNull<u8> {
        if self.cluster.stops_at_accesses {
            self.suspend();
        }
        self.step();
        match access.op {
            MemoryOp::Write(_) => self.cluster.note_effect(),
            MemoryOp::Read => self.thread.last_read.set(Some((access.site, access.memory, access.start, access.len))),
            MemoryOp::AtomicLoad
            | MemoryOp::StaleLoad
            | MemoryOp::Atomic
            | MemoryOp::AtomicStore
            | MemoryOp::Arrival => {}
        }
        self.check_previous(access);
        let address = self.address(access);
        self.check_order(&self.thread.actor, access, address);
        address
    }

    /// Reports a race unless every conflicting earlier access happens-before this access by `actor`.
    #[inline]
    pub(super) fn check_order(&self, actor: &Actor, access: Access<'_>, address: NonNull<u8>) {
        let Some(detector) = &self.cluster.launch.races else { return };
        self.note_foreign_access(&detector.layout, actor, access);
        let (kind, new) = match access.op {
            MemoryOp::Write(new) => (ConflictKind::Write, new),
            // A copy that combines elements does so by relaxed atomics (PTX ISA, cp.reduce.async.bulk.tensor).
            MemoryOp::Atomic => (ConflictKind::AtomicWrite(Scope::Device), &[][..]),
            MemoryOp::Read | MemoryOp::AtomicLoad | MemoryOp::StaleLoad | MemoryOp::AtomicStore | MemoryOp::Arrival => {
                (ConflictKind::Read, &[][..])
            }
        };
        let (Access { start, len, site, .. }, owner) = (access, self.owner(access.memory));
        let now = CurrentAccess { actor, layout: &detector.layout, kind, site, start, len, owner };
        let equal_writes = RefCell::new(Vec::new());
        // Says whether the write may pass: the bytes in memory equal those being written, in the `size` bytes from
        // `from` on of page `number`.
        let may_pass = |number: usize, base: usize, from: usize, size: usize, earlier: EarlierAccess| {
            let first = number * PAGE + from;
            let is_equal = || {
                (first..first + size).all(|at| {
                    let offset = at.wrapping_sub(base);
                    new.get(offset).is_none_or(|new| *new == byte(address, offset))
                })
            };
            let passes =
                detector.equal_writes != EqualWrites::Race && (is_equal() || self.becomes(earlier.id, is_equal));
            if passes && detector.equal_writes == EqualWrites::Warn {
                equal_writes.borrow_mut().push(earlier);
            }
            passes
        };
        let found = match access.memory {
            MemoryId::Own(_) | MemoryId::Constant(_) => Ok(()),
            MemoryId::Global(_) => {
                let base = address.addr().get();
                pages(base, access.len).try_for_each(|(number, start, len)| {
                    detector.global(number, |page| {
                        page.access(start, len, &now, |from, size, earlier| may_pass(number, base, from, size, earlier))
                    })
                })
            }
            MemoryId::Shared(id) => self.cluster.shared.with_shadow(id, |shadow| {
                pages(access.start, access.len).try_for_each(|(number, start, len)| {
                    let may_pass = |from, size, earlier| may_pass(number, access.start, from, size, earlier);
                    shadow.page(number).access(start, len, &now, may_pass)
                })
            }),
        };
        let read = |distance, len| read_bytes_from(address, distance, len);
        let racing = |earlier| RacingAccess { actor, access, kind, earlier, read: &read, before: None };
        for earlier in equal_writes.take() {
            self.warn_of_race(racing(earlier));
        }
        if let Err(earlier) = found {
            self.fail_race(racing(earlier));
        }
    }

    /// Whether memory comes to be as it should while another cluster, which has said that it writes it, does so: it may not have got
    /// there yet if clusters run in parallel. Only a launch that is about to fail waits for it.
    fn becomes(&self, earlier: ActorId, is_so: impl Fn() -> bool) -> bool {
        let launch = &self.cluster.launch;
        if !launch.in_parallel() || earlier.cluster() == self.thread.actor.id.cluster() {
            return false;
        }
        let start = Instant::now();
        while !is_so() {
            if start.elapsed() > LONGEST_STORE {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Checks an atomic access by the running thread and applies its synchronization. `f` performs the access and
    /// returns what it did.
    pub(crate) fn access_atomic<R>(&self, access: Access<'_>, f: impl FnOnce(NonNull<u8>) -> (R, AtomicEffect)) -> R {
        let writes = !matches!(access.op, MemoryOp::AtomicLoad | MemoryOp::StaleLoad);
        let announced = || AtomicAccess { location: access.location(), site: access.site, writes };
        self.announce(announced);
        self.step();
        let is_first = self.cluster.has_stale_loads && self.is_first_store(access);
        self.check_previous(access);
        let address = self.address(access);
        let mut before = [0; 16];
        let before = &mut before[..access.len];
        before.iter_mut().enumerate().for_each(|(at, before)| *before = byte(address, at));
        let poll: &[u8] = before;
        let f = |address_or_stale| {
            let (result, effect) = f(address_or_stale);
            if effect.writes && poll.iter().enumerate().any(|(at, before)| *before != byte(address, at)) {
                self.cluster.note_effect();
            }
            if self.cluster.announces {
                let thread = self.cluster.first + self.thread.rank;
                self.cluster.scheduler.borrow_mut().accessed(thread, announced(), effect.writes);
            }
            (result, effect)
        };
        let effects = self.cluster.effects.get();
        let Some(detector) = &self.cluster.launch.races else {
            let result = f(address).0;
            self.note_fruitless(access, before, effects);
            return result;
        };
        let (actor, epochs) = (&self.thread.actor, &self.cluster.epochs);
        // Noted before the release, so that the access happens-before whatever acquires from it.
        self.note_foreign_access(&detector.layout, actor, access);
        let layout = &detector.layout;
        let load = CurrentAccess {
            actor,
            layout,
            kind: ConflictKind::Read,
            site: access.site,
            start: access.start,
            len: access.len,
            owner: self.owner(access.memory),
        };
        let perform = |page: &mut Page, start: usize| {
            let stale =
                (access.op == MemoryOp::StaleLoad).then(|| self.stale_value(&load, page, start, before)).flatten();
            let value = stale.as_ref().map(|(stale, _)| Cell::new(stale.bytes));
            let (result, effect) = f(value.as_ref().map_or(address, |value| NonNull::from(value).cast()));
            let with = effect.synchronization;
            if with.order == Ordering::SeqCst {
                detector.fence(actor, epochs, with, access.site);
            }
            let now = CurrentAccess { kind: effect.kind(access.memory), ..load };
            // The access comes after its acquire and before its release.
            effect.acquire(&now, page, start, stale.as_ref().map(|(stale, _)| stale));
            let found = page.access(start, access.len, &now, |_, _, _| false);
            let epoch = actor.epoch();
            effect.release(&now, epochs, page, start);
            if self.cluster.has_stale_loads {
                let after = effect.writes.then(|| read_bytes(address, access.len));
                let back = stale.map_or(0, |(_, back)| back);
                self.remember(page, start, epoch, before, back, after.as_deref().map(|after| (after, is_first)));
            }
            (result, effect, found)
        };
        let (result, effect, found) = match access.memory {
            MemoryId::Own(base) | MemoryId::Constant(base) => {
                unreachable!("an atomic in memory at {base:?} that is only read")
            }
            MemoryId::Global(_) => {
                self.cluster.launch.note_communication();
                let at = address.addr().get();
                detector.global(at / PAGE, |page| perform(page, at % PAGE))
            }
            MemoryId::Shared(id) => self
                .cluster
                .shared
                .with_shadow(id, |shadow| perform(shadow.page(access.start / PAGE), access.start % PAGE)),
        };
        if let Err(earlier) = found {
            let kind = effect.kind(access.memory);
            let read = |distance, len| read_bytes_from(address, distance, len);
            self.fail_race(RacingAccess { actor, access, kind, earlier, read: &read, before: Some(before) });
        }
        self.note_fruitless(access, before, effects);
        result
    }

    /// Returns the first thread of the block that owns shared memory.
    fn owner(&self, memory: MemoryId) -> Option<ActorId> {
        match memory {
            MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => None,
            MemoryId::Shared(id) => Some(ActorId::new(self.thread.actor.id.cluster(), id.rank, 0)),
        }
    }

    /// Notes an atomic as a poll unless it had an effect.
    fn note_fruitless(&self, access: Access<'_>, before: &[u8], effects: u64) {
        if self.cluster.effects.get() == effects {
            self.note_poll(access, before);
        }
    }

    /// Returns the address of an access after checking that the access is allowed.
    #[inline]
    pub(super) fn address(&self, access: Access<'_>) -> NonNull<u8> {
        match access.memory {
            // SAFETY: the range lies inside the buffer.
            MemoryId::Own(base) | MemoryId::Constant(base) | MemoryId::Global(base) => unsafe {
                base.add(access.start)
            },
            MemoryId::Shared(id) => self.shared_address(id, access),
        }
    }

    /// Returns the address of a copy's destination after checking that the memory exists.
    pub(super) fn target_address(&self, access: Access<'_>) -> NonNull<u8> {
        match access.memory {
            MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => self.address(access),
            MemoryId::Shared(id) => {
                if id.rank != self.thread.block_rank {
                    self.check_peer(id.rank, access.site);
                }
                self.cluster.shared.pointer(id, access.start, access.len)
            }
        }
    }

    fn shared_address(&self, id: SharedId, Access { start, len, op, site, .. }: Access<'_>) -> NonNull<u8> {
        if id.rank != self.thread.block_rank {
            self.check_peer(id.rank, site);
        }
        let shared = &self.cluster.shared;
        match op {
            MemoryOp::Read | MemoryOp::AtomicLoad | MemoryOp::StaleLoad | MemoryOp::Atomic | MemoryOp::Arrival => {
                if let Some(byte) = shared.first_unwritten(id, start, len) {
                    let copy = self.cluster.copy_to(id, byte).map(location);
                    let element = self.cluster.elements(MemoryId::Shared(id), &(byte..byte + 1)).map(|of| of.start);
                    let declared = shared.declared(id).map(location);
                    let rank = id.rank;
                    self.fail(Cause::UninitializedShared { byte, element, declared, rank, copy }, site);
                }
            }
            MemoryOp::Write(_) | MemoryOp::AtomicStore => shared.mark_written(id, start, len),
        }
        shared.pointer(id, start, len)
    }

    /// Executes a fence by the running thread.
    pub(crate) fn fence(&self, orders: Synchronization, site: Site) {
        if orders.order == Ordering::SeqCst {
            // Sequentially consistent fences are totally ordered, like writes to one location, although they name no
            // memory.
            self.announce(|| AtomicAccess { location: LocationKey::FENCE, site, writes: true });
        }
        if let Some(detector) = &self.cluster.launch.races {
            detector.fence(&self.thread.actor, &self.cluster.epochs, orders, site);
        }
        self.point(cost::ATOMIC);
    }
}

/// Writes the bytes of a copy to its destination.
pub(super) fn write_bytes(address: NonNull<u8>, bytes: &[u8]) {
    for (at, new) in bytes.iter().enumerate() {
        // SAFETY: the byte is one of a copy's, and all accesses are atomic.
        unsafe { AtomicU8::from_ptr(address.add(at).as_ptr()) }.store(*new, Ordering::Relaxed);
    }
}

/// Combines the elements in memory with those that arrive, each atomically.
pub(super) fn combine_bytes(address: NonNull<u8>, arrived: &[u8], Combine { element, combined }: Combine) {
    macro_rules! each {
        ($word:ident, $atomic:ident) => {
            for (at, new) in arrived.chunks_exact(element).enumerate() {
                // SAFETY: the element is one of a copy's, at a multiple of its size, and all accesses are atomic.
                let place = unsafe { $atomic::from_ptr(address.add(at * element).cast().as_ptr()) };
                let replace = |old: $word| {
                    let mut bytes = old.to_ne_bytes();
                    combined(&mut bytes, new);
                    Some($word::from_ne_bytes(bytes))
                };
                let _ = place.fetch_update(Ordering::Relaxed, Ordering::Relaxed, replace);
            }
        };
    }
    match element {
        2 => each!(u16, AtomicU16),
        4 => each!(u32, AtomicU32),
        _ => each!(u64, AtomicU64),
    }
}

/// Returns the bytes that are in memory now.
pub(super) fn read_bytes(address: NonNull<u8>, len: usize) -> Vec<u8> {
    (0..len).map(|at| byte(address, at)).collect()
}

/// Returns the bytes that are in memory at this distance from an access, where an earlier access to the same memory
/// began.
fn read_bytes_from(address: NonNull<u8>, distance: isize, len: usize) -> Vec<u8> {
    // SAFETY: both accesses lie inside the same memory.
    read_bytes(unsafe { address.offset(distance) }, len)
}

/// Returns one byte of an access, which lies inside its memory.
fn byte(address: NonNull<u8>, at: usize) -> u8 {
    // SAFETY: the byte is one of an access, and all accesses are atomic.
    unsafe { AtomicU8::from_ptr(address.add(at).as_ptr()) }.load(Ordering::Relaxed)
}
