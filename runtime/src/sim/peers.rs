//! Checks accesses to the shared memory of other blocks: the rank must exist, and the block that owns the memory must
//! have started and must not have exited.

use super::context::Context;
use super::memory::{Access, MemoryId, MemoryOp};
use super::race::{Actor, Clock, ForeignAccess, Layout};
use super::site::Site;
use super::state::{ArrivalPhase, BarrierId, BarrierKey, BarrierState, Cluster};
use crate::report::failure::Cause;

impl Context<'_> {
    /// Checks that the cluster has a block of this rank.
    pub(crate) fn check_rank(&self, rank: u32, site: Site) {
        let num_blocks = self.cluster.launch.cluster_blocks;
        if rank >= num_blocks {
            self.fail(Cause::RankOutOfRange { rank, num_blocks }, site);
        }
    }

    /// Checks that a peer's shared memory exists: the peer has started, which only a barrier of the cluster proves, and
    /// has not exited. An access that precedes the exit only under this schedule is found by
    /// `Cluster::check_foreign_accesses`.
    pub(super) fn check_peer(&self, rank: u32, site: Site) {
        if !self.thread.peers_started.get() {
            self.fail(Cause::PeerMayNotHaveStarted { rank }, site);
        }
        if self.cluster.blocks[rank as usize].exited.get() == self.cluster.launch.block_threads {
            self.fail(Cause::PeerMayHaveExited { rank }, site);
        }
    }

    /// Records an access to shared memory by an actor whose running does not keep the owning block alive.
    #[inline]
    pub(super) fn note_foreign_access(&self, layout: &Layout, actor: &Actor, access: Access<'_>) {
        // The barrier itself shows when an arrival is over.
        if let MemoryId::Shared(memory) = access.memory
            && access.op != MemoryOp::Arrival
            && (actor.id.is_copy() || actor.id.block() != memory.rank)
        {
            let mut accesses = self.cluster.blocks[memory.rank as usize].foreign_accesses.borrow_mut();
            let is_read = matches!(access.op, MemoryOp::Read);
            accesses.note(layout, actor, is_read, access.site);
        }
    }

    /// Records an arrival at a phase barrier of another block.
    pub(super) fn note_foreign_arrival(&self, barrier: BarrierId, arrival: ArrivalPhase, access: ForeignAccess) {
        let owner = barrier.memory.rank;
        if self.cluster.launch.races.is_some() && owner != self.thread.block_rank {
            let mut arrivals = self.cluster.blocks[owner as usize].foreign_arrivals.borrow_mut();
            arrivals.insert((barrier.key(), self.thread.rank), (arrival, access));
        }
    }
}

impl Cluster<'_> {
    /// Checks, once all threads of the block have exited, that every foreign access to the block's memory
    /// happens-before their exit.
    pub(super) fn check_foreign_accesses(&self, rank: u32) {
        let block = &self.blocks[rank as usize];
        let Some(detector) = &self.launch.races else { return };
        let (accesses, arrivals) = (block.foreign_accesses.borrow(), block.foreign_arrivals.borrow());
        if block.exited.get() < self.launch.block_threads || accesses.is_empty() && arrivals.is_empty() {
            return;
        }
        let mut known = Clock::default();
        let threads = self.threads.chunks(self.launch.block_threads as usize).nth(rank as usize);
        threads.into_iter().flatten().for_each(|thread| thread.actor.join_into(&mut known));
        let arrival = || {
            let open = |(key, arrival): (&(BarrierKey, usize), &(ArrivalPhase, ForeignAccess))| {
                let (phase, access) = *arrival;
                (!self.has_observed(key.0, phase) && !access.is_ordered(&detector.layout, &known)).then_some(access)
            };
            arrivals.iter().find_map(open)
        };
        let Some(access) = accesses.unordered(&detector.layout, &known).or_else(arrival) else { return };
        let cause = match access.id.is_copy() {
            false => Cause::PeerMayHaveExited { rank },
            true => Cause::Protocol(format!(
                "this copy uses the shared memory of block rank {rank}, so it must complete before the block exits, but it may still be in flight then"
            )),
        };
        let issuer = access.id.issuer();
        let thread = &self.threads[(issuer.block() * self.launch.block_threads + issuer.thread()) as usize];
        let failure = self.failure(thread, cause, Some(access.site));
        self.failure.borrow_mut().get_or_insert(failure);
    }

    /// Whether a thread of a barrier's block has observed the end of the phase of an arrival. A barrier that has been invalidated since
    /// is in nobody's use.
    fn has_observed(&self, barrier: BarrierKey, arrival: ArrivalPhase) -> bool {
        match self.phase_barriers.states.borrow().get(&barrier) {
            Some(BarrierState::Live(live)) => live.number != arrival.barrier || live.observed > arrival.phase,
            Some(BarrierState::Invalid(_)) | None => true,
        }
    }
}
