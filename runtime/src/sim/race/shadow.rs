//! Shadow memory, which holds for each byte its last write and the accesses since. It follows FastTrack (Flanagan and
//! Freund 2009): one epoch suffices while all accesses are ordered, and more are kept only while they are not. Threads
//! of a warp that make the same access share an entry, and bytes that are only accessed together share a cell.

use super::clock::{ActorId, Epoch, Layout, Unit};
use super::history::History;
use super::order::{Actor, ReleasedClocks, within};
use crate::scope::Scope;
use crate::sim::site::Site;

/// The number of bytes of a page. Pages are created on first access.
pub(crate) const PAGE: usize = 256;

/// The largest number of entries of a cell, which is the number of warps of the largest cluster. If more access the
/// same bytes unordered, the oldest are forgotten.
const MOST_ENTRIES: usize = 512;

/// The kind of an access, as far as conflicts depend on it, with the scope of an atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictKind {
    Read,
    Write,
    /// An atomic that does not write.
    AtomicRead(Scope),
    AtomicWrite(Scope),
}

impl ConflictKind {
    /// Returns whether the two accesses conflict, that is, race unless they are ordered.
    fn conflicts(self, by: ActorId, other: ConflictKind, other_by: ActorId) -> bool {
        match (self, other) {
            (ConflictKind::Read, ConflictKind::Read | ConflictKind::AtomicRead(_))
            | (ConflictKind::AtomicRead(_), ConflictKind::Read | ConflictKind::AtomicRead(_)) => false,
            // Two atomics conflict unless each one's scope includes the other's thread.
            (ConflictKind::AtomicRead(a), ConflictKind::AtomicWrite(b))
            | (ConflictKind::AtomicWrite(a), ConflictKind::AtomicRead(b) | ConflictKind::AtomicWrite(b)) => {
                !within(a.min(b), by, other_by)
            }
            (ConflictKind::Write, _)
            | (_, ConflictKind::Write)
            | (ConflictKind::Read, ConflictKind::AtomicWrite(_))
            | (ConflictKind::AtomicWrite(_), ConflictKind::Read) => true,
        }
    }
}

impl ConflictKind {
    /// Returns the bit of the access kind.
    fn bit(self) -> u16 {
        match self {
            ConflictKind::Read => 1,
            ConflictKind::Write => 2,
            ConflictKind::AtomicRead(scope) => 1 << (4 + scope as u16),
            ConflictKind::AtomicWrite(scope) => 1 << (8 + scope as u16),
        }
    }

    /// Returns the bits of the access kinds that may conflict with this one.
    fn against(self) -> u16 {
        const READS: u16 = 0x0f << 4;
        const WRITES: u16 = 0x0f << 8;
        // A scope of the device or wider includes all threads, so only narrower scopes may conflict.
        const NARROW: u16 = 0b11;
        match self {
            ConflictKind::Read => WRITES,
            ConflictKind::Write => !0,
            ConflictKind::AtomicRead(Scope::Block | Scope::Cluster) => WRITES,
            ConflictKind::AtomicRead(Scope::Device | Scope::System) => NARROW << 8,
            ConflictKind::AtomicWrite(Scope::Block | Scope::Cluster) => 1 | READS | WRITES,
            ConflictKind::AtomicWrite(Scope::Device | Scope::System) => 1 | NARROW << 4 | NARROW << 8,
        }
    }
}

/// The access that is being made.
#[derive(Clone, Copy)]
pub(crate) struct CurrentAccess<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) layout: &'a Layout,
    pub(crate) kind: ConflictKind,
    pub(crate) site: Site,
    /// The first byte in the memory, and the number of bytes.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// The first thread of the block that owns the memory, if it is shared memory.
    pub(crate) owner: Option<ActorId>,
}

