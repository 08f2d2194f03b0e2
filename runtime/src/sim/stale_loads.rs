//! Chooses which of a location's values an atomic load finds, and updates their history (`race::history`). Randomized
//! schedules choose; under round robin every load finds the latest value, and no history is kept.

use super::context::Context;
use super::memory::{Access, MemoryId, MemoryOp};
use super::race::{Epoch, Layout, Page, Stored};

/// After this many stale values in a row a thread finds the latest, so that it does not wait for it forever.
const PATIENCE: u32 = 8;

impl Context<'_> {
    /// Returns the stale value that a load at this byte of a page finds, and how many stores are newer; `None` if it
    /// finds the current value.
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
        // Every second load finds the latest value.
        let lot = self.cluster.scheduler.borrow_mut().rng().map_or(0, |rng| rng.draw());
        let back = if lot.is_multiple_of(2) { 0 } else { 1 + (lot >> 1) % (choices - 1) } as usize;
        self.thread.stale_in_a_row.set(if back == 0 { 0 } else { in_a_row + 1 });
        (back > 0).then(|| (history.before(back).clone(), back))
    }

    /// Returns whether the access is an atomic store to shared memory that was never written.
    pub(super) fn is_first_store(&self, Access { memory, start, len, op, .. }: Access<'_>) -> bool {
        match memory {
            MemoryId::Shared(id) => {
                op == MemoryOp::AtomicStore && self.cluster.shared.first_unwritten(id, start, len).is_some()
            }
            MemoryId::Constant(_) | MemoryId::Global(_) => false,
        }
    }

    /// Records an atomic that was executed in this epoch where `before` was in memory. `back` stores are newer than
    /// what it found. `after` is what it stored, if it did, and whether it is the first store to this location.
    pub(super) fn remember(
        &self,
        page: &mut Page,
        at: usize,
        epoch: Epoch,
        before: &[u8],
        back: usize,
        after: Option<(&[u8], bool)>,
    ) {
        let look = (self.thread.actor.id, epoch);
        match after {
            Some((after, is_first)) => page.stored(at, look, (!is_first).then_some(before), after),
            None => {
                if let Some(history) = page.history(at, before) {
                    history.observe(look, back);
                }
            }
        }
    }
}
