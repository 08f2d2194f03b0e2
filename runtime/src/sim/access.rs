//! Checks every memory access of a simulated thread. Each access to global or shared memory passes through
//! `Context::access` or `Context::access_atomic`. Neither changes the bytes, they are read only to be compared and
//! reported; `kernel::memory` makes the access itself.

use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

use super::context::Context;
use super::cost;
use super::memory::{Access, Kind, MemoryId, SharedId};
use super::race::{Actor, Clock, Doing, Done, Earlier, Layout, Now, PAGE, Page, Synchronization, Who, pages};
use super::schedule::Touch;
use super::site::{Site, location};
use super::state::Cluster;
use crate::report::failure::Cause;
use crate::report::race::{AccessKind, Race, RaceAccess, RaceMemory};
use crate::scope::Scope;

impl Context<'_> {
    /// Checks a plain access by the running thread and returns the address of its first byte, which stays valid until
    /// the thread's next scheduling point.
    ///
    /// It is not inlined: a crate of kernels may be built without optimization while this crate is optimized.
    #[inline(never)]
    pub(crate) fn access(&self, access: Access<'_>) -> NonNull<u8> {
        if self.cluster.stops_at_accesses {
            self.suspend();
        }
        self.step();
        let address = self.address(access);
        self.order(&self.thread.actor, access, address);
        address
    }

    /// Reports a race unless every conflicting earlier access happens-before this access by `actor`.
    #[inline]
    pub(super) fn order(&self, actor: &Actor, access: Access<'_>, address: NonNull<u8>) {
        let Some(detector) = &self.cluster.launch.races else { return };
        self.note_foreign_access(&detector.layout, actor, access);
        let (doing, new) = match access.kind {
            Kind::Write(new) => (Doing::Write, new),
            Kind::Read | Kind::AtomicLoad | Kind::WeakLoad | Kind::Atomic | Kind::AtomicStore => (Doing::Read, &[][..]),
        };
        let now = Now { actor, layout: &detector.layout, doing, site: access.site };
        // Whether the bytes already in a cell equal those being written, for the part that begins at `from` in page
        // `number`.
        let same = |number: usize, base: usize, from: usize, size: usize| {
            let first = number * PAGE + from;
            (first..first + size).all(|at| {
                let offset = at.wrapping_sub(base);
                new.get(offset).is_none_or(|new| *new == byte(address, offset))
            })
        };
        let found = match access.memory {
            MemoryId::Constant(_) => Ok(()),
            MemoryId::Global(_) => {
                let base = address.addr().get();
                pages(base, access.len).try_for_each(|(number, start, len)| {
                    detector.global(number, |page| {
                        page.access(start, len, &now, |from, size| same(number, base, from, size))
                    })
                })
            }
            MemoryId::Shared(id) => self.cluster.shared.with_shadow(id, |shadow| {
                pages(access.start, access.len).try_for_each(|(number, start, len)| {
                    let same = |from, size| same(number, access.start, from, size);
                    shadow.page(number).access(start, len, &now, same)
                })
            }),
        };
        if let Err(earlier) = found {
            let before = bytes(address, access.len);
            let after = if new.is_empty() { before.clone() } else { new.to_vec() };
            self.race(actor.who, access, earlier, doing, before, after);
        }
    }

    /// Checks an atomic access by the running thread, which `f` performs, and applies its synchronization. `f` returns
    /// what the access did.
    pub(crate) fn access_atomic<R>(&self, access: Access<'_>, f: impl FnOnce(NonNull<u8>) -> (R, Done)) -> R {
        let writes = !matches!(access.kind, Kind::AtomicLoad | Kind::WeakLoad);
        let touch = || Touch { place: place(access), site: access.site, writes };
        self.announce(touch);
        self.step();
        let is_first = self.cluster.has_stale_loads && self.is_first_store(access);
        let address = self.address(access);
        let f = |address| {
            let (result, done) = f(address);
            if self.cluster.announces {
                let thread = self.cluster.first + self.thread.rank;
                self.cluster.scheduler.borrow_mut().touched(thread, touch(), done.writes);
            }
            (result, done)
        };
        let Some(detector) = &self.cluster.launch.races else { return f(address).0 };
        let (actor, epochs) = (&self.thread.actor, &self.cluster.epochs);
        // Noted before the release: a thread that acquires from it then knows of the access.
        self.note_foreign_access(&detector.layout, actor, access);
        let mut before = [0; 16];
        let before = &mut before[..access.len];
        before.iter_mut().enumerate().for_each(|(at, before)| *before = byte(address, at));
        let make = |page: &mut Page, start: usize| {
            let stale = (access.kind == Kind::WeakLoad)
                .then(|| self.stale_value(&detector.layout, page, start, before))
                .flatten();
            let value = stale.as_ref().map(|(stale, _)| Cell::new(stale.bytes));
            let (result, done) = f(value.as_ref().map_or(address, |value| NonNull::from(value).cast()));
            let with = done.synchronization;
            if with.order == Ordering::SeqCst {
                detector.fence(actor, epochs, with);
            }
            let now = Now { actor, layout: &detector.layout, doing: done.doing(access.memory), site: access.site };
            // The access happens after what it acquires, and is part of what it releases.
            done.acquire(&now, page, start, stale.as_ref().map(|(stale, _)| stale));
            let found = page.access(start, access.len, &now, |_, _| false);
            let epoch = actor.epoch();
            done.release(&now, epochs, page, start);
            if self.cluster.has_stale_loads {
                let after = done.writes.then(|| bytes(address, access.len));
                let back = stale.map_or(0, |(_, back)| back);
                self.remember(page, start, epoch, before, back, after.as_deref().map(|after| (after, is_first)));
            }
            (result, done, found)
        };
        let (result, done, found) = match access.memory {
            MemoryId::Constant(base) => unreachable!("an atomic in memory at {base:?} that is only read"),
            MemoryId::Global(_) => {
                let at = address.addr().get();
                detector.global(at / PAGE, |page| make(page, at % PAGE))
            }
            MemoryId::Shared(id) => self
                .cluster
                .shared
                .with_shadow(id, |shadow| make(shadow.page(access.start / PAGE), access.start % PAGE)),
        };
        if let Err(earlier) = found {
            let after = bytes(address, access.len);
            self.race(actor.who, access, earlier, done.doing(access.memory), before.to_vec(), after);
        }
        result
    }

    /// Returns the address of an access after checking that the access is allowed.
    #[inline]
    pub(super) fn address(&self, access: Access<'_>) -> NonNull<u8> {
        match access.memory {
            // SAFETY: the range lies inside the buffer.
            MemoryId::Constant(base) | MemoryId::Global(base) => unsafe { base.add(access.start) },
            MemoryId::Shared(id) => self.shared_address(id, access),
        }
    }

    /// Returns the address that a copy will write to.
    pub(super) fn target_address(&self, access: Access<'_>) -> NonNull<u8> {
        match access.memory {
            MemoryId::Constant(_) | MemoryId::Global(_) => self.address(access),
            MemoryId::Shared(id) => {
                if id.rank != self.thread.block_rank {
                    self.check_peer(id.rank, access.site);
                }
                self.cluster.shared.pointer(id, access.start, access.len)
            }
        }
    }

    fn shared_address(&self, id: SharedId, Access { start, len, kind, site, .. }: Access<'_>) -> NonNull<u8> {
        if id.rank != self.thread.block_rank {
            self.check_peer(id.rank, site);
        }
        let shared = &self.cluster.shared;
        match kind {
            Kind::Read | Kind::AtomicLoad | Kind::WeakLoad | Kind::Atomic => {
                if let Some(byte) = shared.first_unwritten(id, start, len) {
                    self.fail(Cause::UninitializedShared { byte, rank: id.rank }, site);
                }
            }
            Kind::Write(_) | Kind::AtomicStore => shared.mark_written(id, start, len),
        }
        shared.pointer(id, start, len)
    }

    #[cold]
    fn race(&self, me: Who, access: Access<'_>, earlier: Earlier, doing: Doing, before: Vec<u8>, after: Vec<u8>) -> ! {
        let memory = match access.memory {
            MemoryId::Constant(_) | MemoryId::Global(_) => RaceMemory::Global,
            MemoryId::Shared(id) => RaceMemory::Shared {
                declared: self.cluster.shared.declared(id).map(location),
                block: self.cluster.blocks[id.rank as usize].index,
            },
        };
        let side = |who: Who, doing: Doing, site: &'static Location<'static>, value: Vec<u8>| RaceAccess {
            kind: match doing {
                Doing::Read => AccessKind::Read,
                Doing::Write => AccessKind::Write,
                Doing::AtomicRead(_) => AccessKind::AtomicRead,
                Doing::AtomicWrite(_) => AccessKind::AtomicWrite,
            },
            location: location(site),
            block: self.cluster.launch.block_index(who.cluster(), who.thread_of().block()),
            thread: self.cluster.launch.shape.block.index(who.thread_of().thread().into()),
            by_copy: who.is_copy(),
            value,
            type_name: access.type_name.to_owned(),
        };
        let race = Race {
            memory,
            bytes: access.start..access.start + access.len,
            first: side(earlier.who, earlier.doing, earlier.site, before),
            second: side(me, doing, access.site, after),
            help: help(earlier, doing, me),
        };
        self.fail(Cause::Race(Box::new(race)), access.site)
    }

    /// Executes a fence by the running thread.
    #[track_caller]
    pub(crate) fn fence(&self, orders: Synchronization) {
        if orders.order == Ordering::SeqCst {
            // Sequentially consistent fences happen one after another, like atomics on one location, though they name
            // no memory.
            self.announce(|| Touch { place: (0, 0), site: Location::caller(), writes: true });
        }
        if let Some(detector) = &self.cluster.launch.races {
            detector.fence(&self.thread.actor, &self.cluster.epochs, orders);
        }
        self.point(cost::ATOMIC);
    }

    /// Checks that a rank is that of a block of the cluster.
    pub(crate) fn check_rank(&self, rank: u32, site: Site) {
        let num_blocks = self.cluster.launch.cluster_blocks;
        if rank >= num_blocks {
            self.fail(Cause::RankOutOfRange { rank, num_blocks }, site);
        }
    }

    /// Checks that a peer's shared memory exists: from the peer's start, which only a barrier of the cluster proves, to
    /// the peer's exit. An access that precedes the exit only by chance is found by `Cluster::check_foreign_accesses`.
    pub(super) fn check_peer(&self, rank: u32, site: Site) {
        if !self.thread.peers_started.get() {
            self.fail(Cause::PeerMayNotHaveStarted { rank }, site);
        }
        if self.cluster.blocks[rank as usize].exited.get() == self.cluster.launch.block_threads {
            self.fail(Cause::PeerMayHaveExited { rank }, site);
        }
    }

    /// Records an access to shared memory that the owning block does not keep alive for the accessor.
    #[inline]
    fn note_foreign_access(&self, layout: &Layout, actor: &Actor, access: Access<'_>) {
        if let MemoryId::Shared(id) = access.memory
            && (actor.who.is_copy() || actor.who.block() != id.rank)
        {
            self.cluster.blocks[id.rank as usize].foreign_accesses.borrow_mut().note(layout, actor, access.site);
        }
    }
}

