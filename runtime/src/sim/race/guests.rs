//! Who has touched a block's shared memory that is no thread of the block: peers, and copies, its own too. The block's end is the end of
//! the memory, and so comes after all that they do, as a write of theirs would: if nothing orders an access before it, the
//! memory may be gone by then, whichever came first in this run. Reads too: one that a relaxed barrier follows may be under
//! way when the block leaves. Of each, the last access stands for those before it.

use super::clock::{Clock, Epoch, Layout, Who};
use super::order::Actor;
use crate::sim::Site;

/// Those of one block, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Guests(Vec<Option<Guest>>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Guest {
    pub(crate) who: Who,
    epoch: Epoch,
    pub(crate) site: Site,
}

impl Guests {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An access by a guest.
    pub(crate) fn note(&mut self, layout: &Layout, actor: &Actor, site: Site) {
        let at = actor.who.number(layout);
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(Guest { who: actor.who, epoch: actor.epoch(), site });
    }

    /// A guest whose access need not be over. `known`: what all threads of the block know at their ends.
    pub(crate) fn left_behind(&self, layout: &Layout, known: &Clock) -> Option<Guest> {
        self.0.iter().flatten().find(|guest| !guest.is_over(layout, known)).copied()
    }
}

impl Guest {
    fn is_over(&self, layout: &Layout, known: &Clock) -> bool {
        self.epoch < known.of(layout, self.who)
    }
}
