//! Reads of the own block's memory in a block to whose memory no thread of the cluster writes. Where blocks write to one of them alone, the
//! others have such memory, too, and the text's order shows nothing of it (`dsm::uninit` has that).
//!
//! An array that a function, a closure or inline CUDA gets counts as written.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cfg::{Access, AccessId, AccessKind, Cfg, Root, Shared};
use crate::check::runs::Thread;

/// Whether some array is written by peers alone, so that it depends on their ranks in which blocks it is written. Not asked of kernels with phase
/// barriers: a copy that does not come is missed there.
pub(in crate::check) fn is_written_by_peers_alone(cfg: &Cfg<'_>) -> bool {
    if !cfg.barrier_calls.is_empty() || !cfg.copies.is_empty() {
        return false;
    }
    let (mut own, mut of_peers) = (BTreeSet::new(), BTreeSet::new());
    for access in cfg.accesses.iter().filter(|access| access.kind.changes()) {
        match access.region.root {
            Root::Shared(shared) => _ = own.insert(shared),
            Root::Remote(shared) => _ = of_peers.insert(shared),
            Root::ReadOnly | Root::Global => {}
        }
    }
    !own.contains(&Shared::Any) && of_peers.difference(&own).next().is_some()
}

/// The reads and writes of all threads of the cluster.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// The arrays to which some thread writes, with the block that has the memory.
    written: BTreeSet<(Shared, u64)>,
    /// The arrays to which a thread may write in any block.
    anywhere: BTreeSet<Shared>,
    /// The first read of each block's array, which a thread makes in any launch.
    reads: BTreeMap<(Shared, u64), AccessId>,
}

impl Writes {
    /// A thread of a block accesses memory.
    pub(super) fn accesses(&mut self, cfg: &Cfg<'_>, (thread, block): (&Thread<'_, '_, '_>, u64), id: AccessId) {
        let access = &cfg.accesses[id.0];
        if let (Root::Shared(shared), AccessKind::Read | AccessKind::AtomicRead, None, None) =
            (access.region.root, access.kind, access.given_to, access.region.via)
        {
            self.reads.entry((shared, block)).or_insert(id);
        }
        self.writes(access, block, || thread.place(&access.region)?.peer());
    }

    /// A thread of a block may access memory.
    pub(super) fn may_access(&mut self, cfg: &Cfg<'_>, block: u64, id: AccessId) {
        self.writes(&cfg.accesses[id.0], block, || None);
    }

    fn writes(&mut self, access: &Access, block: u64, owner: impl FnOnce() -> Option<u64>) {
        let Some((_, shared)) = access.region.root.party() else { return };
        let owner = match (access.region.root, access.region.via) {
            (Root::Shared(_), None) => Some(block),
            (Root::Remote(_), None) => owner(),
            (Root::Shared(_) | Root::Remote(_), Some(_)) | (Root::ReadOnly | Root::Global, _) => None,
        };
        match owner {
            _ if !access.kind.changes() => {}
            Some(owner) => _ = self.written.insert((shared, owner)),
            None => _ = self.anywhere.insert(shared),
        }
    }

    /// Returns the reads of memory to which no thread writes, each with its array and the first block of which that is so. Calls that name
    /// memory may write to it.
    pub(super) fn unwritten(self, cfg: &Cfg<'_>) -> Vec<(AccessId, Shared, u64)> {
        let Writes { written, anywhere, reads } = self;
        let is_hidden = anywhere.contains(&Shared::Any) || cfg.calls.iter().any(|call| call.is_of_function());
        let is_unwritten = |(shared, block): &(Shared, u64)| {
            matches!(shared, Shared::Array(_)) && !anywhere.contains(shared) && !written.contains(&(*shared, *block))
        };
        let mut reported = BTreeSet::new();
        let found = reads.into_iter().filter(|(at, id)| !is_hidden && is_unwritten(at) && reported.insert(*id));
        found.map(|((shared, block), id)| (id, shared, block)).collect()
    }
}
