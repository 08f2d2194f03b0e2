//! Which accesses to the same shared memory conflict, if one is by the owner and one by a peer and they are concurrent. Two accesses
//! by peers are not compared, because the text does not show which part each of them has.

use phalanx_contract::protocol::{CONFLICTING, Party, Uses};

use super::record::{Record, Timing};
use crate::check::cfg::{AccessKind, Shared};

/// The kind of a race between two accesses; each has a rule of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Race {
    /// A peer reads what the owner has written since the last wait.
    UnpublishedRead,
    /// The owner writes what a peer may still be reading.
    OverwriteWhileRead,
    /// The owner wrote between an arrival and its wait, and a peer reads after the wait.
    WriteAfterArrive,
    /// Only a relaxed arrival comes between the two, with no fence before it.
    RelaxedPublishes,
    /// A peer's write or atomic is not ordered with the owner's access.
    UnorderedWrite,
    /// The owner accesses what a peer's asynchronous copy may still write.
    CopyInFlight,
}

/// A race of two accesses, and the uses of each that take part in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    pub(super) race: Race,
    pub(super) first: Uses,
    pub(super) second: Uses,
}

/// What an access does that may conflict with another.
pub(super) fn uses_of(kind: AccessKind) -> Uses {
    match kind {
        AccessKind::Read => Uses::READ,
        AccessKind::Write => Uses::WRITE,
        AccessKind::AtomicRead => Uses::ATOMIC_READ,
        AccessKind::Atomic => Uses::ATOMIC,
        AccessKind::AsyncWrite => Uses::ASYNC_WRITE,
        AccessKind::Lent | AccessKind::Opaque | AccessKind::ByClosure => Uses::empty(),
    }
}

/// The conflicts of an access with an earlier one on the same path, which has this record.
pub(super) fn between(first: Party, second: Party, record: &Record) -> impl Iterator<Item = Conflict> {
    let timing = record.timing;
    // A wait at a phase barrier may be for the copy, or for the owner's word that the copy may begin. Of two arms, the arm of
    // the copy comes first: the owner waits in its own.
    let ordered = record.waited || first == Party::Owner && record.on_other_arm;
    let is_async = |remote: Uses| remote.contains(Uses::ASYNC_WRITE);
    let pairs =
        CONFLICTING.into_iter().filter(move |(_, remote, _)| first != second && !(is_async(*remote) && ordered));
    pairs.map(move |(own, remote, peer_writes)| {
        let since_wait = timing.intersects(Timing::SINCE_WAIT | Timing::SINCE_ARRIVAL);
        let relaxed = timing.contains(Timing::RELAXED) && !timing.contains(Timing::BEFORE_WAIT);
        let race = match (peer_writes, first) {
            (true, Party::Peer) if is_async(remote) => Race::CopyInFlight,
            _ if relaxed && !since_wait => Race::RelaxedPublishes,
            (true, _) => Race::UnorderedWrite,
            (false, Party::Peer) => Race::OverwriteWhileRead,
            (false, Party::Owner) if since_wait => Race::UnpublishedRead,
            (false, Party::Owner) => Race::WriteAfterArrive,
        };
        let (first, second) = if first == Party::Owner { (own, remote) } else { (remote, own) };
        Conflict { race, first, second }
    })
}

/// Whether two shared objects may overlap.
pub(super) fn may_overlap(a: Shared, b: Shared) -> bool {
    match (a, b) {
        (Shared::Any, _) | (_, Shared::Any) => true,
        (Shared::Dynamic, Shared::Slice(_)) | (Shared::Slice(_), Shared::Dynamic) => true,
        (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_), _) => a == b,
    }
}
