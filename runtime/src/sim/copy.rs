//! Simulates asynchronous copies. A pending copy is an actor of its own, the copy engine, which reads the source and
//! writes the destination concurrently with all threads (PTX ISA, Data Movement and Conversion Instructions:
//! Asynchronous copy). Here the schedule decides when the bytes land, at the latest when a thread waits for them or
//! when no thread can run; until then the destination keeps its old contents.
//!
//! The race detector treats a copy as an actor beside the cluster's threads (`ActorId::copy`). Everything the issuing
//! thread knew happens-before the copy; the copy's end happens-before an observation of the completed phase of its
//! barrier, and before the end of a wait for its batch. A use of the destination or a change of the source that is not
//! ordered after such a wait is therefore a race under every schedule.
//!
//! A warp's part of a product of matrices (PTX ISA, wgmma.mma_async) is a copy without a destination: it reads its tiles until
//! a wait.
//!
//! Not detected: for a copy that a group issues together, only the clock of the group's first thread is considered.
//! Copies reuse clock slots, two per thread of the cluster; waiting for a later copy also orders the earlier one in
//! that slot.

use std::ptr::NonNull;

use super::access::{combine_bytes, read_bytes, write_bytes};
use super::context::Context;
use super::memory::{Access, MemoryId, MemoryOp, SharedId};
use super::race::Clock;
use super::site::Site;
use super::state::{BarrierCall, Batch, Cluster, Combine, Completion, PendingCopy, PendingPiece};
use crate::report::failure::Cause;

/// The number of turns per thread of the cluster after which a copy lands even if no thread waits for it.
const PATIENCE: u64 = 4;

/// A copy that a thread issues.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyCall<'v> {
    /// The copy's name in reports: `bulk_copy_async`.
    pub(crate) name: &'static str,
    pub(crate) to: CopyEnd,
    pub(crate) from: CopySource<'v>,
    /// The number of bytes, at least one.
    pub(crate) len: usize,
    pub(crate) completion: Completion,
    pub(crate) site: Site,
    /// The name of the element type.
    pub(crate) type_name: &'static str,
}

/// The first byte of a copy's source or destination.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyEnd {
    pub(crate) memory: MemoryId,
    pub(crate) start: usize,
}

/// A copy of a tile, which lies in rows on one side and as they are in shared memory on the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileCopy<'p> {
    /// The copy's name in reports: `load_async`.
    pub(crate) name: &'static str,
    pub(crate) pieces: &'p [CopyPiece],
    /// Each 16 bits of what pieces without a source get.
    pub(crate) fill: u16,
    /// The number of bytes that the copy completes at its barrier, whatever its pieces are.
    pub(crate) counted: usize,
    /// Combines the bytes in memory with those that arrive, if they do not replace them.
    pub(crate) combine: Option<Combine>,
    pub(crate) completion: Completion,
    pub(crate) site: Site,
    /// The name of the element type.
    pub(crate) type_name: &'static str,
}

/// Bytes of a copy that lie next to each other on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyPiece {
    /// The destination; `None` for what the tensor cores read.
    pub(crate) to: Option<CopyEnd>,
    /// The source; `None` for what fills a tile.
    pub(crate) from: Option<CopyEnd>,
    /// The number of bytes, at least one.
    pub(crate) len: usize,
}

/// The reads of tiles by a product of matrices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProductCall<'p> {
    /// The name in reports.
    pub(crate) name: &'static str,
    /// What is read: the first byte, and the number of bytes.
    pub(crate) pieces: &'p [(CopyEnd, usize)],
    pub(crate) site: Site,
    /// The name of the element type.
    pub(crate) type_name: &'static str,
}

/// The source of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CopySource<'v> {
    Memory(CopyEnd),
    /// A value that the thread passes.
    Value(&'v [u8]),
}

impl PendingCopy {
    fn touches_block(&self, rank: u32) -> bool {
        let of = |memory| matches!(memory, MemoryId::Shared(id) if id.rank == rank);
        let is_unread = self.bytes.is_none();
        let to = |piece: &PendingPiece| piece.to.is_some_and(|(memory, ..)| of(memory));
        self.pieces.iter().any(|piece| to(piece) || is_unread && piece.from.is_some_and(|(memory, _)| of(memory)))
    }

