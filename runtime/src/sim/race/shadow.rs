//! The memory beside the memory: of each byte, who wrote it last, and who has touched it since. As FastTrack (Flanagan and
//! Freund 2009) keeps it: one epoch where all is ordered, more only while accesses are not; here a warp's threads that do
//! the same are one entry. Bytes that are only accessed together have one cell.

use super::clock::{Epoch, Layout, Unit, Who};
use super::history::History;
use super::order::{Actor, Message, within};
use crate::scope::Scope;
use crate::sim::site::Site;

/// Bytes of a page, which is made when it is first touched.
pub(crate) const PAGE: usize = 256;

/// Entries of a cell: the warps of the largest cluster. Of more that touch the same bytes with nothing to order them, the
/// oldest are forgotten.
const MOST_ENTRIES: usize = 512;

/// What an access does, as far as conflicts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Read,
    Write,
    /// An atomic that does not write.
    AtomicRead(Scope),
    AtomicWrite(Scope),
}

impl Doing {
    /// Whether the two need an order.
    fn conflicts(self, by: Who, other: Doing, other_by: Who) -> bool {
        match (self, other) {
            (Doing::Read, Doing::Read | Doing::AtomicRead(_))
            | (Doing::AtomicRead(_), Doing::Read | Doing::AtomicRead(_)) => false,
            // Two atomics, if each is one for the other's thread.
            (Doing::AtomicRead(a), Doing::AtomicWrite(b))
            | (Doing::AtomicWrite(a), Doing::AtomicRead(b) | Doing::AtomicWrite(b)) => !within(a.min(b), by, other_by),
            (Doing::Write, _)
            | (_, Doing::Write)
            | (Doing::Read, Doing::AtomicWrite(_))
            | (Doing::AtomicWrite(_), Doing::Read) => true,
        }
    }
}

impl Doing {
    /// A bit for each kind.
    fn bit(self) -> u16 {
        match self {
            Doing::Read => 1,
            Doing::Write => 2,
            Doing::AtomicRead(scope) => 1 << (4 + scope as u16),
            Doing::AtomicWrite(scope) => 1 << (8 + scope as u16),
        }
    }

    /// The bits of the kinds that may conflict.
    fn against(self) -> u16 {
        const READS: u16 = 0x0f << 4;
        const WRITES: u16 = 0x0f << 8;
        // Atomics of the device are for all of its threads.
        const NARROW: u16 = 0b11;
        match self {
            Doing::Read => WRITES,
            Doing::Write => !0,
            Doing::AtomicRead(Scope::Block | Scope::Cluster) => WRITES,
            Doing::AtomicRead(Scope::Device | Scope::System) => NARROW << 8,
            Doing::AtomicWrite(Scope::Block | Scope::Cluster) => 1 | READS | WRITES,
            Doing::AtomicWrite(Scope::Device | Scope::System) => 1 | NARROW << 4 | NARROW << 8,
        }
    }
}

/// An access that is made now.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) layout: &'a Layout,
    pub(crate) doing: Doing,
    pub(crate) site: Site,
}

/// An access that was made before, and that nothing orders with the one that is made now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Earlier {
    pub(crate) who: Who,
    pub(crate) doing: Doing,
    pub(crate) site: Site,
}

/// The shadow of a page of bytes.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Bytes of a cell, as a power of two.
    shift: u32,
    cells: Box<[Cell]>,
    /// What atomics left.
    atomics: Vec<Left>,
}

/// The messages and values that atomics left at a byte.
#[derive(Debug)]
struct Left {
    at: usize,
    message: Message,
    /// Where older values may be found.
    history: Option<Box<History>>,
}

#[derive(Debug, Clone, Default)]
struct Cell {
    write: Option<Write>,
    /// What was done since, and not by a plain write.
    first: Option<Entry>,
    #[allow(clippy::box_collection, reason = "a cell is a few words: most have no more than one entry")]
    rest: Option<Box<Vec<Entry>>>,
    /// The bits of all that was done since.
    kinds: u16,
    /// It was done by threads of several blocks.
    mixed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Write {
    who: Who,
    epoch: Epoch,
    site: Site,
}

/// Threads of a warp that did the same.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The warp's first.
    warp: Who,
    epoch: Epoch,
    site: Site,
    lanes: u32,
    doing: Doing,
}

impl Entry {
    fn new(now: &Now<'_>) -> Entry {
        let who = now.actor.who;
        Entry {
            warp: who.first(Unit::Warp),
            epoch: now.actor.epoch(),
            site: now.site,
            lanes: 1 << who.lane(),
            doing: now.doing,
        }
    }

    fn is_like(&self, other: &Entry) -> bool {
        self.warp == other.warp
            && self.epoch == other.epoch
            && std::ptr::eq(self.site, other.site)
            && self.doing == other.doing
    }

    /// A thread of it that is not known to be done.
    fn unknown(&self, now: &Now<'_>) -> Option<Who> {
        if now.actor.knows_warp(now.layout, self.warp, self.epoch) {
            return None;
        }
        let threads = (0..32).filter(|lane| self.lanes >> lane & 1 == 1).map(|lane| self.warp.with_lane(lane));
        threads.into_iter().find(|who| !now.actor.knows(now.layout, *who, self.epoch))
    }

    /// Whether the access that is made now stands for this one too, in all that may come.
    fn gives_way(&self, now: &Now<'_>) -> bool {
        self.doing == now.doing && self.unknown(now).is_none()
    }
}

