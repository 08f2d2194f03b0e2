//! What a deadlock report says: the threads that wait, by what they do and where, and those that exited although
//! others wait for them.

use super::cluster::{Cluster, Status, location};
use super::{Group, Site};
use crate::failure::{Cause, Failure, Waiting};

/// The failure of a cluster in which threads are left and none can run.
pub(super) fn deadlock(cluster: &Cluster<'_>) -> Failure {
    let mut groups: Vec<(String, Option<Site>, Waiting)> = Vec::new();
    for thread in &cluster.threads {
        let (what, site) = match thread.status.get() {
            Status::Waiting(collective) => (format!("wait at {collective}"), Some(collective.site)),
            Status::Exited if is_missed(cluster, thread.block_rank) => ("exited".to_owned(), None),
            Status::Exited | Status::Ready => continue,
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
    let stuck = |status| matches!(status, Status::Waiting(_));
    let thread = cluster.threads.iter().find(|thread| stuck(thread.status.get())).unwrap_or(&cluster.threads[0]);
    let cause = Cause::Deadlock(groups.into_iter().map(|(_, _, group)| group).collect());
    cluster.failure(thread, cause, None)
}

/// Whether a thread waits for one that this block has lost.
fn is_missed(cluster: &Cluster<'_>, block_rank: u32) -> bool {
    cluster.threads.iter().any(|thread| match thread.status.get() {
        Status::Waiting(collective) => match collective.group {
            Group::Cluster => true,
            Group::Block => thread.block_rank == block_rank,
        },
        Status::Ready | Status::Exited => false,
    })
}
