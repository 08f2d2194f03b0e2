//! Who has touched a block's shared memory that is no thread of the block: peers, and copies, its own too. The block's end is the end of
//! the memory, and so comes after all that they do, as a write of theirs would: if nothing orders an access before it, the
//! memory may be gone by then, whichever came first in this run. Reads too: one that a relaxed barrier follows may be under
//! way when the block leaves. Of each, the last access stands for those before it.

use super::clock::{Clock, Epoch, Layout, Who};
use super::order::Actor;
use crate::sim::site::Site;

/// The accesses to one block's shared memory, by the accessor's number.
#[derive(Debug, Default)]
pub(crate) struct ForeignAccesses(Vec<Option<ForeignAccess>>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignAccess {
    pub(crate) who: Who,
    epoch: Epoch,
    pub(crate) site: Site,
}

impl ForeignAccesses {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes an access.
    pub(crate) fn note(&mut self, layout: &Layout, actor: &Actor, site: Site) {
        let at = actor.who.number(layout);
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(ForeignAccess { who: actor.who, epoch: actor.epoch(), site });
    }

    /// An access that need not be over. `known`: what all threads of the block know at their ends.
    pub(crate) fn left_behind(&self, layout: &Layout, known: &Clock) -> Option<ForeignAccess> {
        self.0.iter().flatten().find(|access| !access.is_over(layout, known)).copied()
    }
}

impl ForeignAccess {
    fn is_over(&self, layout: &Layout, known: &Clock) -> bool {
        self.epoch < known.of(layout, self.who)
    }
}
