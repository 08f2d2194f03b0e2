//! Records the foreign accesses to a block's shared memory, which are those by peers and by copies, including the
//! block's own. The block's exit ends the lifetime of the memory, so every such access must happen-before the exit: one
//! that is not ordered may find the memory gone, whichever came first in this run. That includes reads, because a read
//! before a relaxed barrier may still be in flight when the block exits. The last access of each actor stands for its
//! earlier ones.

use super::clock::{ActorId, Clock, Epoch, Layout};
use super::order::Actor;
use crate::sim::site::Site;

/// The last access of each actor to one block's shared memory, by the actor's number.
#[derive(Debug, Default)]
pub(crate) struct ForeignAccesses(Vec<Option<ForeignAccess>>);

/// An access to a block's shared memory by a peer or a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignAccess {
    pub(crate) id: ActorId,
    epoch: Epoch,
    pub(crate) site: Site,
}

impl ForeignAccesses {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records an access.
    pub(crate) fn note(&mut self, layout: &Layout, actor: &Actor, site: Site) {
        let at = actor.id.number(layout);
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(ForeignAccess { id: actor.id, epoch: actor.epoch(), site });
    }

    /// Returns an access that does not happen-before the block's exit. `known` is the join of the clocks of all threads
    /// of the block at their exit.
    pub(crate) fn unordered(&self, layout: &Layout, known: &Clock) -> Option<ForeignAccess> {
        self.0.iter().flatten().find(|access| !access.is_ordered(layout, known)).copied()
    }
}

impl ForeignAccess {
    fn is_ordered(&self, layout: &Layout, known: &Clock) -> bool {
        self.epoch < known.of(layout, self.id)
    }
}
