//! Which two accesses to one region of shared memory must not be at once: one by the block that owns it, one by a peer.
//! Two of peers are not compared: whose part of it each has, the text does not show.

use phalanx_contract::protocol::{Party, Uses};

use super::in_flight::Timing;
use crate::check::cfg::{AccessKind, Shared};

/// How two accesses race; each has a rule of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Race {
    UnpublishedRead,
    OverwriteWhileRead,
    WriteAfterArrive,
    RelaxedPublishes,
    UnorderedWrite,
}

/// How two accesses race that are at once, and what they do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    pub(super) race: Race,
    pub(super) first: Uses,
    pub(super) second: Uses,
}

/// What the owner does, what a peer does, and whether the peer's is a write.
const PAIRS: [(Uses, Uses, bool); 4] = [
    (Uses::WRITE.union(Uses::ATOMIC), Uses::READ, false),
    (Uses::WRITE, Uses::ATOMIC_READ, false),
    (Uses::all(), Uses::WRITE, true),
    (Uses::READ.union(Uses::WRITE), Uses::ATOMIC, true),
];

pub(super) fn use_of(how: AccessKind) -> Uses {
    match how {
        AccessKind::Read => Uses::READ,
        AccessKind::Write => Uses::WRITE,
        AccessKind::AtomicRead => Uses::ATOMIC_READ,
        AccessKind::Atomic => Uses::ATOMIC,
        // The barrier that is told orders it.
        AccessKind::AsyncWrite | AccessKind::Lent | AccessKind::Opaque => Uses::empty(),
    }
}

/// The first came before the second on one way, with this timing.
pub(super) fn between(first: Party, second: Party, timing: Timing) -> impl Iterator<Item = Conflict> {
    let pairs = PAIRS.into_iter().filter(move |_| first != second);
    pairs.map(move |(own, remote, written)| {
        let now = timing.intersects(Timing::SINCE_WAIT | Timing::SINCE_ARRIVAL);
        let relaxed = timing.contains(Timing::RELAXED) && !timing.contains(Timing::BEFORE_WAIT);
        let race = match (written, first) {
            _ if relaxed && !now => Race::RelaxedPublishes,
            (true, _) => Race::UnorderedWrite,
            (false, Party::Peer) => Race::OverwriteWhileRead,
            (false, Party::Owner) if now => Race::UnpublishedRead,
            (false, Party::Owner) => Race::WriteAfterArrive,
        };
        let (first, second) = if first == Party::Owner { (own, remote) } else { (remote, own) };
        Conflict { race, first, second }
    })
}

/// Whether two regions may have memory in common.
pub(super) fn overlap(a: Shared, b: Shared) -> bool {
    match (a, b) {
        (Shared::Any, _) | (_, Shared::Any) => true,
        (Shared::Dynamic, Shared::Slice(_)) | (Shared::Slice(_), Shared::Dynamic) => true,
        (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_), _) => a == b,
    }
}