    /// Reads the source, unless that was done before.
    fn read(&mut self) {
        if self.bytes.is_none() {
            let pieces = self.pieces.iter().map(|piece| (piece.from.map(|from| from.1), piece.len));
            self.bytes = Some(read_pieces(pieces, self.fill));
        }
    }
}

impl Context<'_> {
    /// Issues a copy.
    pub(crate) fn begin_copy(&self, call: CopyCall<'_>) {
        let CopyCall { name, to, from, len, completion, site, type_name } = call;
        let (from, value) = match from {
            CopySource::Memory(from) => (Some(from), None),
            CopySource::Value(bytes) => (None, Some(bytes)),
        };
        let (pieces, combine) = (&[CopyPiece { to: Some(to), from, len }], None);
        let copy = TileCopy { name, pieces, fill: 0, counted: len, combine, completion, site, type_name };
        self.begin(copy, value);
    }

    /// Issues a copy of a tile.
    pub(crate) fn begin_tile_copy(&self, copy: TileCopy<'_>) {
        self.begin(copy, None);
    }

    /// Issues a copy of pieces, or of a value to a single one.
    fn begin(&self, copy: TileCopy<'_>, value: Option<&[u8]>) {
        let TileCopy { name, pieces, fill, counted, combine, completion, site, type_name } = copy;
        let copies = &self.cluster.copies;
        let end = |CopyEnd { memory, start }, len, op| Access { memory, start, len, op, site, type_name };
        let source = |piece: &CopyPiece| {
            let from = piece.from?;
            let read = end(from, piece.len, MemoryOp::Read);
            self.check_previous(read);
            Some((from.memory, self.address(read)))
        };
        let sources: Vec<_> = pieces.iter().map(source).collect();
        let bytes: Box<[u8]> = match value {
            Some(value) => value.into(),
            None => {
                read_pieces(pieces.iter().zip(&sources).map(|(piece, from)| (from.map(|from| from.1), piece.len)), fill)
            }
        };
        // The first byte of each piece among all bytes.
        let starts: Vec<usize> = pieces
            .iter()
            .scan(0, |next, piece| {
                let start = *next;
                *next += piece.len;
                Some(start)
            })
            .collect();
        let write = |piece: &CopyPiece, start: usize| {
            let op = match combine {
                Some(_) => MemoryOp::Atomic,
                None => MemoryOp::Write(&bytes[start..start + piece.len]),
            };
            Some(end(piece.to?, piece.len, op))
        };
        let target = |(piece, start): (&CopyPiece, &usize)| {
            let write = write(piece, *start)?;
            self.check_previous(write);
            Some(self.target_address(write))
        };
        let targets: Vec<_> = pieces.iter().zip(&starts).map(target).collect();
        if let Completion::Barrier { barrier, expect } = completion {
            self.expect_copy(BarrierCall { name, barrier, site }, if expect { counted } else { 0 });
        }
        let number = copies.issued.replace(copies.issued.get() + 1);
        let (mut read, mut done) = (Clock::default(), Clock::default());
        if let Some(detector) = &self.cluster.launch.races {
            let (layout, epochs) = (&detector.layout, &self.cluster.epochs);
            // Each copy takes two clock slots: one actor reads, and a second one writes once everything is read.
            let reader = self.thread.actor.begin_copy(2 * number as u32, epochs, layout);
            for (piece, source) in pieces.iter().zip(&sources) {
                if let (Some(from), Some((_, address))) = (piece.from, source) {
                    self.check_order(&reader, end(from, piece.len, MemoryOp::Read), *address);
                }
            }
            read = reader.release(epochs, layout);
            let writer = reader.begin_copy(2 * number as u32 + 1, epochs, layout);
            for ((piece, start), target) in pieces.iter().zip(&starts).zip(&targets) {
                if let (Some(write), Some(target)) = (write(piece, *start), target) {
                    self.check_order(&writer, write, *target);
                }
            }
            done = writer.release(epochs, layout);
        }
        let pending = |((piece, from), target): ((&CopyPiece, &_), &_)| PendingPiece {
            to: piece.to.zip(*target).map(|(to, target)| (to.memory, to.start, target)),
            from: *from,
            len: piece.len,
        };
        copies.in_flight.borrow_mut().push(PendingCopy {
            name,
            site,
            thread: self.thread.rank,
            pieces: pieces.iter().zip(&sources).zip(&targets).map(pending).collect(),
            bytes: value.is_some().then_some(bytes),
            fill,
            counted,
            combine,
            completion,
            read,
            done,
            due: copies.turns.get() + self.cluster.patience(),
            landed: false,
            waited_read: false,
        });
    }

    /// Issues the reads of a warp's part of a product, by the thread that stands for the warp.
    pub(crate) fn begin_product(&self, product: ProductCall<'_>) {
        let ProductCall { name, pieces, site, type_name } = product;
        let read = |(from, len): &(CopyEnd, usize)| CopyPiece { to: None, from: Some(*from), len: *len };
        let pieces: Vec<CopyPiece> = pieces.iter().map(read).collect();
        let completion = Completion::Batch(Batch::Product);
        let copy = TileCopy { name, pieces: &pieces, fill: 0, counted: 0, combine: None, completion, site, type_name };
        self.begin(copy, None);
    }

    /// Waits until all but the last `prior` of the thread's products have read their tiles.
    pub(crate) fn wait_for_products(&self, prior: usize, site: Site) {
        self.wait_for_copies(Batch::Product, prior, false, site);
    }

    /// Returns the bytes that an asynchronous read finds, whose order with other accesses is that of the read.
    pub(crate) fn bytes_of(&self, from: CopyEnd, len: usize, site: Site, type_name: &'static str) -> Box<[u8]> {
        let CopyEnd { memory, start } = from;
        let address = self.address(Access { memory, start, len, op: MemoryOp::Read, site, type_name });
        read_pieces([(Some(address), len)].into_iter(), 0)
    }

    /// Waits until all but the last `prior` of the thread's copies of a batch have completed, or, if `only_read`, until
    /// their sources have been read.
    pub(crate) fn wait_for_copies(&self, batch: Batch, prior: usize, only_read: bool, site: Site) {
        let copies = &self.cluster.copies;
        let mine = |copy: &PendingCopy| match copy.completion {
            Completion::Batch(other) => copy.thread == self.thread.rank && other.is_counted_with(batch),
            Completion::Barrier { .. } => false,
        };
        let count = copies.in_flight.borrow().iter().filter(|copy| mine(copy)).count();
        let (mut left, mut at) = (count.saturating_sub(prior), 0);
        while left > 0 {
            let is_mine = mine(&copies.in_flight.borrow()[at]);
            left -= usize::from(is_mine);
            if !is_mine || copies.in_flight.borrow()[at].completion != Completion::Batch(batch) {
                at += 1;
                continue;
            }
            let mut copy = copies.in_flight.borrow_mut().remove(at);
            let learned = if only_read {
                copy.read();
                copy.waited_read = true;
                copy.read.clone()
            } else {
                if let Err(fault) = self.cluster.land(&mut copy) {
                    self.fail(Cause::Protocol(fault), site);
                }
                copy.done.clone()
            };
            if let Some(detector) = &self.cluster.launch.races {
                self.thread.actor.acquire(&detector.layout, &learned);
            }
            if only_read {
                copies.in_flight.borrow_mut().insert(at, copy);
                at += 1;
            }
        }
    }
}

