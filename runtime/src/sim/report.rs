//! What a deadlock report says: the threads that wait, by what they do and where, and those that exited although
//! others wait for them.

use super::barrier::Barrier;
use super::cluster::{Cluster, Status, Thread, location};
use super::{Group, Site};
use crate::failure::{Cause, Failure, Waiting};
use crate::scope::Scope;

/// The failure of a cluster, or of all clusters of a grid that has a barrier, in which threads are left and none can run.
pub(super) fn deadlock(clusters: &[&Cluster<'_>]) -> Failure {
    let grid_waits = clusters.iter().any(|cluster| cluster.grid_barrier.as_ref().is_some_and(Barrier::holds_any));
    let mut groups: Vec<(String, Option<Site>, Waiting)> = Vec::new();
    let threads = || clusters.iter().flat_map(|cluster| cluster.threads.iter().map(move |thread| (*cluster, thread)));
    for (cluster, thread) in threads() {
        let (what, site) = match thread.status.get() {
            Status::Waiting(collective) => (format!("wait at {collective}"), Some(collective.site)),
            Status::AtBarrier(call) => {
                let lack = cluster.phase_barriers.lack(call.barrier);
                (format!("wait at {call}, whose phase {lack},"), Some(call.site))
            }
            Status::Meeting(call) => (format!("wait at {call}"), Some(call.site)),
            Status::Exited if grid_waits || is_missed(cluster, thread) => ("exited".to_owned(), None),
            // Who coalesces goes on when no other of the warp can run.
            Status::Exited | Status::Ready | Status::Coalescing(_) => continue,
        };
        match groups.iter_mut().find(|(known, at, _)| *known == what && *at == site) {
            Some((_, _, group)) => group.threads += 1,
            None => {
                let first = (cluster.blocks[thread.block_rank as usize].index, thread.index);
                let group = Waiting { what: what.clone(), location: site.map(location), threads: 1, first };
                groups.push((what, site, group));
            }
        }
    }
    let stuck = |status| matches!(status, Status::Waiting(_) | Status::AtBarrier(_) | Status::Meeting(_));
    let (cluster, thread) =
        threads().find(|(_, thread)| stuck(thread.status.get())).unwrap_or((clusters[0], &clusters[0].threads[0]));
    let cause = Cause::Deadlock(groups.into_iter().map(|(_, _, group)| group).collect());
    cluster.failure(thread, cause, None)
}

/// Whether a thread of its cluster waits for this one, which has exited.
fn is_missed(cluster: &Cluster<'_>, exited: &Thread) -> bool {
    cluster.threads.iter().any(|thread| match thread.status.get() {
        Status::Waiting(collective) => match collective.group {
            Group::Cluster | Group::Grid => true,
            Group::Block => thread.block_rank == exited.block_rank,
        },
        Status::AtBarrier(call) => match call.barrier.scope {
            Scope::Block => thread.block_rank == exited.block_rank,
            Scope::Cluster | Scope::Device | Scope::System => true,
        },
        Status::Meeting(call) => thread.same_warp(exited) && call.lanes >> exited.lane() & 1 == 1,
        Status::Ready | Status::Coalescing(_) | Status::Exited => false,
    })
}
