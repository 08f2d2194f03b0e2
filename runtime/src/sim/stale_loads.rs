//! Which of a place's values an atomic load finds, and the book of them (`race::history`): the choice is the schedule's, in those
//! that decide by lot. In turn, every load finds the latest, and nothing is kept.

use super::context::Context;
use super::memory::{Access, Kind, MemoryId};
use super::race::{Epoch, Layout, Page, Stored};

/// After so many stale values in a row a thread finds the latest, so that it does not wait for it for ever.
const PATIENCE: u32 = 8;

impl Context<'_> {
    /// What a load at the byte of a page finds, and how many stores are newer. `None`: what is in memory.
    pub(super) fn stale_value(
        &self,
        layout: &Layout,
        page: &mut Page,
        at: usize,
        now: &[u8],
    ) -> Option<(Stored, usize)> {
        if !self.cluster.has_stale_loads {
            return None;
        }
        let history = page.history(at, now)?;
        let choices = history.choices(layout, &self.thread.actor) as u64;
        let in_a_row = self.thread.stale_in_a_row.get();
        if choices == 1 || in_a_row == PATIENCE {
            self.thread.stale_in_a_row.set(0);
            return None;
        }
        // The latest in one of two.
        let lot = self.cluster.scheduler.borrow_mut().lots().map_or(0, |lots| lots.draw());
        let back = if lot.is_multiple_of(2) { 0 } else { 1 + (lot >> 1) % (choices - 1) } as usize;
        self.thread.stale_in_a_row.set(if back == 0 { 0 } else { in_a_row + 1 });
        (back > 0).then(|| (history.before(back).clone(), back))
    }

    /// Whether it makes a value of what was never written.
    pub(super) fn is_first_store(&self, Access { memory, start, len, kind, .. }: Access<'_>) -> bool {
        match memory {
            MemoryId::Shared(id) => {
                kind == Kind::AtomicStore && self.cluster.shared.first_unwritten(id, start, len).is_some()
            }
            MemoryId::Constant(_) | MemoryId::Global(_) => false,
        }
    }

    /// An atomic of this epoch was executed where `before` was in memory; so many stores are newer than what it found; it stored
    /// `after`, if it did, where nothing ever was, if it `is_first`.
    pub(super) fn remember(
        &self,
        page: &mut Page,
        at: usize,
        epoch: Epoch,
        before: &[u8],
        back: usize,
        after: Option<(&[u8], bool)>,
    ) {
        let look = (self.thread.actor.who, epoch);
        match after {
            Some((after, is_first)) => page.stored(at, look, (!is_first).then_some(before), after),
            None => {
                if let Some(history) = page.history(at, before) {
                    history.look(look, back);
                }
            }
        }
    }
}
