//! What an arrival at a group's barrier gives and a wait takes. The type carries the group, the value its phase; that
//! each is used once is rustc's to see (moves) and the checks' (drops). A phase barrier's carries the barrier too.

use std::marker::PhantomData;

use crate::sim::Ticket;

/// Proof of one arrival at the barrier of a group, or at a phase barrier; its wait consumes it. A phase barrier's may be
/// dropped: not all who arrive wait.
#[must_use = "pass it to the barrier's wait, or write `let _ =` where others wait for this arrival"]
#[derive(Debug)]
pub struct ArrivalToken<G> {
    phase: u64,
    /// Which phase barrier. A group has one barrier only.
    barrier: u32,
    /// A pointer, so that the token stays with its thread.
    group: PhantomData<*const G>,
}

impl<G> ArrivalToken<G> {
    pub(crate) fn new(phase: u64) -> Self {
        ArrivalToken { phase, barrier: 0, group: PhantomData }
    }

    pub(crate) fn phase(self) -> u64 {
        self.phase
    }

    pub(crate) fn of_barrier(Ticket { barrier, phase }: Ticket) -> Self {
        ArrivalToken { phase, barrier, group: PhantomData }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        Ticket { barrier: self.barrier, phase: self.phase }
    }
}
