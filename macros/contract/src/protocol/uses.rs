//! The uses of shared memory by a function, by party and time: bit sets that summaries have for each parameter, and which uses
//! conflict.

#![warn(clippy::wildcard_enum_match_arm)]

use bitflags::bitflags;

use super::{BarrierUses, Uses};

bitflags! {
    /// The asynchronous copies of a parameter that is memory, and the accesses that conflict with those of the caller.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CopyUses: u16 {
        /// The function may read the memory before it has waited for any copy.
        const READS_FIRST = 1;
        /// The function may write the memory before it has waited for any copy.
        const WRITES_FIRST = 1 << 1;
        /// The function leaves a copy in flight that writes all of the memory, and for which a group waits.
        const LEAVES_GROUP_WRITE = 1 << 2;
        /// The function leaves a copy in flight that reads all of the memory, and for which a group waits.
        const LEAVES_GROUP_READ = 1 << 3;
        /// The function leaves a copy in flight that writes all of the memory and completes on a barrier that is an argument.
        const LEAVES_BARRIER_WRITE = 1 << 4;
        /// The function leaves a copy in flight that reads all of the memory and completes on a barrier that is an argument.
        const LEAVES_BARRIER_READ = 1 << 5;
        /// The function leaves a bulk copy in flight that writes all of the memory, and for which the thread waits.
        const LEAVES_BULK_WRITE = 1 << 6;
        /// The function leaves a bulk copy in flight that reads all of the memory, and for which the thread waits.
        const LEAVES_BULK_READ = 1 << 7;
        /// The function leaves a product of a warpgroup in flight that reads all of the memory.
        const LEAVES_PRODUCT_READ = 1 << 8;
    }
}

/// The owner of accessed memory, relative to the accessing thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// The memory of the thread's own block.
    Owner,
    /// The memory of another block of the cluster.
    Peer,
}

/// The time at which a function accesses memory that its callers can access too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// Before the function has waited at a barrier of the cluster.
    First,
    /// After the function's last barrier of the cluster.
    Last,
    /// After the last barrier, but before the wait of the caller for an arrival that precedes the access.
    Arrived,
    /// After the function has waited for an arrival of its caller, and before its next barrier.
    Waited,
    /// With no barrier of the cluster between the access and a call of a closure that the function was given.
    BesideClosure,
    /// At any time.
    Ever,
}

/// The position that dynamic shared memory has among the parameters of each function. There is one such memory, which each
/// function may name.
pub const DYNAMIC: usize = usize::MAX;

/// All uses of a parameter by a function: [`Uses`] for each party and time, [`CopyUses`], or [`BarrierUses`].
///
/// ```
/// use phalanx_contract::protocol::{ParameterUses, Party, Uses, When};
///
/// let reads = ParameterUses::of(Party::Peer, When::First, Uses::READ);
/// let writes = ParameterUses::of(Party::Peer, When::Last, Uses::WRITE);
/// assert!(reads.union(writes).intersects(writes) && !reads.intersects(writes));
/// assert!(ParameterUses::at(When::First).intersects(reads));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParameterUses(u128);

impl When {
    const fn shift(self) -> u32 {
        match self {
            When::First => 0,
            When::Last => 5,
            When::Arrived => 10,
            When::Waited => 15,
            When::BesideClosure => 20,
            When::Ever => 25,
        }
    }
}

impl ParameterUses {
    /// The function does nothing to it.
    pub const NONE: ParameterUses = ParameterUses(0);

    /// Whether the function does nothing to it.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The uses of memory, by a party and at a time.
    pub const fn of(party: Party, when: When, uses: Uses) -> ParameterUses {
        let party = match party {
            Party::Owner => 0,
            Party::Peer => 30,
        };
        ParameterUses((uses.bits() as u128) << (party + when.shift()))
    }

    /// The uses of a phase barrier, at any time.
    pub const fn of_barrier(uses: BarrierUses) -> ParameterUses {
        ParameterUses((uses.bits() as u128) << 64)
    }

    /// The copies of memory.
    pub const fn of_copies(uses: CopyUses) -> ParameterUses {
        ParameterUses((uses.bits() as u128) << 96)
    }

    /// The uses at one time, as uses at another time.
    pub(super) const fn moved(self, from: When, to: When) -> ParameterUses {
        ParameterUses(self.intersection(Self::at(from)).0 >> from.shift() << to.shift())
    }

    /// Whether an access of these, at one time, and one of the others, at another time, conflict: one is by the owner of the
    /// memory and one by a peer.
    pub(super) const fn conflicts(self, when: When, others: ParameterUses, other_when: When) -> bool {
        let mut at = 0;
        while at < CONFLICTING.len() {
            let (own, remote, _) = CONFLICTING[at];
            let (own_first, remote_first) = (Self::of(Party::Owner, when, own), Self::of(Party::Peer, when, remote));
            let own_second = Self::of(Party::Owner, other_when, own);
            let remote_second = Self::of(Party::Peer, other_when, remote);
            if self.intersects(own_first) && others.intersects(remote_second)
                || self.intersects(remote_first) && others.intersects(own_second)
            {
                return true;
            }
            at += 1;
        }
        false
    }

    /// All uses of memory at a time.
    pub const fn at(when: When) -> ParameterUses {
        Self::of(Party::Owner, when, Uses::all()).union(Self::of(Party::Peer, when, Uses::all()))
    }

    /// The uses of both sets.
    #[must_use]
    pub const fn union(self, other: ParameterUses) -> ParameterUses {
        ParameterUses(self.0 | other.0)
    }

    /// The uses that both sets have.
    #[must_use]
    pub const fn intersection(self, other: ParameterUses) -> ParameterUses {
        ParameterUses(self.0 & other.0)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether both sets have a use in common.
    pub const fn intersects(self, other: ParameterUses) -> bool {
        self.0 & other.0 != 0
    }

    /// The representation, which the compiler prints.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The inverse of [`bits`](Self::bits).
    pub const fn from_bits(bits: u128) -> ParameterUses {
        ParameterUses(bits)
    }
}

/// Conflicting uses of memory: the owner's, a peer's, and whether the peer writes.
pub const CONFLICTING: [(Uses, Uses, bool); 5] = [
    (Uses::WRITE.union(Uses::ATOMIC), Uses::READ, false),
    (Uses::WRITE, Uses::ATOMIC_READ, false),
    (Uses::all(), Uses::WRITE, true),
    (Uses::READ.union(Uses::WRITE), Uses::ATOMIC, true),
    (Uses::all(), Uses::ASYNC_WRITE, true),
];

/// Pairs of parameters that must not be given the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clashes(pub(super) u128);

impl Clashes {
    /// No pair.
    pub const NONE: Clashes = Clashes(0);

    /// The pair of these positions, the lower one first; the second one may be [`DYNAMIC`]. All pairs with a parameter beyond the
    /// eleventh count as the same pair.
    pub const fn of(first: usize, second: usize) -> Clashes {
        const MOST: usize = 11;
        // No parameter clashes with itself, so that its pair with itself is the one with the dynamic memory.
        let second = if second == DYNAMIC { first } else { second };
        if second < MOST { Clashes(1 << (first * MOST + second)) } else { Clashes(1 << 127) }
    }

    pub(super) const fn union(self, other: Clashes) -> Clashes {
        Clashes(self.0 | other.0)
    }

    pub(super) const fn intersects(self, other: Clashes) -> bool {
        self.0 & other.0 != 0
    }
}
