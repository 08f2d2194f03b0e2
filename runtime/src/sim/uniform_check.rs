//! Implements `group.uniform(value)` for groups larger than a warp: it checks that all threads of the group pass the
//! same value. It is not a barrier: each thread compares its value with that of the first thread at the same call, and
//! continues. A thread that never makes the call is not detected.

use std::sync::PoisonError;

use super::context::Context;
use super::group::Group;
use super::site::Site;
use super::state::{UniformCall, UniformCheck, UniformGroup};
use crate::report::failure::Cause;

/// The number of threads of a warpgroup, and the largest number of warpgroups of a block.
const WARPGROUP: u32 = 128;
const MOST_WARPGROUPS: u64 = 8;

impl Context<'_> {
    /// Ends the launch unless `value` is that of the other threads of the group. `what` is the subject of the report's
    /// sentence: ``the value of `block.uniform()` ``.
    pub(crate) fn check_uniform(&self, kind: Group, what: &str, value: &[u8], site: Site) {
        let (cluster, launch) = (self.cluster, self.cluster.launch);
        let (rank, threads) = match kind {
            Group::Block => (
                cluster.rank * u64::from(launch.cluster_blocks) + u64::from(self.thread.block_rank),
                u64::from(launch.block_threads),
            ),
            Group::Cluster => (cluster.rank, cluster.threads.len() as u64),
            Group::Grid => (0, launch.shape.grid.count() * u64::from(launch.block_threads)),
        };
        self.check_same_value(UniformGroup::Group(kind), (rank, threads), what, value, site);
    }

    /// Ends the launch unless `value` is that of the other threads of the warpgroup.
    pub(crate) fn check_warpgroup(&self, what: &str, value: &[u8], site: Site) {
        let (cluster, launch) = (self.cluster, self.cluster.launch);
        let block = cluster.rank * u64::from(launch.cluster_blocks) + u64::from(self.thread.block_rank);
        let rank = block * MOST_WARPGROUPS + u64::from(self.thread.rank_in_block / WARPGROUP);
        self.check_same_value(UniformGroup::Warpgroup, (rank, WARPGROUP.into()), what, value, site);
    }

    fn check_same_value(&self, kind: UniformGroup, of: (u64, u64), what: &str, value: &[u8], site: Site) {
        let ((rank, threads), launch) = (of, self.cluster.launch);
        let group = (kind, rank);
        let round = {
            let mut rounds = self.thread.uniform_calls.borrow_mut();
            let round = rounds.entry((kind, site)).or_insert(0);
            *round += 1;
            *round
        };
        let call = UniformCall { group, site, round };
        let mut open = launch.uniform_checks.open.lock().unwrap_or_else(PoisonError::into_inner);
        let check = open.entry(call).or_insert_with(|| UniformCheck { value: value.into(), left: threads });
        check.left -= 1;
        let same = *check.value == *value;
        if check.left == 0 {
            open.remove(&call);
        }
        drop(open);
        if !same {
            let noun = kind.name();
            self.fail(
                Cause::Protocol(format!(
                    "{what} must be the same in all threads of the {noun}, but differs between them"
                )),
                site,
            );
        }
    }
}