impl CurrentAccess<'_> {
    /// Returns whether an access of that actor to the same memory in the epoch happens-before this one.
    #[inline]
    pub(crate) fn is_after(&self, id: ActorId, epoch: Epoch) -> bool {
        self.actor.knows(self.layout, id, epoch)
            || (self.is_own(id) && self.actor.knows_own_shared(self.layout, id, epoch))
    }

    /// Returns whether a plain read of the same memory by that actor in the epoch happens-before this access.
    fn is_after_read(&self, id: ActorId, epoch: Epoch) -> bool {
        self.is_after(id, epoch) || (self.owner.is_some() && self.actor.knows_peer_reads(self.layout, id, epoch))
    }

    /// Returns whether the memory is shared memory of that actor's block. A copy has no block: it ends at a barrier of the block whose
    /// memory it writes.
    fn is_own(&self, id: ActorId) -> bool {
        self.owner.is_some_and(|owner| id.is_copy() || owner == id.first(Unit::Block))
    }

    fn extent(&self) -> Extent {
        Extent { start: self.start as u32, len: self.len as u32 }
    }
}

/// An earlier access that does not happen-before the current one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EarlierAccess {
    pub(crate) id: ActorId,
    pub(crate) epoch: Epoch,
    pub(crate) kind: ConflictKind,
    pub(crate) site: Site,
    /// The first byte in the memory, and the number of bytes.
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// The bytes of an access, as the low bits of the first byte's offset in the memory, and their number. Together with an
/// access to the same bytes, these bits suffice to tell the offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    start: u32,
    len: u32,
}

impl Extent {
    /// Returns the offset of the first byte, which is less than 2^31 bytes from that of the current access.
    fn start(self, now: &CurrentAccess<'_>) -> usize {
        let distance = self.start.wrapping_sub(now.start as u32).cast_signed();
        now.start.wrapping_add_signed(distance as isize)
    }
}

/// The shadow of memory that only one OS thread accesses, which is a block's instance of a shared allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Vec<Option<Box<Page>>>);

impl Shadow {
    pub(crate) fn page(&mut self, number: usize) -> &mut Page {
        if number >= self.0.len() {
            self.0.resize_with(number + 1, || None);
        }
        self.0[number].get_or_insert_default()
    }
}

/// Splits a range at page boundaries. Each part has the page's number, the first byte in it, and the number of bytes.
pub(crate) fn pages(start: usize, len: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let (mut at, end) = (start, start + len);
    std::iter::from_fn(move || {
        let len = (PAGE - at % PAGE).min(end - at);
        (len > 0).then(|| {
            let part = (at / PAGE, at % PAGE, len);
            at += len;
            part
        })
    })
}

/// The shadow of a page of bytes.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The binary logarithm of a cell's size in bytes.
    shift: u32,
    cells: Box<[Cell]>,
    /// The states of the locations that atomics have written.
    atomics: Vec<AtomicState>,
}

/// The state of an atomic location: what later atomics there may acquire and read.
#[derive(Debug)]
struct AtomicState {
    at: usize,
    released: ReleasedClocks,
    /// The stores whose values a load may return, if they were recorded.
    history: Option<Box<History>>,
}

/// The accesses to bytes that are only accessed together.
#[derive(Debug, Clone, Default)]
struct Cell {
    /// The last plain write.
    write: Option<Write>,
    /// The accesses since the last plain write: the first one, and the rest.
    first: Option<Entry>,
    #[allow(clippy::box_collection, reason = "a cell is a few words: most have no more than one entry")]
    rest: Option<Box<Vec<Entry>>>,
    /// The bits of all access kinds since the last plain write.
    kinds: u16,
    /// Whether the accesses since the last plain write are by several blocks.
    mixed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Write {
    id: ActorId,
    epoch: Epoch,
    site: Site,
    extent: Extent,
}

/// An access that threads of a warp made in the same epoch at the same site.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The warp's first thread.
    warp: ActorId,
    epoch: Epoch,
    site: Site,
    lanes: u32,
    extent: Extent,
    kind: ConflictKind,
}

impl Write {
    fn earlier(&self, now: &CurrentAccess<'_>) -> EarlierAccess {
        let Write { id, epoch, site, extent } = *self;
        EarlierAccess { id, epoch, kind: ConflictKind::Write, site, start: extent.start(now), len: extent.len as usize }
    }
}

impl Entry {
    fn new(now: &CurrentAccess<'_>) -> Entry {
        let id = now.actor.id;
        Entry {
            warp: id.first(Unit::Warp),
            epoch: now.actor.epoch(),
            site: now.site,
            lanes: 1 << id.lane(),
            extent: now.extent(),
            kind: now.kind,
        }
    }

