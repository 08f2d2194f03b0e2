//! Chooses which of a location's values an atomic load returns, and updates the location's history (`race::history`).
//! Randomized schedules choose among the values; under round robin every load returns the latest, and no history is
//! kept.

use super::context::Context;
use super::memory::{Access, MemoryId, MemoryOp};
use super::race::{CurrentAccess, Epoch, Page, Stored};

/// The number of stale values in a row after which a thread's load returns the latest one, so that no thread spins
/// forever.
const PATIENCE: u32 = 8;

impl Context<'_> {
    /// Returns the stale value that a load at this byte of a page returns, and the number of newer stores, or `None` if
    /// the load returns the current value.
    pub(super) fn stale_value(
        &self,
        access: &CurrentAccess<'_>,
        page: &mut Page,
        at: usize,
        now: &[u8],
    ) -> Option<(Stored, usize)> {
        if !self.cluster.has_stale_loads {
            return None;
        }
        let history = page.history(at, now)?;
        let choices = history.choices(|id, epoch| access.is_after(id, epoch)) as u64;
        let in_a_row = self.thread.stale_in_a_row.get();
        if choices == 1 || in_a_row == PATIENCE {
            self.thread.stale_in_a_row.set(0);
            return None;
        }
        // Half of the loads, chosen at random, return the latest value.
        let draw = self.cluster.scheduler.borrow_mut().rng().map_or(0, |rng| rng.draw());
        let back = if draw.is_multiple_of(2) { 0 } else { 1 + (draw >> 1) % (choices - 1) } as usize;
        self.thread.stale_in_a_row.set(if back == 0 { 0 } else { in_a_row + 1 });
        (back > 0).then(|| (history.before(back).clone(), back))
    }

    /// Returns whether the access is an atomic store to shared memory that has never been written.
    pub(super) fn is_first_store(&self, Access { memory, start, len, op, .. }: Access<'_>) -> bool {
        match memory {
            MemoryId::Shared(id) => {
                op == MemoryOp::AtomicStore && self.cluster.shared.first_unwritten(id, start, len).is_some()
            }
            MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => false,
        }
    }

    /// Records an atomic of this epoch in the location's history. `before` are the bytes that were in memory, `back` is
    /// the number of stores newer than the value it read, and `after` is what it stored, if it did, and whether that
    /// was the first store to this location.
    pub(super) fn remember(
        &self,
        page: &mut Page,
        at: usize,
        epoch: Epoch,
        before: &[u8],
        back: usize,
        after: Option<(&[u8], bool)>,
    ) {
        let observer = (self.thread.actor.id, epoch);
        match after {
            Some((after, is_first)) => page.stored(at, observer, (!is_first).then_some(before), after),
            None => {
                if let Some(history) = page.history(at, before) {
                    history.observe(observer, back);
                }
            }
        }
    }
}
