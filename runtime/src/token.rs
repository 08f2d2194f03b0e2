//! What an arrival at a group's barrier gives and a wait takes. The type carries the group, the value its phase; that
//! each is used once is rustc's to see (moves) and the checks' (drops).

use std::marker::PhantomData;

use crate::program::layout::TypeInfo;
use crate::program::template::Optional;

/// Proof of one arrival at the barrier of a `G`; its wait consumes it.
#[must_use = "an arrival has to be waited for: pass this to `barrier_wait`"]
#[derive(Debug)]
pub struct ArrivalToken<G> {
    phase: u64,
    /// A pointer, so that the token stays with its thread.
    group: PhantomData<*const G>,
}

impl<G> Optional for ArrivalToken<G> {
    fn info() -> TypeInfo {
        TypeInfo::prelude::<ArrivalToken<G>>("arrival_token")
    }
}

impl<G> ArrivalToken<G> {
    pub(crate) fn new(phase: u64) -> Self {
        ArrivalToken { phase, group: PhantomData }
    }

    pub(crate) fn phase(self) -> u64 {
        self.phase
    }
}
