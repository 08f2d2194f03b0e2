//! What an arrival at a group's barrier gives and a wait takes. The type carries the group, the value its phase; that
//! each is used once is rustc's to see (moves) and the checks' (drops).

use std::marker::PhantomData;

use crate::group::{Cluster, Grid, ThreadBlock};
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

/// A group whose barrier has an arrival and a wait.
#[doc(hidden)]
pub trait SplitBarrier {
    /// The type of its tokens in C++.
    const TOKEN: &'static str;
}

impl SplitBarrier for ThreadBlock {
    const TOKEN: &'static str = "thread_block::arrival_token";
}

impl SplitBarrier for Cluster {
    const TOKEN: &'static str = "cluster_group::arrival_token";
}

impl SplitBarrier for Grid {
    const TOKEN: &'static str = "grid_group::arrival_token";
}

impl<G: SplitBarrier> Optional for ArrivalToken<G> {
    fn info() -> TypeInfo {
        TypeInfo::prelude::<ArrivalToken<G>>(G::TOKEN)
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
