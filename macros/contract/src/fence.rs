//! The weakest fence that an arrival needs for which other blocks wait, as a `const fn` of what the threads may have accessed since the
//! last one. The compiler finds the accesses of one function; rustc adds those of its callees and evaluates the choice.
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
    const fn needs_full_fence(self, after: MemoryEffects) -> bool {
        let global = MemoryEffects::GLOBAL_READ.union(MemoryEffects::GLOBAL_WRITE);
        self.contains(MemoryEffects::OTHER)
            || self.contains(MemoryEffects::GLOBAL_WRITE) && after.intersects(global)
            || self.contains(MemoryEffects::GLOBAL_READ) && after.contains(MemoryEffects::GLOBAL_WRITE)
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
    /// arrival, `between` what it may do between this arrival and its wait, and `after` what any thread may do later.
    ///
    /// A thread between its arrival and its wait may tell another thread, which has not arrived yet, about a write: only a
    /// full fence of that thread is cumulative over it. So only work on values may be `between`.
    pub const fn inferred(
        (line, column): (u32, u32),
        method: &'static str,
        waits: bool,
        (before, between, after): (&[Cause], &[Cause], MemoryEffects),
    ) -> ChosenFence {
        let mut shared = None;
        let mut index = 0;
        while index < before.len() {
            let cause = before[index];
            if cause.effects.needs_full_fence(after) {
                return ChosenFence { line, column, method, waits, fence: Fence::Full, cause: Some(cause) };
            }
            if cause.effects.intersects(MemoryEffects::SHARED.union(MemoryEffects::PEER_READ)) && shared.is_none() {
                shared = Some(cause);
            }
            index += 1;
        }
        index = 0;
        while index < between.len() {
            let cause = between[index];
            if !cause.effects.is_empty() {
                return ChosenFence { line, column, method, waits, fence: Fence::Full, cause: Some(cause) };
            }
            index += 1;
        }
        let fence = if shared.is_some() { Fence::Shared } else { Fence::Relaxed };
        ChosenFence { line, column, method, waits, fence, cause: shared }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(before: MemoryEffects, between: MemoryEffects, after: MemoryEffects) -> Fence {
        let cause = |effects| [Cause { effects, line: 1, what: "" }];
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