    fn is_alike(&self, other: &Entry) -> bool {
        self.warp == other.warp
            && self.epoch == other.epoch
            && std::ptr::eq(self.site, other.site)
            && self.extent == other.extent
            && self.kind == other.kind
    }

    /// Returns a thread of the entry whose access does not happen-before the current one, if there is one.
    fn unordered(&self, now: &CurrentAccess<'_>) -> Option<ActorId> {
        if now.actor.knows_warp(now.layout, self.warp, self.epoch) {
            return None;
        }
        let threads = (0..32).filter(|lane| self.lanes >> lane & 1 == 1).map(|lane| self.warp.with_lane(lane));
        threads.into_iter().find(|id| match self.kind {
            ConflictKind::Read => !now.is_after_read(*id, self.epoch),
            ConflictKind::Write | ConflictKind::AtomicRead(_) | ConflictKind::AtomicWrite(_) => {
                !now.is_after(*id, self.epoch)
            }
        })
    }

    /// Returns the access as one of the thread `id`.
    fn earlier(&self, id: ActorId, now: &CurrentAccess<'_>) -> EarlierAccess {
        let Entry { epoch, site, extent, kind, .. } = *self;
        EarlierAccess { id, epoch, kind, site, start: extent.start(now), len: extent.len as usize }
    }

    /// Returns whether the current access subsumes this entry in all later checks.
    fn is_subsumed(&self, now: &CurrentAccess<'_>) -> bool {
        self.kind == now.kind && self.unordered(now).is_none()
    }
}

impl Cell {
    /// Records an access. `may_pass` says whether a plain write that is not ordered with an earlier one may pass.
    fn access(
        &mut self,
        now: &CurrentAccess<'_>,
        may_pass: impl FnOnce(EarlierAccess) -> bool,
    ) -> Result<(), EarlierAccess> {
        if let Some(write) = &self.write
            && !now.is_after(write.id, write.epoch)
            && (now.kind != ConflictKind::Write || !may_pass(write.earlier(now)))
        {
            return Err(write.earlier(now));
        }
        let new = Entry::new(now);
        if self.kinds & now.kind.against() != 0 && !self.are_atomics_of_my_block(now) {
            for entry in self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.iter())) {
                if new.kind.conflicts(now.actor.id, entry.kind, entry.warp)
                    && let Some(id) = entry.unordered(now)
                {
                    return Err(entry.earlier(id, now));
                }
            }
        }
        if now.kind == ConflictKind::Write {
            self.write = Some(Write { id: now.actor.id, epoch: new.epoch, site: now.site, extent: new.extent });
            (self.first, self.rest, self.kinds, self.mixed) = (None, None, 0, false);
        } else {
            self.kinds |= now.kind.bit();
            self.note(new, now);
        }
        Ok(())
    }

    /// Returns whether all accesses are atomics of the current block, none of which conflict: every scope includes the
    /// block.
    fn are_atomics_of_my_block(&self, now: &CurrentAccess<'_>) -> bool {
        let is_atomic = matches!(now.kind, ConflictKind::AtomicRead(_) | ConflictKind::AtomicWrite(_));
        is_atomic && !self.mixed && self.kinds & ConflictKind::Read.bit() == 0 && self.is_of_my_block(now)
    }

    fn is_of_my_block(&self, now: &CurrentAccess<'_>) -> bool {
        self.first.is_none_or(|first| first.warp.first(Unit::Block) == now.actor.id.first(Unit::Block))
    }

    fn note(&mut self, new: Entry, now: &CurrentAccess<'_>) {
        self.mixed |= !self.is_of_my_block(now);
        let Some(first) = &mut self.first else {
            self.first = Some(new);
            return;
        };
        if first.is_alike(&new) {
            first.lanes |= new.lanes;
            return;
        }
        let Some(rest) = &mut self.rest else {
            if first.is_subsumed(now) {
                *first = new;
            } else {
                self.rest = Some(Box::new(vec![new]));
            }
            return;
        };
        // If the threads of a warp run one after another, their entry is among the last ones.
        if let Some(known) = rest.iter_mut().rev().take(4).find(|known| known.is_alike(&new)) {
            known.lanes |= new.lanes;
            return;
        }
        if rest.len() == rest.capacity() {
            rest.retain(|entry| !entry.is_subsumed(now));
            merge(rest);
            if rest.len() >= MOST_ENTRIES {
                rest.drain(..MOST_ENTRIES / 2);
            }
            // The next cleanup is due when the list has doubled.
            rest.reserve(rest.len());
        }
        rest.push(new);
    }
}

