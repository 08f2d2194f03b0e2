//! Which two accesses to one piece of shared memory must not be at once: one by the block that owns it, one by a peer.
//! Two of peers are not compared: whose part of it each has, the text does not show.

use super::phases::mark;
use super::protocol::{Side, uses};
use crate::check::cfg::{How, Shared};

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
    pub(super) first: u32,
    pub(super) second: u32,
}

/// What the owner does, what a peer does, and whether the peer's is a write.
const PAIRS: [(u32, u32, bool); 4] = [
    (uses::WRITE | uses::ATOMIC, uses::READ, false),
    (uses::WRITE, uses::ATOMIC_READ, false),
    (uses::ALL, uses::WRITE, true),
    (uses::READ | uses::WRITE, uses::ATOMIC, true),
];

pub(super) fn use_of(how: How) -> u32 {
    match how {
        How::Read => uses::READ,
        How::Write => uses::WRITE,
        How::AtomicRead => uses::ATOMIC_READ,
        How::Atomic => uses::ATOMIC,
        // The barrier that is told orders it.
        How::Sent | How::Lent | How::ByHand => 0,
    }
}

/// The first came before the second on one way, with these marks.
pub(super) fn between(first: Side, second: Side, marks: u8) -> impl Iterator<Item = Conflict> {
    let pairs = PAIRS.into_iter().filter(move |_| first != second);
    pairs.map(move |(own, remote, written)| {
        let now = marks & (mark::NOW | mark::NOW_SPLIT) != 0;
        let race = match (written, first) {
            _ if marks & mark::RELAXED != 0 && !now && marks & mark::BEFORE == 0 => Race::RelaxedPublishes,
            (true, _) => Race::UnorderedWrite,
            (false, Side::Remote) => Race::OverwriteWhileRead,
            (false, Side::Own) if now => Race::UnpublishedRead,
            (false, Side::Own) => Race::WriteAfterArrive,
        };
        let (first, second) = if first == Side::Own { (own, remote) } else { (remote, own) };
        Conflict { race, first, second }
    })
}

/// Whether two pieces may have memory in common.
pub(super) fn overlap(a: Shared, b: Shared) -> bool {
    match (a, b) {
        (Shared::Any, _) | (_, Shared::Any) => true,
        (Shared::Dynamic, Shared::Slice(_)) | (Shared::Slice(_), Shared::Dynamic) => true,
        (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_), _) => a == b,
    }
}
