//! The weakest fence that an arrival needs for which other blocks wait, by what the threads may have accessed since the last one. The
//! compiler finds what one function does ([`FunctionFences`]); the runtime puts the functions of a program together.
//!
//! PTX ISA, memory consistency model: `barrier.cluster.arrive.release` orders all earlier operations of the thread before
//! what follows the matching wait in any thread of the cluster; so does a release fence before a relaxed arrival (PTX ISA,
//! barrier.cluster). With `.sync_restrict::shared::cta` that fence orders operations on the block's own shared memory alone
//! (PTX ISA, membar/fence). A relaxed arrival orders nothing. A branch on what was read of a peer has the read end before the arrival
//! (docs/analyses.md, fences).

bitflags::bitflags! {
    /// The memory that code may access, as far as another thread can tell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct MemoryEffects: u8 {
        /// Shared memory of the thread's own block is read or written.
        const SHARED = 1;
        /// Global memory that a kernel may write is read.
        const GLOBAL_READ = 1 << 1;
        /// Global memory is written.
        const GLOBAL_WRITE = 1 << 2;
        /// Something is done that only a full fence orders, such as a write to a peer's memory.
        const OTHER = 1 << 3;
        /// A peer's shared memory is read, and the arrival can wait for what was read.
        const PEER_READ = 1 << 4;
    }
}

impl MemoryEffects {
    /// Returns whether accesses before a barrier with these effects need a full fence, where `after` is what any thread may
    /// do after the barrier. Global memory needs none if no access after the barrier conflicts with those before it.
    fn needs_full_fence(self, after: MemoryEffects) -> bool {
        let global = MemoryEffects::GLOBAL_READ.union(MemoryEffects::GLOBAL_WRITE);
        self.contains(MemoryEffects::OTHER)
            || self.contains(MemoryEffects::GLOBAL_WRITE) && after.intersects(global)
            || self.contains(MemoryEffects::GLOBAL_READ) && after.contains(MemoryEffects::GLOBAL_WRITE)
    }

    /// Returns what the effects of a function are for its callers, whose arrivals cannot wait for what it reads.
    pub fn for_callers(self) -> MemoryEffects {
        match self.contains(MemoryEffects::PEER_READ) {
            true => self.difference(MemoryEffects::PEER_READ).union(MemoryEffects::OTHER),
            false => self,
        }
    }
}

/// What an arrival orders for the threads of other blocks, from the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fence {
    /// The arrival orders no memory.
    Relaxed,
    /// The arrival orders the thread's accesses to its own block's shared memory, and at the cluster's barrier its reads of its peers'.
    Shared,
    /// The arrival orders all accesses of the thread.
    Full,
}

/// An access, or something else that a barrier must order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// Its effects on memory.
    pub effects: MemoryEffects,
    /// The slot of the call that it is, whose effects it has too.
    pub call: Option<u16>,
    /// Its line in the file of the barrier.
    pub line: u32,
    /// What it is, to complete a sentence: `reads a peer's shared memory`.
    pub what: &'static str,
}

/// An operation at the cluster's barrier in the source, or an arrival at a peer's phase barrier, and the fence that was chosen for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenFence {
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The name of the method in the source.
    pub method: &'static str,
    /// Whether the operation is a wait alone, which has the fence of the arrivals that it may wait for.
    pub waits: bool,
    /// The fence.
    pub fence: Fence,
    /// Why the fence is not weaker; `None` for a relaxed arrival.
    pub cause: Option<Cause>,
}

impl ChosenFence {
    /// Returns the barrier with the weakest fence that is right: `before` is what the thread may have done since the last
    /// arrival, `between` what it may do between this arrival and its wait, and `after` what any thread may do later. Calls have the
    /// effects of their functions by now.
    ///
    /// A thread between its arrival and its wait may tell another thread, which has not arrived yet, about a write: only a
    /// full fence of that thread is cumulative over it. So only work on values may be `between`.
    pub fn inferred(
        (line, column): (u32, u32),
        method: &'static str,
        waits: bool,
        (before, between, after): (&[Cause], &[Cause], MemoryEffects),
    ) -> ChosenFence {
        let full = before.iter().find(|cause| cause.effects.needs_full_fence(after));
        let full = full.or_else(|| between.iter().find(|cause| !cause.effects.is_empty()));
        let own = MemoryEffects::SHARED.union(MemoryEffects::PEER_READ);
        let shared = || before.iter().find(|cause| cause.effects.intersects(own));
        let (fence, cause) = match (full, shared()) {
            (Some(cause), _) => (Fence::Full, Some(*cause)),
            (None, Some(cause)) => (Fence::Shared, Some(*cause)),
            (None, None) => (Fence::Relaxed, None),
        };
        ChosenFence { line, column, method, waits, fence, cause }
    }

