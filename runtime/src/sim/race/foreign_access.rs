//! Records the foreign accesses to a block's shared memory, which are those by peers and by copies, including the
//! block's own. The block's exit ends the lifetime of the memory, so every such access must happen-before the exit: one
//! that is not ordered may find the memory gone, whichever came first in this run. That includes reads, because a read
//! before a relaxed barrier may still be in flight when the block exits. The last read of each actor stands for its earlier ones,
//! and its last other access for those.

use super::clock::{ActorId, Clock, Epoch, Layout};
use super::order::Actor;
use crate::sim::site::Site;

/// The last plain read of each actor of one block's shared memory, and its last other access, by the actor's number.
#[derive(Debug, Default)]
pub(crate) struct ForeignAccesses(Vec<[Option<ForeignAccess>; 2]>);

/// An access to a block's shared memory by a peer or a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignAccess {
    pub(crate) id: ActorId,
    epoch: Epoch,
    is_read: bool,
    pub(crate) site: Site,
}

impl ForeignAccesses {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records an access, which is a plain read or another.
    pub(crate) fn note(&mut self, layout: &Layout, actor: &Actor, is_read: bool, site: Site) {
        let at = actor.id.number(layout);
        let access = ForeignAccess::by(actor, is_read, site);
        if at >= self.0.len() {
            self.0.resize(at + 1, [None; 2]);
        }
        self.0[at][usize::from(is_read)] = Some(access);
    }

    /// Returns an access that does not happen-before the block's exit. `known` is the join of the clocks of all threads
    /// of the block at their exit.
    pub(crate) fn unordered(&self, layout: &Layout, known: &Clock) -> Option<ForeignAccess> {
        self.0.iter().flatten().flatten().find(|access| !access.is_ordered(layout, known)).copied()
    }
}

impl ForeignAccess {
    /// The access that an actor is about to make, a plain read or another.
    pub(crate) fn by(actor: &Actor, is_read: bool, site: Site) -> ForeignAccess {
        ForeignAccess { id: actor.id, epoch: actor.epoch(), is_read, site }
    }

    /// Whether it happens-before the block's exit, given what the block's threads know then.
    pub(crate) fn is_ordered(&self, layout: &Layout, known: &Clock) -> bool {
        self.epoch < known.of(layout, self.id) || (self.is_read && self.epoch < known.of_peer_reads(layout, self.id))
    }
}