impl Cluster<'_> {
    /// Returns the number of turns for which a copy stays in flight if no thread waits for it.
    fn patience(&self) -> u64 {
        let most = PATIENCE * self.threads.len() as u64;
        match self.scheduler.borrow_mut().rng() {
            Some(rng) => rng.draw() % most.next_power_of_two(),
            None => most,
        }
    }

    /// Returns whether a copy is to land.
    pub(super) fn has_copies_in_flight(&self) -> bool {
        self.copies.in_flight.borrow().iter().any(|copy| !copy.landed)
    }

    /// Returns the site of a copy to this byte of shared memory that is still in flight.
    pub(super) fn copy_to(&self, id: SharedId, byte: usize) -> Option<Site> {
        let in_flight = self.copies.in_flight.borrow();
        let covers = |copy: &&PendingCopy| {
            let is_to = |piece: &PendingPiece| {
                let covers =
                    |(memory, start, _)| memory == MemoryId::Shared(id) && (start..start + piece.len).contains(&byte);
                piece.to.is_some_and(covers)
            };
            !copy.landed && copy.pieces.iter().any(is_to)
        };
        in_flight.iter().find(covers).map(|copy| copy.site)
    }

    /// Lands the copies that are due after this turn of a thread.
    pub(super) fn land_due(&self) {
        if self.copies.in_flight.borrow().is_empty() {
            return;
        }
        let now = self.copies.turns.get() + 1;
        self.copies.turns.set(now);
        while self.land_first(|copy| copy.due <= now) {}
    }

    /// Lands one copy because no thread can run. Returns whether one was in flight.
    pub(super) fn land_next(&self) -> bool {
        self.land_first(|_| true)
    }

    fn land_first(&self, which: impl Fn(&PendingCopy) -> bool) -> bool {
        if self.failure.borrow().is_some() {
            return false;
        }
        let at = self.copies.in_flight.borrow().iter().position(|copy| !copy.landed && which(copy));
        let Some(at) = at else { return false };
        let mut copy = self.copies.in_flight.borrow_mut().remove(at);
        match self.land(&mut copy) {
            Err(fault) => self.copy_failed(&copy, fault),
            // The issuing thread must still wait for it.
            Ok(()) if matches!(copy.completion, Completion::Batch(_)) => {
                self.copies.in_flight.borrow_mut().insert(at, copy)
            }
            Ok(()) => {}
        }
        true
    }

    /// Writes the copy's bytes, and completes them at its barrier if it has one.
    fn land(&self, copy: &mut PendingCopy) -> Result<(), String> {
        if std::mem::replace(&mut copy.landed, true) {
            return Ok(());
        }
        copy.read();
        let mut bytes = copy.bytes.as_deref().unwrap_or_default();
        for PendingPiece { to, len, .. } in &copy.pieces {
            let (arrived, rest) = bytes.split_at(*len);
            bytes = rest;
            let Some((memory, start, address)) = to else { continue };
            match copy.combine {
                None => write_bytes(*address, arrived),
                // Copies of other clusters, and atomics, may change the elements meanwhile.
                Some(combine) => combine_bytes(*address, arrived, combine),
            }
            if let MemoryId::Shared(id) = memory {
                self.shared.mark_written(*id, *start, *len);
            }
        }
        self.note_effect();
        match copy.completion {
            Completion::Barrier { barrier, .. } => {
                self.complete_copy(barrier, copy.counted, &copy.done).map_err(|what| {
                    format!(
                        "`{}()` at {} needs an initialized barrier when its bytes arrive, but {what}",
                        copy.name, copy.site
                    )
                })
            }
            Completion::Batch(_) => Ok(()),
        }
    }

    /// Checks, after a thread has exited, that it waited for its copies, and, if its whole block has exited, that no
    /// copy still uses the block's memory.
    pub(super) fn check_copies_at_exit(&self, thread: usize) {
        let (block, ended) = {
            let rank = self.threads[thread].block_rank;
            (rank, self.blocks[rank as usize].exited.get() == self.launch.block_threads)
        };
        let mut in_flight = self.copies.in_flight.borrow_mut();
        let waits = |copy: &PendingCopy| copy.thread == thread && matches!(copy.completion, Completion::Batch(_));
        let unwaited = in_flight.iter().position(|copy| waits(copy) && !copy.waited_read);
        let cut = || in_flight.iter().position(|copy| ended && !copy.landed && copy.touches_block(block));
        let (at, what) = match (unwaited, cut()) {
            (Some(at), _) => (at, "must be waited for, but its thread exited without a wait".to_owned()),
            (None, Some(at)) => (
                at,
                format!(
                    "uses the shared memory of block rank {block}, so it must complete before the block exits, but it is still in flight"
                ),
            ),
            (None, None) => {
                in_flight.retain(|copy| !(waits(copy) && copy.landed));
                return;
            }
        };
        let copy = in_flight.remove(at);
        drop(in_flight);
        let fault = format!("`{}()` {what}", copy.name);
        self.copy_failed(&copy, fault);
    }

    fn copy_failed(&self, copy: &PendingCopy, fault: String) {
        let failure = self.failure(&self.threads[copy.thread], Cause::Protocol(fault), Some(copy.site));
        self.failure.borrow_mut().get_or_insert(failure);
    }
}

/// Returns the bytes of pieces, each from an address or filled with the same 16 bits.
fn read_pieces(pieces: impl Iterator<Item = (Option<NonNull<u8>>, usize)>, fill: u16) -> Box<[u8]> {
    let mut bytes = Vec::new();
    for (from, len) in pieces {
        match from {
            Some(from) => bytes.extend(read_bytes(from, len)),
            None => bytes.extend(fill.to_ne_bytes().into_iter().cycle().take(len)),
        }
    }
    bytes.into()
}