    /// Returns what the name of the method in CUDA C++ ends with.
    pub const fn suffix(&self) -> &'static str {
        match (self.fence, self.waits) {
            (Fence::Full, _) | (Fence::Relaxed, true) => "",
            (Fence::Shared, _) => "_shared",
            (Fence::Relaxed, false) => "_relaxed",
        }
    }
}

/// The effects that a function may have at a place: its own, and those of some of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceEffects {
    /// Its own effects.
    pub own: MemoryEffects,
    /// The slots of the calls, as ranges from a first to a last one: calls that follow each other are mostly together.
    pub calls: &'static [(u16, u16)],
}

/// An operation at a barrier for which other blocks wait, and what its fence depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barrier {
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The name of the method in the source.
    pub method: &'static str,
    /// Whether the operation is a wait alone.
    pub waits: bool,
    /// What the thread may have done in this function since the last arrival.
    pub before: &'static [Cause],
    /// What it may do between this arrival and its wait.
    pub between: &'static [Cause],
    /// What any thread may do later in this function.
    pub after: PlaceEffects,
    /// Whether there may have been no arrival since the function began, so that what its callers did counts, too.
    pub follows_entry: bool,
}

/// A call of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its slot.
    pub slot: u16,
    /// What the thread may have done in the caller since the last arrival.
    pub before: PlaceEffects,
    /// What any thread may do later in the caller.
    pub after: PlaceEffects,
    /// Whether there may have been no arrival since the caller began.
    pub follows_entry: bool,
}

/// What a function does to memory, its barriers and its calls, as its own text shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionFences {
    /// Whatever it does.
    pub all: PlaceEffects,
    /// What it does without an arrival after it.
    pub left: PlaceEffects,
    /// Its barriers, in the order of their places in the source.
    pub barriers: &'static [Barrier],
    /// Its calls.
    pub calls: &'static [Call],
    /// Whether all barriers are full of a program whose kernel it is.
    pub keeps_full: bool,
}

impl FunctionFences {
    /// A function that does nothing to memory.
    pub const NONE: FunctionFences = FunctionFences {
        all: PlaceEffects { own: MemoryEffects::empty(), calls: &[] },
        left: PlaceEffects { own: MemoryEffects::empty(), calls: &[] },
        barriers: &[],
        calls: &[],
        keeps_full: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(before: MemoryEffects, between: MemoryEffects, after: MemoryEffects) -> Fence {
        let cause = |effects| [Cause { effects, call: None, line: 1, what: "" }];
        ChosenFence::inferred((1, 1), "sync", false, (&cause(before), &cause(between), after)).fence
    }

    #[test]
    fn the_fence_covers_what_conflicts_later() {
        use MemoryEffects as E;
        let none = E::empty();
        assert_eq!(fence(none, none, E::all()), Fence::Relaxed);
        assert_eq!(fence(E::SHARED, none, E::all()), Fence::Shared);
        assert_eq!(fence(E::PEER_READ, none, E::all()), Fence::Shared);
        assert_eq!(fence(E::OTHER, none, none), Fence::Full);
        assert_eq!(fence(E::GLOBAL_WRITE, none, none), Fence::Relaxed);
        assert_eq!(fence(E::GLOBAL_WRITE, none, E::GLOBAL_READ), Fence::Full);
        assert_eq!(fence(E::GLOBAL_READ, none, E::GLOBAL_READ), Fence::Relaxed);
        assert_eq!(fence(E::GLOBAL_READ.union(E::SHARED), none, E::GLOBAL_WRITE), Fence::Full);
        assert_eq!(fence(none, E::SHARED, none), Fence::Full);
    }

    /// More effects never choose a weaker fence.
    #[test]
    fn the_choice_is_monotone() {
        let sets = || (0..32).map(MemoryEffects::from_bits_truncate);
        for (before, between, after) in sets().flat_map(|a| sets().flat_map(move |b| sets().map(move |c| (a, b, c)))) {
            for more in sets() {
                let least = fence(before, between, after);
                assert!(fence(before.union(more), between, after) >= least);
                assert!(fence(before, between.union(more), after) >= least);
                assert!(fence(before, between, after.union(more)) >= least);
            }
        }
    }
}