impl Cluster<'_> {
    /// Checks, once all threads of the block have exited, that every foreign access to the block's memory
    /// happens-before their exit.
    pub(super) fn check_foreign_accesses(&self, rank: u32) {
        let block = &self.blocks[rank as usize];
        let Some(detector) = &self.launch.races else { return };
        if block.exited.get() < self.launch.block_threads || block.foreign_accesses.borrow().is_empty() {
            return;
        }
        let mut known = Clock::default();
        let threads = self.threads.chunks(self.launch.block_threads as usize).nth(rank as usize);
        threads.into_iter().flatten().for_each(|thread| thread.actor.end(&mut known));
        let Some(access) = block.foreign_accesses.borrow().left_behind(&detector.layout, &known) else { return };
        let cause = match access.who.is_copy() {
            false => Cause::PeerMayHaveExited { rank },
            true => Cause::Protocol(format!(
                "a copy that may be under way when block rank {rank}, whose shared memory it uses, has ended"
            )),
        };
        let who = access.who.thread_of();
        let thread = &self.threads[(who.block() * self.launch.block_threads + who.thread()) as usize];
        let failure = self.failure(thread, cause, Some(access.site));
        self.failure.borrow_mut().get_or_insert(failure);
    }
}

/// Returns a key that identifies the accessed location within one run.
fn place(access: Access<'_>) -> (usize, usize) {
    match access.memory {
        MemoryId::Constant(base) | MemoryId::Global(base) => (base.addr().get(), access.start),
        // Shared memory gets addresses at which no buffer can lie.
        MemoryId::Shared(id) => (1 + (id.allocation as usize) * 16 + id.rank as usize, access.start),
    }
}