impl Cell {
    fn access(&mut self, now: &Now<'_>, same: impl FnOnce() -> bool) -> Result<(), Earlier> {
        if let Some(write) = &self.write
            && !now.actor.knows(now.layout, write.who, write.epoch)
        {
            // Two plain writes of the same bytes are let pass.
            if now.doing != Doing::Write || !same() {
                return Err(Earlier { who: write.who, doing: Doing::Write, site: write.site });
            }
        }
        let new = Entry::new(now);
        if self.kinds & now.doing.against() != 0 && !self.are_atomics_of_my_block(now) {
            for entry in self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.iter())) {
                if new.doing.conflicts(now.actor.who, entry.doing, entry.warp)
                    && let Some(who) = entry.unknown(now)
                {
                    return Err(Earlier { who, doing: entry.doing, site: entry.site });
                }
            }
        }
        if now.doing == Doing::Write {
            self.write = Some(Write { who: now.actor.who, epoch: new.epoch, site: now.site });
            (self.first, self.rest, self.kinds, self.mixed) = (None, None, 0, false);
        } else {
            self.kinds |= now.doing.bit();
            self.note(new, now);
        }
        Ok(())
    }

    /// Then none of them conflicts: every scope has the block in it.
    fn are_atomics_of_my_block(&self, now: &Now<'_>) -> bool {
        let is_atomic = matches!(now.doing, Doing::AtomicRead(_) | Doing::AtomicWrite(_));
        is_atomic && !self.mixed && self.kinds & Doing::Read.bit() == 0 && self.is_of_my_block(now)
    }

    fn is_of_my_block(&self, now: &Now<'_>) -> bool {
        self.first.is_none_or(|first| first.warp.first(Unit::Block) == now.actor.who.first(Unit::Block))
    }

    fn note(&mut self, new: Entry, now: &Now<'_>) {
        self.mixed |= !self.is_of_my_block(now);
        let Some(first) = &mut self.first else {
            self.first = Some(new);
            return;
        };
        if first.is_like(&new) {
            first.lanes |= new.lanes;
            return;
        }
        let Some(rest) = &mut self.rest else {
            if first.gives_way(now) {
                *first = new;
            } else {
                self.rest = Some(Box::new(vec![new]));
            }
            return;
        };
        // Of a warp that takes its turns one after another, it is the last.
        if let Some(known) = rest.iter_mut().rev().take(4).find(|known| known.is_like(&new)) {
            known.lanes |= new.lanes;
            return;
        }
        if rest.len() == rest.capacity() {
            rest.retain(|entry| !entry.gives_way(now));
            merge(rest);
            if rest.len() >= MOST_ENTRIES {
                rest.drain(..MOST_ENTRIES / 2);
            }
            // The next time is when as many have come again.
            rest.reserve(rest.len());
        }
        rest.push(new);
    }
}

/// Makes one of those that are alike.
fn merge(entries: &mut Vec<Entry>) {
    entries.sort_by_key(|entry| (entry.warp, entry.epoch, std::ptr::from_ref(entry.site)));
    entries.dedup_by(|next, kept| {
        let alike = kept.is_like(next);
        if alike {
            kept.lanes |= next.lanes;
        }
        alike
    });
}

impl Page {
    /// An access to `len` bytes from `start` on. `same`: whether the bytes there are those that are written, of a part of
    /// the page.
    pub(crate) fn access(
        &mut self,
        start: usize,
        len: usize,
        now: &Now<'_>,
        same: impl Fn(usize, usize) -> bool,
    ) -> Result<(), Earlier> {
        self.cut((start | len | 16).trailing_zeros());
        let size = 1 << self.shift;
        for cell in start >> self.shift..(start + len).div_ceil(size) {
            self.cells[cell].access(now, || same(cell << self.shift, size))?;
        }
        Ok(())
    }

    /// What atomics left at a byte for those who acquire it, if they did.
    pub(crate) fn message(&mut self, at: usize) -> Option<&mut Message> {
        self.atomics.iter_mut().find(|left| left.at == at).map(|left| &mut left.message)
    }

    /// A place for atomics to leave something at a byte.
    pub(crate) fn message_or_new(&mut self, at: usize) -> &mut Message {
        &mut self.left(at).message
    }

    fn left(&mut self, at: usize) -> &mut Left {
        let known = self.atomics.iter().position(|left| left.at == at);
        let index = known.unwrap_or_else(|| {
            self.atomics.push(Left { at, message: Message::default(), history: None });
            self.atomics.len() - 1
        });
        &mut self.atomics[index]
    }

    /// What atomics may find at a byte where these are in memory, if not only that.
    pub(crate) fn history(&mut self, at: usize, bytes: &[u8]) -> Option<&mut History> {
        let left = self.atomics.iter_mut().find(|left| left.at == at)?;
        left.history.take_if(|history| !history.is_of(bytes));
        left.history.as_deref_mut()
    }

    /// An atomic has stored `after` where `before` was, unless nothing was ever written there.
    pub(crate) fn stored(&mut self, at: usize, look: (Who, Epoch), before: Option<&[u8]>, after: &[u8]) {
        let end = at + after.len();
        for other in self.atomics.iter_mut().filter(|other| other.at != at && other.at < end) {
            other.history.take_if(|history| at < other.at + history.size());
        }
        let Left { message, history, .. } = self.left(at);
        let Some(before) = before else {
            *history = Some(Box::new(History::new(after, message.clone())));
            return;
        };
        history.take_if(|history| !history.is_of(before));
        let history = history.get_or_insert_with(|| Box::new(History::new(before, Message::default())));
        history.push(look, after, message.clone());
    }

    /// Makes cells no larger than this.
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
