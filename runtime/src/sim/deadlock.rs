//! Builds the deadlock report: which threads wait, in which operation and at which site, which threads they wait for,
//! and what those do instead.

use super::group::Group;
use super::memory::MemoryId;
use super::site::{Site, location};
use super::state::{Arrival, Cluster, Status, Thread};
use crate::report::failure::{Cause, Failure, MissingThreads, WaitingThreads};
use crate::scope::Scope;
use crate::shape::Dim3;

/// A thread of the grid, together with its cluster.
type GridThread<'c, 'l> = (&'c Cluster<'l>, &'c Thread);

/// The threads that have the same status at the same site.
struct StatusGroup {
    /// The status as reports name it: ``wait at `cluster.sync()` ``.
    what: String,
    site: Option<Site>,
    /// The number of threads.
    threads: usize,
    /// The indices of the first thread: its block's in the grid, and its own in the block.
    first: (Dim3, Dim3),
}

/// Returns the failure of clusters that have threads left, none of which can run, except for those that spin.
pub(super) fn deadlock(clusters: &[&Cluster<'_>]) -> Failure {
    let all = || clusters.iter().flat_map(|cluster| cluster.threads.iter().map(move |thread| (*cluster, thread)));
    let stuck = |(cluster, thread): &GridThread<'_, '_>| match thread.status.get() {
        Status::AtGroupBarrier(_) | Status::AtPhaseBarrier(_) | Status::InExchange(_) => true,
        Status::Ready => cluster.spins(thread),
        // A thread in `coalesced_threads()` continues once no other thread of its warp can run.
        Status::Coalescing(_) | Status::Exited => false,
    };
    let waiting: Vec<GridThread<'_, '_>> = all().filter(stuck).collect();
    let mut reports: Vec<WaitingThreads> = Vec::new();
    for group in group_by_status(waiting.iter().copied()) {
        let here = |thread: &&GridThread<'_, '_>| describe(**thread) == (group.what.clone(), group.site);
        let here: Vec<GridThread<'_, '_>> = waiting.iter().filter(here).copied().collect();
        let absent = all().filter(|other| misses(&here, *other));
        let missing = group_by_status(absent).into_iter().map(|StatusGroup { what, site, threads, first }| {
            MissingThreads { what, location: site.map(location), threads, first }
        });
        reports.push(WaitingThreads {
            what: group.what.clone(),
            location: group.site.map(location),
            spins: here.iter().any(|(cluster, thread)| cluster.spins(thread)),
            threads: group.threads,
            first: group.first,
            missing: missing.collect(),
        });
    }
    let (cluster, thread) = waiting.first().copied().unwrap_or((clusters[0], &clusters[0].threads[0]));
    let site = describe((cluster, thread)).1;
    cluster.failure(thread, Cause::Deadlock(reports), site)
}

fn describe((cluster, thread): GridThread<'_, '_>) -> (String, Option<Site>) {
    match thread.status.get() {
        Status::AtGroupBarrier(collective) => (format!("wait at {collective}"), Some(collective.site)),
        Status::AtPhaseBarrier(call) => {
            let missing = cluster.phase_barriers.missing(call.barrier);
            (format!("wait at {call} for a phase that {missing}"), Some(call.site))
        }
        Status::InExchange(call) => (format!("wait at {call}"), Some(call.site)),
        Status::Coalescing(site) => ("wait at `coalesced_threads()`".to_owned(), Some(site)),
        Status::Exited => ("exited".to_owned(), None),
        Status::Ready => match cluster.polled(thread) {
            Some((bytes, _, site)) => (format!("spin on {bytes}"), Some(site)),
            None => ("run".to_owned(), None),
        },
    }
}

fn group_by_status<'c, 'l: 'c>(threads: impl Iterator<Item = GridThread<'c, 'l>>) -> Vec<StatusGroup> {
    let mut groups: Vec<StatusGroup> = Vec::new();
    for (cluster, thread) in threads {
        let (what, site) = describe((cluster, thread));
        match groups.iter_mut().find(|known| known.what == what && known.site == site) {
            Some(known) => known.threads += 1,
            None => {
                let first = (cluster.blocks[thread.block_rank as usize].index, thread.index);
                groups.push(StatusGroup { what, site, threads: 1, first });
            }
        }
    }
    groups
}

/// Returns whether one of the threads `here`, which wait at a site, waits for `other`, which has not arrived.
fn misses(here: &[GridThread<'_, '_>], (cluster, other): GridThread<'_, '_>) -> bool {
    here.iter().any(|(home, thread)| match thread.status.get() {
        Status::AtGroupBarrier(collective) => {
            let member = match collective.group {
                Group::Grid => true,
                Group::Cluster => home.rank == cluster.rank,
                Group::Block => home.rank == cluster.rank && thread.block_rank == other.block_rank,
            };
            member && !has_arrived(other, collective.group)
        }
        // A phase barrier does not know its participants. A thread that has exited certainly does not arrive.
        Status::AtPhaseBarrier(call) => {
            let member = match call.barrier.scope {
                Scope::Block => home.rank == cluster.rank && thread.block_rank == other.block_rank,
                Scope::Cluster | Scope::Device | Scope::System => home.rank == cluster.rank,
            };
            member && matches!(other.status.get(), Status::Exited)
        }
        Status::InExchange(call) => {
            let member = home.rank == cluster.rank && thread.same_warp(other) && call.lanes >> other.lane() & 1 == 1;
            member && !matches!(other.status.get(), Status::InExchange(theirs) if theirs.lanes == call.lanes)
        }
        Status::Ready => match home.polled(thread) {
            Some((_, MemoryId::Shared(_), _)) => home.rank == cluster.rank && !cluster.spins(other),
            Some((_, MemoryId::Constant(_) | MemoryId::Global(_), _)) => !cluster.spins(other),
            None => false,
        },
        Status::Coalescing(_) | Status::Exited => false,
    })
}

/// Returns whether a thread has arrived at the barrier of the group.
fn has_arrived(thread: &Thread, group: Group) -> bool {
    if matches!(thread.arrivals[group as usize].get(), Arrival::Pending { .. }) {
        return true;
    }
    matches!(thread.status.get(), Status::AtGroupBarrier(collective) if collective.group == group)
}
