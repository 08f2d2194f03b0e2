//! Which accesses to peers' memory the threads have told its owners: after an access to a peer's memory, the thread arrives at a barrier of
//! that peer, or another thread of its block does so once both have come to a barrier of the block. An arrival at a barrier of the
//! cluster's scope releases what comes before it.
//!
//! An access by a call or by an asynchronous copy is none of these.

use std::collections::{BTreeMap, BTreeSet};

use super::BarrierAt;
use crate::check::cfg::{Access, AccessId, AccessKind, Cfg, Region, Root, Shared, Source};
use crate::check::runs::Thread;

/// A block of the cluster: its rank.
type Block = u64;

/// An access to the memory of this block.
type At = (AccessId, Block);

/// What all threads of the cluster have told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By access of the thread that is followed, the number of barriers of its block that came before the last time, if it is known.
    open: BTreeMap<At, Option<usize>>,
    /// By block, the accesses that their threads have not told themselves, with the largest of those numbers.
    left: BTreeMap<(Block, At), usize>,
    /// By block and the block it tells, the last barrier at which one of its threads arrives, with that number.
    last: BTreeMap<(Block, Block), (usize, BarrierAt)>,
    /// The accesses of which some thread may not have told the owner.
    not_told: BTreeSet<AccessId>,
}

/// A thread arrives at a barrier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) by: Block,
    pub(super) at: BarrierAt,
    /// The number of barriers of its block that came before.
    pub(super) meetings: Option<usize>,
}

impl Told {
    /// A thread accesses memory.
    pub(super) fn accesses(
        &mut self,
        cfg: &Cfg<'_>,
        thread: &Thread<'_, '_, '_>,
        id: AccessId,
        meetings: Option<usize>,
    ) {
        let access = &cfg.accesses[id.0];
        if !is_by_thread(access) {
            return;
        }
        match thread.place(&access.region).and_then(|place| place.peer()) {
            Some(owner) => _ = self.open.insert((id, owner), meetings),
            None => _ = self.not_told.insert(id),
        }
    }

    /// A thread may access memory, any number of times.
    pub(super) fn may_access(&mut self, cfg: &Cfg<'_>, id: AccessId, meetings: Option<usize>) {
        let access = &cfg.accesses[id.0];
        if !is_by_thread(access) {
            return;
        }
        match literal_rank(cfg, &access.region) {
            Some(owner) => _ = self.open.insert((id, owner), meetings),
            None => _ = self.not_told.insert(id),
        }
    }

    /// The bytes that an access announces are counted by the barrier itself, whoever arrives there.
    pub(super) fn is_counted(&mut self, access: AccessId, owner: Block) {
        self.open.remove(&(access, owner));
    }

    /// A thread arrives at a barrier. Returns the accesses of which it so tells the barrier's block.
    pub(super) fn arrives(&mut self, arrived: Arrived) -> Vec<AccessId> {
        let Arrived { by, at, meetings } = arrived;
        if let Some(meetings) = meetings {
            let last = self.last.entry((by, at.0)).or_insert((meetings, at));
            *last = (*last).max((meetings, at));
        }
        let told: Vec<At> = self.open.keys().filter(|(_, owner)| *owner == at.0).copied().collect();
        told.iter().for_each(|access| _ = self.open.remove(access));
        told.into_iter().map(|(access, _)| access).collect()
    }

    /// A thread of a block ends, after as many barriers of the block.
    pub(super) fn ends(&mut self, block: Block, meetings: Option<usize>) {
        for (access, before) in std::mem::take(&mut self.open) {
            match before.zip(meetings) {
                // The threads that come to the next barrier of the block know of it.
                Some((before, all)) if before < all => {
                    let left = self.left.entry((block, access)).or_default();
                    *left = before.max(*left);
                }
                Some(_) | None => _ = self.not_told.insert(access.0),
            }
        }
    }

    /// Returns the accesses of which another thread has told the owner, with the barrier, and those of which perhaps none has.
    pub(super) fn by_others(self) -> (Vec<(AccessId, BarrierAt)>, BTreeSet<AccessId>) {
        let Told { left, last, mut not_told, .. } = self;
        let mut told = Vec::new();
        for ((block, (access, owner)), before) in left {
            match last.get(&(block, owner)) {
                Some((meetings, at)) if before < *meetings => told.push((access, *at)),
                Some(_) | None => _ = not_told.insert(access),
            }
        }
        (told, not_told)
    }
}

/// Whether it is an access to a peer's memory that its thread makes right away.
fn is_by_thread(access: &Access) -> bool {
    let is_plain =
        matches!(access.kind, AccessKind::Read | AccessKind::Write | AccessKind::AtomicRead | AccessKind::Atomic);
    is_plain
        && access.completion.is_none()
        && access.given_to.is_none()
        && matches!(access.region.root, Root::Remote(Shared::Array(_)))
}

/// The rank of the block whose memory a region is, if it is written as a number.
fn literal_rank(cfg: &Cfg<'_>, region: &Region) -> Option<Block> {
    let Source::Integer(rank) = cfg.nodes[region.rank?.0].source else { return None };
    region.via.is_none().then_some(rank)
}
