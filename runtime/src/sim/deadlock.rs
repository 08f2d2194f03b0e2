//! Builds the report on threads that wait or spin: in which operation and at which site they do, which threads they
//! wait for, and what those do instead.

use super::group::Group;
use super::memory::MemoryId;
use super::site::{Site, location};
use super::state::{Arrival, Cluster, Status, Thread};
use crate::report::failure::{Cause, Failure, MissingThreads, WaitingThreads};
use crate::scope::Scope;
use crate::shape::Dim3;

/// A thread of the grid, and what it does.
struct GridThread<'c, 'l> {
    cluster: &'c Cluster<'l>,
    thread: &'c Thread,
    /// What it does, as reports name it: ``wait at `cluster.sync()` ``.
    what: String,
    /// The site that it has reached, the position in the user's source, and the calls that led there.
    reached: Option<Site>,
    site: Option<Site>,
    calls: Vec<Site>,
    /// Whether it can run, but only spins.
    spins: bool,
    /// The memory that it spins on.
    memory: Option<MemoryId>,
}

/// The threads that do the same at the same site, of which there is one at least.
struct StatusGroup<'g, 'c, 'l> {
    threads: Vec<&'g GridThread<'c, 'l>>,
}

/// Returns the failure of clusters that have threads left, none of which can run, except for those that spin.
pub(super) fn deadlock(clusters: &[&Cluster<'_>]) -> Failure {
    failure(clusters, false, Cause::Deadlock)
}

/// Returns the failure of clusters whose threads have had no effect for the longest time that is allowed. Each thread
/// that can run counts as spinning.
pub(super) fn no_effect(clusters: &[&Cluster<'_>]) -> Failure {
    let limit = clusters[0].launch.simulator.spin_limit;
    failure(clusters, true, |waiting| Cause::SpinLimit { limit, waiting })
}

fn failure(clusters: &[&Cluster<'_>], all_spin: bool, cause: impl FnOnce(Vec<WaitingThreads>) -> Cause) -> Failure {
    let threads: Vec<GridThread<'_, '_>> = clusters
        .iter()
        .flat_map(|cluster| {
            let enough = cluster.enough_polls();
            cluster.threads.iter().map(move |thread| {
                let can_run = matches!(thread.status.get(), Status::Ready);
                describe(cluster, thread, can_run && (all_spin || cluster.spins(thread, enough)))
            })
        })
        .collect();
    let stuck = |thread: &&GridThread<'_, '_>| match thread.thread.status.get() {
        Status::AtGroupBarrier(_) | Status::AtPhaseBarrier(_) | Status::InExchange(_) => true,
        Status::Ready => thread.spins,
        // A thread in `coalesced_threads()` continues once no other thread of its warp can run.
        Status::Coalescing(_) | Status::Exited => false,
    };
    let groups = group_by_status(threads.iter().filter(stuck));
    let waiting = groups.iter().map(|group| {
        let representatives = representatives(&group.threads);
        let absent = threads.iter().filter(|other| representatives.iter().any(|thread| misses(thread, other)));
        let missing = group_by_status(absent).into_iter().map(|group| MissingThreads {
            what: group.threads[0].what.clone(),
            location: group.threads[0].site.map(location),
            threads: group.threads.len(),
            first: group.threads[0].index(),
        });
        let first = group.threads[0];
        WaitingThreads {
            what: first.what.clone(),
            location: first.site.map(location),
            calls: first.calls.iter().copied().map(location).collect(),
            spins: first.spins,
            threads: group.threads.len(),
            first: first.index(),
            missing: missing.collect(),
        }
    });
    let cause = cause(waiting.collect());
    let first = groups.first().map_or(&threads[0], |group| group.threads[0]);
    first.cluster.failure(first.thread, cause, first.reached)
}

impl GridThread<'_, '_> {
    /// Returns the index of the block in the grid, and that of the thread in its block.
    fn index(&self) -> (Dim3, Dim3) {
        (self.cluster.blocks[self.thread.block_rank as usize].index, self.thread.index)
    }
}

fn describe<'c, 'l>(cluster: &'c Cluster<'l>, thread: &'c Thread, spins: bool) -> GridThread<'c, 'l> {
    let mut memory = None;
    let (what, reached) = match thread.status.get() {
        Status::AtGroupBarrier(collective) => (format!("wait at {collective}"), Some(collective.site)),
        Status::AtPhaseBarrier(call) => {
            let missing = cluster.phase_barriers.missing(call.barrier);
            (format!("wait at {call} for a phase that {missing}"), Some(call.site))
        }
        Status::InExchange(call) => (format!("wait at {call}"), Some(call.site)),
        Status::Coalescing(site) => ("wait at `coalesced_threads()`".to_owned(), Some(site)),
        Status::Exited => ("exited".to_owned(), None),
        Status::Ready if !spins => ("run".to_owned(), None),
        Status::Ready => match cluster.polled(thread).or_else(|| thread.last_read.get()) {
            Some((site, polled, start, len)) => {
                memory = Some(polled);
                (format!("spin on {}", cluster.region(polled, start..start + len)), Some(site))
            }
            None => ("iterate a loop".to_owned(), thread.last_tick.get()),
        },
    };
    let (site, calls) = reached.map(|site| thread.user_site(site)).unzip();
    GridThread { cluster, thread, what, reached, site, calls: calls.unwrap_or_default(), spins, memory }
}

fn group_by_status<'g, 'c, 'l>(threads: impl Iterator<Item = &'g GridThread<'c, 'l>>) -> Vec<StatusGroup<'g, 'c, 'l>> {
    let mut groups: Vec<StatusGroup<'g, 'c, 'l>> = Vec::new();
    for thread in threads {
        let same = |group: &&mut StatusGroup<'_, '_, '_>| {
            let first = group.threads[0];
            first.site == thread.site && first.what == thread.what && first.calls == thread.calls
        };
        match groups.iter_mut().find(same) {
            Some(known) => known.threads.push(thread),
            None => groups.push(StatusGroup { threads: vec![thread] }),
        }
    }
    groups
}

