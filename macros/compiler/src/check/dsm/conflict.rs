//! Which two accesses to one piece of shared memory must not be at once: one by the block that owns it, one by a peer.
//! Two of peers are not compared: whose part of it each has, the text does not show.

use phalanx_contract::protocol::{Party, Uses};

use super::phases::Timing;
use crate::check::cfg::{How, Shared};

/// The rule that two accesses break that are at once, and what they do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    pub(super) rule: &'static str,
    pub(super) first: Uses,
    pub(super) second: Uses,
}

pub(super) const UNPUBLISHED: &str = "unpublished_remote_read";
pub(super) const OVERWRITE: &str = "overwrite_while_read";
pub(super) const AFTER_ARRIVE: &str = "write_after_arrive";
pub(super) const RELAXED: &str = "relaxed_publishes";
pub(super) const UNORDERED: &str = "unordered_remote_write";

/// What the owner does, what a peer does, and whether the peer's is a write.
const PAIRS: [(Uses, Uses, bool); 4] = [
    (Uses::WRITE.union(Uses::ATOMIC), Uses::READ, false),
    (Uses::WRITE, Uses::ATOMIC_READ, false),
    (Uses::all(), Uses::WRITE, true),
    (Uses::READ.union(Uses::WRITE), Uses::ATOMIC, true),
];

pub(super) fn use_of(how: How) -> Uses {
    match how {
        How::Read => Uses::READ,
        How::Write => Uses::WRITE,
        How::AtomicRead => Uses::ATOMIC_READ,
        How::Atomic => Uses::ATOMIC,
        // The barrier that is told orders it.
        How::Sent | How::Lent | How::ByHand => Uses::empty(),
    }
}

/// The first came before the second on one way, with this timing.
pub(super) fn between(first: Party, second: Party, timing: Timing) -> impl Iterator<Item = Conflict> {
    let pairs = PAIRS.into_iter().filter(move |_| first != second);
    pairs.map(move |(own, remote, written)| {
        let now = timing.intersects(Timing::SINCE_WAIT | Timing::SINCE_ARRIVAL);
        let relaxed = timing.contains(Timing::RELAXED) && !timing.contains(Timing::BEFORE_WAIT);
        let rule = match (written, first) {
            _ if relaxed && !now => RELAXED,
            (true, _) => UNORDERED,
            (false, Party::Peer) => OVERWRITE,
            (false, Party::Owner) if now => UNPUBLISHED,
            (false, Party::Owner) => AFTER_ARRIVE,
        };
        let (first, second) = if first == Party::Owner { (own, remote) } else { (remote, own) };
        Conflict { rule, first, second }
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