/// Suggests what would have ordered the two accesses.
fn help(earlier: Earlier, doing: Doing, me: Who) -> String {
    let (who, atomic) = (earlier.who, |doing| matches!(doing, Doing::AtomicRead(_) | Doing::AtomicWrite(_)));
    if atomic(earlier.doing) && atomic(doing) {
        return "the scope of one of the atomics leaves the other's thread out: widen it".to_owned();
    }
    if who.is_copy() {
        return "the copy is under way until a wait has shown its end: at its barrier, by `wait_async`, or by \
                `bulk_wait_group`"
            .to_owned();
    }
    let (who, me) = (who, me.thread_of());
    let (barrier, scope) = if who.cluster() != me.cluster() {
        ("`grid.sync()`", Scope::Device)
    } else if who.block() != me.block() {
        ("`cluster.sync()`", Scope::Cluster)
    } else if who.with_lane(0) != me.with_lane(0) {
        ("`block.sync()`", Scope::Block)
    } else {
        ("`sync()` of their tile or block", Scope::Block)
    };
    let between = format!("a {barrier} between them would order them");
    if atomic(earlier.doing) || atomic(doing) {
        return format!("{between}, and so would a second atomic instead of the plain access");
    }
    format!(
        "{between}, and so would a `Release` of one thread that an `Acquire` of the other reads from, at `Scope::{scope:?}` or wider"
    )
}

/// Returns the bytes of memory that a copy reads.
pub(super) fn read_bytes(address: NonNull<u8>, len: usize) -> Vec<u8> {
    bytes(address, len)
}

/// Writes the bytes of a copy to its destination.
pub(super) fn write_bytes(address: NonNull<u8>, bytes: &[u8]) {
    for (at, new) in bytes.iter().enumerate() {
        // SAFETY: the byte is one of a copy's, and all accesses are atomic.
        unsafe { AtomicU8::from_ptr(address.add(at).as_ptr()) }.store(*new, Ordering::Relaxed);
    }
}

/// Returns the bytes currently in memory.
fn bytes(address: NonNull<u8>, len: usize) -> Vec<u8> {
    (0..len).map(|at| byte(address, at)).collect()
}

/// Returns one byte of an access that lies inside its memory.
fn byte(address: NonNull<u8>, at: usize) -> u8 {
    // SAFETY: the byte is one of an access, and all accesses are atomic.
    unsafe { AtomicU8::from_ptr(address.add(at).as_ptr()) }.load(Ordering::Relaxed)
}