/// Returns a thread for each set of threads that wait for the same others, of those that wait at a site.
fn representatives<'g, 'c, 'l>(threads: &[&'g GridThread<'c, 'l>]) -> Vec<&'g GridThread<'c, 'l>> {
    let mut representatives = threads.to_vec();
    representatives.dedup_by_key(|GridThread { cluster, thread, .. }| {
        // Only an exchange has fewer participants than a block.
        let warp = match thread.status.get() {
            Status::InExchange(call) => Some((thread.rank - thread.lane() as usize, call.lanes)),
            Status::AtGroupBarrier(_)
            | Status::AtPhaseBarrier(_)
            | Status::Coalescing(_)
            | Status::Ready
            | Status::Exited => None,
        };
        (cluster.rank, thread.block_rank, warp)
    });
    representatives
}

/// Returns whether a thread that waits or spins waits for `other`, which has not arrived.
fn misses(waiter: &GridThread<'_, '_>, other: &GridThread<'_, '_>) -> bool {
    let same_cluster = waiter.cluster.rank == other.cluster.rank;
    let same_block = same_cluster && waiter.thread.block_rank == other.thread.block_rank;
    let other_status = other.thread.status.get();
    match waiter.thread.status.get() {
        Status::AtGroupBarrier(collective) => {
            let member = match collective.group {
                Group::Grid => true,
                Group::Cluster => same_cluster,
                Group::Block => same_block,
            };
            member && !has_arrived(other.thread, collective.group)
        }
        // A phase barrier does not know its participants. A thread that has exited certainly does not arrive.
        Status::AtPhaseBarrier(call) => {
            let member = match call.barrier.scope {
                Scope::Block => same_block,
                Scope::Cluster | Scope::Device | Scope::System => same_cluster,
            };
            member && matches!(other_status, Status::Exited)
        }
        Status::InExchange(call) => {
            let member =
                same_cluster && waiter.thread.same_warp(other.thread) && call.lanes >> other.thread.lane() & 1 == 1;
            member && !matches!(other_status, Status::InExchange(theirs) if theirs.lanes == call.lanes)
        }
        Status::Ready => match waiter.memory {
            Some(MemoryId::Shared(_)) => same_cluster && !other.spins,
            Some(MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_)) => !other.spins,
            None => false,
        },
        Status::Coalescing(_) | Status::Exited => false,
    }
}

/// Returns whether a thread has arrived at the barrier of the group.
fn has_arrived(thread: &Thread, group: Group) -> bool {
    if matches!(thread.arrivals[group as usize].get(), Arrival::Pending { .. }) {
        return true;
    }
    matches!(thread.status.get(), Status::AtGroupBarrier(collective) if collective.group == group)
}