/// Merges entries that differ only in their lanes.
fn merge(entries: &mut Vec<Entry>) {
    entries.sort_by_key(|entry| (entry.warp, entry.epoch, std::ptr::from_ref(entry.site), entry.extent));
    entries.dedup_by(|next, kept| {
        let alike = kept.is_alike(next);
        if alike {
            kept.lanes |= next.lanes;
        }
        alike
    });
}

impl Page {
    /// Records an access to `len` bytes from `start` on. Fails with an earlier access that races with it, if there is
    /// one. `may_pass` says whether a plain write to a part of the page may pass, although it is not ordered with an
    /// earlier one.
    pub(crate) fn access(
        &mut self,
        start: usize,
        len: usize,
        now: &CurrentAccess<'_>,
        may_pass: impl Fn(usize, usize, EarlierAccess) -> bool,
    ) -> Result<(), EarlierAccess> {
        self.cut((start | len | 16).trailing_zeros());
        let size = 1 << self.shift;
        for cell in start >> self.shift..(start + len).div_ceil(size) {
            self.cells[cell].access(now, |earlier| may_pass(cell << self.shift, size, earlier))?;
        }
        Ok(())
    }

    /// Returns the clocks that atomics released at a byte, if an atomic has written there.
    pub(crate) fn released(&mut self, at: usize) -> Option<&mut ReleasedClocks> {
        self.atomics.iter_mut().find(|atomic| atomic.at == at).map(|atomic| &mut atomic.released)
    }

    /// Returns the clocks that atomics released at a byte, of which there are none at first.
    pub(crate) fn released_or_new(&mut self, at: usize) -> &mut ReleasedClocks {
        &mut self.atomic(at).released
    }

    fn atomic(&mut self, at: usize) -> &mut AtomicState {
        let known = self.atomics.iter().position(|atomic| atomic.at == at);
        let index = known.unwrap_or_else(|| {
            self.atomics.push(AtomicState { at, released: ReleasedClocks::default(), history: None });
            self.atomics.len() - 1
        });
        &mut self.atomics[index]
    }

    /// Returns the history of the atomic location at a byte, if loads may return more than the current value.
    pub(crate) fn history(&mut self, at: usize, bytes: &[u8]) -> Option<&mut History> {
        let atomic = self.atomics.iter_mut().find(|atomic| atomic.at == at)?;
        atomic.history.take_if(|history| !history.is_of(bytes));
        atomic.history.as_deref_mut()
    }

    /// Records that an atomic has stored `after`. `before` is the value that it replaced, or `None` if nothing was ever
    /// written there.
    pub(crate) fn stored(&mut self, at: usize, observer: (ActorId, Epoch), before: Option<&[u8]>, after: &[u8]) {
        let end = at + after.len();
        for other in self.atomics.iter_mut().filter(|other| other.at != at && other.at < end) {
            other.history.take_if(|history| at < other.at + history.size());
        }
        let AtomicState { released, history, .. } = self.atomic(at);
        let Some(before) = before else {
            *history = Some(Box::new(History::new(after, released.clone())));
            return;
        };
        history.take_if(|history| !history.is_of(before));
        let history = history.get_or_insert_with(|| Box::new(History::new(before, ReleasedClocks::default())));
        history.push(observer, after, released.clone());
    }

    /// Splits the cells so that none is larger than `1 << shift` bytes.
    fn cut(&mut self, shift: u32) {
        if self.cells.is_empty() {
            (self.shift, self.cells) = (shift, vec![Cell::default(); PAGE >> shift].into_boxed_slice());
        } else if shift < self.shift {
            let times = 1 << (self.shift - shift);
            let cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(cell, times).cloned());
            (self.cells, self.shift) = (cells.collect(), shift);
        }
    }
}
