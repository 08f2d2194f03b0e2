//! What an arrival at a group's barrier gives and a wait takes. The type carries the group, the value its phase; that
//! each is used once is rustc's to see (moves) and the checks' (drops). A phase barrier's carries the barrier too.

use std::marker::PhantomData;

use crate::group::{Cluster, Grid, ThreadBlock};
use crate::program::layout::TypeInfo;
use crate::program::template::Optional;
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

/// The groups whose barrier has an arrival and a wait, each with the type of its tokens in C++.
macro_rules! split_barriers {
    ($($group:ident => $token:literal;)*) => {$(
        impl Optional for ArrivalToken<$group> {
            fn info() -> TypeInfo {
                TypeInfo::prelude::<Self>($token)
            }
        }
    )*};
}

split_barriers! {
    ThreadBlock => "thread_block::arrival_token";
    Cluster => "cluster_group::arrival_token";
    Grid => "grid_group::arrival_token";
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
